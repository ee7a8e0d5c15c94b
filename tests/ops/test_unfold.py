"""Windows copied out and added back: places, adjoints, convolution as one product, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DimError, ShapeError


def test_fold_adds_up_what_overlaps():
    x = gl.tensor([[[1.0, 2.0, 3.0]]])
    columns = F.unfold(x, (1, 2))
    assert columns.tolist() == [[1, 2], [2, 3]]
    assert F.fold(columns, (1, 3), (1, 2)).tolist() == [[[1, 4, 3]]]


def test_a_convolution_is_one_product_with_the_columns():
    rng = np.random.default_rng(0)
    x, w = gl.tensor(rng.standard_normal((2, 3, 5, 6))), gl.tensor(rng.standard_normal((4, 3, 2, 3)))
    how = {"stride": 2, "padding": 1, "dilation": 2}
    y = w.reshape(4, -1) @ F.unfold(x, (2, 3), **how)
    np.testing.assert_allclose(y.data, F.conv2d(x, w, **how).data.reshape(2, 4, -1), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_fold_is_the_adjoint_of_unfold(data):
    kernel, stride, dilation = [tuple(data.draw(st.integers(1, 3)) for _ in range(2)) for _ in range(3)]
    padding = tuple(data.draw(st.integers(0, 2)) for _ in range(2))
    sizes = tuple(max(1, (k - 1) * d + 1 - 2 * p + data.draw(st.integers(0, 4))) for k, d, p in zip(kernel, dilation, padding, strict=True))
    how = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    rng = np.random.default_rng(0)
    x = gl.tensor(rng.standard_normal((2, 3, *sizes)), requires_grad=True)
    y = F.unfold(x, **how)
    g = gl.tensor(rng.standard_normal(y.shape), requires_grad=True)
    back = F.fold(g, sizes, **how)
    assert (back * x).sum().item() == pytest.approx((g * y).sum().item())
    (g * y).sum().backward()
    np.testing.assert_allclose(x.grad.data, back.data, atol=1e-12)


def test_windows_along_one_axis_go_to_a_new_last_axis():
    x = gl.tensor(np.arange(8.0).reshape(2, 4), requires_grad=True)
    y = x.unfold(1, 2, 1)
    assert y.tolist() == [[[0, 1], [1, 2], [2, 3]], [[4, 5], [5, 6], [6, 7]]]
    y.sum().backward()
    assert x.grad.tolist() == [[1, 2, 2, 1]] * 2
    assert x.unfold(-1, 3, 2).tolist() == [[[0, 1, 2]], [[4, 5, 6]]] and x.unfold(0, 2, 1).shape == (1, 4, 2)
    assert gl.tensor(5.0).unfold(0, 1, 1).tolist() == [5]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.unfold(gl.zeros(1, 1, 2, 2), 3), ShapeError, "unfold: the kernel is larger than the padded input"),
        (lambda: F.unfold(gl.zeros(4, 4), 3), ShapeError, "unfold: the number of axes does not fit"),
        (lambda: F.unfold(gl.zeros(1, 4, 4), 3, stride=0), ArgumentError, "unfold: this stride has no meaning"),
        (lambda: F.fold(gl.zeros(1, 5, 9), 4, 2), ShapeError, "need:       rows: a multiple of 4; columns: 9 windows"),
        (lambda: F.fold(gl.zeros(1, 4, 8), 4, 2), ShapeError, "fold: the windows don't fill the image\n  x           (1, 4, 8)"),
        (lambda: F.fold(gl.zeros(4), 4, 2), ShapeError, "fold: the number of axes does not fit"),
        (lambda: gl.zeros(3).unfold(0, 4, 1), ArgumentError, "unfold: no such windows"),
        (lambda: gl.zeros(3).unfold(1, 1, 1), DimError, "unfold: there is no axis 1"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
