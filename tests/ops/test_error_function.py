"""The error function against Python's own, and its inverse against it."""

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
            gl.erf,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-1.0, -0.9953222650189527, -0.5204998778130465, 0.0, 0.5204998778130465, 0.9953222650189527, 1.0, NAN],
            [0.0, 0.020666985354092053, 0.8787825789354448, 1.1283791670955126, 0.8787825789354448, 0.020666985354092053, 0.0, NAN],
        ),
        (
            gl.erfc,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [2.0, 1.9953222650189528, 1.5204998778130465, 1.0, 0.4795001221869535, 0.004677734981047266, 0.0, NAN],
            [-0.0, -0.020666985354092053, -0.8787825789354448, -1.1283791670955126, -0.8787825789354448, -0.020666985354092053, -0.0, NAN],
        ),
        (
            gl.erfinv,
            [0.0, 0.5, -0.5, 1.0, -1.0, 2.0, NAN],
            [0.0, 0.4769362762044699, -0.4769362762044699, INF, -INF, NAN, NAN],
            [0.8862269254527579, 1.1125848189719496, 1.1125848189719496, INF, INF, NAN, NAN],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


X = np.concatenate([np.linspace(-6, 6, 2001), 10.0 ** np.linspace(-300, 0, 61), np.linspace(6, 26, 101), [15 / 32, 4.0]])


def test_erf_and_erfc_have_all_digits_everywhere():
    for f, formula in ((gl.erf, math.erf), (gl.erfc, math.erfc)):
        want = np.array([formula(v) for v in X])
        np.testing.assert_allclose(f(gl.tensor(X)).data, want, rtol=1e-15)
        single = X[np.abs(X) < 9].astype("float32")
        np.testing.assert_allclose(f(gl.tensor(single)).data, [formula(v) for v in single], rtol=8e-7, atol=1e-38)


def test_the_inverse_finds_back_every_number():
    for y in (np.linspace(-0.999, 0.999, 1001), 1 - 10.0 ** np.linspace(-15, -1, 15), 10.0 ** np.linspace(-300, -1, 31)):
        x = gl.erfinv(gl.tensor(y)).data
        np.testing.assert_allclose([math.erf(v) for v in x], y, rtol=1e-15)
    np.testing.assert_allclose(gl.erfinv(gl.tensor([0.5, -0.75])).data, [0.47693628, -0.81341985], rtol=1e-6)
