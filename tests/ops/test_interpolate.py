"""Other sizes: conventions of every mode by literal numbers, gradients, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, ShapeError


def line(*values):
    return gl.tensor([[values]], dtype="float64")


def test_nearest_takes_from_below_and_nearest_exact_from_the_middle():
    assert F.interpolate(line(0.0, 1, 2, 3, 4), size=3).tolist() == [[[0, 1, 3]]]
    assert F.interpolate(line(0.0, 1, 2, 3, 4), size=3, mode="nearest-exact").tolist() == [[[0, 2, 4]]]
    assert F.interpolate(gl.tensor([[[1, 2]]]), scale_factor=2).tolist() == [[[1, 1, 2, 2]]]  # whole numbers stay whole


def test_edges_or_corners_stay_where_they_are():
    assert F.interpolate(line(0.0, 4), size=4, mode="linear").tolist() == [[[0, 1, 3, 4]]]
    np.testing.assert_allclose(F.interpolate(line(0.0, 3), size=4, mode="linear", align_corners=True).data, [[[0, 1, 2, 3]]], atol=1e-12)
    assert F.interpolate(line(5.0, 7), size=1, mode="linear", align_corners=True).tolist() == [[[5]]]


def test_bilinear_is_linear_along_both_axes():
    x = gl.tensor([[[[0.0, 2.0], [4.0, 6.0]]]])
    y = F.interpolate(x, size=3, mode="bilinear", align_corners=True)
    assert y.tolist() == [[[[0, 1, 2], [2, 3, 4], [4, 5, 6]]]]
    assert F.interpolate(gl.ones(1, 1, 2, 2, 2), scale_factor=2, mode="trilinear").tolist() == gl.ones(1, 1, 4, 4, 4).tolist()


def test_bicubic_keeps_a_straight_line_straight_inside_and_overshoots_at_a_step():
    x = gl.tensor(np.arange(8.0)[None, None, None] + np.zeros((1, 1, 4, 1)))
    y = F.interpolate(x, size=(4, 16), mode="bicubic").data[0, 0, 0]
    np.testing.assert_allclose(np.diff(y)[4:10].mean(), 0.5, atol=1e-12)
    step = gl.tensor([[[[0.0, 0.0, 1.0, 1.0]]]])
    assert F.interpolate(step, size=(1, 8), mode="bicubic").data.max() == pytest.approx(1.10546875)


def test_area_is_the_mean_over_what_an_entry_stands_for():
    x = np.random.default_rng(0).standard_normal((2, 3, 7, 5))
    want = F.adaptive_avg_pool2d(gl.tensor(x), (3, 4)).data
    np.testing.assert_allclose(F.interpolate(gl.tensor(x), size=(3, 4), mode="area").data, want, atol=1e-12)
    one = gl.tensor([[[1.0, float("inf"), 2.0, 3.0, 4.0]]])
    assert F.interpolate(one, size=3, mode="area").tolist()[0][0][2] == 3.5  # what is infinite stays in its own windows


def test_antialias_takes_all_entries_into_account():
    x = gl.tensor(np.eye(1, 8, 3)[None, None])  # one bright entry of 8
    assert F.interpolate(x, size=(1, 2), mode="bilinear").data.sum() == 0
    y = F.interpolate(x, size=(1, 2), mode="bilinear", antialias=True).data
    assert (y > 0).all()
    assert F.interpolate(gl.ones(1, 1, 9, 7), size=(4, 3), mode="bicubic", antialias=True).data == pytest.approx(1.0)


def test_a_given_factor_is_the_step_unless_it_is_to_be_recomputed():
    x = line(0.0, 1, 2, 3)
    assert F.interpolate(x, scale_factor=0.7, mode="linear").shape == (1, 1, 2)
    given = F.interpolate(x, scale_factor=0.7, mode="linear").data[0, 0]
    np.testing.assert_allclose(given, [0.5 / 0.7 - 0.5, 1.5 / 0.7 - 0.5])
    again = F.interpolate(x, scale_factor=0.7, mode="linear", recompute_scale_factor=True).data[0, 0]
    np.testing.assert_allclose(again, [0.5, 2.5])


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_the_gradient_is_the_adjoint(mode):
    rng = np.random.default_rng(0)
    x = gl.tensor(rng.standard_normal((2, 3, 5, 4)), requires_grad=True)
    y = F.interpolate(x, size=(3, 7), mode=mode)
    g = rng.standard_normal(y.shape)
    y.backward(gl.tensor(g))
    assert (x.grad * x).sum().item() == pytest.approx((g * y.data).sum())


@pytest.mark.parametrize(
    ("shape", "more", "error", "text"),
    [
        ((1, 1, 4), {}, ArgumentError, "interpolate: either a size or a scale_factor"),
        ((1, 1, 4), {"size": 2, "scale_factor": 2}, ArgumentError, "interpolate: either a size or a scale_factor"),
        ((1, 1, 4), {"size": 2, "mode": "cubic"}, ArgumentError, "interpolate: which mode?"),
        ((1, 1, 4, 4), {"size": 2, "mode": "linear"}, ShapeError, 'try:  mode="bilinear"'),
        ((1, 4), {"size": 2}, ShapeError, 'interpolate: the number of axes does not fit "nearest"'),
        ((1, 1, 4), {"size": 2, "align_corners": True}, ArgumentError, "interpolate: this mode has no corners"),
        ((1, 1, 4), {"size": 2, "mode": "linear", "antialias": True}, ArgumentError, "interpolate: this mode has no antialias"),
        ((1, 1, 4), {"size": (2, 2)}, ArgumentError, "interpolate: this size does not fit"),
        ((1, 1, 4), {"size": 0}, ShapeError, "interpolate: there would be nothing in it"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(shape, more, error, text):
    with pytest.raises(error) as caught:
        F.interpolate(gl.zeros(*shape), **more)
    assert text in str(caught.value)


def test_whole_numbers_cannot_be_mixed():
    with pytest.raises(DTypeError, match="interpolate: takes floating numbers"):
        F.interpolate(gl.tensor([[[1, 2]]]), size=3, mode="linear")
