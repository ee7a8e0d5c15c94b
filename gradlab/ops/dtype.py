"""The number type an op computes in. Not an op: what the files of this folder share."""

from __future__ import annotations

from typing import Any

from ..backend import DEFAULT_FLOAT, Array, xp_of
from ..errors import DTypeError, explain


def floating(x: Any) -> Array:
    """`x` itself where it holds floats; integers, booleans and Python numbers as float32.

    >>> import numpy as np
    >>> floating(np.array([1, 2])).dtype
    dtype('float32')
    """
    try:
        if x.dtype.kind == "f":
            return x
    except AttributeError:
        pass
    return xp_of(x).asarray(x, dtype=DEFAULT_FLOAT)


def need_floats(op: str, x: Array) -> None:
    """Refuse integers and booleans where the result would have to be a fraction.

    Raises:
        DTypeError: `x` does not hold floats.
    """
    if x.dtype.kind != "f":
        raise DTypeError(explain(f"{op}: takes floating numbers", got={"x": x.dtype}, need="float16, float32 or float64", fix="x.float()"))
