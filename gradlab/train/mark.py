"""Mark: what a step that is broken off would leave half done."""

from __future__ import annotations

from typing import Any

from ..backend import get_rng_state, set_rng_state
from ..nn.module import Module


class Mark:
    """The random state and the buffers of a model, to go back to. Parameters are not among them: they move in a whole step or not at all.

    >>> from gradlab import nn
    >>> import gradlab as gl
    >>> norm = nn.BatchNorm1d(2)
    >>> mark = Mark(norm)
    >>> _ = norm(gl.ones(4, 2))
    >>> mark.back()
    >>> norm.running_mean.tolist()
    [0.0, 0.0]
    """

    def __init__(self, model: Module) -> None:
        self._rng = get_rng_state()
        self._buffers: list[tuple[Any, Any]] = [(buffer, buffer._data.copy()) for buffer in model.buffers()]

    def back(self) -> None:
        """Put both back."""
        set_rng_state(self._rng)
        for buffer, array in self._buffers:
            buffer._data[...] = array
            buffer.bump()
