"""Making tensors: from numbers and arrays, filled, counted and drawn.

Every function takes `dtype`, `device` and `requires_grad`. Without `device` the tensor is made where the innermost
`with gl.device(...)` block says, else in main memory. Random numbers come from gradlab's own generator on the host, so that
a seed gives the same ones on every device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ._tensor import Tensor
from .backend import DEFAULT_FLOAT, Array, Generator, as_array, current_device, device_of, moved, on_host
from .backend import generator as drawn_by
from .errors import ArgumentError, DTypeError, KeywordError, ShapeError, explain
from .interchange import imported
from .ops.argument import need_number

Place = Any  # a device, its name, or None


def tensor(data: object, dtype: Any = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of the numbers. Python floats become float32; arrays and integers keep their dtype.

    An array or tensor that is on a device stays there, unless another one is named.

    >>> tensor([1.0, 2.0]).dtype, tensor([1, 2]).dtype
    (dtype('float32'), dtype('int64'))
    """
    array = _brought(data, device, dtype)
    return _leaf(array.astype(array.dtype if dtype is None else _dtype(dtype), copy=True), requires_grad)


def as_tensor(data: object, dtype: Any = None, device: Place = None) -> Tensor:
    """`data` as a tensor, without a copy where none is needed: a tensor is returned as it is, an array is shared.

    >>> x = tensor([1.0])
    >>> as_tensor(x) is x
    True
    """
    if isinstance(data, Tensor):
        if device is None and dtype is None:
            return data
        return data.to(device=data.device if device is None else device, dtype=dtype)
    array = _brought(data, device, dtype)
    return Tensor.made(array if dtype is None else array.astype(_dtype(dtype), copy=False), None)


def is_tensor(obj: object) -> bool:
    """Whether `obj` is a tensor, not an array or a number.

    >>> is_tensor(1.0)
    False
    """
    return isinstance(obj, Tensor)


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A leaf that shares the memory of a NumPy array.

    Raises:
        KeywordError: it is none.
    """
    if not isinstance(ndarray, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KeywordError(
            explain("from_numpy: this is no NumPy array", got={"type": type(ndarray).__name__}, need="an array", fix="gl.tensor(data)")
        )
    return Tensor.made(as_array(ndarray), None)


def from_dlpack(ext_tensor: Any, *, device: Place = None, copy: bool | None = None) -> Tensor:
    """A leaf on the memory of another library's tensor, through the DLPack protocol: nothing is copied, unless asked for.

    Raises:
        KeywordError: it speaks no DLPack.
        DeviceError: it lives where gradlab can't reach.
        DTypeError: it holds numbers that NumPy does not have (bfloat16).
        GraphError: it requires a gradient in the other library.

    >>> array = np.zeros(2)
    >>> shared = from_dlpack(array)
    >>> array[0] = 5
    >>> shared.tolist()
    [5.0, 0.0]
    """
    t = Tensor.made(as_array(imported(ext_tensor._data if isinstance(ext_tensor, Tensor) else ext_tensor)), None)
    return t.to(device=t.device if device is None else device, copy=True) if copy else t if device is None else t.to(device=device)


# -- filled with one number


def empty(*shape: Any, size: Any = None, dtype: Any = DEFAULT_FLOAT, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Whatever numbers the memory holds, in a shape given as numbers or as one tuple."""
    return _made("empty", device, requires_grad, _shape(shape, size), dtype=_dtype(dtype))


def zeros(*shape: Any, size: Any = None, dtype: Any = DEFAULT_FLOAT, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Zeros of a shape, given as numbers or as one tuple.

    >>> zeros(2, 3).shape
    (2, 3)
    """
    return _made("zeros", device, requires_grad, _shape(shape, size), dtype=_dtype(dtype))


def ones(*shape: Any, size: Any = None, dtype: Any = DEFAULT_FLOAT, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Ones of a shape, given as numbers or as one tuple."""
    return _made("ones", device, requires_grad, _shape(shape, size), dtype=_dtype(dtype))


def full(size: Any, fill_value: float, dtype: Any = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """One number everywhere: float32 for a float, int64 for an integer.

    >>> full((2,), 7).tolist()
    [7, 7]
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    need_number("full", fill_value=fill_value)
    wanted = as_array(fill_value).dtype if dtype is None else _dtype(dtype)
    return _made("full", device, requires_grad, _shape((size,)), fill_value, dtype=wanted)


def empty_like(input: Tensor, dtype: Any = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Memory in the shape, dtype and device of `input`."""
    return _follow(empty, input, dtype, device, requires_grad=requires_grad)


def zeros_like(input: Tensor, dtype: Any = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape, dtype and device of `input`."""
    return _follow(zeros, input, dtype, device, requires_grad=requires_grad)


def ones_like(input: Tensor, dtype: Any = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape, dtype and device of `input`."""
    return _follow(ones, input, dtype, device, requires_grad=requires_grad)


def full_like(input: Tensor, fill_value: float, dtype: Any = None, device: Place = None, requires_grad: bool = False) -> Tensor:
    """One number in the shape, dtype and device of `input`."""
    return _follow(full, input, dtype, device, fill_value=fill_value, requires_grad=requires_grad)


# -- counted


def eye(n: int, m: int | None = None, dtype: Any = DEFAULT_FLOAT, device: Place = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix.

    >>> eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = _shape((n, n if m is None else m))
    return _made("eye", device, requires_grad, rows, columns, dtype=_dtype(dtype))


def arange(
    *bounds: float,
    start: float | None = None,
    end: float | None = None,
    step: float | None = None,
    dtype: Any = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from start (0) to end, excluded, by step (1): integers where all bounds are.

    >>> arange(3).tolist()
    [0, 1, 2]
    >>> arange(0, 5, step=2).tolist()
    [0, 2, 4]
    """
    given = tuple(b.item() if isinstance(b, Tensor) else b for b in _named(bounds, start, end, step))
    for bound in given:
        need_number("arange", bound=bound)
    low, high, by = _bounds(given)
    whole = all(isinstance(b, (int, np.integer)) for b in given)
    wanted = _dtype(dtype) if dtype is not None else np.dtype("int64") if whole else DEFAULT_FLOAT
    return _put(np.arange(low, high, by, dtype=wanted), device, requires_grad)


def linspace(start: float, end: float, steps: int, dtype: Any = DEFAULT_FLOAT, device: Place = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included.

    >>> linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    need_number("linspace", start=start, end=end)
    return _put(np.linspace(start, end, _shape((steps,))[0], dtype=_dtype(dtype)), device, requires_grad)


def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    dtype: Any = DEFAULT_FLOAT,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` powers of `base` whose exponents go evenly from start to end, both included.

    >>> logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    need_number("logspace", start=start, end=end, base=base)
    return _put(np.logspace(start, end, _shape((steps,))[0], base=base, dtype=_dtype(dtype)), device, requires_grad)


# -- drawn


def rand(
    *shape: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = DEFAULT_FLOAT,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform in [0, 1)."""
    return _put(_drawn("rand", drawn_by(generator).random, _shape(shape, size), dtype), device, requires_grad)


def randn(
    *shape: Any,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = DEFAULT_FLOAT,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal with mean 0 and variance 1."""
    return _put(_drawn("randn", drawn_by(generator).standard_normal, _shape(shape, size), dtype), device, requires_grad)


def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    dtype: Any = np.int64,
    device: Place = None,
    requires_grad: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Integers in [low, high); `randint(high, size)` starts from 0.

    Raises:
        ArgumentError: there is no integer in between.

    >>> randint(5, 6, (2,)).tolist()
    [5, 5]
    """
    if low is None:
        low = 0
    elif size is None or high is None:
        low, high, size = 0, low, high if size is None else size
    low, high = (b.item() if isinstance(b, Tensor) else b for b in (low, high))
    if not all(isinstance(b, (int, np.integer)) for b in (low, high)) or low >= high:
        raise ArgumentError(explain("randint: no integer is in [low, high)", got={"low": low, "high": high}, need="low < high, both whole"))
    drawn = np.asarray(drawn_by(generator).integers(low, high, _shape((size,))))
    return _put(drawn.astype(_dtype(dtype, np.int64), copy=False), device, requires_grad)


def randperm(
    n: int, dtype: Any = np.int64, device: Place = None, requires_grad: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    drawn = drawn_by(generator).permutation(_shape((n,))[0])
    return _put(drawn.astype(_dtype(dtype, np.int64), copy=False), device, requires_grad)


def rand_like(
    input: Tensor, dtype: Any = None, device: Place = None, requires_grad: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Uniform in [0, 1), in the shape, dtype and device of `input`."""
    return _follow(rand, input, dtype, device, requires_grad=requires_grad, generator=generator)


def randn_like(
    input: Tensor, dtype: Any = None, device: Place = None, requires_grad: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Normal with mean 0 and variance 1, in the shape, dtype and device of `input`."""
    return _follow(randn, input, dtype, device, requires_grad=requires_grad, generator=generator)


def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    dtype: Any = None,
    device: Place = None,
    requires_grad: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Integers in [low, high), or [0, low), in the shape, dtype and device of `input`."""
    low, high = (0, low) if high is None else (0 if low is None else low, high)
    options = {"requires_grad": requires_grad, "generator": generator}
    return _follow(lambda shape, **more: randint(low, high, shape, **more), input, dtype, device, **options)


# -- how


def _leaf(array: Array, requires_grad: bool) -> Tensor:
    made = Tensor.made(array, None)
    return made.requires_grad_() if requires_grad else made


def _put(array: np.ndarray, device: Place, requires_grad: bool) -> Tensor:
    """What was made on the host, on the device asked for."""
    return _leaf(moved(array, current_device(device)), requires_grad)


def _made(function: str, device: Place, requires_grad: bool, *args: Any, dtype: Any) -> Tensor:
    """Made on the device itself."""
    place = current_device(device)
    with place.scope():
        return _leaf(getattr(place.xp, function)(*args, dtype=dtype), requires_grad)


def _brought(data: Any, device: Place, dtype: Any) -> Array:
    # What is to be float64 is not made float32 on the way: 1e300 would be infinite.
    array = as_array(data._data if isinstance(data, Tensor) else data, narrow=dtype is None)
    return moved(array, device_of(array) if device is None and not on_host(array) else current_device(device))


def _follow(make: Callable[..., Tensor], x: Tensor, dtype: Any, device: Place, **options: Any) -> Tensor:
    """`make` in the shape of `x`, and in its dtype and device where none is named."""
    if not isinstance(x, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KeywordError(explain("like: what to follow is a tensor", got={"x": type(x).__name__}, need="a tensor", fix="gl.tensor(x)"))
    return make(x.shape, dtype=x.dtype if dtype is None else dtype, device=x.device if device is None else device, **options)


def _drawn(name: str, draw: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Random numbers as fine as the dtype."""
    wanted = _dtype(dtype)
    if wanted.kind != "f":
        raise DTypeError(explain(f"{name}: draws floating numbers", got={"dtype": wanted}, need="a floating dtype, or gl.randint"))
    fine = np.float64 if wanted == np.float64 else np.float32
    return np.asarray(draw(shape, fine)).astype(wanted, copy=False)


def _dtype(dtype: Any, default: Any = DEFAULT_FLOAT) -> np.dtype:
    try:
        wanted = np.dtype(default if dtype is None else dtype)
    except TypeError:
        wanted = None
    if wanted is None or wanted.kind not in "buif":
        raise DTypeError(explain("dtype: no kind of number of a tensor", got={"dtype": dtype}, need="gl.float32, gl.int64, gl.bool ..."))
    return wanted


def _named(bounds: tuple[Any, ...], start: Any, end: Any, step: Any) -> tuple[Any, ...]:
    """The bounds by place, where some were given by name."""
    if start is end is step is None:
        return bounds
    places = dict(zip(("end",) if len(bounds) == 1 and end is None else ("start", "end", "step"), bounds, strict=False))
    named = {name: value for name, value in (("start", start), ("end", end), ("step", step)) if value is not None}
    both = {**places, **named}
    if len(both) < len(bounds) + len(named) or "end" not in both:
        raise KeywordError(
            explain("arange: a bound twice, or no end", got={"bounds": bounds, **named}, need="end; start, end; or start, end, step")
        )
    return (both.get("start", 0), both["end"], both.get("step", 1))


def _bounds(bounds: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if not 1 <= len(bounds) <= 3:
        raise KeywordError(explain("arange: one to three bounds", got={"bounds": bounds}, need="stop; start, stop; or start, stop, step"))
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if not all(math.isfinite(b) for b in (start, stop, step)) or step == 0 or (stop - start) * step < 0:
        got = {"start": start, "stop": stop, "step": step}
        raise ArgumentError(explain("arange: these steps never lead there", got=got, need="a step from start towards stop"))
    return start, stop, step


def _shape(shape: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    if size is not None:
        shape = (*shape, size)
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    sizes = tuple(n.item() if isinstance(n, Tensor) else n for n in given)
    if any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0 for n in sizes):
        raise ShapeError(explain("shape: sizes are whole numbers, 0 or more", got={"shape": sizes}, need="for instance (2, 3)"))
    return tuple(int(n) for n in sizes)
