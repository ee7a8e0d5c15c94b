"""A look at an array: a window of at most 64 x 64 entries, copied, and what all its entries are like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backend import Array, to_numpy, xp_of

SIDE = 64
"""Entries a window has at most along each of its two axes; a vector shows up to SIDE x SIDE in rows of SIDE."""

BINS = 64
_COUNTED = 1 << 22  # entries beyond which a histogram is of every k-th


class Window(NamedTuple):
    """A part of an array.

    Attributes:
        shape: of the whole array.
        lead: where the axes before the last two are looked at.
        row, column: where the window begins; for a vector `column` alone counts.
        values: the entries, float64.

    Shapes: values: (rows, columns); of a vector (1, entries); of a number (1, 1)
    """

    shape: tuple[int, ...]
    lead: tuple[int, ...]
    row: int
    column: int
    values: np.ndarray


def window(array: Array, index: Sequence[int] = (), row: int = 0, column: int = 0) -> Window:
    """The entries around a place; what points outside is moved inside.

    >>> w = window(np.arange(20_000).reshape(100, 200), row=90, column=190)
    >>> w.values.shape, w.row, w.column, float(w.values[0, 0])
    ((64, 64), 36, 136, 7336.0)
    """
    shape: tuple[int, ...] = array.shape
    lead = tuple(min(max(index[i] if i < len(index) else 0, 0), max(n - 1, 0)) for i, n in enumerate(shape[:-2]))
    if 0 in shape:
        return Window(shape, lead, 0, 0, np.empty((0, 0)))
    if len(shape) < 2:
        column = min(max(column, 0), max(0, array.size - SIDE * SIDE))
        part = array.reshape(1, -1)[:, column : column + SIDE * SIDE]
        return Window(shape, (), 0, column, _numbers(part))
    row, column = (min(max(at, 0), max(0, n - SIDE)) for at, n in zip((row, column), shape[-2:], strict=True))
    return Window(shape, lead, row, column, _numbers(array[lead][row : row + SIDE, column : column + SIDE]))


class Summary(NamedTuple):
    """What the entries of an array are like.

    Attributes:
        size, zeros, nan, inf, minus_inf: how many entries there are, and of each kind.
        low, high: the smallest and the largest finite entry, None where there is none.
        norm: the L2 norm of the finite entries.
        counts: how many finite entries stand in each of BINS equal bins from `low` to `high`.
        sampled: how many entries all this was counted over; fewer than `size` in a large array.
    """

    size: int
    zeros: int
    nan: int
    inf: int
    minus_inf: int
    low: float | None
    high: float | None
    norm: float
    counts: np.ndarray
    sampled: int


def summary(array: Array) -> Summary:
    """Count what is in an array; in one of more than four million entries, in every k-th of them.

    >>> s = summary(np.array([0.0, 0.0, 1.0, 2.0, np.nan]))
    >>> s.zeros, s.nan, s.low, s.high, s.counts.sum()
    (2, 1, 0.0, 2.0, np.int64(4))
    """
    size = int(array.size)
    every = -(-size // _COUNTED) if size else 1
    some = array if every == 1 else xp_of(array).ravel(array)[::every]
    values = _numbers(some).ravel()
    nan, inf, minus = (int(np.count_nonzero(found)) for found in (np.isnan(values), values == np.inf, values == -np.inf))
    finite = values[np.isfinite(values)] if nan or inf or minus else values
    if not finite.size:
        return Summary(size, 0, nan, inf, minus, None, None, 0.0, np.zeros(BINS, np.int64), values.size)
    low, high = float(finite.min()), float(finite.max())
    zeros = int(finite.size - np.count_nonzero(finite))
    return Summary(size, zeros, nan, inf, minus, low, high, _norm(finite, low, high), _histogram(finite, low, high), values.size)


def _histogram(finite: np.ndarray, low: float, high: float) -> np.ndarray:
    if low == high:
        counts = np.zeros(BINS, np.int64)
        counts[BINS // 2] = finite.size
        return counts
    if not np.isfinite(high - low):  # as far apart as float64 goes
        finite, low, high = finite / 4, low / 4, high / 4
    return np.histogram(finite, BINS, (low, high))[0]


def _norm(finite: np.ndarray, low: float, high: float) -> float:
    largest = max(-low, high)
    if largest == 0.0:
        return 0.0
    scaled = finite / largest  # no square leaves the range
    return largest * float(np.sqrt(scaled @ scaled))


def _numbers(part: Any) -> np.ndarray:
    """A copy on the host, as float64."""
    return np.array(to_numpy(part), np.float64)
