"""The array of the simulated device, and its functions: each checks as CuPy would, then lets NumPy compute."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import indexing, recorded
from .counts import launched, synced, uploaded

_HOST_CONVERSION = "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
_quiet = functools.partial(np.errstate, all="ignore")  # a GPU gives inf and NaN without a word


class Flags:
    """How the entries lie in memory; as on CuPy, nothing says whether they can be written."""

    def __init__(self, flags: Any, owndata: bool) -> None:
        self.c_contiguous, self.f_contiguous, self.owndata = bool(flags.c_contiguous), bool(flags.f_contiguous), owndata
        self.fnc, self.forc = bool(flags.fnc), bool(flags.forc)


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on the simulated device. Made by `asarray` and the other functions, not by hand."""

    __slots__ = ("_a", "base")
    __hash__ = None  # type: ignore[assignment]
    _a: np.ndarray
    base: ndarray | None  # whose memory a view looks at

    shape = property(lambda self: self._a.shape)
    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    nbytes = property(lambda self: self._a.nbytes)
    itemsize = property(lambda self: self._a.itemsize)
    strides = property(lambda self: self._a.strides)
    device = "sim"

    @property
    def flags(self) -> Flags:
        """How the entries lie in memory."""
        return Flags(self._a.flags, self.base is None)

    # What waits for the device

    def get(self) -> np.ndarray:
        """A copy in main memory."""
        synced("get", self._a.nbytes)
        return self._a.copy()

    def item(self, *at: Any) -> Any:
        """One entry as a Python number."""
        synced("item", self._a.itemsize)
        return self._a.item(*at)

    def tolist(self) -> Any:
        """The numbers in nested lists."""
        synced("tolist", self._a.nbytes)
        return self._a.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes."""
        synced("tobytes", self._a.nbytes)
        return self._a.tobytes(order)

    def _number(self, what: str, convert: Callable[[Any], Any]) -> Any:
        synced(what, self._a.itemsize)
        return convert(self._a)

    def __float__(self) -> float:
        return self._number("float()", lambda a: float(a.item()))

    def __int__(self) -> int:
        return self._number("int()", lambda a: int(a.item()))

    def __index__(self) -> int:
        return self._number("index", lambda a: a.__index__())

    def __bool__(self) -> bool:
        return self._number("bool()", bool)

    def __repr__(self) -> str:
        synced("repr", self._a.nbytes)
        return "sim." + repr(self._a)

    def __str__(self) -> str:
        synced("str", self._a.nbytes)
        return str(self._a)

    def __format__(self, spec: str) -> str:
        synced("format", self._a.nbytes)
        return format(self._a if self.ndim else self._a.item(), spec)

    def set(self, values: np.ndarray) -> None:
        """Overwrite with the entries of an array in main memory, of the same shape and dtype."""
        if not isinstance(values, np.ndarray) or values.shape != self.shape or values.dtype != self.dtype:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("set: a NumPy array of the same shape and dtype is needed")
        uploaded(values.nbytes)
        self._a[...] = values

    # What other libraries ask

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(_HOST_CONVERSION)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
        try:
            run = function(ufunc.__name__)
        except AttributeError:
            return NotImplemented
        return (run if method == "__call__" else getattr(run, method))(*inputs, **kwargs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        part = func.__module__.removeprefix("numpy").lstrip(".")
        return function(f"{part}.{func.__name__}".lstrip("."))(*args, **kwargs)

    def __dlpack__(self, **kwargs: Any) -> Any:
        raise BufferError("sim: no other library can look at this memory; .get() copies it")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (12, 0)  # kDLExtDev

    def __copy__(self) -> ndarray:
        return wrap(self._a.copy())

    def __deepcopy__(self, memo: Any) -> ndarray:
        return wrap(self._a.copy())

    def __reduce__(self) -> Any:
        return function("asarray"), (self.get(),)

    # Entries

    def __len__(self) -> int:
        return len(self._a)

    def __iter__(self) -> Iterator[ndarray]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def _key(self, key: Any) -> tuple[tuple[Any, ...], bool]:
        """The index on the bare array, and whether it copies."""
        parts: list[Any] = []
        copies = False
        for part in indexing.parts_of(key):
            if isinstance(part, (np.ndarray, np.bool_)):
                raise TypeError(f"Unsupported type {type(part)}: an array on the host can't be an index here")
            if isinstance(part, (list, bool)):
                bare = np.asarray(part, np.int32 if part == [] else None)
                uploaded(bare.nbytes)
                part = bare
            elif hasattr(part, "__sim_array__") or isinstance(part, ndarray):
                part = bare_of(part)
            if isinstance(part, np.ndarray):
                copies = True
                if part.dtype.kind == "b":
                    synced("a mask as index")
            parts.append(part)
        return indexing.wrapped(tuple(parts), self.shape), copies

    def __getitem__(self, key: Any) -> ndarray:
        bare, copies = self._key(key)
        if copies:
            launched()
        r = np.asarray(self._a[bare])
        return wrap(r.copy() if copies else r, self)

    def __setitem__(self, key: Any, value: Any) -> None:
        bare, _ = self._key(key)
        if isinstance(value, (np.ndarray, list, tuple)):
            raise TypeError(f"Unsupported type {type(value)}: values from the host have to be copied here first")
        if sum(isinstance(part, np.ndarray) and part.dtype.kind == "b" for part in bare) > 1:
            raise IndexError("CuPy assigns to one mask at a time")
        raw = bare_of(value) if not isinstance(value, (bool, int, float, np.generic)) else value
        if indexing.is_contradictory(self._a, bare, raw):
            raise RuntimeError("sim: different values for one place; on a GPU it is open which one stays")
        launched()
        with _quiet():
            self._a[bare] = raw

    # Methods: those that CuPy's arrays have, each as the function of the same name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in recorded.attributes():
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        value = getattr(self._a, name)
        if not callable(value):
            return wrap(value, self)
        return functools.partial(_method, self, name)

    def astype(self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True) -> ndarray:
        """In another dtype; itself where it has it already and no copy is asked for."""
        if not copy and self.dtype == dtype:
            return self
        launched()
        with _quiet():
            return wrap(self._a.astype(dtype))


def bare_of(x: Any) -> np.ndarray:
    """What is inside an array of this device, or in what lends one.

    Raises:
        TypeError: it lives elsewhere, with CuPy's words.
    """
    if isinstance(x, ndarray):
        return x._a  # pyright: ignore[reportPrivateUsage]
    lent = getattr(x, "__sim_array__", None)
    if lent is None:
        raise TypeError(f"Unsupported type {type(x)}")
    return lent._a


def wrap(r: Any, *inputs: ndarray) -> Any:
    """A result on the device: a view of an input where it looks at its memory, else contiguous memory of its own."""
    if isinstance(r, (tuple, list)):
        parts = [wrap(x, *inputs) for x in r]  # pyright: ignore[reportUnknownVariableType]
        return type(r)(*parts) if hasattr(r, "_fields") else type(r)(parts)  # pyright: ignore
    if not isinstance(r, (np.ndarray, np.generic)):
        return r
    out = object.__new__(ndarray)
    out._a, out.base = np.asarray(r), None  # pyright: ignore[reportPrivateUsage]
    if isinstance(r, np.ndarray):
        root = _root(r)
        for x in inputs:
            if r is x._a:  # pyright: ignore[reportPrivateUsage]
                return x
            if root is _root(x._a):  # pyright: ignore[reportPrivateUsage]
                out.base = x if x.base is None else x.base
                return out
        out._a = np.array(r, order="C", copy=None)  # pyright: ignore[reportPrivateUsage]
    return out


def _root(a: Any) -> Any:
    while getattr(a, "base", None) is not None:
        a = a.base
    return a


def _method(x: ndarray, name: str, *args: Any, **kwargs: Any) -> Any:
    if name in recorded.table()["functions"]:
        recorded.check_keywords(name, kwargs)
    return _run(name, getattr(x._a, name), args, kwargs, x)  # pyright: ignore[reportPrivateUsage]


def _run(name: str, run: Callable[..., Any], args: Any, kwargs: dict[str, Any], *owners: ndarray) -> Any:
    """Let NumPy compute on the bare arrays, and count."""
    inputs = list(owners)

    def bare(x: Any) -> Any:
        if isinstance(x, ndarray):
            inputs.append(x)
            return x._a  # pyright: ignore[reportPrivateUsage]
        if isinstance(x, (list, tuple)):
            return type(x)([bare(y) for y in x])  # pyright: ignore
        if isinstance(x, np.ndarray):
            raise TypeError(f"Unsupported type {type(x)}: an array on the host can't be an operand here")
        if hasattr(x, "grad_fn"):
            return bare_of(x)
        return x

    out = kwargs.get("out")
    if name in recorded.SYNCS:
        synced(name)
    with _quiet():
        r = run(*[bare(x) for x in args], **{key: bare(x) for key, x in kwargs.items()})
    if out is not None:
        launched()
        return out
    r = wrap(np.asarray(r) if isinstance(r, bool) and name in ("allclose", "array_equal", "array_equiv") else r, *inputs)
    if isinstance(r, ndarray) and r.base is None and not any(r is x for x in inputs):
        launched()
    return r


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
        out = kwargs.get("out", args[self._ufunc.nin] if len(args) > self._ufunc.nin else None)
        if out is not None and not isinstance(out, ndarray):
            raise TypeError(f"return arrays must be of ArrayType, not {type(out)}")
        return _run(self.__name__, self._ufunc, [self._operand(x) for x in args], {k: v for k, v in kwargs.items() if v is not None})

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
        key, _ = a._key(indices)  # pyright: ignore[reportPrivateUsage]
        value = self._operand(b)
        launched()
        with _quiet():
            value = bare_of(value).astype(a.dtype, copy=False) if isinstance(value, ndarray) else value
            self._ufunc.at(bare_of(a), key, value)

    def outer(self, a: ndarray, b: ndarray, **kwargs: Any) -> Any:
        """Every entry of `a` with every entry of `b`."""
        return _run(self.__name__, self._ufunc.outer, [self._operand(a), self._operand(b)], kwargs)

    def _folded(self, how: str, *args: Any, **kwargs: Any) -> Any:
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.__name__}.{how}` is not supported yet")
        return _run(self.__name__, getattr(self._ufunc, how), args, kwargs)

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
    def run(*args: Any, **kwargs: Any) -> Any:
        recorded.check_keywords(name, kwargs, len(args))
        _need_arrays(name, known, args)
        return _run(name, value, args, kwargs)

    return run


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
        with _quiet():
            bare = np.array(obj, dtype=dtype, order="C", ndmin=ndmin)
        uploaded(bare.nbytes)
        return wrap(bare)
    bare = bare_of(obj)
    with _quiet():
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
    return _run("where", np.where, (condition, x, y), {})


def _take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Entries along an axis; indices out of range wrap around."""
    if isinstance(indices, (list, int)):
        indices = _asarray(indices)
    bare = bare_of(indices)
    n = a.size if axis is None else a.shape[axis]
    return _run("take", np.take, (a, wrap(bare % n if n else bare)), {"axis": axis} | ({} if out is None else {"out": out}))


def _take_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    n = a.size if axis is None else a.shape[axis]
    bare = bare_of(indices)
    return _run("take_along_axis", np.take_along_axis, (a, wrap(bare % n if n else bare), axis), {})


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    if isinstance(repeats, (ndarray, np.ndarray)):
        raise ValueError("cupy.ndarray cannot be specified as `repeats` argument.")
    return _run("repeat", np.repeat, (a, repeats, axis), {})


_OWN: dict[str, Any] = {
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
