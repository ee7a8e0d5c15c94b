"""Random numbers: one generator, on the host, for every device.

CuPy's streams differ from NumPy's, and lack half of its distributions. What is drawn here and copied is the same on every
device, so that a run can be repeated on another one.
"""

from __future__ import annotations

from operator import index
from typing import Any, cast

import numpy as np

from ..errors import ArgumentError, KeywordError, explain

_generator = np.random.default_rng()


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


def generator() -> np.random.Generator:
    """The generator behind `randn`, dropout, initialisation and shuffling."""
    return _generator


def get_rng_state() -> dict[str, Any]:
    """Where the generator stands, for `set_rng_state`."""
    return dict(_generator.bit_generator.state)


def set_rng_state(state: dict[str, Any]) -> None:
    """Go on drawing from where `get_rng_state` was called.

    >>> state = get_rng_state()
    >>> first = generator().random()
    >>> set_rng_state(state)
    >>> bool(generator().random() == first)
    True
    """
    _generator.bit_generator.state = state
