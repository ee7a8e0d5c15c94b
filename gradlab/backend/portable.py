"""What NumPy and CuPy do differently, under one name each."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .array import Array, float16, float32, float64, int64, on_host, xp_of

quiet = partial(np.errstate, all="ignore")  # NaN and Inf are data: no warning for them; a device gives none anyway


def total(array: Array, axis: Any = None, keepdims: bool = False) -> Array:
    """Sum in the array's own dtype, float16 added up in float32: there 2048 + 1 is 2048.

    >>> int(total(np.ones(4096, "float16")))
    4096
    """
    if array.__class__ is np.ndarray and array.dtype is not float16:
        return np.add.reduce(array, axis, None, None, keepdims)  # half the time of np.sum on small arrays
    if array.dtype == float16:
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
    return xp.reshape(xp.asarray(total(grad, (*range(extra), *stretched))), shape)  # NumPy makes a number of a 0-d sum


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
        xp.add.at(wide, index, xp.asarray(values, dtype=float32))
        out += wide.astype(float16)
    else:
        xp.add.at(out, index, values)


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
