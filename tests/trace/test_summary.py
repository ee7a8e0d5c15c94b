from __future__ import annotations

import math
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab.trace import norm
from gradlab.trace.summary import norm_of_all, rms


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), max_size=40), st.sampled_from(["float16", "float32", "float64"]))
@settings(max_examples=60, deadline=None)
def test_the_norm_equals_numpys_in_float64(values, dtype):
    with np.errstate(over="ignore"):
        array = np.array(values, dtype)
        expected = np.linalg.norm(array.astype(np.float64))
    assert norm(array) == pytest.approx(expected, rel=1e-5, abs=1e-300) or not math.isfinite(expected)


def test_a_sum_of_squares_that_leaves_float32_is_no_alarm_and_no_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert norm(np.full(100, 1e30, np.float32)) == pytest.approx(1e31)
        assert norm(np.full(100, 1e-30, np.float32)) == pytest.approx(1e-29)
        assert norm(np.full(4, 1e-40, np.float32)) == pytest.approx(2e-40, rel=1e-3)
        assert norm(np.full(4, 6e4, np.float16)) == pytest.approx(1.2e5, rel=1e-2)
        assert norm(np.full(4, 1e200)) == pytest.approx(2e200)
        assert norm(np.full(4, 1e-200)) == pytest.approx(2e-200)


def test_nan_and_infinity_stay_what_they_are():
    assert math.isnan(norm(np.array([1.0, np.nan, 2.0], np.float32)))
    assert norm(np.array([1.0, -np.inf], np.float32)) == math.inf
    assert math.isnan(norm(np.array([np.inf, np.nan])))


def test_whole_numbers_truth_values_and_nothing_have_norms_too():
    assert norm(np.array([3, -4])) == 5.0
    assert norm(np.array([200, 200], np.uint8)) == pytest.approx(math.sqrt(80_000))
    assert norm(np.array([True, False, True, True, True])) == 2.0
    assert norm(np.empty((0, 3), np.float32)) == 0.0
    assert norm(np.float32(-3.0).reshape(())) == 3.0
    assert norm(np.zeros(5, np.float32)) == 0.0


def test_views_of_any_layout_have_the_norm_of_their_entries():
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (array.T, array[:, ::2], array[..., ::-1], np.broadcast_to(array[:1], (5, 3, 4)), array.transpose(1, 0, 2)):
        assert norm(view) == pytest.approx(np.linalg.norm(view.astype(np.float64)))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_long_array_keeps_its_digits(dtype):
    array = np.random.default_rng(0).random(3_000_001, dtype=np.float32).astype(dtype)
    assert norm(array) == pytest.approx(np.linalg.norm(array.astype(np.float64)), rel=1e-7)
    array[-1] = np.inf
    assert norm(array) == math.inf
    array[0] = np.nan
    assert math.isnan(norm(array))


def test_an_expanded_view_is_not_copied():
    row = np.arange(1_000, dtype=np.float32)
    tracemalloc.start()
    try:
        assert norm(np.broadcast_to(row, (4_000, 1_000))) == pytest.approx(float(np.linalg.norm(row)) * math.sqrt(4_000), rel=1e-6)
        assert norm(np.broadcast_to(np.float32(2.0), (2_000, 3_000))) == pytest.approx(2 * math.sqrt(6e6), rel=1e-6)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_the_root_mean_square_of_nothing_is_zero():
    assert (rms(0.0, 0), rms(10.0, 4)) == (0.0, 5.0)


ROWS = np.arange(24, dtype=np.float32).reshape(4, 6) - 7


@pytest.mark.parametrize(
    "arrays",
    [
        [],
        [ROWS[:1]],
        [ROWS[0, :3], ROWS[1, :2]],
        [ROWS, ROWS[0]],
        [ROWS.T, ROWS[:, ::2], ROWS[::-1, 0], ROWS[0, :0], ROWS[1, 1]],
        [ROWS, ROWS.astype(np.float64), ROWS.astype(np.float16), ROWS],
        [np.full(3, 1e30, np.float32), np.ones(2, np.float32)],
        [np.full(40, 1e30, np.float32), np.ones(2, np.float32)],
        [np.full(40, 1e-30, np.float32)],
        [np.ones((300, 300), np.float32), ROWS],
    ],
)
def test_the_norm_of_arrays_together_is_that_of_all_their_entries(arrays):
    wide = np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays]) if arrays else np.zeros(0)
    assert norm_of_all(iter(arrays)) == pytest.approx(float(np.sqrt((wide * wide).sum())), rel=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sizes", [(2, 3), (30, 5), (20_000, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_one_bad_entry_anywhere_is_in_the_norm_of_all(bad, sizes, dtype):
    for i, size in enumerate(sizes):
        for at in (0, size - 1):
            arrays = [np.ones(n, dtype) for n in sizes]
            arrays[i][at] = bad
            assert not math.isfinite(norm_of_all(arrays)) and math.isfinite(norm_of_all([a[np.isfinite(a)] for a in arrays]))
