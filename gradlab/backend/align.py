"""The dtype in which operands meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import ARRAY_TYPES, DEFAULT_FLOAT, bool_, int64, is_array

_RANK = {"b": 0, "u": 1, "i": 1, "f": 2}


def align(arrays: list[Any]) -> list[Any]:
    """Operands of an elementwise op in the dtype PyTorch computes in.

    Arrays with dimensions decide the dtype. A 0-d array, and then a Python number, only takes part when its kind
    (bool < integer < float) is higher than theirs; a float number beside integers means float32.
    """
    first = arrays[0]
    for x in arrays[1:]:
        if type(x) is float or type(x) is int:
            if type(first) in ARRAY_TYPES and first.dtype.kind == "f":
                continue
        elif type(x) in ARRAY_TYPES:
            if type(first) in ARRAY_TYPES and x.dtype == first.dtype:
                continue
            if type(first) in (float, int) and x.dtype.kind == "f":
                continue
        return _aligned(arrays)
    return arrays


def _aligned(arrays: list[Any]) -> list[Any]:
    wanted: np.dtype | None = None
    sized = [x.dtype for x in arrays if _has_dtype(x) and x.ndim]
    zero_d = [x.dtype for x in arrays if _has_dtype(x) and not x.ndim]
    numbers = [_dtype_of_number(x) for x in arrays if not _has_dtype(x)]
    for dtypes in (sized, zero_d, numbers):
        for dtype in sorted(dtypes, key=lambda d: _RANK[d.kind]):
            if wanted is None or _RANK[dtype.kind] > _RANK[wanted.kind]:
                wanted = dtype
            elif dtypes is not numbers and _RANK[dtype.kind] == _RANK[wanted.kind] and (dtypes is sized or not sized):
                wanted = np.promote_types(wanted, dtype)
    assert wanted is not None
    if not sized and not zero_d:
        return [np.asarray(x, wanted) for x in arrays]
    return [x.astype(wanted) if _has_dtype(x) and x.dtype != wanted else x for x in arrays]


def _has_dtype(x: object) -> bool:
    return is_array(x) or hasattr(x, "grad_fn")  # a Tensor, where a rule runs on those


def _dtype_of_number(x: object) -> np.dtype:
    return bool_ if isinstance(x, bool) else int64 if isinstance(x, int) else DEFAULT_FLOAT
