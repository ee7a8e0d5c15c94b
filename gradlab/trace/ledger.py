"""Which backward call added what to which `.grad`."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

ENTRIES_A_LEAF = 64
"""The newest contributions to a gradient that are kept."""

_LEAVES_KEPT = 4_096


class Contribution(NamedTuple):
    """One addition to a `.grad`: in which backward call of the run, from which kind of op, and its L2 norm."""

    backward: int
    op: str | None
    norm: float | None


class Ledger:
    """Keeps, per tensor, the newest contributions since its gradient was last None.

    A gradient that is never reset shows as a list that grows from step to step.

    >>> ledger = Ledger()
    >>> ledger.add(7, True, (1, "matmul", 2.0))
    >>> ledger.add(7, False, (2, "matmul", 3.0))
    >>> [c.backward for c in ledger.of(7)]
    [1, 2]
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[int, deque[tuple[int, str | None, float | None]]] = OrderedDict()

    def add(self, serial: int, fresh: bool, entry: tuple[int, str | None, float | None]) -> None:
        """Note an addition to the gradient of tensor `serial`; `fresh` where that gradient was None before it."""
        entries = self._entries.get(serial)
        if entries is None:
            if len(self._entries) >= _LEAVES_KEPT:
                self._entries.popitem(last=False)
            entries = self._entries[serial] = deque(maxlen=ENTRIES_A_LEAF)
        elif fresh:
            entries.clear()
        entries.append(entry)

    def of(self, serial: int) -> list[Contribution]:
        """What has been added to the gradient of tensor `serial` since it was last None, oldest first."""
        return [Contribution(*entry) for entry in self._entries.get(serial, ())]
