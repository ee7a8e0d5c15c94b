"""What differs between array libraries, in one place: which module serves an array, dtypes of mixed operands, random state.

NumPy serves everything here. A CuPy array is served by CuPy as soon as the user has imported it: nothing below or above
this file names a library, it asks `xp_of`.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias, cast

import numpy as np

from .errors import DeviceError, DTypeError, explain

Array: TypeAlias = Any  # np.ndarray, or an array of another library with NumPy's functions

float16, float32, float64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
int8, int16, int32, int64 = np.dtype("int8"), np.dtype("int16"), np.dtype("int32"), np.dtype("int64")
uint8, bool_ = np.dtype("uint8"), np.dtype("bool")

DEFAULT_FLOAT = float32
ARRAY_TYPES: dict[type, Any] = {np.ndarray: np}
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2}


def xp_of(x: object) -> Any:
    """The module (`numpy` or one like it) whose functions accept `x`; NumPy for a Python number."""
    xp = ARRAY_TYPES.get(type(x))
    return xp if xp is not None else _module_of(x)


def _module_of(x: object) -> Any:
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        ARRAY_TYPES[type(x)] = cupy
        return cupy
    return np


def is_array(x: object) -> bool:
    """Whether `x` is an array (not a number, a list or a Tensor)."""
    return type(x) in ARRAY_TYPES or isinstance(x, np.ndarray) or _module_of(x) is not np


def as_array(data: Any) -> Array:
    """An array of numbers from an array, a NumPy scalar or nested Python sequences; Python floats become float32.

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
        if array.dtype == float64 and not _has_dtype(data):
            array = array.astype(DEFAULT_FLOAT)
    if array.dtype.kind not in _RANK:
        raise DTypeError(
            explain("tensor: only numbers can be in a tensor", got={"dtype": array.dtype}, need="floats, integers or booleans")
        )
    return array


def _has_dtype(data: Any) -> bool:
    """Whether nested sequences end in things with a dtype of their own, which is then kept."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]  # pyright: ignore[reportUnknownVariableType]
    return hasattr(data, "dtype")  # pyright: ignore[reportUnknownArgumentType]


def to_numpy(array: Array) -> np.ndarray:
    """The array in main memory: itself for NumPy, a copy from the device otherwise."""
    return array.get() if hasattr(array, "get") else array


def on_host(x: object) -> bool:
    """Whether `x` is a NumPy array: its numbers can be looked at without waiting for a device.

    >>> on_host(np.ones(2)), on_host(2.0)
    (True, False)
    """
    return isinstance(x, np.ndarray)


def asarray_like(values: Any, like: Array, dtype: Any = None) -> Array:
    """Host numbers (a NumPy array, a number, nested lists) as an array that lives where `like` does.

    >>> asarray_like([1, 2], np.ones(3)).tolist()
    [1, 2]
    """
    return xp_of(like).asarray(values, dtype=dtype)


def total(array: Array, axis: Any = None, keepdims: bool = False) -> Array:
    """Sum in the array's own dtype, float16 added up in float32: there 2048 + 1 is 2048.

    >>> int(total(np.ones(4096, "float16")))
    4096
    """
    if array.dtype == float16:
        return xp_of(array).sum(array, axis=axis, keepdims=keepdims, dtype=float32).astype(float16)
    return xp_of(array).sum(array, axis=axis, keepdims=keepdims)


def is_place(target: Any) -> bool:
    """Whether `target` names where arrays live (and not a dtype); here that is the CPU.

    Raises:
        DeviceError: a place that is not there.

    >>> is_place("cpu"), is_place("float64")
    (True, False)
    """
    kind = str(target).partition(":")[0]
    if kind in ("cuda", "mps", "gpu", "xpu"):
        raise DeviceError(explain("to: this gradlab runs on the CPU", got={"device": target}, need="'cpu'", fix="leaving the device out"))
    return kind == "cpu"


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
    return xp.reshape(total(grad, (*range(extra), *stretched)), shape)


def scatter_add(out: Array, index: Any, values: Array) -> None:
    """out[index] += values, counting an index that appears twice twice."""
    xp_of(out).add.at(out, index, values)


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
    sized = [x.dtype for x in arrays if is_array(x) and x.ndim]
    zero_d = [x.dtype for x in arrays if is_array(x) and not x.ndim]
    numbers = [_dtype_of_number(x) for x in arrays if not is_array(x)]
    for dtypes in (sized, zero_d, numbers):
        for dtype in sorted(dtypes, key=lambda d: _RANK[d.kind]):
            if wanted is None or _RANK[dtype.kind] > _RANK[wanted.kind]:
                wanted = dtype
            elif dtypes is not numbers and _RANK[dtype.kind] == _RANK[wanted.kind] and (dtypes is sized or not sized):
                wanted = np.promote_types(wanted, dtype)
    assert wanted is not None
    if not sized and not zero_d:
        return [np.asarray(x, wanted) for x in arrays]
    return [x.astype(wanted) if is_array(x) and x.dtype != wanted else x for x in arrays]


def _dtype_of_number(x: object) -> np.dtype:
    return bool_ if isinstance(x, bool) else int64 if isinstance(x, int) else DEFAULT_FLOAT


_generator = np.random.default_rng()


def manual_seed(seed: int) -> np.random.Generator:
    """Start gradlab's own random numbers anew; NumPy's global state is never touched.

    >>> _ = manual_seed(0)
    """
    global _generator
    _generator = np.random.default_rng(seed)
    return _generator


def generator() -> np.random.Generator:
    """The generator behind `randn`, dropout, initialisation and shuffling."""
    return _generator
