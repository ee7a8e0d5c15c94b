"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, floating

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Sinh(Function):
    """y = sinh x;  dx = g cosh x."""

    latex = r"y = \sinh x, \quad \bar x = \bar y \cosh x"
    cases = one_input()
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).sinh(self.x)

    def backward(self, g: Array) -> Array:
        return g * xp_of(g).cosh(self.x)


def sinh(input: TensorLike) -> Tensor:
    """Take the hyperbolic sine.

    Shapes: input: (*), y: (*)

    >>> sinh([0.0, 1.0]).data.round(4)
    array([0.    , 1.1752], dtype=float32)
    """
    return Sinh.apply(input)


class Cosh(Function):
    """y = cosh x;  dx = g sinh x."""

    latex = r"y = \cosh x, \quad \bar x = \bar y \sinh x"
    cases = one_input()
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).cosh(self.x)

    def backward(self, g: Array) -> Array:
        return g * xp_of(g).sinh(self.x)


def cosh(input: TensorLike) -> Tensor:
    """Take the hyperbolic cosine.

    Shapes: input: (*), y: (*)

    >>> cosh([0.0, 1.0]).data.round(4)
    array([1.    , 1.5431], dtype=float32)
    """
    return Cosh.apply(input)


class Tanh(Function):
    """y = tanh x;  dx = g (1 - y^2)."""

    latex = r"y = \tanh x, \quad \bar x = \bar y (1 - y^2)"
    cases = (*one_input(-6.0, 6.0), *one_input(12.0, 14.0)[:1])
    reads = ("output",)
    exact = True
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).tanh(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (1 - self.y * self.y)


def tanh(input: TensorLike) -> Tensor:
    """Squash every value into (-1, 1).

    Shapes: input: (*), y: (*)

    >>> tanh([0.0, 2.0]).data.round(2)
    array([0.  , 0.96], dtype=float32)
    """
    return Tanh.apply(input)


class Asinh(Function):
    """y = asinh x;  dx = g / (1 + x^2)^(1/2)."""

    latex = r"y = \mathrm{arsinh}\, x, \quad \bar x = \frac{\bar y}{\sqrt{1 + x^2}}"
    cases = one_input()
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).arcsinh(self.x)

    def backward(self, g: Array) -> Array:
        return g / xp_of(g).hypot(1.0, self.x)


def asinh(input: TensorLike) -> Tensor:
    """Take the number whose hyperbolic sine is `input`.

    Shapes: input: (*), y: (*)

    >>> asinh([0.0, 1.0]).data.round(4)
    array([0.    , 0.8814], dtype=float32)
    """
    return Asinh.apply(input)


class Acosh(Function):
    """y = acosh x;  dx = g / (x^2 - 1)^(1/2)."""

    latex = r"y = \mathrm{arcosh}\, x, \quad \bar x = \frac{\bar y}{\sqrt{x^2 - 1}}"
    cases = one_input(1.2, 3.0)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).arccosh(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        return g / (xp.sqrt(self.x - 1) * xp.sqrt(self.x + 1))


def acosh(input: TensorLike) -> Tensor:
    """Take the number, 0 or more, whose hyperbolic cosine is `input`; NaN below 1.

    Shapes: input: (*), y: (*)

    >>> acosh([1.0, 2.0]).data.round(4)
    array([0.   , 1.317], dtype=float32)
    """
    return Acosh.apply(input)


class Atanh(Function):
    """y = atanh x;  dx = g / (1 - x^2)."""

    latex = r"y = \mathrm{artanh}\, x, \quad \bar x = \frac{\bar y}{1 - x^2}"
    cases = one_input(-0.9, 0.9)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).arctanh(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / ((1 - self.x) * (1 + self.x))


def atanh(input: TensorLike) -> Tensor:
    """Take the number whose hyperbolic tangent is `input`; infinite at -1 and 1, NaN beyond.

    Shapes: input: (*), y: (*)

    >>> atanh([0.0, 0.5]).data.round(4)
    array([0.    , 0.5493], dtype=float32)
    """
    return Atanh.apply(input)
