"""Average pooling and pooling by a power: edges, divisors, gradients, against numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError


def test_padding_counts_as_zeros_unless_it_is_left_out():
    x = gl.ones(1, 1, 3)
    assert F.avg_pool2d(x, (1, 2), stride=2, padding=(0, 1)).tolist() == [[[0.5, 1]]]
    assert F.avg_pool2d(x, (1, 2), stride=2, padding=(0, 1), count_include_pad=False).tolist() == [[[1, 1]]]


def test_what_hangs_over_the_end_counts_for_nothing():
    x = gl.tensor([[1.0, 2.0, 3.0, 4.0, 9.0]], requires_grad=True)
    y = F.avg_pool1d(x, 2, ceil_mode=True)
    assert y.tolist() == [[1.5, 3.5, 9]] and F.avg_pool1d(x, 2).tolist() == [[1.5, 3.5]]
    y.sum().backward()
    assert x.grad.tolist() == [[0.5, 0.5, 0.5, 0.5, 1]]
    # Padding behind counts, what is beyond it does not: the last window is (3, 4, 0) of (3, 4, 0, beyond).
    x = gl.tensor([[1.0, 2.0, 3.0, 4.0]])
    assert F.avg_pool1d(x, 2, stride=3, padding=1, ceil_mode=True).tolist() == [[0.5, 3.5]]
    np.testing.assert_allclose(F.avg_pool1d(x, 4, stride=3, padding=1, ceil_mode=True).data, [[1.5, 7 / 3]], rtol=1e-6)


def test_the_divisor_can_be_given_and_overlapping_windows_add_up():
    x = gl.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], requires_grad=True)
    y = F.avg_pool2d(x, 2, stride=1, divisor_override=2)
    assert y.tolist() == [[[6, 8]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[0.5, 1, 0.5], [0.5, 1, 0.5]]]


def test_a_volume_is_averaged_along_all_three_axes():
    x = gl.tensor(np.arange(16.0).reshape(1, 2, 2, 4))
    assert F.avg_pool3d(x, (2, 2, 4)).tolist() == [[[[7.5]]]]
    assert F.avg_pool3d(x, (2, 1, 2)).tolist() == [[[[4.5, 6.5], [8.5, 10.5]]]]


def test_half_precision_sums_in_single():
    assert F.avg_pool1d(gl.ones(1, 4096).astype("float16"), 4096).item() == 1


def test_a_power_of_2_is_the_length_of_the_window_and_zeros_get_no_nan():
    x = gl.tensor([[3.0, 4.0, 0.0, 0.0]], requires_grad=True)
    y = F.lp_pool1d(x, 2, 2)
    assert y.tolist() == [[5, 0]]
    y.sum().backward()
    np.testing.assert_allclose(x.grad.data, [[0.6, 0.8, 0, 0]], rtol=1e-6)
    assert F.lp_pool2d(gl.ones(1, 2, 2), 1, 2).tolist() == [[[4]]]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.avg_pool2d(gl.zeros(1, 4, 4), 2, padding=2), ArgumentError, "avg_pool2d: more padding than half a kernel"),
        (lambda: F.avg_pool2d(gl.zeros(1, 4, 4), 5), ShapeError, "avg_pool2d: the kernel is larger than the padded input"),
        (lambda: F.avg_pool2d(gl.zeros(1, 4, 4), 2, divisor_override=0), ArgumentError, "avg_pool2d: nothing can be divided by 0"),
        (lambda: F.avg_pool2d(gl.tensor([[[1, 2]]]), 1), DTypeError, "avg_pool2d: takes floating numbers"),
        (lambda: F.avg_pool1d(gl.zeros(4), 2), ShapeError, "avg_pool1d: the number of axes does not fit"),
        (lambda: F.lp_pool2d(gl.zeros(1, 4, 4), 0, 2), ArgumentError, "lp_pool2d: there is no power 1/0"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
