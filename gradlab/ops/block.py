"""Long arrays worked on piece by piece. Not an op."""

from __future__ import annotations

from collections.abc import Iterator

from ..backend import Array
from . import plan

BLOCK = 32_768  # entries: 128 kB of float32 stay in the cache from one line of a formula to the next


def blocks(flat: Array) -> Iterator[slice]:
    """The pieces of a flat array; on a device, which has no such cache and is slow to start, all of it at once.

    >>> import numpy as np
    >>> list(blocks(np.zeros(40_000)))
    [slice(0, 32768, None), slice(32768, 65536, None)]
    """
    n = flat.shape[0]
    step = plan.portion(flat, n, 1, BLOCK)
    return (slice(start, start + step) for start in range(0, n, step))
