"""The functions of the simulated device: those that CuPy has, with its parameters and on its arrays."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import recorded, undefined
from .counts import launched, uploaded
from .simulated import bare_of, ndarray, quiet, run, use_functions, wrap


class Ufunc:
    """A function of entries: operands are arrays of the device and plain numbers, nothing else."""

    def __init__(self, name: str, run: np.ufunc) -> None:
        self.__name__, self.name = name, f"cupy_{name}"
        self._ufunc = run

    def __repr__(self) -> str:
        return f"<ufunc 'sim_{self.__name__}'>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, entry by entry."""
        recorded.check_keywords(self.__name__, kwargs)
        for x in args:
            if hasattr(x, "__cupy_override_elementwise_kernel__"):  # as CuPy asks: such a type computes by itself
                return x.__cupy_override_elementwise_kernel__(self, *args, **kwargs)
        if len(args) > self._ufunc.nin:
            kwargs["out"], args = args[self._ufunc.nin], args[: self._ufunc.nin]
        out = kwargs.get("out")
        if out is not None and not isinstance(out, ndarray):
            raise TypeError(f"return arrays must be of ArrayType, not {type(out)}")
        return run(self.__name__, self._ufunc, [self._operand(x) for x in args], {k: v for k, v in kwargs.items() if v is not None})

    def _operand(self, x: Any) -> Any:
        if isinstance(x, (ndarray, bool, int, float, np.generic)) or x is None:
            return x
        lent = getattr(x, "__sim_array__", None)
        if lent is None:
            raise TypeError(f"Unsupported type {type(x)}")
        return lent

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        """a[indices] = self(a[indices], b), for each index in turn: with atomics, which few dtypes have."""
        dtypes = recorded.AT.get(self.__name__)
        if dtypes is None:
            raise NotImplementedError(f"`{self.__name__}.at` is not supported yet")
        if a.dtype.name not in dtypes:
            raise TypeError(f"cupy.{self.__name__}.at only supports {', '.join(dtypes)} as data type")
        key, _ = a._key(indices)
        value = self._operand(b)
        launched()
        with quiet():
            value = bare_of(value).astype(a.dtype, copy=False) if isinstance(value, ndarray) else value
            self._ufunc.at(bare_of(a), key, value)

    def outer(self, a: ndarray, b: ndarray, **kwargs: Any) -> Any:
        """Every entry of `a` with every entry of `b`."""
        return run(self.__name__, self._ufunc.outer, [self._operand(a), self._operand(b)], kwargs)

    def _folded(self, how: str, *args: Any, **kwargs: Any) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.__name__}.{how}` is not supported yet")
        return run("sum" if how == "reduce" else self.__name__, getattr(self._ufunc, how), args, kwargs)

    def reduce(self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The sum or product along an axis; CuPy folds nothing else."""
        return self._folded("reduce", array, axis=axis, dtype=dtype, out=out, keepdims=keepdims)

    def accumulate(self, array: ndarray, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The running sum or product; CuPy accumulates nothing else."""
        return self._folded("accumulate", array, axis=axis, dtype=dtype, out=out)


class Namespace:
    """A part of CuPy with functions of its own: `linalg`, `fft`, `lib.stride_tricks`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = function(f"{self._name}.{name}")
        setattr(self, name, value)
        return value


@functools.cache
def function(name: str) -> Any:
    """What CuPy has under a name: a checked function, a ufunc, a part, a dtype or a constant.

    Raises:
        AttributeError: CuPy has no such name, or it is one that a GPU is needed for.
    """
    if name in recorded.PARTS:
        return Namespace(name)
    known = recorded.parameters(name)
    if name in _OWN:
        return _OWN[name]
    value: Any = np
    for part in name.split("."):
        value = getattr(value, part, None)
    if isinstance(value, np.ufunc) and known == "ufunc":
        return Ufunc(name, value)
    if value is None or not callable(value) or isinstance(value, type):
        if value is None and name != "newaxis":
            raise AttributeError(f"sim: {name} is CuPy's alone, and not simulated")
        return value

    @functools.wraps(value)
    def checked(*args: Any, **kwargs: Any) -> Any:
        recorded.check_keywords(name, kwargs, len(args))
        _need_arrays(name, known, args)
        return run(name, value, args, kwargs)

    return checked


def _need_arrays(name: str, known: Any, args: tuple[Any, ...]) -> None:
    """Refuse a list or a number where CuPy's function needs an array of its own."""
    if not known or known == "ufunc" or not args or name in recorded.TAKES_ANYTHING:
        return
    needed: list[Any] = []
    if known[0] in recorded.ARRAYS:
        needed = list(args[: 2 if name in recorded.PAIRS else 1])
    elif known[0] in ("tup", "arrays"):
        needed = list(args[0]) if isinstance(args[0], (list, tuple)) else [args[0]]  # pyright: ignore[reportUnknownArgumentType]
    elif known[0].startswith("*"):
        needed = [x for x in args if not isinstance(x, str)]
    for x in needed:
        if not isinstance(x, ndarray) and not hasattr(x, "__sim_array__"):
            raise TypeError(f"{name}: {type(x)} is no array of this device")


def _asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> ndarray:
    """An array on the device; numbers from the host are copied over."""
    return _array(a, dtype, copy, order, blocking=blocking)


def _array(
    obj: Any, dtype: Any = None, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0, *, blocking: bool = False
) -> ndarray:
    """A new array on the device; numbers from the host are copied over."""
    if hasattr(obj, "__sim_array__"):
        obj = obj.__sim_array__
    if not isinstance(obj, ndarray):
        if isinstance(obj, (list, tuple)) and _holds_device_arrays(obj):  # pyright: ignore[reportUnknownArgumentType]
            obj = np.stack([bare_of(_asarray(x)) for x in obj])  # pyright: ignore[reportUnknownVariableType]
        elif hasattr(obj, "grad_fn"):
            raise TypeError(f"Unsupported type {type(obj)}")
        with quiet():
            bare = np.array(obj, dtype=dtype, order="C", ndmin=ndmin)
        uploaded(bare.nbytes)
        return wrap(bare)
    bare = bare_of(obj)
    if dtype is not None:
        undefined.refuse_cast(bare, dtype)
    with quiet():
        made = np.array(bare, dtype=dtype, copy=copy or None, order="F" if order == "F" else "C" if order == "C" else "K", ndmin=ndmin)
    if made is not bare:
        launched()
    return wrap(made, obj) if made is bare or made.base is not None else wrap(made)


def _holds_device_arrays(values: Any) -> bool:
    return any(isinstance(x, ndarray) or hasattr(x, "__sim_array__") for x in values)


def _asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    """A copy in main memory."""
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def _from_dlpack(x: Any) -> ndarray:
    if not isinstance(x, ndarray):
        raise BufferError("sim: only its own arrays are on this device")
    return x[...]


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if not isinstance(condition, ndarray):
        raise TypeError(f"where: {type(condition)} is no array of this device")
    if x is None and y is None:
        return function("nonzero")(condition)
    for v in (x, y):
        if isinstance(v, (list, tuple)):
            raise TypeError(f"Unsupported type {type(v)}")
    return run("where", np.where, (condition, x, y), {})


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Entries along an axis; indices out of range wrap around."""
    if isinstance(indices, (list, int)):
        indices = _asarray(indices)
    bare = bare_of(indices)
    n = a.size if axis is None else a.shape[axis]
    return run("take", np.take, (a, wrap(bare % n if n else bare)), {"axis": axis} | ({} if out is None else {"out": out}))


def _take_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    n = a.size if axis is None else a.shape[axis]
    bare = bare_of(indices)
    return run("take_along_axis", np.take_along_axis, (a, wrap(bare % n if n else bare), axis), {})


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, (ndarray, np.ndarray)):
        raise ValueError("cupy.ndarray cannot be specified as `repeats` argument.")
    return run("repeat", np.repeat, (a, repeats, axis), {})


def _empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """Memory with nothing sensible in it, so that a result that reads it shows."""
    made = np.empty(shape, dtype)
    made.fill(np.nan if made.dtype.kind == "f" else 99)
    launched()
    return wrap(made)


def _empty_like(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> ndarray:
    """The same, in the shape and dtype of `a`."""
    return _empty(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)


_OWN: dict[str, Any] = {
    "empty": _empty,
    "empty_like": _empty_like,
    "array": _array,
    "asarray": _asarray,
    "asanyarray": _asarray,
    "ascontiguousarray": lambda a, dtype=None: _array(a, dtype, None, "C"),
    "asfortranarray": lambda a, dtype=None: _array(a, dtype, None, "F"),
    "asnumpy": _asnumpy,
    "from_dlpack": _from_dlpack,
    "where": _where,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "repeat": _repeat,
    "ndarray": ndarray,
}

use_functions(function)
