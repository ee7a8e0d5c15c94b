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


def absolute(x: TensorLike) -> Tensor:
    """Another name of `abs`.

    Shapes: x: (*), y: (*)

    >>> absolute([-1.0, 2.0]).data
    array([1., 2.], dtype=float32)
    """
    return abs(x)


def arccos(x: TensorLike) -> Tensor:
    """Another name of `acos`.

    Shapes: x: (*), y: (*)

    >>> arccos([1.0]).data
    array([0.], dtype=float32)
    """
    return acos(x)


def arccosh(x: TensorLike) -> Tensor:
    """Another name of `acosh`.

    Shapes: x: (*), y: (*)

    >>> arccosh([1.0]).data
    array([0.], dtype=float32)
    """
    return acosh(x)


def arcsin(x: TensorLike) -> Tensor:
    """Another name of `asin`.

    Shapes: x: (*), y: (*)

    >>> arcsin([0.0]).data
    array([0.], dtype=float32)
    """
    return asin(x)


def arcsinh(x: TensorLike) -> Tensor:
    """Another name of `asinh`.

    Shapes: x: (*), y: (*)

    >>> arcsinh([0.0]).data
    array([0.], dtype=float32)
    """
    return asinh(x)


def arctan(x: TensorLike) -> Tensor:
    """Another name of `atan`.

    Shapes: x: (*), y: (*)

    >>> arctan([0.0]).data
    array([0.], dtype=float32)
    """
    return atan(x)


def arctan2(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `atan2`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> arctan2([0.0], [1.0]).data
    array([0.], dtype=float32)
    """
    return atan2(a, b)


def arctanh(x: TensorLike) -> Tensor:
    """Another name of `atanh`.

    Shapes: x: (*), y: (*)

    >>> arctanh([0.0]).data
    array([0.], dtype=float32)
    """
    return atanh(x)


def clip(x: TensorLike, min: Any = None, max: Any = None) -> Tensor:
    """Another name of `clamp`.

    Shapes: x: (*), min and max: (*), y: the shape all broadcast to

    >>> clip([-2.0, 0.5], min=0.0).data
    array([0. , 0.5], dtype=float32)
    """
    return clamp(x, min, max)


def divide(a: TensorLike, b: TensorLike, rounding_mode: str | None = None) -> Tensor:
    """Another name of `div`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> divide([1.0, 3.0], 2.0).data
    array([0.5, 1.5], dtype=float32)
    """
    return div(a, b, rounding_mode)


def expit(x: TensorLike) -> Tensor:
    """Another name of `sigmoid`.

    Shapes: x: (*), y: (*)

    >>> expit([0.0]).data
    array([0.5], dtype=float32)
    """
    return sigmoid(x)


def fix(x: TensorLike) -> Tensor:
    """Another name of `trunc`.

    Shapes: x: (*), y: (*)

    >>> fix([-1.5, 1.5]).data
    array([-1.,  1.], dtype=float32)
    """
    return trunc(x)


def greater(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `gt`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> greater([1.0, 3.0], 2.0).data
    array([False,  True])
    """
    return gt(a, b)


def greater_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `ge`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> greater_equal([1.0, 2.0], 2.0).data
    array([False,  True])
    """
    return ge(a, b)


def less(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `lt`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> less([1.0, 3.0], 2.0).data
    array([ True, False])
    """
    return lt(a, b)


def less_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `le`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> less_equal([1.0, 2.0], 2.0).data
    array([ True,  True])
    """
    return le(a, b)


def multiply(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `mul`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> multiply([1.0, 3.0], 2.0).data
    array([2., 6.], dtype=float32)
    """
    return mul(a, b)


def negative(x: TensorLike) -> Tensor:
    """Another name of `neg`.

    Shapes: x: (*), y: (*)

    >>> negative([1.0, -2.0]).data
    array([-1.,  2.], dtype=float32)
    """
    return neg(x)


def not_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """Another name of `ne`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> not_equal([1.0, 2.0], 2.0).data
    array([ True, False])
    """
    return ne(a, b)


def sgn(x: TensorLike) -> Tensor:
    """Another name of `sign`.

    Shapes: x: (*), y: (*)

    >>> sgn([-3.0, 0.0]).data
    array([-1.,  0.], dtype=float32)
    """
    return sign(x)


def subtract(a: TensorLike, b: TensorLike, alpha: float = 1) -> Tensor:
    """Another name of `sub`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> subtract([1.0, 3.0], 2.0).data
    array([-1.,  1.], dtype=float32)
    """
    return sub(a, b, alpha)


def true_divide(a: TensorLike, b: TensorLike, rounding_mode: str | None = None) -> Tensor:
    """Another name of `div`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> true_divide([1.0, 3.0], 2.0).data
    array([0.5, 1.5], dtype=float32)
    """
    return div(a, b, rounding_mode)


def positive(x: TensorLike) -> Tensor:
    """Take `x` as it is; `+x`.

    Shapes: x: (*), y: (*)

    Raises:
        DTypeError: `x` holds truth values.

    >>> positive([1.0, -2.0]).data
    array([ 1., -2.], dtype=float32)
    """
    need_no_booleans("positive", x)
    return x if hasattr(x, "grad_fn") else clone(numbers(x))  # type: ignore[return-value] - a Tensor
