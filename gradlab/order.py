"""What came before what: a number for every step and every change, and the version of values that are changed in place."""

from __future__ import annotations

import weakref
from itertools import count
from typing import Any

sequence = count(1)  # of all steps and changes of this process
latest_change = 0  # the place of the latest change in that order: a graph that is younger need not be checked


class Version:
    """How often the values in one memory were changed, when last, and which tensors look at that memory.

    Attributes:
        count: how often.
        changed: the place of the last change in the order of all steps.
        lookers: weak references to the tensors, once there are several; some are gone by now.
    """

    __slots__ = ("changed", "count", "lookers")

    def __init__(self) -> None:
        self.count = self.changed = 0
        self.lookers: list[weakref.ref[Any]] = []

    def change(self) -> None:
        """Count a change, and note its place in the order of all steps."""
        global latest_change
        self.count += 1
        self.changed = latest_change = next(sequence)

    def add(self, tensor: Any) -> None:
        """Note that a tensor looks at this memory too."""
        self.lookers.append(weakref.ref(tensor))
        n = len(self.lookers)
        if n > 8 and n & (n - 1) == 0:  # only now and then, so that a thousand views take no longer than a thousand times one
            self.lookers = [reference for reference in self.lookers if reference() is not None]

    def living(self) -> list[Any]:
        """The tensors that look at this memory."""
        return [t for t in (reference() for reference in self.lookers) if t is not None and t._version is self]
