"""Random numbers: one generator, on the host, for every device.

CuPy's streams differ from NumPy's, and lack half of its distributions. What is drawn here and copied is the same on every
device, so that a run can be repeated on another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_generator = np.random.default_rng()


def manual_seed(seed: int) -> np.random.Generator:
    """Start gradlab's own random numbers anew; NumPy's global state is never touched.

    >>> _ = manual_seed(0)
    """
    global _generator
    _generator = np.random.default_rng(seed)
    return _generator


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
