"""Making tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._tensor import Tensor
from .backend import DEFAULT_FLOAT, as_array, current_device, device_of, generator, moved, on_host
from .errors import ShapeError, explain


def tensor(data: object, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of the numbers. Python floats become float32; arrays and integers keep their dtype.

    >>> tensor([1.0, 2.0]).dtype, tensor([1, 2]).dtype
    (dtype('float32'), dtype('int64'))
    """
    array = as_array(data._data if isinstance(data, Tensor) else data)
    place = device_of(array) if device is None and not on_host(array) else current_device(device)
    array = moved(array, place)
    return _leaf(array.astype(array.dtype if dtype is None else dtype, copy=True), requires_grad)


def from_numpy(array: np.ndarray) -> Tensor:
    """A leaf that shares the array's memory."""
    return Tensor.made(as_array(array), None)


def zeros(*shape: Any, dtype: Any = DEFAULT_FLOAT, requires_grad: bool = False) -> Tensor:
    """Zeros of a shape, given as numbers or as one tuple.

    >>> zeros(2, 3).shape
    (2, 3)
    """
    return _leaf(np.zeros(_shape(shape), dtype), requires_grad)


def ones(*shape: Any, dtype: Any = DEFAULT_FLOAT, requires_grad: bool = False) -> Tensor:
    """Ones of a shape, given as numbers or as one tuple."""
    return _leaf(np.ones(_shape(shape), dtype), requires_grad)


def full(shape: Any, value: float, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """One number everywhere: float32 for a float, int64 for an integer."""
    return _leaf(np.full(_shape((shape,)), value, as_array(value).dtype if dtype is None else dtype), requires_grad)


def eye(n: int, m: int | None = None, dtype: Any = DEFAULT_FLOAT, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix."""
    return _leaf(np.eye(n, m, dtype=dtype), requires_grad)


def arange(*bounds: float, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers from start (0) to stop, excluded, by step (1): integers where all bounds are.

    >>> arange(3).tolist()
    [0, 1, 2]
    """
    wanted = dtype if dtype is not None else None if all(isinstance(b, (int, np.integer)) for b in bounds) else DEFAULT_FLOAT
    return _leaf(np.arange(*bounds, dtype=wanted), requires_grad)


def linspace(start: float, stop: float, steps: int, dtype: Any = DEFAULT_FLOAT, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to stop, both included."""
    return _leaf(np.linspace(start, stop, steps, dtype=dtype), requires_grad)


def rand(*shape: Any, dtype: Any = DEFAULT_FLOAT, requires_grad: bool = False) -> Tensor:
    """Uniform in [0, 1), from gradlab's own generator."""
    return _leaf(_drawn(generator().random, shape, dtype), requires_grad)


def randn(*shape: Any, dtype: Any = DEFAULT_FLOAT, requires_grad: bool = False) -> Tensor:
    """Normal with mean 0 and variance 1, from gradlab's own generator."""
    return _leaf(_drawn(generator().standard_normal, shape, dtype), requires_grad)


def randint(low: int, high: int, shape: Any, dtype: Any = np.int64) -> Tensor:
    """Integers in [low, high), from gradlab's own generator."""
    return _leaf(np.asarray(generator().integers(low, high, _shape((shape,)))).astype(dtype, copy=False), False)


def randperm(n: int) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    return _leaf(generator().permutation(n), False)


def zeros_like(x: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of `x`."""
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, requires_grad=requires_grad)


def ones_like(x: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of `x`."""
    return ones(x.shape, dtype=x.dtype if dtype is None else dtype, requires_grad=requires_grad)


def _leaf(array: np.ndarray, requires_grad: bool) -> Tensor:
    made = Tensor.made(array, None)
    return made.requires_grad_() if requires_grad else made


def _drawn(draw: Any, shape: tuple[Any, ...], dtype: Any) -> np.ndarray:
    """Random numbers as fine as the dtype."""
    wide = np.dtype(dtype) == np.dtype("float64")
    return np.asarray(draw(_shape(shape), np.float64 if wide else np.float32)).astype(dtype, copy=False)


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if any(not isinstance(n, (int, np.integer)) or n < 0 for n in sizes):
        raise ShapeError(explain("shape: sizes are whole numbers, 0 or more", got={"shape": sizes}, need="for instance (2, 3)"))
    return tuple(int(n) for n in sizes)
