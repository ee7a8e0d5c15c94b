"""Arrays of any library: which module serves one, and how numbers become one.

NumPy serves everything here. An array of CuPy, or of the simulated device, is served by its own module as soon as that is
imported: nothing below or above this package names a library, it asks `xp_of`.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias, cast

import numpy as np

from ..errors import DTypeError, explain

Array: TypeAlias = Any  # np.ndarray, or an array of another library with NumPy's functions

float16, float32, float64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
int8, int16, int32, int64 = np.dtype("int8"), np.dtype("int16"), np.dtype("int32"), np.dtype("int64")
uint8, bool_ = np.dtype("uint8"), np.dtype("bool")

DEFAULT_FLOAT = float32
ARRAY_TYPES: dict[type, Any] = {np.ndarray: np}  # one look here tells what serves an array: 20 times as fast as to ask CuPy
_LIBRARIES = ("cupy", "gradlab.sim")  # looked at only once somebody has imported them


def is_kind(dtype: Any) -> bool:
    """Whether `dtype` is a kind of number that a tensor can hold.

    >>> is_kind("float16"), is_kind("complex64"), is_kind("foo")
    (True, False, False)
    """
    try:
        return dtype is not None and np.dtype(dtype).kind in "buif"
    except TypeError:
        return False


def xp_of(x: object) -> Any:
    """The module (`numpy` or one like it) whose functions accept `x`; NumPy for a Python number.

    A Tensor brings its own, in which NumPy's names are ops: so a formula written for arrays can be differentiated.
    """
    xp = ARRAY_TYPES.get(type(x))
    return xp if xp is not None else getattr(x, "_xp", None) or _module_of(x)


def _module_of(x: object) -> Any:
    for name in _LIBRARIES:
        module = sys.modules.get(name)
        kind = getattr(module, "ndarray", None)
        if kind is not None and isinstance(x, kind):
            ARRAY_TYPES[type(x)] = module
            return module
    return np


def is_array(x: object) -> bool:
    """Whether `x` is an array (not a number, a list or a Tensor)."""
    return type(x) in ARRAY_TYPES or isinstance(x, np.ndarray) or _module_of(x) is not np


def on_host(x: object) -> bool:
    """Whether `x` is a NumPy array: its numbers can be looked at without waiting for a device.

    >>> on_host(np.ones(2)), on_host(2.0)
    (True, False)
    """
    return isinstance(x, np.ndarray)


def as_array(data: Any, *, narrow: bool = True) -> Array:
    """An array of numbers from an array, a NumPy scalar or nested Python sequences; Python floats become float32, unless not `narrow`.

    Raises:
        DTypeError: what came in holds something else than numbers.
    """
    if is_array(data):
        array: Any = np.asarray(cast("Any", data)) if isinstance(data, np.ndarray) else data  # np.matrix would multiply its own way
    else:
        try:
            array = np.asarray(data)
        except ValueError:
            raise DTypeError(
                explain("tensor: these values form no array", got={"type": type(data).__name__}, need="numbers, nested evenly")
            ) from None
        if narrow and array.dtype == float64 and not _has_dtype(data):
            array = array.astype(DEFAULT_FLOAT)
    if array.dtype.kind not in "buif":
        raise DTypeError(
            explain("tensor: only numbers can be in a tensor", got={"dtype": array.dtype}, need="floats, integers or booleans")
        )
    return array


def _has_dtype(data: Any) -> bool:
    """Whether nested sequences end in things with a dtype of their own, which is then kept."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]  # pyright: ignore[reportUnknownVariableType]
    return hasattr(data, "dtype")  # pyright: ignore[reportUnknownArgumentType]


def asarray_like(values: Any, like: Array, dtype: Any = None) -> Array:
    """Host numbers (a NumPy array, a number, nested lists) as an array that lives where `like` does.

    >>> asarray_like([1, 2], np.ones(3)).tolist()
    [1, 2]
    """
    return xp_of(like).asarray(values, dtype=dtype)


def to_numpy(array: Array) -> np.ndarray:
    """The array in main memory: itself for NumPy, a copy from the device otherwise, for which the device is waited for."""
    return array.get() if hasattr(array, "get") else array
