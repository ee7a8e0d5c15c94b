"""Reading at places: conventions by numbers, the identity, what lies outside, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("axes", [2, 3])
def test_the_identity_map_reads_the_image_itself(axes, align_corners):
    x = gl.tensor(np.random.default_rng(0).standard_normal((2, 3, *[4, 5, 2][:axes])))
    theta = gl.tensor(np.stack([np.eye(axes, axes + 1)] * 2))
    grid = F.affine_grid(theta, x.shape, align_corners=align_corners)
    for mode in ("bilinear", "nearest"):
        np.testing.assert_allclose(F.grid_sample(x, grid, mode=mode, align_corners=align_corners).data, x.data, atol=1e-12)


def test_a_place_is_x_first_and_the_gradient_reaches_image_and_grid():
    x = gl.tensor([[[[0.0, 1.0], [10.0, 11.0]]]], requires_grad=True)
    grid = gl.tensor([[[[0.25, -0.5]]]], requires_grad=True)  # a quarter right of the middle, in the first row
    y = F.grid_sample(x, grid)
    assert y.tolist() == [[[[0.75]]]]
    y.sum().backward()
    assert x.grad.tolist() == [[[[0.25, 0.75], [0, 0]]]]
    assert grid.grad.tolist() == [[[[1, 10]]]]


def test_what_lies_outside_is_zero_the_border_or_a_reflection():
    x = gl.tensor([[[[1.0, 2.0, 4.0]]]])
    grid = gl.tensor([[[[-1.0, 0.0], [5 / 3, 0.0]]]])  # the left edge, and an entry beyond the right one
    assert F.grid_sample(x, grid).tolist() == [[[[0.5, 0]]]]
    assert F.grid_sample(x, grid, padding_mode="border").tolist() == [[[[1, 4]]]]
    np.testing.assert_allclose(F.grid_sample(x, grid, padding_mode="reflection").data, [[[[1, 3]]]], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: F.grid_sample(gl.zeros(1, 1, 3, 3), gl.zeros(1, 2, 2, 3)),
            ShapeError,
            "grid_sample: input and grid don't belong together",
        ),
        (
            lambda: F.grid_sample(gl.zeros(2, 1, 3, 3), gl.zeros(1, 2, 2, 2)),
            ShapeError,
            "grid_sample: input and grid don't belong together",
        ),
        (lambda: F.grid_sample(gl.zeros(1, 1, 3, 3), gl.zeros(1, 2, 2, 2), mode="cubic"), ArgumentError, "grid_sample: which mode?"),
        (lambda: F.grid_sample(gl.zeros(1, 1, 3, 3), gl.zeros(1, 2, 2, 2), padding_mode="wrap"), ArgumentError, "which padding_mode?"),
        (lambda: F.grid_sample(gl.zeros(1, 1, 3, 3), gl.zeros(1, 2, 2, 2).double()), DTypeError, "grid_sample: the dtypes differ"),
        (lambda: F.affine_grid(gl.zeros(1, 2, 3), (1, 1, 2, 2, 2)), ShapeError, "affine_grid: theta and size don't belong together"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
