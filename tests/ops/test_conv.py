"""Convolutions: numbers by hand, every way of walking against a plain loop, and errors that say which sizes differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError
from gradlab.ops import plan


def image(*shape):
    return gl.tensor(np.arange(1.0, np.prod(shape) + 1, dtype="float32").reshape(shape), requires_grad=True)


def by_loops(x, w, stride, low, high, dilation, groups):
    """The definition, one output entry at a time."""
    n, o, axes = len(x), len(w), x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *zip(low, high, strict=True)])
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    count = [(size - r) // s + 1 for size, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    y = np.zeros((n, o, *count))
    for at in np.ndindex(*y.shape):
        c = w.shape[1]
        first = at[1] // (o // groups) * c
        window = tuple([slice(p * s, p * s + r, d) for p, s, r, d in zip(at[2:], stride, reach, dilation, strict=True)])
        y[at] = (x[(at[0], slice(first, first + c), *window)] * w[at[1]]).sum()
    assert axes == len(count)
    return y


def test_a_kernel_is_not_turned_round():
    x, w = image(1, 1, 2, 3), gl.tensor([[[[1.0, 10.0]]]], requires_grad=True)
    y = F.conv2d(x, w, gl.tensor([0.5]))
    assert y.tolist() == [[[[21.5, 32.5], [54.5, 65.5]]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[[1, 11, 10], [1, 11, 10]]]] and w.grad.tolist() == [[[[12, 16]]]]


def test_rows_that_no_window_reaches_get_gradient_0():
    x, w = image(1, 1, 4, 4), image(1, 1, 3, 3)
    F.conv2d(x, w, stride=2).sum().backward()
    assert x.grad.tolist() == [[[[1, 2, 3, 0], [4, 5, 6, 0], [7, 8, 9, 0], [0, 0, 0, 0]]]]


def test_same_keeps_the_size_and_puts_an_odd_zero_behind():
    x, w = image(1, 1, 1, 3), gl.ones(1, 1, 1, 2)
    assert F.conv2d(x, w, padding="same").tolist() == [[[[3, 5, 3]]]]
    assert F.conv2d(x, w, padding="valid").tolist() == [[[[3, 5]]]]
    assert F.conv1d(gl.ones(1, 7), gl.ones(1, 1, 4), padding="same", dilation=2).shape == (1, 7)


def test_an_image_without_batch_comes_out_without_batch():
    x, w, b = image(2, 4, 3), image(3, 2, 2, 2), gl.ones(3)
    y, z = F.conv2d(x, w, b), F.conv2d(x.unsqueeze(0), w, b)
    assert y.shape == (3, 3, 2) and y.tolist() == z[0].tolist()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_walk_equals_the_definition_and_both_gradients_are_its_adjoints(data):
    def draw(low, high):
        return data.draw(st.integers(low, high))

    axes = draw(1, 3)
    stride, dilation = [tuple(draw(1, 3) for _ in range(axes)) for _ in range(2)]
    padding, kernel = tuple(draw(0, 2) for _ in range(axes)), tuple(draw(1, 3) for _ in range(axes))
    extra = [draw(0, 3) for _ in range(axes)]
    sizes = tuple(max(1, (k - 1) * d + 1 - 2 * p + e) for k, d, p, e in zip(kernel, dilation, padding, extra, strict=True))
    groups, n = draw(1, 2), draw(1, 3)
    x = np.random.default_rng(0).standard_normal((n, groups * draw(1, 2), *sizes))
    w = np.random.default_rng(1).standard_normal((groups * draw(1, 2), x.shape[1] // groups, *kernel))
    conv = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
    room, short = plan.HOST_ROOM, plan.SHORT
    plan.HOST_ROOM, plan.SHORT = draw(1, 2000), draw(1, 20)  # parts of every size, and both ways of making columns
    try:
        tx, tw = gl.tensor(x, requires_grad=True), gl.tensor(w, requires_grad=True)
        y = conv(tx, tw, stride=stride, padding=padding, dilation=dilation, groups=groups)
        want = by_loops(x, w, stride, padding, padding, dilation, groups)
        np.testing.assert_allclose(y.data, want, atol=1e-12)
        g = np.random.default_rng(2).standard_normal(y.shape)
        y.backward(gl.tensor(g))
    finally:
        plan.HOST_ROOM, plan.SHORT = room, short
    # y is linear in x and in w: <g, y> = <dx, x> = <dw, w>, here for other x and w than the ones that made dx and dw.
    other = np.random.default_rng(3).standard_normal(x.shape)
    assert (tx.grad.data * other).sum() == pytest.approx((g * by_loops(other, w, stride, padding, padding, dilation, groups)).sum())
    other = np.random.default_rng(4).standard_normal(w.shape)
    assert (tw.grad.data * other).sum() == pytest.approx((g * by_loops(x, other, stride, padding, padding, dilation, groups)).sum())


def test_the_bias_is_one_number_a_channel_at_every_place():
    rng = np.random.default_rng(0)
    for sizes, conv in [((6,), F.conv1d), ((6, 5), F.conv2d), ((6, 5, 4), F.conv3d)]:
        x, w, b = rng.standard_normal((3, 2, *sizes)), rng.standard_normal((2, 2, *[2] * len(sizes))), rng.standard_normal(2)
        np.testing.assert_allclose(conv(x, w, b).data, conv(x, w).data + b.reshape(2, *[1] * len(sizes)))


def test_large_images_are_worked_on_in_parts_and_nothing_is_lost_between_them():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 16, 70, 64), dtype="float32"), rng.standard_normal((2, 16, 3, 3), dtype="float32")
    y = F.conv2d(x, w, padding=1)
    np.testing.assert_allclose(y.data, gl.ops.Conv.reference(x, w, padding=1), rtol=1e-4, atol=1e-4)


def test_half_precision_sums_in_single():
    x, w = gl.ones(1, 1, 1, 4096).astype("float16"), gl.ones(1, 1, 1, 4096).astype("float16")
    y = F.conv2d(x, w)
    assert y.dtype == "float16" and y.item() == 4096  # float16 counts to 2048


CHANNELS = "conv2d: the numbers of channels differ\n  x      (1, 3, 8, 8)\n  weight (4, 2, 3, 3)\n  groups 1\n  need:  x with 2 channels"
LARGER = "conv2d: the kernel is larger than the padded input\n  x      (1, 1, 2, 2)\n  padded (2, 2)\n  kernel (3, 3)"
X_AXES = "the number of axes does not fit\n  x     (8, 8)\n  need: (batch, channel, height, width) or (channel, height, width)"
W_AXES = "the number of axes does not fit\n  weight (1, 3, 3)\n  need:  (out, in / groups, height, width)"
STRIDE = "this stride has no meaning\n  stride 0\n  need:  a whole number, 1 or more, or one for each of (height, width)"


@pytest.mark.parametrize(
    ("x", "w", "more", "error", "text"),
    [
        ((1, 3, 8, 8), (4, 2, 3, 3), {}, ShapeError, CHANNELS),
        ((1, 4, 8, 8), (4, 2, 3, 3), {}, ShapeError, "try:   groups=2"),
        ((1, 4, 8, 8), (4, 2, 3, 3), {"groups": 3}, ArgumentError, "the channels that come out don't split into groups"),
        ((1, 1, 2, 2), (1, 1, 3, 3), {}, ShapeError, LARGER),
        ((1, 1, 4, 4), (1, 1, 3, 3), {"dilation": 2}, ShapeError, "dilated (5, 5)"),
        ((8, 8), (1, 1, 3, 3), {}, ShapeError, X_AXES),
        ((1, 1, 8, 8), (1, 3, 3), {}, ShapeError, W_AXES),
        ((1, 1, 8, 8), (1, 1, 3, 3), {"stride": 0}, ArgumentError, STRIDE),
        ((1, 1, 8, 8), (1, 1, 3, 3), {"padding": (1, 2, 3)}, ArgumentError, "this padding has no meaning"),
        ((1, 1, 8, 8), (1, 1, 3, 3), {"padding": -1}, ArgumentError, "0 or more"),
        ((1, 1, 8, 8), (1, 1, 3, 3), {"dilation": 1.5}, ArgumentError, "this dilation has no meaning"),
        ((1, 1, 8, 8), (1, 1, 3, 3), {"padding": "same", "stride": 2}, ArgumentError, "a stride above 1 can't keep the size"),
        ((1, 1, 8, 8), (1, 1, 3, 3), {"padding": "full"}, ArgumentError, "conv2d: which padding?"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(x, w, more, error, text):
    with pytest.raises(error) as caught:
        F.conv2d(gl.zeros(*x), gl.zeros(*w), **more)
    assert text in str(caught.value)


def test_a_bias_and_dtypes_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"the bias does not fit the weight"):
        F.conv2d(gl.zeros(1, 1, 3, 3), gl.zeros(2, 1, 3, 3), gl.zeros(3))
    with pytest.raises(DTypeError, match="conv2d: the dtypes differ"):
        F.conv2d(gl.zeros(1, 1, 3, 3), gl.zeros(2, 1, 3, 3).double())
    with pytest.raises(DTypeError, match="conv2d: the dtypes differ"):
        F.conv2d(gl.zeros(1, 1, 3, 3), gl.zeros(2, 1, 3, 3), gl.zeros(2).double())


def test_only_the_gradient_that_is_wanted_is_computed():
    x, w, b = gl.ones(1, 1, 3, 3), gl.ones(2, 1, 2, 2, requires_grad=True), gl.ones(2)
    dx, dw, db = F.conv2d(x, w, b).grad_fn.backward(np.ones((1, 2, 2, 2), "float32"))
    assert dx is None and db is None and dw.shape == (2, 1, 2, 2)
