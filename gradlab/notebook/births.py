"""Where the user's models and variables were made: which cell first bound them."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from .._tensor import Tensor
from ..nn import Module
from ..trace.holding import Birth

_PARAMETERS_KEPT = 20_000


class Births:
    """Looks through the user's variables at the end of every cell, and notes what is new.

    Attributes:
        parameters: where the parameters of models and leaf tensors came from, by serial, also of models that are gone.
        cells: the count of the cell that bound a variable to what it is now.
    """

    def __init__(self) -> None:
        self.parameters: dict[int, Birth] = {}
        self.cells: dict[str, tuple[int, int | None]] = {}  # variable -> id of its value, count
        self._known: weakref.WeakSet[Module] = weakref.WeakSet()

    def note(self, variables: Mapping[str, Any], count: int | None) -> None:
        """Note what these variables hold that was not there at the end of the cell before."""
        self.cells = {
            name: known if (known := self.cells.get(name)) is not None and known[0] == id(value) else (id(value), count)
            for name, value in variables.items()
            if not name.startswith("_")
        }
        for name in self.cells:
            value = variables[name]
            if isinstance(value, Module) and value not in self._known:
                self._known.add(value)
                for path, parameter in value.named_parameters():
                    self.parameters.setdefault(parameter.serial, Birth(name, path, count))
            elif isinstance(value, Tensor) and value.requires_grad and value.grad_fn is None:
                self.parameters.setdefault(value.serial, Birth(name, "", count))
        for serial in list(self.parameters)[: max(0, len(self.parameters) - _PARAMETERS_KEPT)]:
            del self.parameters[serial]

    def cell_of(self, name: str) -> int | None:
        """The count of the cell that made what a variable holds, where it is known."""
        return self.cells.get(name, (0, None))[1]
