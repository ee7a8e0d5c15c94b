"""1 / (1 + e^-x) and its integral on arrays. Not an op: many activations are made of them."""

from __future__ import annotations

from ..backend import Array, xp_of
from .dtype import saturating, wide


@saturating
def logistic(x: Array) -> Array:
    """1 / (1 + e^-x), with all digits in the tail, which the tanh form loses. Far below 0 e^-x is inf, and the result 0.

    >>> import numpy as np
    >>> logistic(np.array([0.0, 800.0, -800.0]))
    array([0.5, 1. , 0. ])
    """
    xp = xp_of(x)
    return xp.asarray(1 / (1 + xp.exp(-wide(x))), dtype=x.dtype)


def softplus_of(x: Array) -> Array:
    """log(1 + e^x) in the form that never overflows.

    >>> import numpy as np
    >>> softplus_of(np.array([800.0, -800.0]))
    array([800.,   0.])
    """
    xp = xp_of(x)
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))
