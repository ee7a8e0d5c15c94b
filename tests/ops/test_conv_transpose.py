"""Transposed convolutions: numbers by hand, the adjoint of every convolution, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError


def test_every_entry_lays_the_kernel_down_and_what_overlaps_adds_up():
    x = gl.tensor([[[1.0, 2.0]]], requires_grad=True)
    w = gl.tensor([[[[1.0, 2.0], [3.0, 4.0]]]], requires_grad=True)
    y = F.conv_transpose2d(x, w, gl.tensor([0.5]))
    assert y.tolist() == [[[1.5, 4.5, 4.5], [3.5, 10.5, 8.5]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[10, 10]]] and w.grad.tolist() == [[[[3, 3], [3, 3]]]]


def test_stride_puts_room_between_and_output_padding_adds_behind():
    x, w = gl.tensor([[1.0, 2.0]]), gl.tensor([[[1.0, 10.0, 100.0]]])
    assert F.conv_transpose1d(x, w, stride=2).tolist() == [[1, 10, 102, 20, 200]]
    assert F.conv_transpose1d(x, w, stride=2, padding=1).tolist() == [[10, 102, 20]]
    assert F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1).tolist() == [[10, 102, 20, 200]]
    assert F.conv_transpose1d(x, gl.tensor([[[1.0, 10.0]]]), stride=3, output_padding=2).tolist() == [[1, 10, 0, 2, 20, 0, 0]]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_it_is_the_adjoint_of_the_convolution_with_the_same_weight(data):
    def draw(low, high):
        return data.draw(st.integers(low, high))

    axes, groups = draw(1, 3), draw(1, 2)
    stride, dilation, kernel = [tuple(draw(1, 3) for _ in range(axes)) for _ in range(3)]
    padding = tuple(draw(0, 2) for _ in range(axes))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    sizes = tuple(max(1, r - 2 * p + draw(0, 4)) for r, p in zip(reach, padding, strict=True))
    rng = np.random.default_rng(0)
    x = gl.tensor(rng.standard_normal((2, groups * draw(1, 2), *sizes)))
    w = gl.tensor(rng.standard_normal((groups * draw(1, 2), x.shape[1] // groups, *kernel)))
    conv, transpose = getattr(F, f"conv{axes}d"), getattr(F, f"conv_transpose{axes}d")
    y = conv(x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)
    g = gl.tensor(rng.standard_normal(y.shape))
    # What the stride rounded off comes back as output_padding, as far as that may go.
    over = [(n + 2 * p - r) % s for n, p, r, s in zip(sizes, padding, reach, stride, strict=True)]
    back = transpose(g, w, stride=stride, padding=padding, output_padding=tuple(over), dilation=dilation, groups=groups)
    assert back.shape == x.shape
    assert (back * x).sum().item() == pytest.approx((g * y).sum().item())


@pytest.mark.parametrize(
    ("x", "w", "more", "error", "text"),
    [
        ((1, 3, 4, 4), (4, 2, 3, 3), {}, ShapeError, "conv_transpose2d: the numbers of channels differ\n  x      (1, 3, 4, 4)"),
        ((1, 3, 4, 4), (3, 2, 3, 3), {"groups": 2}, ArgumentError, "the channels that come in don't split into groups"),
        ((1, 1, 4, 4), (1, 1, 3, 3), {"output_padding": 1}, ArgumentError, "output_padding is too large\n  output_padding 1"),
        ((1, 1, 1, 1), (1, 1, 1, 1), {"padding": 1}, ShapeError, "nothing would come out\n  x       (1, 1, 1, 1)"),
        ((4, 4), (1, 1, 3, 3), {}, ShapeError, "conv_transpose2d: the number of axes does not fit"),
        ((1, 1, 4, 4), (1, 3, 3), {}, ShapeError, "need:  (in, out / groups, height, width)"),
        ((1, 1, 4, 4), (1, 1, 3, 3), {"stride": 0}, ArgumentError, "this stride has no meaning"),
        ((1, 1, 4, 4), (1, 1, 3, 3), {"padding": "same"}, ArgumentError, "this padding has no meaning"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(x, w, more, error, text):
    with pytest.raises(error) as caught:
        F.conv_transpose2d(gl.zeros(*x), gl.zeros(*w), **more)
    assert text in str(caught.value)


def test_a_bias_and_dtypes_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"the bias does not fit the weight"):
        F.conv_transpose2d(gl.zeros(1, 1, 3, 3), gl.zeros(1, 2, 3, 3), gl.zeros(1))
    with pytest.raises(DTypeError, match="conv_transpose2d: the dtypes differ"):
        F.conv_transpose2d(gl.zeros(1, 1, 3, 3), gl.zeros(1, 2, 3, 3).double())
