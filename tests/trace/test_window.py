"""Windows and summaries against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab.trace.window import summary, window


@pytest.mark.parametrize(
    "shape, at, expected",
    [
        ((), (), np.s_[...]),
        ((30,), (), np.s_[:]),
        ((5000,), (900,), np.s_[900:4996]),
        ((5000,), (99_999,), np.s_[904:]),
        ((10, 20), (), np.s_[:, :]),
        ((200, 300), (100, 300), np.s_[100:164, 236:]),
        ((200, 300), (-5, -5), np.s_[:64, :64]),
        ((4, 3, 9, 9), (2, 1), np.s_[2, 1]),
        ((4, 3, 9, 9), (7,), np.s_[3, 0]),
        ((4, 3, 100, 9), (1, 2, 50), np.s_[1, 2, 36:]),
    ],
)
def test_a_window_is_the_part_it_says(shape, at, expected):
    array = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    seen = window(array, at)
    assert seen.shape == shape and (seen.values.ravel() == np.asarray(array[expected], np.float64).ravel()).all()
    assert not np.shares_memory(seen.values, array)


def test_of_an_empty_array_nothing_is_seen():
    assert window(np.empty((3, 0))).values.size == 0
    assert summary(np.empty((3, 0)))[:5] == (0, 0, 0, 0, 0)


def test_a_summary_counts_every_kind_of_number():
    x = np.array([0.0, -0.0, 3.0, -1.0, np.nan, np.inf, -np.inf, np.inf], np.float32)
    s = summary(x)
    assert (s.size, s.zeros, s.nan, s.inf, s.minus_inf, s.low, s.high) == (8, 2, 1, 2, 1, -1.0, 3.0)
    assert np.isnan(s.norm) and s.counts.sum() == 4
    assert summary(x[:4]).norm == pytest.approx(10**0.5) and summary(x[5:]).norm == np.inf


def test_a_histogram_is_that_of_numpy():
    x = np.random.default_rng(0).normal(size=(30, 70)).astype(np.float32)
    s = summary(x)
    assert (s.counts == np.histogram(x.astype(np.float64), 64)[0]).all() and s.sampled == s.size == 2100
    assert s.norm == pytest.approx(float(np.linalg.norm(x.astype(np.float64))))


def test_numbers_as_far_apart_as_they_go_make_no_warning():
    s = summary(np.array([-1.7e308, 1.7e308, 0.0]))
    assert s.counts.sum() == 3 and s.norm == np.inf  # 2.4e308 is none
    assert summary(np.array([5.0, 5.0])).counts.tolist()[32] == 2


def test_of_a_large_array_every_kth_entry_is_counted_and_said():
    x = np.broadcast_to(np.float32(1.0), (3_000, 3_000))
    s = summary(x)
    assert s.size == 9_000_000 and s.sampled == 3_000_000 == s.counts.sum()
