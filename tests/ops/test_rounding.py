"""Rounding: halves, places, whole numbers; the slope is 0."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            gl.floor,
            [-INF, -2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 2.7, INF, NAN],
            [-INF, -3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 2.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            gl.ceil,
            [-INF, -2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 2.7, INF, NAN],
            [-INF, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, 3.0, 3.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            gl.trunc,
            [-INF, -2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 2.7, INF, NAN],
            [-INF, -2.0, -1.0, -0.0, 0.0, 0.0, 1.0, 2.0, 2.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (
            gl.round,
            [-INF, -2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 2.7, INF, NAN],
            [-INF, -2.0, -2.0, -0.0, 0.0, 0.0, 2.0, 2.0, 3.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ),
        (lambda x: gl.round(x, decimals=1), [2.345, -0.05, 1234.56], [2.3, -0.0, 1234.6], [0.0, 0.0, 0.0]),
        (lambda x: gl.round(x, decimals=-2), [1250.0, 1350.0, -49.0], [1200.0, 1400.0, -0.0], [0.0, 0.0, 0.0]),
        (gl.frac, [-1.25, 1.5, 0.0, INF], [-0.25, 0.5, 0.0, NAN], [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("f", [gl.floor, gl.ceil, gl.trunc, gl.fix, gl.round])
def test_integers_are_whole_already_and_truth_values_no_numbers(f):
    x = gl.tensor([1, -2])
    y = f(x)
    assert y.dtype == "int64" and y.tolist() == [1, -2] and not np.shares_memory(y.data, x.data)
    with pytest.raises(TypeError, match="truth values"):
        f(gl.tensor([True]))


def test_what_would_be_a_fraction_of_integers_is_refused():
    for f in (gl.frac, lambda x: gl.round(x, decimals=1)):
        with pytest.raises(TypeError, match="takes floating numbers"):
            f(gl.tensor([1]))


def test_float16_is_rounded_to_places_without_overflow():
    assert gl.round(gl.tensor(np.float16([1234.0, 0.125])), decimals=2).tolist() == [1234.0, float(np.float16(0.12))]
