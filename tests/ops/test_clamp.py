"""Bounds: numbers and tensors, one side or both, in the wrong order, and NaN."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            lambda x: gl.clamp(x, -0.5, 2),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-0.5, -0.5, -0.5, 0.0, 0.5, 2.0, 2.0, NAN],
            [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
        ),
        (
            lambda x: gl.clamp(x, 2, -0.5),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            lambda x: gl.clamp(x, min=0.5),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [0.5, 0.5, 0.5, 0.5, 0.5, 2.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
        ),
        (
            lambda x: gl.clip(x, max=0),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-INF, -2.0, -0.5, 0.0, 0.0, 0.0, 0.0, NAN],
            [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            gl.nan_to_num,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-1.7976931348623157e308, -2.0, -0.5, 0.0, 0.5, 2.0, 1.7976931348623157e308, 0.0],
            [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
        ),
        (
            lambda x: gl.nan_to_num(x, 1.0, 2.0, 3.0),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [3.0, -2.0, -0.5, 0.0, 0.5, 2.0, 2.0, 1.0],
            [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("f", "a", "b", "y", "da", "db"),
    [
        (
            gl.clamp_min,
            [0.0, 1.0, 2.0, NAN, 1.0],
            [1.0, 1.0, 1.0, 0.0, NAN],
            [1.0, 1.0, 2.0, NAN, NAN],
            [0.0, 1.0, 1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            gl.clamp_max,
            [0.0, 1.0, 2.0, NAN, 1.0],
            [1.0, 1.0, 1.0, 0.0, NAN],
            [0.0, 1.0, 1.0, NAN, NAN],
            [1.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0, 0.0],
        ),
    ],
)
def test_two_operands_and_both_gradients_are_those_of_pytorch(f, a, b, y, da, db):
    s, t = gl.tensor(np.array(a), requires_grad=True), gl.tensor(np.array(b), requires_grad=True)
    out = f(s, t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(s.grad.data, da, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(t.grad.data, db, rtol=1e-12, atol=1e-300)


def test_bounds_that_are_tensors_get_the_gradient_of_what_they_moved():
    x = gl.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 2.0, NAN, 2.0], requires_grad=True)
    low = gl.tensor([1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 0.0, NAN], requires_grad=True)
    high = gl.tensor([3.0], requires_grad=True)
    y = gl.clamp(x, low, high)
    np.testing.assert_array_equal(y.data, [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, NAN, NAN])
    y.backward(gl.ones(8))
    assert x.grad.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0] and low.grad.tolist() == [1.0] + [0.0] * 7
    assert high.grad.tolist() == [2.0]


def test_a_fraction_as_bound_makes_integers_floats():
    x = gl.tensor([1, 2, 3])
    assert gl.clamp(x, 1.5, 2.5).tolist() == [1.5, 2.0, 2.5] and gl.clamp(x, 1.5).dtype == "float32"
    assert gl.clamp(x, 2).dtype == gl.clamp(x, gl.tensor([2])).dtype == "int64"
    assert gl.clamp(x, gl.tensor(1.5)).dtype == "float32" and gl.clamp(gl.tensor([True]), 0, 1).dtype == "int64"


def test_a_number_and_a_tensor_are_bounds_together():
    x = gl.tensor([-2.0, 0.5, 2.0], requires_grad=True)
    y = x.clamp(-1.0, gl.tensor([[1.0], [0.0]]))
    assert y.tolist() == [[-1.0, 0.5, 1.0], [-1.0, 0.0, 0.0]]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_the_largest_numbers_of_a_dtype_stand_for_infinity():
    for dtype in ("float16", "float32", "float64"):
        y = gl.nan_to_num(gl.tensor(np.array([INF, -INF], dtype)))
        assert y.tolist() == [np.finfo(dtype).max, np.finfo(dtype).min] and y.dtype == dtype
    assert gl.nan_to_num(gl.tensor([1, 2])).dtype == "int64"
