"""Quotients and remainders: signs, rounding, whole numbers, division by 0."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "a", "b", "y", "da", "db"),
    [
        (gl.div, [1.0, -7.0, 0.0, 5.0], [0.0, 2.0, 0.0, -4.0], [INF, -3.5, NAN, -1.25], [INF, 0.5, INF, -0.25], [-INF, 1.75, NAN, -0.3125]),
        (
            lambda a, b: gl.div(a, b, rounding_mode="floor"),
            [7.0, -7.0, 7.0, 5.0, 0.0, INF],
            [2.0, 2.0, -2.0, 0.0, 0.0, 2.0],
            [3.0, -4.0, -4.0, INF, NAN, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            lambda a, b: gl.div(a, b, rounding_mode="trunc"),
            [7.0, -7.0, 7.0, 5.0, 0.0, INF],
            [2.0, 2.0, -2.0, 0.0, 0.0, 2.0],
            [3.0, -3.0, -3.0, INF, NAN, INF],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (gl.floor_divide, [7.0, -7.0, 7.5], [2.0, 2.0, -2.0], [3.0, -4.0, -4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        (
            gl.remainder,
            [5.0, -5.0, 5.0, -5.0, 1.0, 3.0, -3.0],
            [3.0, 3.0, -3.0, -3.0, 0.0, INF, 2.5],
            [2.0, 1.0, -1.0, -2.0, NAN, 3.0, 2.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            [-1.0, 2.0, 2.0, -1.0, -INF, -0.0, 2.0],
        ),
        (
            gl.fmod,
            [5.0, -5.0, 5.0, -5.0, 1.0, 3.0, -3.0, 7.5],
            [3.0, 3.0, -3.0, -3.0, 0.0, INF, 2.5, 2.0],
            [2.0, -2.0, 2.0, -2.0, NAN, 3.0, -0.5, 1.5],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0, -1.0, -INF, -0.0, 1.0, -3.0],
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


def test_whole_numbers_are_divided_without_floats_between():
    big = gl.tensor([2**53 + 1, -(2**53) - 1])
    assert gl.div(big, 1, rounding_mode="trunc").tolist() == (big // 1).tolist() == [2**53 + 1, -(2**53) - 1]
    a, b = gl.tensor([7, -7, 7, -7, 6]), gl.tensor([2, 2, -2, -2, 3])
    assert (a // b).tolist() == [3, -4, -4, 3, 2] and (a % b).tolist() == [1, 1, -1, -1, 0]
    assert gl.div(a, b, rounding_mode="trunc").tolist() == [3, -3, -3, 3, 2] and gl.fmod(a, b).tolist() == [1, -1, 1, -1, 0]
    assert (a // b).dtype == (a % b).dtype == gl.fmod(a, b).dtype == "int64" and (a // 2.0).dtype == "float32"
    assert gl.div(gl.tensor([7], dtype="uint8"), 2, rounding_mode="trunc").dtype == "uint8"


@pytest.mark.parametrize("f", [gl.floor_divide, gl.remainder, gl.fmod, lambda a, b: gl.div(a, b, rounding_mode="trunc")])
def test_whole_numbers_divided_by_zero_are_an_error(f):
    for a, b in [(gl.tensor([1, 2]), gl.tensor([1, 0])), (gl.tensor([1]), 0), (1, gl.tensor([0]))]:
        with pytest.raises(ValueError, match="whole numbers divided by 0"):
            f(a, b)
    assert np.isfinite(f(gl.tensor([1, 2]), 2.0).data).all() and not np.isfinite(f(gl.tensor([1]), 0.0).data).any()


@pytest.mark.parametrize("f", [gl.floor_divide, gl.remainder, gl.fmod])
def test_truth_values_are_not_divided(f):
    with pytest.raises(TypeError, match=f"{f.__name__}: truth values"):
        f(gl.tensor([True]), gl.tensor([True]))


def test_operators_from_both_sides():
    x = gl.tensor([2.0, -3.0])
    assert (7 // x).tolist() == [3.0, -3.0] and (7 % x).tolist() == [1.0, -2.0] and (x // 2).tolist() == [1.0, -2.0]
    for (q, r), (a, b) in [(divmod(x, 2), (x, 2)), (divmod(7, x), (7, x))]:
        assert q.tolist() == (a // b).tolist() and r.tolist() == (a % b).tolist()
    assert (np.float32([7.0, 7.0]) % x).tolist() == [1.0, -2.0]


def test_a_rounding_mode_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r'need: +None, "floor" or "trunc"'):
        gl.div([1.0], 2.0, rounding_mode="up")
