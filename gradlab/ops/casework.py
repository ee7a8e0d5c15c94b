"""Inputs that many ops are checked on. Not an op."""

from __future__ import annotations

from typing import Any

from ..cases import Case, Draw

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))
PAIRS = (
    ((3, 4), (3, 4)),
    ((2, 3, 4), (4,)),
    ((1, 4), (2, 3, 1)),
    ((1, 1), (3,)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((0, 3), (3,)),
)


def one_input(lo: float = -2.0, hi: float = 2.0, gap: float = 0.0, **params: Any) -> tuple[Case, ...]:
    """One operand with every number of axes, and an empty one.

    >>> one_input()[0]
    3x4
    """
    return tuple(Case(Draw(shape, lo, hi, gap), **params) for shape in SHAPES)


def broadcasts(a: tuple[float, ...] = (), b: tuple[float, ...] = (), **params: Any) -> tuple[Case, ...]:
    """Two operands in every way they can meet; `a` and `b` are lo, hi and gap of what is drawn.

    >>> broadcasts()[1]
    2x3x4,4
    """
    return tuple(Case(Draw(x, *a), Draw(y, *b), **params) for x, y in PAIRS)
