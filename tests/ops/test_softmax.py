"""Softmax and its relatives: the axis is said, dtypes are asked for, and what infinity makes of a row."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F

INF = np.inf


def test_an_axis_has_to_be_given():
    for op in (gl.softmax, gl.log_softmax, F.softmin):
        with pytest.raises(TypeError, match=r"along which axis\?[\s\S]*try:  dim=-1"):
            op(gl.ones(2, 2), None)
        with pytest.raises(TypeError, match="dim: this is no whole number"):
            op(gl.ones(2, 2), 0.5)
        with pytest.raises(IndexError, match="there is no axis 2"):
            op(gl.ones(2, 2), 2)


def test_rows_of_minus_infinity_are_nan_and_warn_of_nothing():
    x = gl.tensor([[-INF, -INF], [INF, 1.0], [-INF, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for op, last in ((gl.softmax, [0.0, 1.0]), (gl.log_softmax, [-INF, 0.0])):
            y = op(x, 1).data
            assert np.isnan(y[:2]).all()
            assert y[2].tolist() == last


def test_a_dtype_casts_before_and_the_gradient_comes_back_in_the_old_one():
    x = gl.tensor(np.array([[1.0, 2.0]], "float16"), requires_grad=True)
    for op in (gl.softmax, gl.log_softmax, gl.softmin):
        y = op(x, -1, dtype=gl.float64)
        assert y.dtype == "float64"
        x.grad = None
        (y * gl.tensor([[1.0, 0.0]])).sum().backward()
        assert x.grad.dtype == "float16"
    assert gl.softmax([[1, 2]], 1, dtype=gl.float64).data.round(4).tolist() == [[0.2689, 0.7311]]
    assert x.softmax(1, dtype=gl.float32).dtype == "float32"


def test_softmin_prefers_the_smallest():
    np.testing.assert_allclose(F.softmin([1.0, 2.0], 0).data, [0.731059, 0.268941], rtol=1e-5)


def test_empty_rows_have_no_entries_and_a_sum_of_nothing():
    assert gl.softmax(gl.zeros(3, 0), 1).shape == (3, 0)
    assert gl.logsumexp(gl.zeros(3, 0), 1).tolist() == [-INF] * 3
    with pytest.raises(IndexError, match="there is no axis 2"):
        gl.softmax(gl.zeros(3, 0), 2)


def test_logsumexp_with_infinity():
    x = gl.tensor([[INF, 1.0], [-INF, 2.0]], requires_grad=True)
    y = gl.logsumexp(x, 1)
    assert y.tolist() == [INF, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y.sum().backward()
    assert np.isnan(x.grad.data[0, 0]) and x.grad.data[0, 1] == 0 and x.grad.tolist()[1] == [0.0, 1.0]


def test_a_hard_gumbel_draw_is_one_hot_and_learns_as_the_soft_one():
    x = gl.tensor(np.random.default_rng(0).standard_normal((5, 4)), requires_grad=True)
    w = gl.tensor(np.random.default_rng(1).standard_normal((5, 4)))
    grads = []
    for hard in (True, False):
        gl.manual_seed(5)
        x.grad = None
        y = F.gumbel_softmax(x, tau=0.7, hard=hard)
        (y * w).sum().backward()
        grads.append(x.grad.data)
        np.testing.assert_allclose(y.data.sum(1), 1)
        assert not hard or set(np.unique(y.data)) == {0.0, 1.0}
    np.testing.assert_array_equal(*grads)


def test_gumbel_draws_follow_the_probabilities():
    p = np.array([0.1, 0.2, 0.7])
    y = F.gumbel_softmax(gl.tensor(np.log(np.tile(p, (20_000, 1)))), hard=True)
    np.testing.assert_allclose(y.data.mean(0), p, atol=0.02)
    assert F.gumbel_softmax(gl.zeros(4, dtype=gl.float16)).dtype == "float16"


def test_gumbel_needs_a_temperature_above_zero():
    with pytest.raises(ValueError, match="gumbel_softmax: tau is a temperature"):
        F.gumbel_softmax([1.0, 2.0], tau=0)
