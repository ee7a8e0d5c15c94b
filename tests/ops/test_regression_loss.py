"""Losses of numbers against numbers wanted: where the pieces meet, what weights do, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError

PLAIN = [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss]


def slopes(loss, at, **kw):
    x = gl.tensor(np.array(at, "float64"), requires_grad=True)
    y = loss(x, np.zeros(len(at)), reduction="none", **kw)
    y.sum().backward()
    return y.tolist(), x.grad.tolist()


def test_the_slope_at_a_hit_is_zero_and_beyond_the_parabola_constant():
    at = [-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]
    assert slopes(F.l1_loss, at) == ([3.0, 1.0, 0.5, 0.0, 0.5, 1.0, 3.0], [-1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0])
    pieces = ([2.5, 0.5, 0.125, 0.0, 0.125, 0.5, 2.5], [-1.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0])
    assert slopes(F.smooth_l1_loss, at) == pieces == slopes(F.huber_loss, at)


def test_beta_and_delta_say_where_the_pieces_meet():
    assert slopes(F.smooth_l1_loss, [0.5, 3.0], beta=2.0) == ([0.0625, 2.0], [0.25, 1.0])
    assert slopes(F.huber_loss, [0.5, 3.0], delta=2.0) == ([0.125, 4.0], [0.5, 2.0])
    assert slopes(F.smooth_l1_loss, [0.0, -3.0], beta=0.0) == ([0.0, 3.0], [0.0, -1.0])


@pytest.mark.parametrize("loss", PLAIN)
def test_a_mean_over_nothing_is_nan_and_its_sum_zero(loss):
    assert np.isnan(loss(gl.zeros(0, 3), gl.zeros(0, 3)).item())
    assert loss(gl.zeros(0, 3), gl.zeros(0, 3), reduction="sum").item() == 0.0


@pytest.mark.parametrize("loss", PLAIN)
def test_shapes_that_would_broadcast_and_integers_are_refused(loss):
    with pytest.raises(ShapeError, match=r"input and target have different shapes\n  input  \(4, 1\)\n  target \(4,\)"):
        loss(gl.zeros(4, 1), gl.zeros(4))
    with pytest.raises(DTypeError, match=r"loss: takes floating numbers\n  dtype int64"):
        loss(gl.tensor([1, 2]), gl.tensor([1, 3]))
    with pytest.raises(ArgumentError, match="which reduction"):
        loss(gl.zeros(2), gl.zeros(2), reduction="average")


def test_the_dtypes_meet_as_in_arithmetic():
    assert F.l1_loss(gl.zeros(2), gl.zeros(2, dtype="float64")).dtype == "float64"
    assert F.mse_loss(gl.tensor([1, 2]), gl.zeros(2)).dtype == "float32"
    half = gl.tensor(np.full(5000, 1.0, "float16"))
    assert F.l1_loss(half, half * 0, reduction="sum").item() == 5000.0 and F.huber_loss(half, half * 0).dtype == "float16"


def test_a_weighted_mean_divides_by_the_weights_but_that_of_huber_by_their_number():
    x, t = [1.0, 2.0, 4.0], [0.0, 0.0, 0.0]
    w = gl.tensor([1.0, 0.0, 3.0], requires_grad=True)
    assert F.mse_loss(x, t, weight=w).item() == 49 / 4 and F.l1_loss(x, t, weight=w).item() == 13 / 4
    assert F.huber_loss(x, t, weight=w).item() == pytest.approx(11 / 3)
    assert F.l1_loss(x, t, weight=w, reduction="sum").item() == 13.0
    assert F.huber_loss(x, t, weight=w, reduction="none").tolist() == [0.5, 0.0, 10.5]
    F.l1_loss(x, t, weight=w).backward()
    assert w.grad.tolist() == [-0.5625, -0.3125, 0.1875]
    with pytest.raises(ShapeError, match=r"mse_loss: one weight an entry\n  input  \(3,\)\n  weight \(1,\)"):
        F.mse_loss(x, t, weight=[1.0])


def test_a_kink_at_no_place_is_refused():
    for delta in (0.0, -1.0):
        with pytest.raises(ArgumentError, match="huber_loss: where does it turn linear"):
            F.huber_loss([1.0], [0.0], delta=delta)
    with pytest.raises(ArgumentError, match="smooth_l1_loss: where does it turn linear"):
        F.smooth_l1_loss([1.0], [0.0], beta=-1.0)
