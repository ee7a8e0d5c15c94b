"""Sizes of moments, in one pass and without a copy."""

from __future__ import annotations

import math

from ..backend import Array, xp_of


def rms(x: Array) -> float:
    """sqrt(mean(x^2)); NaN for an empty array.

    >>> import numpy as np
    >>> rms(np.array([3.0, -3.0]))
    3.0
    """
    if not x.size:
        return math.nan
    xp = xp_of(x)
    square = float(xp.vdot(x, x))
    if math.isinf(square):  # float32 overflows from 1e19 on
        wide = x.astype("float64")
        square = float(xp.vdot(wide, wide))
    return math.sqrt(square / x.size)


def mean(x: Array) -> float:
    """The mean, in float64; NaN for an empty array.

    >>> import numpy as np
    >>> mean(np.array([1.0, 2.0], np.float32))
    1.5
    """
    return float(xp_of(x).sum(x, dtype="float64")) / x.size if x.size else math.nan
