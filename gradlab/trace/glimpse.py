"""Glimpse: the arrays of a small step, kept without being asked for, so that a graph of a few ops shows its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .capture import Capture
from .steps import Steps

GLIMPSE_BYTES = 64 * 2**10
"""What a step may take that is kept unasked."""

GLIMPSE_OPS = 64
"""How many ops a step may have that is kept unasked."""

_PATIENCE = 256  # ops without a step's first among them, after which it waits no longer


class Glimpse(Capture):
    """A capture that costs little: of a small step, without random state; while the recorder sees no ops it sees none."""

    replays = False

    def __init__(self, steps: Callable[[], Steps], wants_ops: Callable[[], bool], tell: Callable[[], None]) -> None:
        super().__init__(steps, GLIMPSE_BYTES, tell)
        self._wants_ops = wants_ops
        self._left = _PATIENCE

    @property
    def wants_ops(self) -> bool:
        """Whether ops are to be told."""
        return self._wants_ops()

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        """An op was made."""
        self._left -= 1
        if self._left < 0 if self.state == "armed" else len(self.ops) > GLIMPSE_OPS:
            self.refuse()
        super().forward(fn, output, began)
