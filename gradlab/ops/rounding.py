"""Whole numbers near a value; they are flat between their jumps, so that their gradient is 0, and the fraction that is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, need_floats, need_no_booleans, numbers, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _whole(op: str, x: Array, rounded: Callable[[Array], Array]) -> Array:
    """Round floats; a copy of integers."""
    need_no_booleans(op, x)
    x = numbers(x)
    return rounded(x) if x.dtype.kind == "f" else xp_of(x).array(x)


class Floor(Function):
    """y = the largest integer <= x;  dx = 0."""

    latex = r"y = \lfloor x \rfloor, \quad \bar x = 0"
    cases = (*one_input(0.6, 0.9), *one_input(-2.4, -2.1)[:2])
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        return _whole("floor", x, xp_of(x).floor)

    def backward(self, g: Array) -> Array:
        return xp_of(g).zeros_like(g)


def floor(input: TensorLike) -> Tensor:
    """Round down; the gradient is 0.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values.

    >>> floor([-1.5, 1.5]).data
    array([-2.,  1.], dtype=float32)
    """
    return Floor.apply(input)


class Ceil(Function):
    """y = the smallest integer >= x;  dx = 0."""

    latex = r"y = \lceil x \rceil, \quad \bar x = 0"
    cases = (*one_input(0.6, 0.9), *one_input(-2.4, -2.1)[:2])
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        return _whole("ceil", x, xp_of(x).ceil)

    def backward(self, g: Array) -> Array:
        return xp_of(g).zeros_like(g)


def ceil(input: TensorLike) -> Tensor:
    """Round up; the gradient is 0.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values.

    >>> ceil([-1.5, 1.5]).data
    array([-1.,  2.], dtype=float32)
    """
    return Ceil.apply(input)


class Trunc(Function):
    """y = the integer part of x;  dx = 0."""

    latex = r"y = \mathrm{trunc}(x), \quad \bar x = 0"
    cases = (*one_input(0.6, 0.9), *one_input(-2.4, -2.1)[:2])
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        return _whole("trunc", x, xp_of(x).trunc)

    def backward(self, g: Array) -> Array:
        return xp_of(g).zeros_like(g)


def trunc(input: TensorLike) -> Tensor:
    """Round towards 0; the gradient is 0.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values.

    >>> trunc([-1.5, 1.5]).data
    array([-1.,  1.], dtype=float32)
    """
    return Trunc.apply(input)


class Round(Function):
    """y = the nearest integer, the even one of two, or the nearest multiple of 10^-n;  dx = 0."""

    latex = r"y = 10^{-n} \lfloor 10^n x \rceil, \quad \bar x = 0"
    cases = (*one_input(0.6, 0.9), *one_input(-2.4, -2.1)[:2], *one_input(0.61, 0.64, decimals=1)[:1])
    reads = ()
    fresh = True

    def forward(self, x: Array, decimals: int = 0) -> Array:
        xp = xp_of(x)
        if not decimals:
            return _whole("round", x, xp.rint)
        need_floats("round with decimals", numbers(x))
        return xp.asarray(xp.round(wide(numbers(x)), decimals), dtype=numbers(x).dtype)

    def backward(self, g: Array) -> Array:
        return xp_of(g).zeros_like(g)


def round(input: TensorLike, decimals: int = 0) -> Tensor:
    """Round to the nearest integer, or to `decimals` places; halves go to the even neighbour. The gradient is 0.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values, or integers that would be rounded to decimals.

    >>> round([0.5, 1.5, -2.6]).data
    array([ 0.,  2., -3.], dtype=float32)
    >>> round([1234.5], decimals=-2).data
    array([1200.], dtype=float32)
    """
    return Round.apply(input, decimals=decimals) if decimals else Round.apply(input)


class Frac(Function):
    """y = x - trunc(x);  dx = g."""

    latex = r"y = x - \mathrm{trunc}(x), \quad \bar x = \bar y"
    cases = (*one_input(0.6, 0.9), *one_input(-2.4, -2.1)[:2])
    reads = ()

    @as_pytorch
    def forward(self, x: Array) -> Array:
        x = numbers(x)
        need_floats("frac", x)
        return x - xp_of(x).trunc(x)

    def backward(self, g: Array) -> Array:
        return g


def frac(input: TensorLike) -> Tensor:
    """Take what is behind the point, with the sign of `input`.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds integers.

    >>> frac([-1.25, 1.5]).data
    array([-0.25,  0.5 ], dtype=float32)
    """
    return Frac.apply(input)
