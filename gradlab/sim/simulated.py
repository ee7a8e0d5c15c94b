"""The array of the simulated device: it checks as CuPy would, then lets NumPy compute."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import indexing, recorded, undefined
from .counts import launched, synced, uploaded

_HOST_CONVERSION = "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
quiet = functools.partial(np.errstate, all="ignore")  # a GPU gives inf and NaN without a word


_function: Callable[[str], Any]  # filled by `functions`, which stands above this module


def use_functions(function: Callable[[str], Any]) -> None:
    """Tell the array where the functions are that NumPy asks it for."""
    global _function
    _function = function


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
            found = _function(ufunc.__name__)
        except AttributeError:
            return NotImplemented
        return (found if method == "__call__" else getattr(found, method))(*inputs, **kwargs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        part = func.__module__.removeprefix("numpy").lstrip(".")
        return _function(f"{part}.{func.__name__}".lstrip("."))(*args, **kwargs)

    def __dlpack__(self, **kwargs: Any) -> Any:
        raise BufferError("sim: no other library can look at this memory; .get() copies it")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (12, 0)  # kDLExtDev

    def __copy__(self) -> ndarray:
        return wrap(self._a.copy())

    def __deepcopy__(self, memo: Any) -> ndarray:
        return wrap(self._a.copy())

    def __reduce__(self) -> Any:
        return _function("asarray"), (self.get(),)

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
        undefined.refuse_contradiction(self._a, bare, raw)
        if isinstance(raw, np.ndarray):
            if all(not isinstance(part, np.ndarray) for part in bare):
                undefined.refuse_overlap(self._a[bare], raw)
            undefined.refuse_cast(raw, self.dtype)
        launched()
        with quiet():
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
        undefined.refuse_cast(self._a, dtype)
        with quiet():
            return wrap(self._a.astype(dtype))


def bare_of(x: Any) -> np.ndarray:
    """What is inside an array of this device, or in what lends one.

    Raises:
        TypeError: it lives elsewhere, with CuPy's words.
    """
    if isinstance(x, ndarray):
        return x._a
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
    out._a, out.base = np.asarray(r), None
    if isinstance(r, np.ndarray):
        root = _root(r)
        for x in inputs:
            if r is x._a:
                return x
            if root is _root(x._a):
                out.base = x if x.base is None else x.base
                return out
        out._a = np.array(r, order="C", copy=None)
    return out


def _root(a: Any) -> Any:
    while getattr(a, "base", None) is not None:
        a = a.base
    return a


def _method(x: ndarray, name: str, *args: Any, **kwargs: Any) -> Any:
    if name in recorded.table()["functions"]:
        recorded.check_keywords(name, kwargs)
    return run(name, getattr(x._a, name), args, kwargs, x)


def _bare(x: Any, inputs: list[ndarray]) -> Any:
    """An argument as NumPy takes it; the arrays of this device in it are noted in `inputs`."""
    if isinstance(x, ndarray):
        inputs.append(x)
        return x._a
    if isinstance(x, (list, tuple)):
        return type(x)([_bare(y, inputs) for y in x])  # pyright: ignore
    if isinstance(x, np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}: an array on the host can't be an operand here")
    return bare_of(x) if hasattr(x, "grad_fn") else x


def run(name: str, compute: Callable[..., Any], args: Any, kwargs: dict[str, Any], *owners: ndarray) -> Any:
    """Let NumPy compute on the bare arrays, and count."""
    inputs = list(owners)
    out = kwargs.get("out")
    if name in recorded.SYNCS:
        synced(name)
    with quiet():
        arguments, keywords = [_bare(x, inputs) for x in args], {key: _bare(x, inputs) for key, x in kwargs.items()}
        if name in recorded.ALONG_AXES and inputs:
            recorded.check_axis(inputs[0], arguments if owners else arguments[1:], keywords)
        if out is not None:
            undefined.refuse_overlap(keywords["out"], *[x._a for x in inputs if x is not out])
        r = compute(*arguments, **keywords)
    if out is not None:
        launched()
        return out
    r = wrap(np.asarray(r) if isinstance(r, bool) and name in ("allclose", "array_equal", "array_equiv") else r, *inputs)
    if isinstance(r, ndarray) and r.base is None and not any(r is x for x in inputs):
        launched()
    return r
