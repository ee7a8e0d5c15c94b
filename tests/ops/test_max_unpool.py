"""Max unpooling: back to where the values were, gradients, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_what_was_largest_comes_back_to_its_place_and_the_rest_is_0(axes):
    x = gl.tensor(np.random.default_rng(0).standard_normal((2, 3, *[4, 6, 2][:axes])))
    pool, unpool = getattr(F, f"max_pool{axes}d"), getattr(F, f"max_unpool{axes}d")
    y, places = pool(x, 2, return_indices=True)
    back = unpool(y, places, 2)
    assert back.shape == x.shape
    assert ((back.data == x.data) | (back.data == 0)).all() and (back.data != 0).sum() == y.data.size
    np.testing.assert_array_equal(pool(gl.tensor(np.where(back.data == 0, -9.0, back.data)), 2).data, y.data)


def test_the_gradient_is_read_at_the_places():
    x = gl.tensor([[3.0, 5.0]], requires_grad=True)
    y = F.max_unpool1d(x, gl.tensor([[1, 2]]), 2)
    assert y.tolist() == [[0, 3, 5, 0]]
    y.backward(gl.tensor([[1.0, 10.0, 100.0, 1000.0]]))
    assert x.grad.tolist() == [[10, 100]]


def test_the_size_before_pooling_can_be_given():
    y, places = F.max_pool2d(gl.ones(1, 1, 5, 5), 2, return_indices=True)
    assert F.max_unpool2d(y, places, 2, output_size=(5, 5)).shape == (1, 1, 5, 5)
    assert F.max_unpool2d(y, places, 2, output_size=(1, 1, 5, 5)).shape == (1, 1, 5, 5)


@pytest.mark.parametrize(
    ("x", "places", "more", "error", "text"),
    [
        ([[1.0, 2.0]], [[0]], {}, ShapeError, "max_unpool1d: one index an entry, please"),
        ([[1.0, 2.0]], [[0.0, 1.0]], {}, DTypeError, "max_unpool1d: indices are whole numbers"),
        ([[1.0, 2.0]], [[0, 4]], {}, ArgumentError, "max_unpool: an index is no place of the image"),
        ([[1.0, 2.0]], [[0, 2]], {"output_size": (7,)}, ArgumentError, "max_unpool1d: pooling of this size gives another one"),
        ([1.0, 2.0], [0, 2], {}, ShapeError, "max_unpool1d: the number of axes does not fit"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(x, places, more, error, text):
    with pytest.raises(error) as caught:
        F.max_unpool1d(gl.tensor(x), gl.tensor(places), 2, **more)
    assert text in str(caught.value)
