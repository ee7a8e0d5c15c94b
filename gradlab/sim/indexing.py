"""Indexing as CuPy does it: integers out of range wrap around; on bare NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def parts_of(key: Any) -> tuple[Any, ...]:
    """The index as a tuple."""
    return key if isinstance(key, tuple) else (key,)


def wrapped(key: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The index with every array of integers brought into range, as CuPy's kernels do; plain ints are left to raise.

    >>> wrapped(np.array([1, 4]), (3,))
    (array([1, 1]),)
    """
    parts = parts_of(key)
    consumed = sum(_axes(part) for part in parts)
    out: list[Any] = []
    axis = 0
    for part in parts:
        if part is Ellipsis:
            axis += len(shape) - consumed
        elif isinstance(part, np.ndarray) and part.dtype.kind in "iu" and axis < len(shape) and shape[axis]:
            out.append(part % np.asarray(shape[axis], part.dtype) if part.dtype.kind == "u" else part % shape[axis])
            axis += 1
            continue
        axis += _axes(part)
        out.append(part)
    return tuple(out)


def _axes(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
