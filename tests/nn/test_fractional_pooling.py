from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.nn import functional as F


def test_windows_are_drawn_anew_each_time_and_cover_the_image():
    x = gl.tensor(np.arange(100.0).reshape(1, 1, 10, 10))
    gl.manual_seed(0)
    drawn = [F.fractional_max_pool2d(x, 2, output_size=7) for _ in range(8)]
    assert len({tuple(y.data.ravel()) for y in drawn}) > 1 and {y.shape for y in drawn} == {(1, 1, 7, 7)}
    assert all(y.data.max() == 99 and y.data[0, 0, 0, 0] == 11 for y in drawn)
    gl.manual_seed(0)
    assert np.array_equal(F.fractional_max_pool2d(x, 2, output_size=7).data, drawn[0].data)


def test_indices_lead_back_to_the_entries_and_one_example_needs_no_batch():
    x = gl.randn(3, 6, 8)
    y, places = nn.FractionalMaxPool2d((2, 3), output_ratio=(0.6, 0.5), return_indices=True)(x)
    assert y.shape == (3, 3, 4) and places.dtype == "int64"
    assert np.array_equal(np.take_along_axis(x.data.reshape(3, -1), places.data.reshape(3, -1), 1).reshape(y.shape), y.data)
    assert nn.FractionalMaxPool3d(2, output_size=2)(gl.randn(1, 4, 4, 4)).shape == (1, 2, 2, 2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.FractionalMaxPool2d(2), "output_size or output_ratio, one of them"),
        (lambda: nn.FractionalMaxPool2d(2, output_size=2, output_ratio=0.5), "output_size or output_ratio, one of them"),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), "0 < output_ratio < 1"),
        (lambda: nn.FractionalMaxPool2d(0, output_size=2), "this kernel_size has no meaning"),
        (lambda: F.fractional_max_pool2d(gl.zeros(1, 4, 4), 3, output_size=3), "so many windows don't fit"),
        (lambda: F.fractional_max_pool3d(gl.zeros(4, 4), 3, output_size=3), "another number of axes"),
        (lambda: F.fractional_max_pool2d(gl.zeros(1, 4, 4), 2, 2, _random_samples=gl.zeros(1, 2)), "one random number a channel"),
    ],
)
def test_what_does_not_fit_is_refused(call, text):
    with pytest.raises(gl.GradlabError, match=text):
        call()
