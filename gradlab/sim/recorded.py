"""What CuPy has, and what its functions take: the recorded table, asked by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

UFUNC_KEYWORDS = ("out", "dtype", "casting")  # no where=, no order=
PARTS = ("linalg", "fft", "lib", "lib.stride_tricks")
ARRAYS = ("a", "m", "x", "ary", "arr", "array", "condition")  # first parameters that have to be an array of the device
PAIRS = ("dot", "vdot", "inner", "outer", "tensordot", "kron", "cross")  # here the second as well
TAKES_ANYTHING = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asnumpy", "from_dlpack",
                  "shape", "ndim", "size", "isscalar", "iscomplexobj", "isrealobj", "isfortran", "can_cast", "result_type")  # fmt: skip
# Where the size of the result, or a check, is only known on the host. Read from CuPy's source, 14.2.
SYNCS = ("nonzero", "flatnonzero", "argwhere", "unique", "extract", "compress", "bincount", "histogram", "histogram2d",
         "histogramdd", "setdiff1d", "setxor1d", "intersect1d", "union1d", "trim_zeros", "place", "putmask", "average",
         "percentile", "quantile", "nanpercentile", "count_nonzero", "asarray_chkfinite", "ravel_multi_index", "unravel_index",
         "array2string", "array_repr", "array_str")  # fmt: skip
# Of an array without axes these take no axis, where NumPy takes 0 and -1. Seen on CuPy 14.2 with a GPU.
ALONG_AXES = ("sum", "prod", "mean", "var", "std", "max", "min", "amax", "amin", "argmax", "argmin", "any", "all", "median", "nansum",
              "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanargmax", "nanargmin", "count_nonzero")  # fmt: skip
# Data types that the atomics behind `ufunc.at` exist for. CuPy adds float16 too on GPUs from 2017 on, but in float16.
_INTS, _FLOATS = ("int32", "int64", "uint32", "uint64"), ("float32", "float64")
AT = {
    "add": (*_INTS, *_FLOATS),
    "subtract": ("int32", "uint32"),
    "maximum": (*_INTS, *_FLOATS),
    "minimum": (*_INTS, *_FLOATS),
    "bitwise_and": _INTS,
    "bitwise_or": _INTS,
    "bitwise_xor": _INTS,
}


@cache
def table() -> dict[str, Any]:
    """The table that docs/record_cupy_api.py wrote."""
    return json.loads(Path(__file__).with_name("cupy_api.json").read_text(encoding="utf-8"))


@cache
def attributes() -> frozenset[str]:
    """What arrays of CuPy have, without what begins with an underscore."""
    return frozenset(table()["ndarray"])


def parameters(name: str) -> list[str] | str | None:
    """The parameters of a function; "ufunc" for one; None where CuPy doesn't show them.

    Raises:
        AttributeError: CuPy has no such name.
    """
    try:
        return table()["functions"][name]
    except KeyError:
        raise AttributeError(f"module 'cupy' has no attribute {name!r}") from None


def check_axis(array: Any, rest: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Refuse an axis of an array that has none.

    Raises:
        AxisError: as CuPy.
    """
    axis = keywords.get("axis", rest[0] if rest else None)
    if axis not in (None, ()) and array.ndim == 0:
        raise np.exceptions.AxisError(axis[0] if isinstance(axis, tuple) else axis, 0)


def check_keywords(name: str, keywords: Any, positions: int = 0) -> None:
    """Refuse a keyword that CuPy's function does not take, and more arguments than it has parameters.

    Raises:
        TypeError: with CuPy's words.
    """
    known = parameters(name)
    allowed = UFUNC_KEYWORDS if known == "ufunc" else known
    if allowed is None or any(p.startswith("**") for p in allowed):
        return
    for keyword in keywords:
        if keyword not in allowed:
            raise TypeError(f"cupy.{name}() got an unexpected keyword argument {keyword!r}")
    if known != "ufunc" and positions > len(allowed) and not any(p.startswith("*") for p in allowed):
        raise TypeError(f"cupy.{name}() takes {len(allowed)} positional arguments but {positions} were given")
