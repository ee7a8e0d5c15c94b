"""PyTorch's second names: each is the op of another name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .angle import atan2
from .arithmetic import mul, neg, sub
from .cast import clone
from .clamp import clamp
from .comparison import ge, gt, le, lt, ne
from .division import div
from .dtype import need_no_booleans, numbers
from .hyperbolic import acosh, asinh, atanh
from .rounding import trunc
from .sigmoid import sigmoid
from .sign import abs, sign  # noqa: A004
from .trigonometry import acos, asin, atan

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def absolute(input: TensorLike) -> Tensor:
    """Another name of `abs`.

    Shapes: input: (*), y: (*)

    >>> absolute([-1.0, 2.0]).data
    array([1., 2.], dtype=float32)
    """
    return abs(input)


def arccos(input: TensorLike) -> Tensor:
    """Another name of `acos`.

    Shapes: input: (*), y: (*)

    >>> arccos([1.0]).data
    array([0.], dtype=float32)
    """
    return acos(input)


def arccosh(input: TensorLike) -> Tensor:
    """Another name of `acosh`.

    Shapes: input: (*), y: (*)

    >>> arccosh([1.0]).data
    array([0.], dtype=float32)
    """
    return acosh(input)


def arcsin(input: TensorLike) -> Tensor:
    """Another name of `asin`.

    Shapes: input: (*), y: (*)

    >>> arcsin([0.0]).data
    array([0.], dtype=float32)
    """
    return asin(input)


def arcsinh(input: TensorLike) -> Tensor:
    """Another name of `asinh`.

    Shapes: input: (*), y: (*)

    >>> arcsinh([0.0]).data
    array([0.], dtype=float32)
    """
    return asinh(input)


def arctan(input: TensorLike) -> Tensor:
    """Another name of `atan`.

    Shapes: input: (*), y: (*)

    >>> arctan([0.0]).data
    array([0.], dtype=float32)
    """
    return atan(input)


def arctan2(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `atan2`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> arctan2([0.0], [1.0]).data
    array([0.], dtype=float32)
    """
    return atan2(input, other)


def arctanh(input: TensorLike) -> Tensor:
    """Another name of `atanh`.

    Shapes: input: (*), y: (*)

    >>> arctanh([0.0]).data
    array([0.], dtype=float32)
    """
    return atanh(input)


def clip(input: TensorLike, min: Any = None, max: Any = None) -> Tensor:
    """Another name of `clamp`.

    Shapes: input: (*), min and max: (*), y: the shape all broadcast to

    >>> clip([-2.0, 0.5], min=0.0).data
    array([0. , 0.5], dtype=float32)
    """
    return clamp(input, min, max)


def divide(input: TensorLike, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
    """Another name of `div`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> divide([1.0, 3.0], 2.0).data
    array([0.5, 1.5], dtype=float32)
    """
    return div(input, other, rounding_mode)


def expit(input: TensorLike) -> Tensor:
    """Another name of `sigmoid`.

    Shapes: input: (*), y: (*)

    >>> expit([0.0]).data
    array([0.5], dtype=float32)
    """
    return sigmoid(input)


def fix(input: TensorLike) -> Tensor:
    """Another name of `trunc`.

    Shapes: input: (*), y: (*)

    >>> fix([-1.5, 1.5]).data
    array([-1.,  1.], dtype=float32)
    """
    return trunc(input)


def greater(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `gt`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> greater([1.0, 3.0], 2.0).data
    array([False,  True])
    """
    return gt(input, other)


def greater_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `ge`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> greater_equal([1.0, 2.0], 2.0).data
    array([False,  True])
    """
    return ge(input, other)


def less(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `lt`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> less([1.0, 3.0], 2.0).data
    array([ True, False])
    """
    return lt(input, other)


def less_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `le`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> less_equal([1.0, 2.0], 2.0).data
    array([ True,  True])
    """
    return le(input, other)


def multiply(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `mul`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> multiply([1.0, 3.0], 2.0).data
    array([2., 6.], dtype=float32)
    """
    return mul(input, other)


def negative(input: TensorLike) -> Tensor:
    """Another name of `neg`.

    Shapes: input: (*), y: (*)

    >>> negative([1.0, -2.0]).data
    array([-1.,  2.], dtype=float32)
    """
    return neg(input)


def not_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Another name of `ne`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> not_equal([1.0, 2.0], 2.0).data
    array([ True, False])
    """
    return ne(input, other)


def sgn(input: TensorLike) -> Tensor:
    """Another name of `sign`.

    Shapes: input: (*), y: (*)

    >>> sgn([-3.0, 0.0]).data
    array([-1.,  0.], dtype=float32)
    """
    return sign(input)


def subtract(input: TensorLike, other: TensorLike, alpha: float = 1) -> Tensor:
    """Another name of `sub`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> subtract([1.0, 3.0], 2.0).data
    array([-1.,  1.], dtype=float32)
    """
    return sub(input, other, alpha)


def true_divide(input: TensorLike, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
    """Another name of `div`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> true_divide([1.0, 3.0], 2.0).data
    array([0.5, 1.5], dtype=float32)
    """
    return div(input, other, rounding_mode)


def positive(input: TensorLike) -> Tensor:
    """Take `input` as it is; `+input`.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values.

    >>> positive([1.0, -2.0]).data
    array([ 1., -2.], dtype=float32)
    """
    need_no_booleans("positive", input)
    return input if hasattr(input, "grad_fn") else clone(numbers(input))  # type: ignore[return-value] - a Tensor
