from __future__ import annotations

import math

import numpy as np
import pytest

from gradlab.optim.moment import mean, rms


@pytest.mark.parametrize("shape", [(), (7,), (3, 4)])
def test_rms_and_mean_are_their_formulas(shape):
    x = np.random.default_rng(0).normal(size=shape)
    assert rms(x) == pytest.approx(math.sqrt(np.mean(x**2))) and mean(x) == pytest.approx(x.mean())


def test_rms_of_numbers_whose_squares_overflow_float32_is_still_right():
    assert rms(np.full(4, 1e30, np.float32)) == pytest.approx(1e30, rel=1e-6)
    assert math.isinf(rms(np.array([np.inf, 1.0], np.float32)))


def test_nan_stays_nan_and_nothing_has_no_mean():
    assert math.isnan(rms(np.array([np.nan, 1.0]))) and math.isnan(rms(np.zeros(0))) and math.isnan(mean(np.zeros(0)))


def test_the_mean_of_many_small_float32_numbers_is_summed_in_float64():
    assert mean(np.full(1_000_001, 0.1, np.float32)) == pytest.approx(float(np.float32(0.1)), rel=1e-9)
