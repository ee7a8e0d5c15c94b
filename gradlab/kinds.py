"""Kinds of numbers: how large and how fine each is, and which one two of them meet in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .backend import DEFAULT_FLOAT, align, is_kind
from .errors import DTypeError, explain
from .ops.argument import need_number


@dataclass(frozen=True)
class FInfo:
    """What a floating dtype can hold.

    Attributes:
        bits: how many a number takes.
        eps: the smallest number that makes a difference when added to 1.
        max, min: the largest and the lowest number.
        tiny, smallest_normal: the smallest number above 0 with all its digits.
        resolution: a power of ten that decimal digits are good for.
    """

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str


@dataclass(frozen=True)
class IInfo:
    """What an integer dtype can hold: how many bits a number takes, and the largest and the lowest."""

    bits: int
    max: int
    min: int
    dtype: str


def finfo(type: Any = DEFAULT_FLOAT) -> FInfo:
    """Tell what a floating dtype can hold.

    Raises:
        DTypeError: it is no floating dtype.

    >>> finfo("float32").eps
    1.1920928955078125e-07
    """
    dtype = _kind("finfo", type)
    if dtype.kind != "f":
        raise DTypeError(explain("finfo: tells about floating dtypes", got={"type": dtype}, need="float16, float32 or float64"))
    info = np.finfo(dtype)
    eps, high, low, tiny = [float(x) for x in (info.eps, info.max, info.min, info.smallest_normal)]
    return FInfo(info.bits, eps, high, low, tiny, tiny, 10.0**-info.precision, dtype.name)


def iinfo(type: Any) -> IInfo:
    """Tell what an integer dtype can hold.

    Raises:
        DTypeError: it is no integer dtype.

    >>> iinfo("uint8").max
    255
    """
    dtype = _kind("iinfo", type)
    if dtype.kind not in "iu":
        raise DTypeError(explain("iinfo: tells about integer dtypes", got={"type": dtype}, need="an integer dtype"))
    info = np.iinfo(dtype)
    return IInfo(info.bits, int(info.max), int(info.min), dtype.name)


def promote_types(type1: Any, type2: Any) -> np.dtype:
    """The dtype that tensors of these two meet in: of a float and an integer the float, however short it is.

    >>> promote_types("int64", "float16"), promote_types("uint8", "int8")
    (dtype('float16'), dtype('int16'))
    """
    a, b = _kind("promote_types", type1), _kind("promote_types", type2)
    floating = [dtype for dtype in (a, b) if dtype.kind == "f"]
    return floating[0] if len(floating) == 1 else np.promote_types(a, b)


def result_type(tensor1: Any, tensor2: Any) -> np.dtype:
    """The dtype of the sum of two tensors or numbers: a 0-d tensor, and then a number, counts only where its kind is higher.

    >>> result_type(np.ones(2, "int32"), 1.5), result_type(np.ones(2, "float16"), np.ones(()))
    (dtype('float32'), dtype('float16'))
    """
    operands: list[Any] = []
    for name, x in (("tensor1", tensor1), ("tensor2", tensor2)):
        if not hasattr(x, "dtype"):
            need_number("result_type", **{name: x})
        operands.append(np.empty((0,) * x.ndim, x.dtype) if hasattr(x, "dtype") else x)
    return max([np.asarray(x) for x in align(operands) if hasattr(x, "dtype")], key=lambda x: x.ndim).dtype


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a result of the first dtype may be written into a tensor of the second: not floats into integers, nor numbers into truths.

    >>> can_cast("float64", "float16"), can_cast("float32", "int64")
    (True, False)
    """
    kinds = "bif"
    a, b = [kinds.index(_kind("can_cast", dtype).kind.replace("u", "i")) for dtype in (from_, to)]
    return a <= b


def _kind(op: str, dtype: Any) -> np.dtype:
    if not is_kind(dtype):
        raise DTypeError(explain(f"{op}: no kind of number of a tensor", got={"dtype": dtype}, need="gl.float32, gl.int64, gl.bool ..."))
    return np.dtype(dtype)
