"""Sums of what is given as logarithms, and x log y: infinities, zeros and NaN."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "a", "b", "y", "da", "db"),
    [
        (
            gl.xlogy,
            [0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0],
            [0.0, 1.0, NAN, 0.0, 2.0, INF, -1.0],
            [0.0, 0.0, NAN, -INF, 1.3862943611198906, 0.0, 0.0],
            [0.0, 0.0, NAN, -INF, 0.6931471805599453, INF, 0.0],
            [NAN, 0.0, NAN, INF, 1.0, 0.0, -0.0],
        ),
        (
            gl.logaddexp,
            [0.0, 100.0, -INF, -800.0, 3.0],
            [0.0, 200.0, 1.0, -801.0, 2.5],
            [0.6931471805599453, 200.0, 1.0, -799.6867383124818, 3.4740769841801065],
            [0.5, 3.7200759760208356e-44, 0.0, 0.7310585786300049, 0.6224593312018546],
            [0.5, 1.0, 1.0, 0.2689414213699951, 0.3775406687981454],
        ),
        (
            gl.logaddexp2,
            [0.0, 100.0, -INF, -2000.0, 3.0],
            [0.0, 300.0, 1.0, -2001.0, 2.5],
            [1.0, 300.0, 1.0, -1999.415037499279, 3.771553303163612],
            [0.5, 6.223015277861142e-61, 0.0, 0.6666666666666666, 0.585786437626905],
            [0.5, 1.0, 1.0, 0.3333333333333333, 0.4142135623730951],
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


def test_infinities_of_one_sign_add_up_without_a_warning():
    for f in (gl.logaddexp, gl.logaddexp2):
        assert f(gl.tensor([INF, -INF]), gl.tensor([INF, -INF])).tolist() == [INF, -INF]


@pytest.mark.parametrize("f", [gl.xlogy, gl.logaddexp, gl.logaddexp2, gl.hypot, gl.atan2, gl.copysign])
def test_a_number_widens_nothing_and_integers_become_float32(f):
    x = gl.tensor([1.0, 2.0])
    assert f(x, 2).dtype == f(2.5, x).dtype == f(x, np.float64(2)).dtype == f(gl.tensor([1]), gl.tensor([2])).dtype == "float32"
    assert f(gl.tensor(np.float16([1])), 2.5).dtype == "float16" and f(gl.tensor([1]), 2).dtype == f(1, 2.0).dtype == "float32"
