"""Exponentials and logarithms."""

from __future__ import annotations

from math import log as _ln
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, floating

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

LN2, LN10 = _ln(2.0), _ln(10.0)


class Exp(Function):
    """y = e^x;  dx = g y."""

    latex = r"y = e^x, \quad \bar x = \bar y\, y"
    cases = one_input()
    reads = ("output",)
    exact = True
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).exp(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * self.y


def exp(input: TensorLike) -> Tensor:
    """Raise e to the power `input`.

    Shapes: input: (*), y: (*)

    >>> exp([0.0, 1.0]).data.round(3)
    array([1.   , 2.718], dtype=float32)
    """
    return Exp.apply(input)


class Exp2(Function):
    """y = 2^x;  dx = g y ln 2."""

    latex = r"y = 2^x, \quad \bar x = \bar y\, y \ln 2"
    cases = one_input()
    reads = ("output",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).exp2(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * self.y * LN2


def exp2(input: TensorLike) -> Tensor:
    """Raise 2 to the power `input`.

    Shapes: input: (*), y: (*)

    >>> exp2([3.0, -1.0]).data
    array([8. , 0.5], dtype=float32)
    """
    return Exp2.apply(input)


class Expm1(Function):
    """y = e^x - 1;  dx = g (y + 1)."""

    latex = r"y = e^x - 1, \quad \bar x = \bar y (y + 1)"
    cases = one_input()
    reads = ("output",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).expm1(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (self.y + 1)


def expm1(input: TensorLike) -> Tensor:
    """Raise e to the power `input` and subtract 1, right to all digits near 0.

    Shapes: input: (*), y: (*)

    >>> expm1([1e-10, 1.0]).data
    array([1.0000000e-10, 1.7182817e+00], dtype=float32)
    """
    return Expm1.apply(input)


class Log(Function):
    """y = ln x;  dx = g / x."""

    latex = r"y = \ln x, \quad \bar x = \frac{\bar y}{x}"
    cases = one_input(0.5, 3.0)
    reads = ("inputs",)
    exact = True
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).log(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / self.x


def log(input: TensorLike) -> Tensor:
    """Take the natural logarithm; -inf at 0, NaN below.

    Shapes: input: (*), y: (*)

    >>> log([1.0, 10.0]).data.round(3)
    array([0.   , 2.303], dtype=float32)
    """
    return Log.apply(input)


class Log2(Function):
    """y = log x to the base 2;  dx = g / (x ln 2)."""

    latex = r"y = \log_2 x, \quad \bar x = \frac{\bar y}{x \ln 2}"
    cases = one_input(0.5, 3.0)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).log2(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / (self.x * LN2)


def log2(input: TensorLike) -> Tensor:
    """Take the logarithm to the base 2; -inf at 0, NaN below.

    Shapes: input: (*), y: (*)

    >>> log2([8.0, 0.5]).data
    array([ 3., -1.], dtype=float32)
    """
    return Log2.apply(input)


class Log10(Function):
    """y = log x to the base 10;  dx = g / (x ln 10)."""

    latex = r"y = \log_{10} x, \quad \bar x = \frac{\bar y}{x \ln 10}"
    cases = one_input(0.5, 3.0)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).log10(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / (self.x * LN10)


def log10(input: TensorLike) -> Tensor:
    """Take the logarithm to the base 10; -inf at 0, NaN below.

    Shapes: input: (*), y: (*)

    >>> log10([100.0, 0.1]).data
    array([ 2., -1.], dtype=float32)
    """
    return Log10.apply(input)


class Log1p(Function):
    """y = ln(1 + x);  dx = g / (1 + x)."""

    latex = r"y = \ln(1 + x), \quad \bar x = \frac{\bar y}{1 + x}"
    cases = one_input(-0.5, 3.0)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).log1p(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / (1 + self.x)


def log1p(input: TensorLike) -> Tensor:
    """Take the natural logarithm of 1 + `input`, right to all digits near 0.

    Shapes: input: (*), y: (*)

    >>> log1p([1e-10, 1.0]).data
    array([1.000000e-10, 6.931472e-01], dtype=float32)
    """
    return Log1p.apply(input)
