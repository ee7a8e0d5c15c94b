"""Entries that move between channels and places, there and back."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, ShapeError


def test_channels_become_squares_of_places():
    x = gl.tensor(np.arange(8.0).reshape(1, 4, 1, 2))
    assert F.pixel_shuffle(x, 2).tolist() == [[[[0, 2, 1, 3], [4, 6, 5, 7]]]]


@pytest.mark.parametrize("shape", [(9, 2, 3), (2, 18, 1, 1), (2, 1, 9, 2, 2)])
def test_unshuffle_undoes_shuffle_and_each_is_the_gradient_of_the_other(shape):
    x = gl.tensor(np.random.default_rng(0).standard_normal(shape), requires_grad=True)
    y = F.pixel_shuffle(x, 3)
    np.testing.assert_array_equal(F.pixel_unshuffle(y, 3).data, x.data)
    g = gl.tensor(np.random.default_rng(1).standard_normal(y.shape))
    y.backward(g)
    np.testing.assert_array_equal(x.grad.data, F.pixel_unshuffle(g, 3).data)


def test_channels_of_groups_are_dealt_out_in_turn():
    x = gl.tensor(np.arange(6.0).reshape(1, 6, 1))
    assert F.channel_shuffle(x, 2).data.ravel().tolist() == [0, 3, 1, 4, 2, 5]
    assert F.channel_shuffle(F.channel_shuffle(x, 2), 3).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.pixel_shuffle(gl.zeros(3, 2, 2), 2), ShapeError, "pixel_shuffle: the sizes don't divide\n  x              (3, 2, 2)"),
        (lambda: F.pixel_shuffle(gl.zeros(2, 2), 2), ShapeError, "pixel_shuffle: takes images with channels"),
        (lambda: F.pixel_shuffle(gl.zeros(4, 2, 2), 0), ArgumentError, "pixel_shuffle: this upscale_factor has no meaning"),
        (lambda: F.pixel_unshuffle(gl.zeros(1, 3, 2), 2), ShapeError, "height and width that are multiples of it"),
        (lambda: F.channel_shuffle(gl.zeros(1, 3, 2), 2), ShapeError, "channel_shuffle: the sizes don't divide"),
        (lambda: F.channel_shuffle(gl.zeros(1, 3), 3), ShapeError, "channel_shuffle: takes images with channels"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
