"""Mark: what a step that is broken off would leave half done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backend import get_rng_state, set_rng_state
from ..nn.module import Module

Place = tuple[Module, str]
"""A buffer: the module that has it, and its name there."""


class Mark:
    """The random state and the buffers of a model, to go back to. Parameters are not among them: they move in a whole step or not at all.

    >>> from gradlab import nn
    >>> import gradlab as gl
    >>> norm = nn.BatchNorm1d(2)
    >>> mark = Mark(places(norm))
    >>> _ = norm(gl.ones(4, 2))
    >>> mark.back()
    >>> norm.running_mean.tolist()
    [0.0, 0.0]
    """

    def __init__(self, buffers: Sequence[Place]) -> None:
        self._rng = get_rng_state()
        self._kept: list[tuple[Module, str, Any, Any]] = []
        for module, name in buffers:
            tensor = getattr(module, name)
            self._kept.append((module, name, tensor, None if tensor is None else tensor._data.copy()))

    def back(self) -> None:
        """Put both back."""
        set_rng_state(self._rng)
        for module, name, tensor, array in self._kept:
            if tensor is not None:
                tensor._data[...] = array
                tensor.bump()
            if getattr(module, name) is not tensor:
                setattr(module, name, tensor)


def places(model: Module) -> list[Place]:
    """Where a model has its buffers; looking for them takes longer than to copy a few."""
    return [(module, name) for module in model.modules() for name in module._buffers]
