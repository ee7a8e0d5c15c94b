"""The same values in other memory: copies, and other kinds of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))


class Clone(Function):
    """y = a copy of x;  dx = g."""

    latex = r"y = x, \quad \bar x = \bar y"
    kind = "shape"
    cases = tuple(Case(Draw(s)) for s in SHAPES)
    reads = ()

    def forward(self, x: Array) -> Array:
        return xp_of(x).array(x)

    def backward(self, g: Array) -> Array:
        return g


def clone(x: TensorLike) -> Tensor:
    """Copy the values into memory of their own; the gradient passes through.

    Shapes: x: (*), y: (*)

    >>> clone([1.0, 2.0]).data
    array([1., 2.], dtype=float32)
    """
    return Clone.apply(x)


class Cast(Function):
    """y = x as dtype;  dx = g, in the dtype of x."""

    latex = r"y = x, \quad \bar x = \bar y"
    kind = "shape"
    cases = tuple(Case(Draw(s), dtype="float64") for s in SHAPES)
    reads = ()

    def forward(self, x: Array, dtype: Any) -> Array:
        return xp_of(x).asarray(x, dtype=dtype)

    def backward(self, g: Array) -> Array:
        return g  # Function.pull gives it the dtype of x


def cast(x: TensorLike, dtype: Any) -> Tensor:
    """Give the values another dtype; nothing is copied where they have it already.

    Shapes: x: (*), y: (*)

    >>> cast([1.7, -1.7], "int64").data
    array([ 1, -1])
    """
    return Cast.apply(x, dtype=dtype)
