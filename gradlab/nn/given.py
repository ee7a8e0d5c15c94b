"""What layers that read sequences are given: sizes and probabilities, refused before anything is made."""

from __future__ import annotations

from ..errors import ArgumentError, ShapeError, explain
from ..ops.argument import need_number, whole


def need_sizes(name: str, **given: int) -> list[int]:
    """Sizes as whole numbers above 0.

    Raises:
        KeywordError: no whole number.
        ShapeError: one is below 1.
    """
    found = [whole(key, value) for key, value in given.items()]
    if min(found) < 1:
        raise ShapeError(explain(f"{name}: sizes are above 0", got=given, need=">= 1"))
    return found


def need_probability(name: str, dropout: float) -> float:
    """The probability to drop an entry.

    Raises:
        KeywordError: no number.
        ArgumentError: outside of [0, 1].
    """
    need_number(name, dropout=dropout)
    if not 0 <= dropout <= 1:
        raise ArgumentError(explain(f"{name}: dropout is a probability", got={"dropout": dropout}, need="0 <= dropout <= 1"))
    return dropout
