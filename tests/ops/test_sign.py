"""Signs: zeros that have one, and where they carry a gradient."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (abs, [-INF, -2.0, 0.0, 3.0, INF], [INF, 2.0, 0.0, 3.0, INF], [-1.0, -1.0, 0.0, 1.0, 1.0]),
        (gl.sign, [-INF, -2.0, 0.0, 3.0, INF], [-1.0, -1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0]),
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
            gl.copysign,
            [3.0, -3.0, 3.0, 0.0, 0.0, 2.0],
            [2.0, -0.0, -2.0, 2.0, -0.0, NAN],
            [3.0, -3.0, -3.0, 0.0, -0.0, 2.0],
            [1.0, 1.0, -1.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
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


def test_a_zero_has_a_sign():
    assert gl.signbit([-0.0, 0.0, -1.0, -INF, 2.0]).tolist() == [True, False, True, True, False]
    assert gl.signbit(gl.tensor([-1, 0])).tolist() == [True, False]
    assert np.signbit(gl.copysign(gl.tensor([0.0]), -1.0).data).all()


def test_signs_of_integers_and_truth_values():
    assert gl.sign(gl.tensor([-3, 0, 2])).tolist() == [-1, 0, 1] and gl.sign(gl.tensor([True, False])).tolist() == [True, False]
    assert gl.copysign(gl.tensor([3]), -1).dtype == "float32" and np.isnan(gl.sign([NAN]).data).all()


def test_heaviside_takes_its_second_argument_at_zero_alone():
    x, v = gl.tensor([-1.0, 0.0, -0.0, 2.0, NAN], requires_grad=True), gl.tensor([5.0, 6.0, 7.0, 8.0, 9.0], requires_grad=True)
    y = gl.heaviside(x, v)
    np.testing.assert_array_equal(y.data, [0.0, 6.0, 7.0, 1.0, NAN])
    y.backward(gl.tensor([2.0] * 5))
    assert x.grad.tolist() == [0.0] * 5 and v.grad.tolist() == [0.0, 2.0, 2.0, 0.0, 0.0]
    assert gl.heaviside(gl.tensor([3, 0]), gl.tensor([4, 4])).tolist() == [1, 4]


@pytest.mark.parametrize(("f", "try_"), [(gl.neg, "~x"), (gl.abs, ""), (lambda x: x - x, "a ^ b"), (gl.positive, "")])
def test_truth_values_have_no_sign(f, try_):
    with pytest.raises(TypeError, match="truth values have no such thing") as error:
        f(gl.tensor([True]))
    assert ("try:" in str(error.value)) == bool(try_) and try_ in str(error.value)
