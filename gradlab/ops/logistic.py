"""1 / (1 + e^-x) and its integral on arrays, in forms that never overflow. Not an op: many activations are made of them."""

from __future__ import annotations

from ..backend import Array, xp_of


def logistic(x: Array) -> Array:
    """1 / (1 + e^-x). e^-x overflows far below 0; e^-|x| never does, and keeps the digits of the tail, which the tanh form loses.

    >>> import numpy as np
    >>> logistic(np.array([0.0, 800.0, -800.0]))
    array([0.5, 1. , 0. ])
    """
    xp = xp_of(x)
    e = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1.0, e) / (1 + e)


def softplus_of(x: Array) -> Array:
    """log(1 + e^x) in the form that never overflows.

    >>> import numpy as np
    >>> softplus_of(np.array([800.0, -800.0]))
    array([800.,   0.])
    """
    xp = xp_of(x)
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))
