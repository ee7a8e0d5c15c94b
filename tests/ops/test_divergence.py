"""Likelihood losses: shares of nothing, counts, variances; against formulas and numbers written out."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, ShapeError


def test_what_has_no_probability_costs_nothing():
    x = gl.tensor([-2.0, -1.0, -0.5], requires_grad=True)
    y = F.kl_div(x, [0.0, 0.5, 0.5], reduction="none")
    np.testing.assert_allclose(y.data, [0.0, 0.5 * (np.log(0.5) + 1), 0.5 * (np.log(0.5) + 0.5)], rtol=1e-6)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, -0.5, -0.5]
    assert np.isnan(F.kl_div([-np.inf, 0.0], [0.0, 1.0], reduction="none").data[0])


def test_batchmean_is_the_divergence_and_the_logarithm_of_the_target_will_do():
    p, q = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[0.4, 0.6], [0.1, 0.9]])
    want = (p * np.log(p / q)).sum()
    assert F.kl_div(np.log(q), p, reduction="batchmean").item() == pytest.approx(want / 2)
    assert F.kl_div(np.log(q), p, reduction="mean").item() == pytest.approx(want / 4)
    assert F.kl_div(np.log(q), np.log(p), reduction="sum", log_target=True).item() == pytest.approx(want)
    with pytest.raises(ArgumentError, match="kl_div: which reduction"):
        F.kl_div(q, p, reduction="batch")


def test_counts_from_a_mean_or_its_logarithm():
    mean, count = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 4.0])
    plain = mean - count * np.log(mean)
    np.testing.assert_allclose(F.poisson_nll_loss(np.log(mean), count, reduction="none").data, plain)
    np.testing.assert_allclose(F.poisson_nll_loss(mean, count, log_input=False, reduction="none").data, plain, rtol=1e-7)
    stirling = [0.0, 0.0, 4 * np.log(4) - 4 + 0.5 * np.log(8 * np.pi)]
    np.testing.assert_allclose(F.poisson_nll_loss(np.log(mean), count, full=True, reduction="none").data, plain + stirling)
    x = gl.tensor(np.log(mean), requires_grad=True)
    F.poisson_nll_loss(x, count, reduction="sum").backward(gl.tensor(2.0, dtype="float64"))
    np.testing.assert_allclose(x.grad.data, 2 * (mean - count))
    assert np.isfinite(F.poisson_nll_loss(gl.zeros(1), gl.zeros(1), log_input=False).item())


def test_a_variance_may_be_one_a_row_or_one_number_and_below_eps_counts_as_eps():
    x, t, v = np.array([[1.0, 2.0], [0.0, 3.0]]), np.zeros((2, 2)), np.array([2.0, 0.5])
    want = 0.5 * (np.log(v)[:, None] + x**2 / v[:, None])
    for var in (v, v[:, None], np.repeat(v[:, None], 2, 1)):
        np.testing.assert_allclose(F.gaussian_nll_loss(x, t, var, reduction="none").data, want)
    np.testing.assert_allclose(F.gaussian_nll_loss(x, t, 0.5, reduction="none").data[1], want[1])
    np.testing.assert_allclose(F.gaussian_nll_loss(x, t, v, full=True).item(), want.mean() + 0.5 * np.log(2 * np.pi))
    assert F.gaussian_nll_loss(gl.zeros(2), gl.zeros(2), 0.5).dtype == "float32"
    small = gl.tensor([0.0], dtype="float64", requires_grad=True)
    F.gaussian_nll_loss([1.0], [1.0], small, eps=0.5).backward()
    assert small.grad.tolist() == [1.0]


def test_a_negative_variance_and_one_that_does_not_fit_are_refused():
    with pytest.raises(
        ArgumentError, match=r"gaussian_nll_loss: a variance is negative\n  smallest -1.0\n  need:    0 or more\n  try:     var.exp"
    ):
        F.gaussian_nll_loss([1.0], [1.0], [-1.0])
    with pytest.raises(ShapeError, match=r"gaussian_nll_loss: the variance does not fit\n  input \(2, 3\)\n  var   \(3,\)"):
        F.gaussian_nll_loss(np.zeros((2, 3)), np.zeros((2, 3)), np.ones(3))
    with pytest.raises(ArgumentError, match="the least variance"):
        F.gaussian_nll_loss([1.0], [1.0], [1.0], eps=-1.0)


def test_the_weight_of_yes_and_no():
    p, t, w = np.array([0.5, 0.25, 0.75]), np.array([1.0, 0.0, 1.0]), np.array([1.0, 0.0, 2.0])
    want = -w * np.log([0.5, 0.75, 0.75])
    np.testing.assert_allclose(F.binary_cross_entropy(p, t, weight=w, reduction="none").data, want)
    assert F.binary_cross_entropy(p, t, weight=w).item() == pytest.approx(want.sum() / 3)
    z = np.log(p / (1 - p))
    np.testing.assert_allclose(F.binary_cross_entropy_with_logits(z, t, w, reduction="none").data, want, atol=1e-15)
    for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        with pytest.raises(ShapeError, match=r"weight does not fit\n  input  \(3,\)\n  weight \(2,\)"):
            loss(p, t, weight=[1.0, 2.0])
