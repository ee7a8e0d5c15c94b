"""Long arrays worked on piece by piece. Not an op."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..backend import Array
from . import plan

BLOCK = 32_768  # entries: 128 kB of float32 stay in the cache from one line of a formula to the next


def pieces(*flat: Array) -> Iterable[Sequence[Array]]:
    """The pieces of flat arrays of one length; on a device, which has no such cache and is slow to start, all of it at once.

    >>> import numpy as np
    >>> [(x.size, y.size) for x, y in pieces(np.zeros(40_000), np.ones(40_000))]
    [(32768, 32768), (7232, 7232)]
    """
    n = flat[0].shape[0]
    step = plan.portion(flat[0], n, 1, BLOCK)
    if step >= n:
        return (flat,)  # no views: they cost a small array as much as a step of a formula
    return ([x[start : start + step] for x in flat] for start in range(0, n, step))
