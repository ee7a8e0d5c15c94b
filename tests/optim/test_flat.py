from __future__ import annotations

import pytest

from gradlab import nn, optim
from gradlab.optim.flat import CHUNK, parts


@pytest.mark.parametrize("size", [0, 1, 7, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 3])
def test_parts_cover_everything_once_and_none_is_short(size):
    slices = parts(size)
    assert [s.start for s in slices] == [0, *(s.stop for s in slices[:-1])] and slices[-1].stop == size
    assert len(slices) == 1 or all(CHUNK / 2 < s.stop - s.start < 2 * CHUNK for s in slices)


def test_moments_of_small_parameters_are_views_of_one_array_each():
    a, b = nn.Parameter([[1.0, 2.0]]), nn.Parameter([3.0])
    optimizer = optim.Adam([a, b])
    a.grad, b.grad = [[1.0, 1.0]], [1.0]
    optimizer.step()
    base = optimizer.state[a]["exp_avg"].base
    assert base is optimizer.state[b]["exp_avg"].base and base.shape == (3,)
    optimizer.step()
    assert optimizer.state[a]["exp_avg"].base is base, "the long arrays are made once"


def test_parameters_stay_arrays_of_their_own():
    a, b = nn.Parameter([1.0]), nn.Parameter([3.0])
    arrays = a.data, b.data
    a.grad, b.grad = [1.0], [1.0]
    optim.Adam([a, b], lr=1.0).step()
    assert a.data is arrays[0] and b.data is arrays[1] and a.version == b.version == 1
