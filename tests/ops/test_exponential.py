"""Exponentials and logarithms: small and large values, 0 and below."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            gl.exp2,
            [-INF, -1.0, 0.0, 3.0, 0.5],
            [0.0, 0.5, 1.0, 8.0, 1.4142135623730951],
            [0.0, 0.34657359027997264, 0.6931471805599453, 5.545177444479562, 0.9802581434685472],
        ),
        (
            gl.expm1,
            [-INF, -1.0, 0.0, 1e-10, 2.0],
            [-1.0, -0.6321205588285577, 0.0, 1.00000000005e-10, 6.38905609893065],
            [0.0, 0.36787944117144233, 1.0, 1.0000000001, 7.38905609893065],
        ),
        (
            gl.log2,
            [0.0, 0.25, 1.0, 3.0, INF, -1.0, NAN],
            [-INF, -2.0, 0.0, 1.584962500721156, INF, NAN, NAN],
            [INF, 5.7707801635558535, 1.4426950408889634, 0.48089834696298783, 0.0, -1.4426950408889634, NAN],
        ),
        (
            gl.log10,
            [0.0, 0.25, 1.0, 3.0, INF, -1.0, NAN],
            [-INF, -0.6020599913279624, 0.0, 0.47712125471966244, INF, NAN, NAN],
            [INF, 1.7371779276130075, 0.43429448190325187, 0.14476482730108395, 0.0, -0.43429448190325187, NAN],
        ),
        (
            gl.log1p,
            [-1.0, -0.5, 0.0, 1e-10, 2.0, INF, -2.0],
            [-INF, -0.6931471805599453, 0.0, 9.999999999500001e-11, 1.0986122886681098, INF, NAN],
            [INF, 2.0, 1.0, 0.9999999999, 0.3333333333333333, 0.0, -1.0],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("f", [gl.exp, gl.exp2, gl.expm1, gl.log, gl.log2, gl.log10, gl.log1p])
def test_integers_become_float32_and_floats_stay_what_they_are(f):
    assert f(gl.tensor([1, 2])).dtype == f(gl.tensor([True])).dtype == f(1.5).dtype == "float32"
    for dtype in ("float16", "float64"):
        assert f(gl.tensor(np.ones(2, dtype))).dtype == dtype
