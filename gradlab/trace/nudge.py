"""Nudge: one entry of a captured step moved a little, and what the loss does then, beside gradient times that little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .capture import Capture
from .replay import Replay, ReplayError


class Nudge(NamedTuple):
    """What a nudge did.

    Attributes:
        at, value: the entry and what it was.
        eps: by how much it was moved.
        gradient: what backward said, as it was captured; None where none came.
        loss: of the captured step, in float64.
        up, down: the changes of the loss at value + eps and value - eps.
    """

    at: tuple[int, ...]
    value: float
    eps: float
    gradient: float | None
    loss: float
    up: float
    down: float


def nudge(capture: Capture, ref: int, index: Sequence[int], eps: float | None = None) -> Nudge:
    """Move one entry of leaf -1 - ref, or of what op `ref` gave, to both sides, and replay what depends on it in float64.

    Args:
        eps: by how much; a thousandth of the value unless given, of 1 where that is less.

    Raises:
        ReplayError: there is no such entry or no loss, or the step cannot run again.
    """
    replay = Replay(capture)
    replay.need_loss()
    replay.verify()
    kept = capture.ops[ref] if ref >= 0 else capture.leaves[-1 - ref]
    x = replay.recorded(ref)
    at = place(x.shape, index)
    if kept is None or x.dtype.kind != "f":
        raise ReplayError(f"only floating numbers can be nudged, not {x.dtype}")
    value = float(x[at])
    by = abs(eps) if eps else 1e-3 * max(1.0, abs(value))
    replay.run()
    sides: list[float] = []
    for there in (value + by, value - by):
        moved = x.copy()
        moved[at] = there
        sides.append(replay.change(replay.run({ref: moved})))
    gradient = None if kept.gradient is None else float(kept.gradient[at])
    return Nudge(at, value, by, gradient, replay.loss(replay.values), *sides)


def place(shape: tuple[int, ...], index: Sequence[int]) -> tuple[int, ...]:
    """The index as numbers.

    Raises: ReplayError where it is none of this shape.
    """
    at = tuple(int(i) for i in index)
    if len(at) != len(shape) or not all(0 <= i < n for i, n in zip(at, shape, strict=True)):
        raise ReplayError(f"{list(at)} is no entry of an array {shape}")
    return at
