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

    NumPy's log1p takes 10 times as long as its log, so that log(1 + e) is taken, and what 1 + e has lost of e is added at its slope.

    >>> import numpy as np
    >>> softplus_of(np.array([800.0, 0.0, -700.0]))
    array([8.00000000e+002, 6.93147181e-001, 9.85967654e-305])
    """
    xp = xp_of(x)
    e = xp.exp(-xp.abs(x))
    u = 1 + e
    return xp.maximum(x, 0) + (xp.log(u) + (e - (u - 1)) / u)
