"""The larger and the smaller of two: ties and NaN."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "a", "b", "y", "da", "db"),
    [
        (
            gl.maximum,
            [1.0, 2.0, 3.0, NAN, 1.0, NAN, -INF],
            [1.0, 3.0, 2.0, 1.0, NAN, NAN, INF],
            [1.0, 3.0, 3.0, NAN, NAN, NAN, INF],
            [0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            [0.5, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        ),
        (
            gl.minimum,
            [1.0, 2.0, 3.0, NAN, 1.0, NAN, -INF],
            [1.0, 3.0, 2.0, 1.0, NAN, NAN, INF],
            [1.0, 2.0, 2.0, NAN, NAN, NAN, -INF],
            [0.5, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
            [0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0],
        ),
        (
            gl.fmax,
            [1.0, 2.0, 3.0, NAN, 1.0, NAN, -INF],
            [1.0, 3.0, 2.0, 1.0, NAN, NAN, INF],
            [1.0, 3.0, 3.0, 1.0, 1.0, NAN, INF],
            [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        ),
        (
            gl.fmin,
            [1.0, 2.0, 3.0, NAN, 1.0, NAN, -INF],
            [1.0, 3.0, 2.0, 1.0, NAN, NAN, INF],
            [1.0, 2.0, 2.0, 1.0, 1.0, NAN, -INF],
            [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
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


@pytest.mark.parametrize("f", [gl.maximum, gl.minimum])
def test_a_tie_halves_whatever_comes_in(f):
    a, b = gl.tensor([1.0, 2.0], requires_grad=True), gl.tensor([1.0, 2.0], requires_grad=True)
    f(a, b).backward(gl.tensor([4.0, -6.0]))
    assert a.grad.tolist() == b.grad.tolist() == [2.0, -3.0]


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_at_a_tie_each_side_gets_half_of_the_gradient_that_comes_in(name):
    a, b = [gl.tensor([1.0, 2.0], requires_grad=True) for _ in range(2)]
    getattr(gl, name)(a, b).backward(gl.tensor([3.0, -8.0]))
    assert a.grad.tolist() == b.grad.tolist() == [1.5, -4.0]
