"""What NumPy and CuPy do differently, under one name each."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from .array import Array, float16, float32, float64, int64, on_host, xp_of

quiet = partial(np.errstate, all="ignore")  # NaN and Inf are data: no warning for them; a device gives none anyway
_sum: Any = np.add.reduce


def total(array: Array, axis: Any = None, keepdims: bool = False) -> Array:
    """Sum in the array's own dtype, float16 added up in float32: there 2048 + 1 is 2048.

    >>> int(total(np.ones(4096, "float16")))
    4096
    """
    if array.__class__ is np.ndarray and array.dtype is not float16:
        return _sum(array, axis, None, None, keepdims)  # half the time of np.sum on small arrays
    if array.dtype == float16:
        with quiet():  # a sum beyond 65504 is Inf
            return xp_of(array).sum(array, axis=axis, keepdims=keepdims, dtype=float32).astype(float16)
    return xp_of(array).sum(array, axis=axis, keepdims=keepdims)


def unbroadcast(grad: Array, shape: tuple[int, ...]) -> Array:
    """Sum `grad` back to `shape`: the adjoint of broadcasting.

    Broadcasting copies a value to many places, so its gradient is the sum over those places.

    >>> unbroadcast(np.ones((2, 3)), (1, 3))
    array([[2., 2., 2.]])
    """
    if grad.shape == shape:
        return grad
    xp = xp_of(grad)
    extra = grad.ndim - len(shape)
    stretched = tuple([i + extra for i, n in enumerate(shape) if n == 1 and grad.shape[i + extra] != 1])
    return xp.asarray(total(grad, (*range(extra), *stretched))).reshape(shape)  # NumPy makes a number of a 0-d sum


def picked(array: Array, index: Array) -> Array:
    """`array[index]` along the first axis, as an array of its own.

    `take` is the faster way, but of an array whose rows are not one after the other in memory it copies all of it first.

    >>> picked(np.arange(6).reshape(2, 3).T, np.array([2, 0]))
    array([[2, 5],
           [0, 3]])
    """
    xp = xp_of(array)
    if on_host(array) and not array.flags.c_contiguous:
        return np.ascontiguousarray(array[index])
    return xp.take(array, index, axis=0)


def scatter_add(out: Array, index: Any, values: Array) -> None:
    """out[index] += values, counting an index that appears twice twice; float16 is added up in float32.

    >>> out = np.zeros(2)
    >>> scatter_add(out, np.array([0, 0]), np.array([1.0, 2.0]))
    >>> out
    array([3., 0.])
    """
    xp = xp_of(out)
    if out.dtype == float16:
        wide = xp.zeros(out.shape, float32)
        scatter_add(wide, index, xp.asarray(values, dtype=float32))
        out += wide.astype(float16)
    elif not (xp is np and out.flags.c_contiguous and _add_flat(out, index, values)):
        xp.add.at(out, index, values)


CHUNK = 1 << 17  # so many places at once: their numbers fit into a megabyte
FEW = 1 << 9  # below this the preparation costs more than it saves


def _add_flat(out: Any, index: Any, values: Any) -> bool:
    """The same by places counted row by row: on one axis NumPy's add.at is 5 to 8 times as quick. False where it does not apply.

    It applies to integers along the first axis, and to integers along every axis, all of them in range.
    """
    parts: list[Any] = list(cast("Any", index)) if isinstance(index, tuple) else [index]
    if not parts or np.size(values) < FEW or not all(type(i) is np.ndarray and i.dtype.kind in "iu" for i in parts):
        return False
    if not out.size or not all(i.size and -n <= i.min() and i.max() < n for i, n in zip(parts, out.shape, strict=False)):
        return False
    parts = [i.astype(np.int64, copy=False) for i in parts]  # a place is a larger number than small integers hold
    flat = out.reshape(-1)
    if len(parts) == 1:
        rows, width = parts[0].reshape(-1), out.size // out.shape[0]
        added: Any = np.broadcast_to(values, (*parts[0].shape, *out.shape[1:])).reshape(-1, width)
        places: Any = np.arange(width, dtype=np.int64)
        step = max(1, CHUNK // width)
        for start in range(0, len(rows), step):  # a negative row counts from the end here too
            some = slice(start, start + step)
            at = rows[some, None] * width + places
            np.add.at(flat, at.reshape(-1), added[some].reshape(-1))
        return True
    if len(parts) != out.ndim:
        return False
    place: Any = 0
    for i, n in zip(parts, out.shape, strict=True):
        place = place * n + cast("Any", np.where(i < 0, i + n, i))
    np.add.at(flat, place.reshape(-1), np.broadcast_to(values, place.shape).reshape(-1))
    return True


def counted(ids: Array, n: int, weights: Array | None = None) -> Array:
    """How often each of 0 to n - 1 is among the ids; with weights, their sum in float64. It waits for no device, as `bincount` would.

    >>> counted(np.array([0, 2, 2]), 3).tolist()
    [1, 0, 2]
    """
    if on_host(ids):
        return np.bincount(ids, weights, n)
    xp = xp_of(ids)
    out = xp.zeros(n, int64 if weights is None else float64)
    xp.add.at(out, ids, 1 if weights is None else xp.asarray(weights, dtype=float64))
    return out
