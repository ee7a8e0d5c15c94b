"""A look at an array: a window of at most 64 x 64 entries, copied, and what all its entries are like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..backend import Array, to_numpy

SIDE = 64
"""Entries a window has at most along each of its two axes; a vector shows up to SIDE x SIDE in rows of SIDE."""

BINS = 64
_COUNTED = 1 << 22  # entries beyond which a histogram is of every k-th


class Window(NamedTuple):
    """A part of an array.

    Attributes:
        shape: of the whole array.
        at: where it begins, one number an axis.
        most: the last place where one may begin, one number an axis.
        values: the entries, float64.

    Shapes: values: (rows, columns); of a vector (1, entries); of a number (1, 1)
    """

    shape: tuple[int, ...]
    at: tuple[int, ...]
    most: tuple[int, ...]
    values: np.ndarray


def window(array: Array, at: Sequence[int] = ()) -> Window:
    """The entries from a place on: of the last two axes up to SIDE, of those before one. What points outside is moved inside.

    >>> w = window(np.arange(20_000).reshape(100, 200), (90, 190))
    >>> w.values.shape, w.at, w.most, float(w.values[0, 0])
    ((64, 64), (36, 136), (36, 136), 7336.0)
    """
    shape: tuple[int, ...] = array.shape
    extents = [*[1] * (len(shape) - 2), SIDE, SIDE] if len(shape) > 1 else [SIDE * SIDE] * len(shape)
    most = tuple(max(0, n - extent) for n, extent in zip(shape, extents, strict=True))
    begin = tuple(min(max(at[i] if i < len(at) else 0, 0), last) for i, last in enumerate(most))
    if 0 in shape:
        return Window(shape, begin, most, np.empty((0, 0)))
    part = array[tuple(slice(i, i + extent) for i, extent in zip(begin, extents, strict=True))]
    values = np.array(to_numpy(part), np.float64)  # a copy on the host
    return Window(shape, begin, most, values.reshape(values.shape[-2:] if len(shape) > 1 else (1, -1)))


class Summary(NamedTuple):
    """What the entries of an array are like.

    Attributes:
        size, zeros, nan, inf, minus_inf: how many entries there are, and of each kind.
        low, high: the smallest and the largest finite entry, None where there is none.
        norm: the L2 norm; NaN or infinite where an entry is.
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
    some = array if every == 1 else array.reshape(-1)[::every]
    values = np.array(to_numpy(some), np.float64).ravel()
    nan, inf, minus = (int(np.count_nonzero(found)) for found in (np.isnan(values), values == np.inf, values == -np.inf))
    finite = values[np.isfinite(values)] if nan or inf or minus else values
    odd = np.nan if nan else np.inf if inf or minus else 0.0
    if not finite.size:
        return Summary(size, 0, nan, inf, minus, None, None, odd, np.zeros(BINS, np.int64), values.size)
    low, high = float(finite.min()), float(finite.max())
    zeros = int(finite.size - np.count_nonzero(finite))
    return Summary(size, zeros, nan, inf, minus, low, high, odd or _norm(finite, low, high), _histogram(finite, low, high), values.size)


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
