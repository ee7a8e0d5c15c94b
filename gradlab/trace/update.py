"""What an optimizer did in a captured step: itself as it was before, and the parameters after."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
from typing import Any

from ..backend import Array, xp_of
from ..function import made


class Update:
    """One optimizer step of a captured step.

    Attributes:
        optimizer: a copy made before the step, with copies of parameters, gradients and state; None where none can be made.
        serials: of the run's parameters, in the order of the copy's.
        after: per parameter its values after the step.
        error: why there is no copy, or "".
        size_bytes: what all this takes.
    """

    def __init__(self, optimizer: Any) -> None:
        self.name = type(optimizer).__name__
        self.optimizer: Any = None
        self.serials = [p.serial for p in parameters(optimizer)]
        self.after: list[Array] = []
        self.error = ""
        self.size_bytes = 0
        try:
            twin = copy.deepcopy(optimizer)
            twin._scratch = None
            for p, mine in zip(parameters(optimizer), parameters(twin), strict=True):
                mine.grad = None if p._grad is None else made(xp_of(p._grad).array(p._grad, copy=True))
                self.size_bytes += p._data.nbytes + (0 if p._grad is None else p._grad.nbytes)
            states: list[dict[str, Any]] = [*getattr(twin, "state", {}).values()]
            self.size_bytes += sum(getattr(value, "nbytes", 0) for state in states for value in state.values())
            self.optimizer = twin
        except Exception as error:  # a class of the user's may hold what can't be copied
            self.error = f"{self.name} can't be copied: {type(error).__name__}: {str(error)[:200]}"

    def finish(self, optimizer: Any) -> None:
        """Keep what the step made of the parameters."""
        self.after = [p._data.copy() for p in parameters(optimizer)]
        self.size_bytes += sum(array.nbytes for array in self.after)


def parameters(optimizer: Any) -> list[Any]:
    """The parameters of all groups."""
    return [p for group in getattr(optimizer, "param_groups", ()) for p in group["params"]]
