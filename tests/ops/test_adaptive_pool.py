"""Adaptive pooling: windows that share entries, sizes that grow, ties, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError


def test_windows_share_the_entry_between_them():
    x = gl.tensor([[1.0, 2.0, 4.0]], requires_grad=True)
    y = F.adaptive_avg_pool1d(x, 2)
    assert y.tolist() == [[1.5, 3]]
    y.sum().backward()
    assert x.grad.tolist() == [[0.5, 1, 0.5]]


def test_one_window_is_everything_and_none_keeps_an_axis():
    x = gl.tensor(np.arange(12.0).reshape(1, 3, 4))
    assert F.adaptive_avg_pool2d(x, 1).tolist() == [[[5.5]]]
    assert F.adaptive_avg_pool2d(x, (None, 1)).tolist() == [[[1.5], [5.5], [9.5]]]
    assert F.adaptive_max_pool2d(x, (1, None)).tolist() == [[[8, 9, 10, 11]]]


def test_more_may_come_out_than_went_in():
    assert F.adaptive_avg_pool1d(gl.tensor([[1.0, 2.0]]), 3).tolist() == [[1, 1.5, 2]]
    assert F.adaptive_max_pool1d(gl.tensor([[1.0, 2.0]]), 3).tolist() == [[1, 2, 2]]


def test_the_first_of_equal_entries_in_reading_order_gets_the_gradient():
    x = gl.tensor([[[0.0, 5.0], [5.0, 0.0]]], requires_grad=True)
    y, places = F.adaptive_max_pool2d(x, 1, return_indices=True)
    assert places.tolist() == [[[1]]] and places.dtype == "int64"
    y.sum().backward()
    assert x.grad.tolist() == [[[0, 1], [0, 0]]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 7)), min_size=1, max_size=3))
def test_every_size_equals_a_loop_over_windows(axes):
    sizes, wanted = zip(*axes, strict=True)
    x = np.random.default_rng(0).standard_normal((2, *sizes))
    n = len(axes)
    mean, largest = [getattr(F, f"adaptive_{kind}_pool{n}d")(gl.tensor(x), wanted).data for kind in ("avg", "max")]
    for at in np.ndindex(*wanted):
        window = tuple([slice(i * s // m, -(-(i + 1) * s // m)) for i, s, m in zip(at, sizes, wanted, strict=True)])
        part = x[(slice(None), *window)].reshape(2, -1)
        np.testing.assert_allclose(mean[(slice(None), *at)], part.mean(1), atol=1e-12)
        np.testing.assert_array_equal(largest[(slice(None), *at)], part.max(1))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: F.adaptive_avg_pool2d(gl.zeros(1, 4, 4), (1, 2, 3)),
            ArgumentError,
            "adaptive_avg_pool2d: this output_size has no meaning",
        ),
        (lambda: F.adaptive_avg_pool2d(gl.zeros(1, 4, 4), -1), ArgumentError, "0 or more, or None"),
        (lambda: F.adaptive_avg_pool2d(gl.zeros(1, 0, 4), 1), ShapeError, "adaptive_avg_pool2d: there is nothing to pool"),
        (lambda: F.adaptive_avg_pool2d(gl.tensor([[[1, 2]]]), 1), DTypeError, "adaptive_avg_pool2d: takes floating numbers"),
        (lambda: F.adaptive_max_pool2d(gl.zeros(4, 4), 2), ShapeError, "adaptive_max_pool2d: the number of axes does not fit"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
