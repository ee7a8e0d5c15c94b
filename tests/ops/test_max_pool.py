"""Max pooling: ties, padding, overlap, remainders, NaN and integers, against numbers and against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, ShapeError
from gradlab.ops import pooling


def test_the_first_of_equal_entries_in_reading_order_gets_the_gradient():
    x = gl.tensor([[[0.0, 5.0], [5.0, 0.0]], [[5.0, 5.0], [5.0, 5.0]]], requires_grad=True)
    F.max_pool2d(x, 2).sum().backward()
    assert x.grad.tolist() == [[[0, 1], [0, 0]], [[1, 0], [0, 0]]]


def test_padding_is_less_than_any_number():
    x = gl.tensor([[[[-1.0, -2.0], [-3.0, -4.0]]]], requires_grad=True)
    y = F.max_pool2d(x, 2, stride=2, padding=1)
    assert y.tolist() == [[[[-1, -2], [-3, -4]]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[[1, 1], [1, 1]]]]


def test_gradients_of_windows_that_overlap_add_up():
    x = gl.tensor([[[[1.0, 9.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]]], requires_grad=True)
    y = F.max_pool2d(x, 2, stride=1)
    assert y.tolist() == [[[[9, 9], [7, 8]]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[[0, 2, 0], [0, 0, 0], [0, 1, 1]]]]


def test_what_remains_behind_the_last_window_is_left_out_or_taken_with_ceil_mode():
    x = gl.tensor([[1.0, 2.0, 3.0, 4.0, 9.0]])
    assert F.max_pool1d(x, 2).tolist() == [[2, 4]]
    assert F.max_pool1d(x, 2, ceil_mode=True).tolist() == [[2, 4, 9]]
    assert F.max_pool1d(x, 3, stride=4, padding=1, ceil_mode=True).tolist() == [[2, 9]]


def test_nan_wins_and_keeps_its_gradient_in_the_window():
    x = gl.tensor([[[1.0, float("nan"), 2.0, 3.0]]], requires_grad=True)
    y = F.max_pool2d(x, (1, 2))
    assert np.isnan(y.data[0, 0, 0]) and y.data[0, 0, 1] == 3
    y.backward(gl.ones(1, 1, 2))
    assert x.grad.data[0, 0, :2].sum() == 1 and x.grad.tolist()[0][0][2:] == [0, 1]


def test_infinite_gradients_go_to_one_entry_alone():
    x = gl.tensor([[1.0, 2.0, 4.0, 3.0]], requires_grad=True)
    F.max_pool1d(x, 2).backward(gl.tensor([[float("inf"), 1.0]]))
    assert x.grad.tolist() == [[0, float("inf"), 1, 0]]


def test_integers_have_a_least_value_too():
    x = gl.tensor(np.array([[[-5, -3], [-9, -7]]], "int8"))
    y = F.max_pool2d(x, 2, stride=1, padding=1)
    assert y.dtype == "int8" and y.tolist() == [[[-5, -3, -3], [-5, -3, -3], [-9, -7, -7]]]


def test_indices_are_places_in_the_flattened_image():
    x = gl.tensor(np.random.default_rng(0).standard_normal((2, 3, 5, 6)))
    y, places = F.max_pool2d(x, 3, stride=2, padding=1, return_indices=True)
    assert places.dtype == "int64"
    flat = x.data.reshape(2, 3, 30)
    np.testing.assert_array_equal(np.take_along_axis(flat, places.data.reshape(2, 3, -1), 2).reshape(y.shape), y.data)
    nan = gl.tensor([[[1.0, float("nan"), float("nan")]]])
    assert F.max_pool2d(nan, (1, 3), return_indices=True).indices.tolist() == [[[2]]]  # the last NaN, as in PyTorch


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_walk_equals_a_loop_over_windows(data):
    def draw(low, high):
        return data.draw(st.integers(low, high))

    axes = draw(1, 3)
    kernel, stride, dilation = [tuple(draw(1, 3) for _ in range(axes)) for _ in range(3)]
    padding = tuple(draw(0, k // 2) if d == 1 else 0 for k, d in zip(kernel, dilation, strict=True))
    sizes = tuple(max(1, (k - 1) * d + 1 + draw(0, 3)) for k, d in zip(kernel, dilation, strict=True))
    x = np.random.default_rng(0).integers(-3, 3, (2, *sizes)).astype(float)
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
    t = gl.tensor(x, requires_grad=True)
    before, pooling.BLOCK = pooling.BLOCK, draw(1, 100)
    try:
        y = pool(t, kernel, stride=stride, padding=padding, dilation=dilation)
        y.backward(gl.tensor(np.arange(1.0, y.data.size + 1).reshape(y.shape)))
    finally:
        pooling.BLOCK = before
    wide = np.pad(x, [(0, 0), *[(p, p) for p in padding]], constant_values=-np.inf)
    want, dx = np.zeros(y.shape), np.zeros(wide.shape)
    for i, at in enumerate(np.ndindex(*y.shape)):
        steps = zip(at[1:], stride, kernel, dilation, strict=True)
        window = (at[0], *[slice(p * s, p * s + (k - 1) * d + 1, d) for p, s, k, d in steps])
        want[at] = wide[window].max()
        first = np.unravel_index(wide[window].argmax(), wide[window].shape)
        dx[window][first] += i + 1
    np.testing.assert_array_equal(y.data, want)
    np.testing.assert_array_equal(t.grad.data, dx[(slice(None), *[slice(p, p + n) for p, n in zip(padding, sizes, strict=True)])])


@pytest.mark.parametrize(
    ("shape", "more", "error", "text"),
    [
        ((1, 1, 4, 4), {"kernel_size": 2, "padding": 2}, ArgumentError, "max_pool2d: more padding than half a kernel\n  padding     2"),
        ((1, 1, 4, 4), {"kernel_size": 5}, ShapeError, "max_pool2d: the kernel is larger than the padded input"),
        ((4, 4), {"kernel_size": 2}, ShapeError, "max_pool2d: the number of axes does not fit"),
        ((1, 1, 4, 4), {"kernel_size": 0}, ArgumentError, "max_pool2d: this kernel_size has no meaning"),
        ((1, 1, 4, 4), {"kernel_size": 2, "stride": (1, 0)}, ArgumentError, "max_pool2d: this stride has no meaning"),
        ((1, 1, 4, 4), {"kernel_size": (2, 2, 2)}, ArgumentError, "or one for each of (height, width)"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(shape, more, error, text):
    with pytest.raises(error) as caught:
        F.max_pool2d(gl.zeros(*shape), **more)
    assert text in str(caught.value)
