"""Try something on a model and leave no trace of it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from . import observe
from .backend import get_rng_state, quiet, set_rng_state


@contextmanager
def trial(model: Any) -> Generator[None]:
    """Put back at the end what the block does to a model: parameters, gradients, what is frozen, buffers, random numbers.

    Whoever watches is not told of it.

    >>> import gradlab as gl
    >>> layer = gl.nn.Linear(2, 1)
    >>> before = layer.bias.item()
    >>> with trial(layer):
    ...     layer.bias.data += 1
    >>> layer.bias.item() == before
    True
    """
    kept = [*model.parameters(), *getattr(model, "buffers", list)()]
    before = [(t, t.data.copy(), t.grad, t.requires_grad) for t in kept]
    state = get_rng_state()
    try:
        with observe.paused(), quiet():
            yield
    finally:
        for t, data, grad, learns in before:
            t.data[...] = data
            t.bump()
            t.grad, t.requires_grad = grad, learns
        set_rng_state(state)
