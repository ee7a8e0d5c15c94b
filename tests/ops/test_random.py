"""Dropout: one mask for value and gradient, the right scale, the extremes, and the seed."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl


def test_value_and_gradient_share_one_mask():
    x = gl.tensor(np.ones(4000), requires_grad=True)
    y = gl.dropout(x, p=0.25)
    assert set(np.unique(y.data.round(9))) == {0.0, round(4 / 3, 9)}
    assert abs((y.data == 0).mean() - 0.25) < 0.03
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.data, y.data)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_mean_stays(p):
    assert gl.dropout(gl.ones(100_000), p).data.mean() == pytest.approx(1.0, abs=0.03)


def test_nothing_happens_unless_training():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    assert gl.dropout(x, 0.9, training=False) is x and gl.dropout(x, 0.0) is x
    assert gl.dropout([1.0, 2.0], 0.9, training=False).tolist() == [1.0, 2.0]


def test_everything_dropped_is_zero_and_not_nan():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = gl.dropout(x, 1.0)
    y.sum().backward()
    assert y.tolist() == [0.0, 0.0] and x.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_p_is_a_probability(p):
    with pytest.raises(ValueError, match="dropout: p is the probability to drop an entry"):
        gl.dropout([1.0], p)
    with pytest.raises(ValueError, match="a number from 0 to 1"):
        gl.dropout([1.0], p, training=False)


def test_a_seed_repeats_the_mask_and_the_next_mask_is_another():
    gl.manual_seed(3)
    a, b = gl.dropout(gl.ones(50)), gl.dropout(gl.ones(50))
    gl.manual_seed(3)
    assert gl.dropout(gl.ones(50)).tolist() == a.tolist() != b.tolist()


def test_a_node_that_runs_again_keeps_what_it_drew():
    node = gl.dropout(gl.ones(50, requires_grad=True)).grad_fn
    mask = node.mask
    assert node.forward(np.ones(50, "float32"), p=0.5).tolist() == mask.tolist()
    assert node.mask is mask


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout_keeps_the_dtype(dtype):
    assert gl.dropout(gl.tensor(np.ones(5, dtype)), 0.5).dtype == dtype
