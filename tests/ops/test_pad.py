"""Padding: what each mode puts around, negative numbers, gradients of what is there several times, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, ShapeError

NUMPY = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize(
    ("mode", "want", "gradient"),
    [
        ("constant", [0, 0, 1, 2, 3, 0], [1, 1, 1]),
        ("reflect", [3, 2, 1, 2, 3, 2], [1, 3, 2]),
        ("replicate", [1, 1, 1, 2, 3, 3], [3, 1, 2]),
        ("circular", [2, 3, 1, 2, 3, 1], [2, 2, 2]),
    ],
)
def test_every_mode_puts_around_what_it_says(mode, want, gradient):
    x = gl.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = F.pad(x, (2, 1), mode=mode)
    assert y.tolist() == [want]
    y.sum().backward()
    assert x.grad.tolist() == [gradient]


def test_pairs_count_from_the_last_axis_and_negative_numbers_cut_off():
    x = gl.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert F.pad(x, (0, 1, 1, 0), value=9.0).tolist() == [[9, 9, 9], [1, 2, 9], [3, 4, 9]]
    assert F.pad(x, (-1, 1)).tolist() == [[2, 0], [4, 0]]
    assert F.pad(x, (-1, -1)).shape == (2, 0)
    assert F.pad(gl.tensor([[1.0, 2.0, 3.0, 4.0]]), (-1, 2), mode="reflect").tolist() == [[2, 3, 4, 3, 2]]
    assert F.pad(gl.tensor([[1.0, 2.0, 3.0, 4.0]]), (1, -1), mode="circular").tolist() == [[3, 1, 2, 3]]


def test_whole_numbers_stay_whole_and_the_result_is_a_copy():
    x = gl.tensor([1, 2])
    assert F.pad(x, (1, 0), value=7).tolist() == [7, 1, 2] and F.pad(x, (1, 0)).dtype == "int64"
    assert not np.shares_memory(F.pad(x, (0, 0)).data, x.data)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(NUMPY)), st.data())
def test_what_comes_out_is_what_numpy_pads_and_the_gradient_is_its_adjoint(mode, data):
    axes = data.draw(st.integers(1, 3))
    sizes = [data.draw(st.integers(1, 4)) for _ in range(axes)]
    most = {"reflect": -1, "circular": 0}
    around = [tuple(data.draw(st.integers(0, n + most[mode] if mode in most else 5)) for _ in range(2)) for n in sizes]
    x = np.random.default_rng(0).standard_normal((2, *sizes))
    t = gl.tensor(x, requires_grad=True)
    y = F.pad(t, [n for ends in reversed(around) for n in ends], mode=mode)
    np.testing.assert_array_equal(y.data, np.pad(x, [(0, 0), *around], mode=NUMPY[mode]))
    g, other = np.random.default_rng(1).standard_normal(y.shape), np.random.default_rng(2).standard_normal(x.shape)
    y.backward(gl.tensor(g))
    assert (t.grad.data * other).sum() == pytest.approx((g * np.pad(other, [(0, 0), *around], mode=NUMPY[mode])).sum())


def test_numpy_pads_a_tensor_in_its_own_words():
    x = gl.tensor([[1.0, 2.0]], requires_grad=True)
    y = np.pad(x, [(0, 0), (1, 1)], constant_values=5)
    assert y.tolist() == [[5, 1, 2, 5]] and y.requires_grad
    assert np.pad(x, [(0, 0), (1, 0)], mode="edge").tolist() == [[1, 1, 2]]
    assert np.pad(x, 1).shape == (3, 4)


@pytest.mark.parametrize(
    ("shape", "pad", "more", "error", "text"),
    [
        ((2, 3), (1,), {}, ArgumentError, "pad: numbers come in pairs, before and behind\n  pad   (1,)"),
        ((2, 3), (1, 1, 1, 1, 1, 1), {}, ShapeError, "pad: more pairs than axes\n  x     (2, 3)"),
        ((2, 3), (-2, -2), {}, ShapeError, "pad: more is cut off than there is"),
        ((2, 3), (3, 0), {"mode": "reflect"}, ShapeError, "pad: there is not enough to reflect\n  x     (2, 3)\n  pad   (3, 0)\n"),
        ((2, 3), (0, 4), {"mode": "circular"}, ShapeError, "need: numbers up to the size"),
        ((2, 0), (1, 1), {"mode": "replicate"}, ShapeError, "need: entries to take from"),
        ((3,), (1, 1), {"mode": "reflect"}, ShapeError, "pad: the number of axes does not fit reflect"),
        ((2, 3), (1, 1), {"mode": "mirror"}, ArgumentError, "pad: which mode?\n  mode  'mirror'"),
        ((2, 3), (1, 1), {"mode": "reflect", "value": 1.0}, ArgumentError, "pad: reflect takes its entries from x"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(shape, pad, more, error, text):
    with pytest.raises(error) as caught:
        F.pad(gl.zeros(*shape), pad, **more)
    assert text in str(caught.value)
