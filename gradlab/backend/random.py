"""Random numbers: one generator, on the host, for every device.

CuPy's streams differ from NumPy's, and lack half of its distributions. What is drawn here and copied is the same on every
device, so that a run can be repeated on another one.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from collections.abc import Generator as Yields
from contextlib import contextmanager
from contextvars import ContextVar
from operator import index
from typing import Any, cast

import numpy as np

from ..errors import ArgumentError, KeywordError, explain
from .device import Device

_generator = np.random.default_rng()
_borrowed: ContextVar[Callable[[], np.random.Generator] | None] = ContextVar("borrowed", default=None)


def manual_seed(seed: int) -> np.random.Generator:
    """Start gradlab's own random numbers anew; NumPy's global state is never touched.

    Raises:
        KeywordError: the seed is no whole number.
        ArgumentError: it is negative.

    >>> _ = manual_seed(0)
    """
    global _generator
    _generator = np.random.default_rng(seed_of(seed))
    return _generator


def seed_of(seed: Any) -> int:
    """A seed that NumPy takes: a whole number, 0 or more."""
    try:
        number = index(cast("Any", None) if isinstance(seed, bool) else seed)
    except TypeError:
        raise KeywordError(explain("manual_seed: this is no seed", got={"seed": repr(seed)}, need="a whole number, 0 or more")) from None
    if number < 0:
        raise ArgumentError(explain("manual_seed: a seed can't be negative", got={"seed": number}, need="a whole number, 0 or more"))
    return number


class Generator:
    """Random numbers of their own, for what takes `generator=`: a seed gives the same ones on every device.

    >>> g = Generator().manual_seed(3)
    >>> first = generator(g).random()
    >>> bool(generator(g.manual_seed(3)).random() == first)
    True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        self._drawn_by, self._seed = np.random.default_rng(_FIRST_SEED), _FIRST_SEED

    def manual_seed(self, seed: int) -> Generator:
        """Start anew; returns itself."""
        self._seed = seed_of(seed)
        self._drawn_by = np.random.default_rng(self._seed)
        return self

    def seed(self) -> int:
        """Start anew from a seed that nobody knows, which is returned."""
        self.manual_seed(secrets.randbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """The seed of the last start."""
        return self._seed

    def get_state(self) -> dict[str, Any]:
        """Where it stands, for `set_state`."""
        return dict(self._drawn_by.bit_generator.state)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from where `get_state` was called, here or on another one."""
        self._drawn_by.bit_generator.state = state

    def __repr__(self) -> str:
        return f"Generator(device='{self.device}', initial_seed={self._seed})"


_FIRST_SEED = 67280421310721  # of every new Generator, as in PyTorch


def generator(own: Any = None) -> np.random.Generator:
    """The generator behind `randn`, dropout, initialisation and shuffling; or that of a `Generator`, where one was given.

    Raises:
        KeywordError: what was given is none.
    """
    if own is None:
        borrowed = _borrowed.get()
        return borrowed() if borrowed else _generator
    if not isinstance(own, Generator):
        raise KeywordError(explain("generator: this is none", got={"generator": type(own).__name__}, need="a gl.Generator"))
    return own._drawn_by  # pyright: ignore[reportPrivateUsage]


@contextmanager
def drawing_from(make: Callable[[], np.random.Generator]) -> Yields[None]:
    """Let everything in the block, in this thread alone, draw from what `make` gives; it is called when something is drawn first.

    >>> with drawing_from(lambda: np.random.default_rng(3)):
    ...     first = generator().random()
    >>> bool(first == np.random.default_rng(3).random())
    True
    """
    token = _borrowed.set(functools.cache(make))
    try:
        yield
    finally:
        _borrowed.reset(token)


def get_rng_state() -> dict[str, Any]:
    """Where the generator stands, for `set_rng_state`."""
    return dict(_generator.bit_generator.state)


def set_rng_state(new_state: dict[str, Any]) -> None:
    """Go on drawing from where `get_rng_state` was called.

    >>> state = get_rng_state()
    >>> first = generator().random()
    >>> set_rng_state(state)
    >>> bool(generator().random() == first)
    True
    """
    _generator.bit_generator.state = new_state
