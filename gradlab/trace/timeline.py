"""The numbers of the last 10,000 steps, one row a step, and views of them that fit a message."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MISSING: float = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_2000_0000))[0]
"""A NaN that says "not measured"; as float32 it has a bit pattern that no computed NaN has."""

_MISSING_BITS = 0x7FC0_0001
_BLOCK_STEPS = 500
_LATER = 64  # rows of a few numbers that are stored together: one by one, between the arrays of a net, each takes several times as long
_BLANK = np.array([_MISSING_BITS], np.uint32).view(np.float32)


def is_missing(numbers: np.ndarray) -> np.ndarray:
    """Which entries of a float32 array were never measured; a computed NaN was.

    >>> is_missing(np.array([1.0, MISSING, np.nan], np.float32)).tolist()
    [False, True, False]
    """
    return numbers.view(np.uint32) == _MISSING_BITS


class Spans(NamedTuple):
    """A stretch of the timeline in rows, each of one step or of several neighbouring ones.

    `data[i]` holds min, max and last value of the steps `first[i]..last[i]`. `exact`: every span is one step.

    Shapes: first: (spans,), last: (spans,), data: (spans, 3, columns)
    """

    first: np.ndarray
    last: np.ndarray
    data: np.ndarray
    exact: bool


class Timeline:
    """A ring of float32 rows; columns may be added at any time and never go away.

    >>> t = Timeline()
    >>> loss = t.add("loss")
    >>> for step in range(1, 101):
    ...     t.write(step, [1000.0 if step == 42 else 1.0])
    >>> spans = t.since(0, max_bytes=120)
    >>> len(spans.first), float(spans.data[:, 1].max())
    (10, 1000.0)
    """

    def __init__(self, steps: int = 10_000, limit_bytes: int = 64 << 20) -> None:
        self.steps = steps
        self.limit_bytes = limit_bytes
        self._names: dict[str, int] = {}
        self._blocks: list[tuple[int, np.ndarray]] = []  # (the step of its first row, rows)
        self._last = 0
        self._later: list[tuple[int, tuple[int, ...], tuple[float, ...]]] = []

    def columns(self) -> list[str]:
        """The names of the columns; a column keeps its place."""
        return list(self._names)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self._names)

    @property
    def size_bytes(self) -> int:
        """The memory the rows take; at most about `limit_bytes`."""
        self._settle()
        return sum(block.nbytes for _, block in self._blocks)

    def add(self, *names: str) -> int:
        """Add neighbouring columns, missing in all earlier steps, and return the place of the first; known ones stay where they are."""
        if names[0] not in self._names:
            self._names.update(zip(names, range(self.width, self.width + len(names)), strict=True))  # one call: all or none
        return self._names[names[0]]

    def place(self, name: str) -> int:
        """The place of a column."""
        return self._names[name]

    def write(self, step: int, row: Sequence[float]) -> None:
        """Store the row of `step`: of the newest step again, or of a later one; steps that were left out are missing."""
        self._settle()
        if step < self._last:
            raise ValueError(f"timeline: step {step} can't follow step {self._last}")
        for between in range(self._last + 1, step):
            self.write(between, ())
        start = (step - 1) // _BLOCK_STEPS * _BLOCK_STEPS + 1
        if not self._blocks or self._blocks[-1][0] != start:
            self._blocks.append((start, self._blank(_BLOCK_STEPS)))
            self._trim()
        block = self._blocks[-1][1]
        if block.shape[1] < len(row):
            block = self._widened(block)
            self._blocks[-1] = (start, block)
        with np.errstate(over="ignore"):
            block[step - start, : len(row)] = row
        self._last = step

    def put(self, step: int, columns: tuple[int, ...], values: tuple[float, ...]) -> None:
        """Store numbers in some columns of the row of `step`, the newest again or a later one; others stay, missing where it is new."""
        self._later.append((step, columns, values))
        if len(self._later) >= _LATER:
            self._settle()

    def _settle(self) -> None:
        later, self._later = self._later, []
        try:
            while later:
                if later[0][0] < self._last:  # stored, and then an interrupt came
                    del later[0]
                    continue
                count = self._put_together(later)
                if not count:
                    self._put(*later[0])  # also the newest row once more, which changes nothing
                del later[: count or 1]
        finally:
            self._later[:0] = later

    def _put_together(self, later: list[tuple[int, tuple[int, ...], tuple[float, ...]]]) -> int:
        """Store the first rows at once, as far as their steps follow each other and their numbers stand in the same columns of this block.

        Returns how many there were.
        """
        step, columns, _ = later[0]
        if not self._blocks or step != self._last + 1:
            return 0
        start, block = self._blocks[-1]
        at, count = step - start, 0
        for other, its, _ in later:
            if other != step + count or its != columns or at + count >= _BLOCK_STEPS:
                break
            count += 1
        if not count or max(columns, default=block.shape[1]) >= block.shape[1]:
            return 0
        with np.errstate(over="ignore"):
            block[at : at + count, columns] = [values for _, _, values in later[:count]]
        self._last += count
        return count

    def _put(self, step: int, columns: tuple[int, ...], values: tuple[float, ...]) -> None:
        row = self.rows(step - 1)[1][0].tolist() if self._blocks and step == self._last else []
        row += [MISSING] * (max(columns, default=-1) + 1 - len(row))
        for column, value in zip(columns, values, strict=True):
            row[column] = value
        self.write(step, row)

    def rows(self, after: int) -> tuple[int, np.ndarray]:
        """The first kept step later than `after`, and the rows from it on.

        Shapes: rows: (steps, columns)
        """
        self._settle()
        first = max(after + 1, self._last - self.steps + 1, self._blocks[0][0] if self._blocks else 1, 1)
        parts = [self._widened(block)[max(first - start, 0) : self._last - start + 1] for start, block in self._blocks]
        parts = [part for part in parts if len(part)]
        return first, np.concatenate(parts) if parts else self._blank(0)

    def oldest(self, count: int, after: int = 0) -> tuple[int, np.ndarray]:
        """The first kept step later than `after`, and up to so many rows from it on.

        Shapes: rows: (steps, columns)
        """
        self._settle()
        first = max(after + 1, self._blocks[0][0] if self._blocks else 1)
        parts = [
            self._widened(block)[max(first - start, 0) : min(first + count, self._last + 1) - start]
            for start, block in self._blocks
            if start < first + count and start + len(block) > first
        ]
        return first, np.concatenate(parts) if parts else self._blank(0)

    def newest_with(self, places: Sequence[int], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The newest kept steps in which any of these columns was measured, up to so many, and their rows; the oldest first.

        Shapes: steps: (n,), rows: (n, columns)
        """
        self._settle()
        steps: list[np.ndarray] = []
        found: list[np.ndarray] = []
        for start, block in reversed(self._blocks):
            rows = self._widened(block)[: self._last - start + 1]
            known = (~is_missing(rows[:, list(places)])).any(axis=1) if len(places) else np.zeros(len(rows), bool)
            at = np.flatnonzero(known)[-(count - sum(map(len, steps))) :]
            steps.append(start + at)
            found.append(rows[at])
            if sum(map(len, steps)) >= count:
                break
        if not steps:
            return np.empty(0, int), self._blank(0)
        return np.concatenate(steps[::-1]), np.concatenate(found[::-1])

    def since(self, step: int, max_bytes: int) -> Spans:
        """The steps later than `step`, in so few spans that their numbers take at most `max_bytes` (one span always fits).

        The newest step, which may be written again, has a span of its own where two fit. A value of one step alone stays
        in the min or max of its span; a NaN makes both NaN, a missing value neither.
        """
        first, rows = self.rows(step)
        count, row_bytes = len(rows), max(4 * self.width, 1)
        if count * row_bytes <= max_bytes or count <= 1:
            at = np.arange(first, first + count, dtype=np.int32)
            return Spans(at, at, np.broadcast_to(rows[:, None, :], (count, 3, self.width)), True)
        spans = min(max(int(max_bytes // (3 * row_bytes)), 1), count)
        starts = np.arange(spans) * (count - 1) // max(spans - 1, 1)
        ends = np.append(starts[1:], count) - 1
        missing = is_missing(rows)
        low = np.minimum.reduceat(np.where(missing, np.float32(np.inf), rows), starts)
        high = np.maximum.reduceat(np.where(missing, np.float32(-np.inf), rows), starts)
        nothing = np.logical_and.reduceat(missing, starts)
        data = np.stack([np.where(nothing, _BLANK, low), np.where(nothing, _BLANK, high), rows[ends]], axis=1)
        return Spans((first + starts).astype(np.int32), (first + ends).astype(np.int32), data, spans == count)

    def _blank(self, steps: int) -> np.ndarray:
        return np.full((steps, self.width), _BLANK, np.float32)

    def _widened(self, block: np.ndarray) -> np.ndarray:
        if block.shape[1] == self.width:
            return block
        wide = self._blank(len(block))
        wide[:, : block.shape[1]] = block
        return wide

    def _trim(self) -> None:
        while len(self._blocks) > 1 and (self._last - self._blocks[1][0] + 1 >= self.steps or self.size_bytes > self.limit_bytes):
            del self._blocks[0]
