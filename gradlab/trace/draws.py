"""Where the generators stand that a Function may draw from: gradlab's own, NumPy's global one and Python's."""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..backend import get_rng_state, set_rng_state


class Draws(NamedTuple):
    """The states of all three."""

    own: dict[str, Any]
    numpy: Any
    python: Any


def draws() -> Draws:
    """Where they stand now."""
    return Draws(get_rng_state(), np.random.get_state(legacy=True), random.getstate())  # noqa: NPY002 - what a user may have used


def same(a: Draws, b: Draws) -> bool:
    """Whether nothing was drawn between the two."""
    (name, keys, *at), (other, others, *there) = a.numpy, b.numpy
    return a.own == b.own and a.python == b.python and name == other and at == there and bool((keys == others).all())


@contextmanager
def drawing(states: Draws | None = None) -> Generator[None]:
    """Draw from these states on in this block; after it everybody's draws go on as if there had been none.

    >>> from gradlab.backend import generator
    >>> before = draws()
    >>> with drawing():
    ...     _ = generator().random()
    >>> same(before, draws())
    True
    """
    before = draws()
    if states is not None:
        _stand(states)
    try:
        yield
    finally:
        _stand(before)


def _stand(states: Draws) -> None:
    set_rng_state(states.own)
    np.random.set_state(states.numpy)  # noqa: NPY002
    random.setstate(states.python)
