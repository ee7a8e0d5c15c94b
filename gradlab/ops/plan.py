"""How much is worked on at a time, and which of two ways is taken: speed, and never a value. Not an op.

Any answer between 1 and all gives the same result, and `tests/mutants.py` holds these functions to it: it runs the cases of
every op with other answers than theirs, and breaks neither them nor what they are given.
"""

from __future__ import annotations

from ..backend import Array, on_host

HOST_ROOM = 384 * 1024  # entries a part of an image may have: 1.5 MB of float32, about what a core's own caches hold
DEVICE_ROOM = 64 * 1024 * 1024  # a device wants few large products
SHORT = 16  # rows of columns below which one kernel row makes too thin a product


def portion(x: Array, n: int, cost: int, room: int, device_room: int | None = None) -> int:
    """How many of n, each of `cost` entries, fit `room`; on a device, which is slow to start, `device_room` or all of them.

    >>> import numpy as np
    >>> portion(np.zeros(3), n=10, cost=100, room=250)
    2
    """
    if not on_host(x):
        if device_room is None:
            return max(1, n)
        room = device_room
    return max(1, room // max(1, cost))


def parts(x: Array, n: int, rows: int, cost: int, more: int) -> tuple[int, int]:
    """How many of n samples, and how many of their rows, each of `cost` entries; a part needs `more` rows beside its own."""
    room, cost = HOST_ROOM if on_host(x) else DEVICE_ROOM, max(1, cost)
    each = max(1, min(n, room // (cost * (rows + more))))
    tall = rows if each > 1 else max(1, min(rows, room // cost - more))
    return each, -(-rows // -(-rows // tall))  # parts of about the same size


def thick(rows: int) -> bool:
    """Whether a product with so many rows is worth its start."""
    return rows >= SHORT
