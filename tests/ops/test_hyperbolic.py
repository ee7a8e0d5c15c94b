"""Hyperbolic functions: known values and ends of the domains."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            gl.sinh,
            [-INF, -2.0, 0.0, 0.5],
            [-INF, -3.626860407847019, 0.0, 0.5210953054937474],
            [INF, 3.7621956910836314, 1.0, 1.1276259652063807],
        ),
        (
            gl.cosh,
            [-INF, -2.0, 0.0, 0.5],
            [INF, 3.7621956910836314, 1.0, 1.1276259652063807],
            [-INF, -3.626860407847019, 0.0, 0.5210953054937474],
        ),
        (
            gl.tanh,
            [-INF, -2.0, 0.0, 0.5, INF],
            [-1.0, -0.9640275800758169, 0.0, 0.46211715726000974, 1.0],
            [0.0, 0.07065082485316443, 1.0, 0.7864477329659274, 0.0],
        ),
        (
            gl.asinh,
            [-INF, -2.0, 0.0, 0.5],
            [-INF, -1.4436354751788103, 0.0, 0.48121182505960347],
            [0.0, 0.4472135954999579, 1.0, 0.8944271909999159],
        ),
        (gl.acosh, [1.0, 2.0, INF, 0.5], [0.0, 1.3169578969248166, INF, NAN], [INF, 0.5773502691896258, 0.0, NAN]),
        (
            gl.atanh,
            [-1.0, -0.5, 0.0, 0.9, 1.0],
            [-INF, -0.5493061443340548, 0.0, 1.4722194895832204, INF],
            [INF, 1.3333333333333333, 1.0, 5.263157894736843, INF],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


def test_below_one_the_inverse_of_cosh_is_nan_and_so_is_its_slope():
    x = gl.tensor([0.5, -3.0], requires_grad=True)
    gl.acosh(x).backward(gl.ones(2))
    assert np.isnan(gl.acosh(x).data).all() and np.isnan(x.grad.data).all()
