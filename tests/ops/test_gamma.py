"""The gamma function against Python's own; poles, reflections, and the slopes."""

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
            gl.lgamma,
            [0.5, 1.5, 3.0, 10.5, -0.5, -1.5, -3.2, 100000.0],
            [
                0.5723649429247001,
                -0.12078223763524522,
                0.6931471805599453,
                13.940625219403763,
                1.2655121234846454,
                0.860047015376481,
                -0.37243213612996867,
                1051287.7089736569,
            ],
            [
                -1.9635100260214229,
                0.036489973978576194,
                0.922784335098467,
                2.3030010342976865,
                0.03648997397857639,
                0.7031566406452433,
                5.635370221172645,
                11.512920464961896,
            ],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


EULER = 0.5772156649015329


def test_lgamma_is_pythons():
    x = np.concatenate([np.linspace(-20.03, 30, 1001), 10.0 ** np.linspace(-8, 8, 33)])
    want = np.array([math.lgamma(v) for v in x])
    y = gl.lgamma(gl.tensor(x)).data
    assert (np.abs(y - want) <= 1e-13 * np.maximum(np.abs(want), 1)).all()
    single = x[500:].astype("float32")
    np.testing.assert_allclose(gl.lgamma(gl.tensor(single)).data, [math.lgamma(v) for v in single], rtol=1e-6, atol=1e-7)


def test_digamma_and_its_slope_at_places_where_both_are_known():
    x = gl.tensor(np.array([1.0, 2.0, 0.5, 1.5, -0.5, -1.5, 12.0]), requires_grad=True)
    y = gl.digamma(x)
    y.backward(gl.ones_like(y))
    log4, z2 = np.log(4), np.pi**2 / 6
    half = [-EULER - log4, 2 - EULER - log4, 2 - EULER - log4, 2 + 2 / 3 - EULER - log4]
    np.testing.assert_allclose(y.data, [-EULER, 1 - EULER, *half, sum(1 / k for k in range(1, 12)) - EULER], rtol=1e-13)
    slopes = [z2, z2 - 1, 3 * z2, 3 * z2 - 4, 3 * z2 + 4, 3 * z2 + 4 + 4 / 9, z2 - sum(1 / k**2 for k in range(1, 12))]
    np.testing.assert_allclose(x.grad.data, slopes, rtol=1e-13)


def test_at_its_poles_gamma_is_infinite_and_its_slope_has_no_sign():
    x = gl.tensor(np.array([0.0, -0.0, -1.0, -4.0, INF, -INF]), requires_grad=True)
    y = gl.lgamma(x)
    assert y.tolist() == [INF] * 6
    y.backward(gl.ones_like(y))
    np.testing.assert_array_equal(x.grad.data, [-INF, INF, NAN, NAN, INF, NAN])
    np.testing.assert_array_equal(gl.digamma(x).data, [-INF, INF, NAN, NAN, INF, NAN])
