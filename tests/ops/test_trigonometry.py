"""Angles: known values, ends of the domains, axes, and sizes whose square would overflow."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            gl.sin,
            [0.0, 0.5, 2.0, INF],
            [0.0, 0.479425538604203, 0.9092974268256817, NAN],
            [1.0, 0.8775825618903728, -0.4161468365471424, NAN],
        ),
        (
            gl.cos,
            [0.0, 0.5, 2.0, INF],
            [1.0, 0.8775825618903728, -0.4161468365471424, NAN],
            [-0.0, -0.479425538604203, -0.9092974268256817, NAN],
        ),
        (
            gl.tan,
            [0.0, 0.5, 2.0, INF],
            [0.0, 0.5463024898437905, -2.185039863261519, NAN],
            [1.0, 1.2984464104095248, 5.774399204041917, NAN],
        ),
        (
            gl.asin,
            [-1.0, 0.0, 0.5, 1.0, 2.0],
            [-1.5707963267948966, 0.0, 0.5235987755982989, 1.5707963267948966, NAN],
            [INF, 1.0, 1.1547005383792517, INF, NAN],
        ),
        (
            gl.acos,
            [-1.0, 0.0, 0.5, 1.0, 2.0],
            [3.141592653589793, 1.5707963267948966, 1.0471975511965976, 0.0, NAN],
            [-INF, -1.0, -1.1547005383792517, -INF, NAN],
        ),
        (gl.atan, [-INF, 0.0, 0.5, INF], [-1.5707963267948966, 0.0, 0.4636476090008061, 1.5707963267948966], [0.0, 1.0, 0.8, 0.0]),
        (gl.deg2rad, [180.0, -90.0], [3.141592653589793, -1.5707963267948966], [0.017453292519943295, 0.017453292519943295]),
        (gl.rad2deg, [3.141592653589793, -1.0], [180.0, -57.29577951308232], [57.29577951308232, 57.29577951308232]),
        (
            gl.sinc,
            [0.0, 0.5, 1.25, -2.5, INF],
            [1.0, 0.6366197723675814, -0.18006326323142122, 0.12732395447351627, NAN],
            [0.0, -1.2732395447351625, -0.4216348143641011, 0.05092958178940638, NAN],
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
            gl.atan2,
            [1.0, 0.0, 0.0, -0.0, -1.0, 2.0],
            [1.0, 0.0, -1.0, -1.0, 0.0, -3.0],
            [0.7853981633974483, 0.0, 3.141592653589793, -3.141592653589793, -1.5707963267948966, 2.5535900500422257],
            [0.5, 0.0, -1.0, -1.0, 0.0, -0.23076923076923078],
            [-0.5, -0.0, -0.0, 0.0, 1.0, -0.15384615384615385],
        ),
        (
            gl.hypot,
            [3.0, 0.0, 0.0, -5.0],
            [4.0, 0.0, 2.0, 12.0],
            [5.0, 0.0, 2.0, 13.0],
            [0.6, NAN, 0.0, -0.38461538461538464],
            [0.8, NAN, 1.0, 0.9230769230769231],
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


def test_large_and_small_sides_neither_overflow_nor_vanish():
    a, b = gl.tensor([1e30, 1e-30], requires_grad=True), gl.tensor([1e30, 1e-30], requires_grad=True)
    np.testing.assert_allclose(gl.hypot(a, b).data, [2**0.5 * 1e30, 2**0.5 * 1e-30], rtol=1e-6)
    gl.atan2(a, b).backward(gl.ones(2))
    np.testing.assert_allclose(a.grad.data, [0.5e-30, 0.5e30], rtol=1e-6)
    np.testing.assert_allclose(b.grad.data, [-0.5e-30, -0.5e30], rtol=1e-6)
    x = gl.tensor([1e25], requires_grad=True)
    gl.atan(x).backward()
    assert x.grad.item() == 0.0  # 1e-50
    gl.asinh(x).backward()
    np.testing.assert_allclose(x.grad.item(), 1e-25, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sinc_keeps_its_digits_near_zero(dtype):
    t = np.array([1e-6, 1e-3, 0.02, 0.09, 0.1])
    x = gl.tensor(t.astype(dtype), requires_grad=True)
    gl.sinc(x).backward(gl.tensor(np.ones(5, dtype)))
    series = sum((-1) ** k * 2 * k * np.pi ** (2 * k) * t ** (2 * k - 1) / math.factorial(2 * k + 1) for k in range(1, 12))
    np.testing.assert_allclose(x.grad.data, series, rtol=1e-13 if dtype == "float64" else 3e-6)


def test_sinc_of_whole_numbers_in_float16_is_nearly_zero():
    assert abs(gl.sinc(gl.tensor(np.float16([1.0, 2.0, 100.0]))).data).max() < 1e-4


@pytest.mark.parametrize(
    "f",
    [gl.sin, gl.cos, gl.tan, gl.asin, gl.acos, gl.atan, gl.sinc, gl.deg2rad, gl.rad2deg, gl.sinh, gl.cosh, gl.tanh, gl.asinh, gl.acosh]
    + [gl.atanh, gl.erf, gl.erfc, gl.erfinv, gl.lgamma, gl.digamma, gl.rsqrt, gl.reciprocal],
)
def test_integers_become_float32_and_floats_stay_what_they_are(f):
    assert f(gl.tensor([1])).dtype == f(gl.tensor([True])).dtype == f(1.0).dtype == f(1).dtype == "float32"
    for dtype in ("float16", "float64"):
        assert f(gl.tensor(np.ones(2, dtype))).dtype == dtype
