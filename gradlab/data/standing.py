"""Where a loader stands: the generators of an epoch as they were when it began, and how many of its batches were given out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backend import Generator, generator, get_rng_state, set_rng_state
from ..errors import StateError, explain


class Standing:
    """An epoch that is being read.

    Attributes:
        batches: given out so far.
    """

    def __init__(self, sources: list[np.random.Generator], batches: int = 0) -> None:
        self.batches = batches
        self.generators = [dict(source.bit_generator.state) for source in sources]
        self.random = get_rng_state()

    def state(self) -> dict[str, Any]:
        """The same as a dict."""
        return {"batches": self.batches, "generators": self.generators, "random": self.random}


def sources_of(*holders: Any) -> list[np.random.Generator]:
    """The generators that these have as attributes, each once; gradlab's own is not among them.

    >>> class Holder:
    ...     generator = np.random.default_rng(0)
    >>> one = Holder()
    >>> one.mine = np.random.default_rng(1)
    >>> len(sources_of(one, one, None))
    1
    """
    found: dict[int, np.random.Generator] = {}
    for holder in holders:
        for value in getattr(holder, "__dict__", {}).values():
            if isinstance(value, Generator):
                value = generator(value)
            if isinstance(value, np.random.Generator):
                found[id(value)] = value
    return list(found.values())


def put_back(sources: list[np.random.Generator], state: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Set the generators to where they stood.

    Args:
        own: of the loader as it is, to compare.

    Raises:
        StateError: it was another loader's. Nothing is changed then.
    """
    saved = {**own, **state, "generators": len(state.get("generators", ()))}
    mine = {**saved, **own, "generators": len(sources)}
    other = [name for name in saved if saved[name] != mine[name]]
    if other or not {"batches", "generators", "random"} <= {*state}:
        got = {name: saved[name] for name in other} or {"state_dict": ", ".join(map(str, state))}
        need = ", ".join(f"{name} {mine[name]}" for name in other) or "what state_dict() returned"
        raise StateError(explain("DataLoader.load_state_dict: another loader saved this", got=got, need=need))
    for source, saved_one in zip(sources, state["generators"], strict=True):
        source.bit_generator.state = saved_one


class drawing_as:
    """A block in which gradlab's own random numbers are those of that state; then they are where they were.

    >>> state = get_rng_state()
    >>> first = generator().random()
    >>> with drawing_as(state):
    ...     again = generator().random()
    >>> bool(first == again)
    True
    """

    def __init__(self, state: Mapping[str, Any] | None) -> None:
        self._state = state

    def __enter__(self) -> None:
        self._now = get_rng_state()
        if self._state is not None:
            set_rng_state(dict(self._state))

    def __exit__(self, *error: object) -> None:
        if self._state is not None:
            set_rng_state(self._now)
