"""What is kept when entries are dropped at random. Not an op: dropout and attention draw alike."""

from __future__ import annotations

from math import prod

import numpy as np

from ..backend import Array, asarray_like, generator


def kept_at_random(like: Array, shape: tuple[int, ...], p: float, scale: float) -> Array:
    """`scale` at probability 1 - p, else 0, in the dtype and the place of `like`.

    A random byte decides, in a seventh of the time of a random float. Only where it says neither yes nor no, one time in
    256 and never if 256 p is whole, a float decides, so that the probability is right for every p.

    >>> kept_at_random(np.ones(2), (3,), 1.0, 2.0).tolist()
    [0.0, 0.0, 0.0]
    """
    n = prod(shape)
    low, rest = int(p * 256), p * 256 % 1
    words = generator().integers(0, 1 << 64, -(-n // 8), dtype=np.uint64)
    drawn = words.view(np.uint8)[:n]
    keep = drawn >= low
    if rest:
        unsure = np.flatnonzero(drawn == low)
        keep[unsure] = generator().random(unsure.size) >= rest
    return asarray_like(np.multiply(keep, scale, dtype=like.dtype).reshape(shape), like)
