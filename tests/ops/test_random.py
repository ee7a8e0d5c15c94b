"""Dropout: one mask for value and gradient, the right scale, the extremes, and the seed."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, KeywordError


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


@pytest.mark.parametrize("p", [0.5, 0.1, 0.999, 1 / 3, 1e-3])
def test_bytes_drop_with_the_right_probability(p):
    n = 2_000_000
    dropped = (gl.dropout(gl.ones(n), p).data == 0).mean()
    assert abs(dropped - p) < 5 * (p * (1 - p) / n) ** 0.5


def test_draws_do_not_follow_the_memory_layout_or_the_dtype():
    masks = []
    for x in (np.ones((7, 9), "float32"), np.ones((9, 7)).T, np.ones((7, 9), "float16")):
        gl.manual_seed(1)
        masks.append((gl.dropout(gl.tensor(x), 0.3).data != 0).tolist())
    assert masks[0] == masks[1] == masks[2]


def test_integers_are_refused():
    with pytest.raises(TypeError, match="dropout: takes floating numbers"):
        gl.dropout(gl.tensor([1, 2]), 0.5)


@pytest.mark.parametrize(
    ("op", "shape"),
    [
        (F.dropout1d, (40, 30, 5)),
        (F.dropout1d, (900, 5)),
        (F.dropout2d, (40, 30, 2, 3)),
        (F.dropout2d, (40, 30, 3)),
        (F.dropout3d, (40, 30, 2, 2, 2)),
        (F.dropout3d, (900, 2, 2, 2)),
    ],
)
def test_whole_channels_are_dropped(op, shape):
    x = gl.tensor(np.ones(shape), requires_grad=True)
    y = op(x, 0.25)
    channels = y.data.reshape(
        -1 if len(shape) in (2, 4) and shape[0] == 900 else shape[0] * shape[1], int(np.prod(shape)) // (900 if shape[0] == 900 else 1200)
    )
    assert (channels == channels[:, :1]).all() and set(np.unique(channels.round(9))) == {0.0, round(4 / 3, 9)}
    assert abs((channels[:, 0] == 0).mean() - 0.25) < 0.07
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.data, y.data)
    assert op(x, 0.25, training=False) is x and op(x, 0.0) is x


def test_channels_need_the_axes_for_them():
    for op, shape in ((F.dropout1d, (3,)), (F.dropout2d, (3, 4)), (F.dropout3d, (3, 4, 5)), (F.feature_alpha_dropout, (3,))):
        with pytest.raises(ValueError, match=f"{op.__name__}: these axes are not a batch of channels"):
            op(gl.ones(*shape), 0.5, training=True)
    with pytest.raises(ValueError, match="dropout2d: p is the probability"):
        F.dropout2d(gl.ones(1, 1, 1, 1), 2.0)


def test_alpha_dropout_keeps_mean_and_variance():
    x = gl.tensor(np.random.default_rng(0).standard_normal(400_000), requires_grad=True)
    y = F.alpha_dropout(x, 0.5, training=True)
    assert abs(y.data.mean()) < 0.01 and abs(y.data.var() - 1) < 0.01
    assert F.alpha_dropout(x, 0.5) is x
    y = F.alpha_dropout(gl.ones(9), 0.5, training=True)
    assert set(y.data.round(4).tolist()) <= {np.float32(1.6656).item(), np.float32(-0.7792).item()}
    x = gl.ones(3, requires_grad=True)
    y = F.alpha_dropout(x, 1.0, training=True)
    y.sum().backward()
    assert y.tolist() == [0.0] * 3 == x.grad.tolist()


def test_feature_alpha_dropout_drops_channels():
    y = F.feature_alpha_dropout(gl.ones(30, 20, 4), 0.5, training=True).data
    assert (y == y[:, :, :1]).all() and len(np.unique(y)) == 2


@pytest.mark.parametrize("drop", [F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout])
def test_dropout_in_place_is_refused_and_said_no_to_is_fine(drop):
    x = gl.ones(2, 2, 2) if drop is F.dropout1d else gl.ones(2, 2, 2, 2)
    assert drop(x, 0.5, False, inplace=False) is not None
    with pytest.raises(KeywordError, match="always a new tensor"):
        drop(x, inplace=True)
    with pytest.raises(ArgumentError, match="p is the probability"):
        drop(x, "a", True)
