"""Circular functions of angles in radians, and their inverses."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Given
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, floating, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Sin(Function):
    """y = sin x;  dx = g cos x."""

    latex = r"y = \sin x, \quad \bar x = \bar y \cos x"
    cases = one_input()
    reads = ("inputs",)
    exact = True
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).sin(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g * xp_of(g).cos(self.x)


def sin(input: TensorLike) -> Tensor:
    """Take the sine of an angle in radians.

    Shapes: input: (*), y: (*)

    >>> sin([0.0, 1.5707964]).data
    array([0., 1.], dtype=float32)
    """
    return Sin.apply(input)


class Cos(Function):
    """y = cos x;  dx = -g sin x."""

    latex = r"y = \cos x, \quad \bar x = -\bar y \sin x"
    cases = one_input()
    reads = ("inputs",)
    exact = True
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).cos(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return -g * xp_of(g).sin(self.x)


def cos(input: TensorLike) -> Tensor:
    """Take the cosine of an angle in radians.

    Shapes: input: (*), y: (*)

    >>> cos([0.0, 3.1415927]).data
    array([ 1., -1.], dtype=float32)
    """
    return Cos.apply(input)


class Tan(Function):
    """y = tan x;  dx = g (1 + y^2)."""

    latex = r"y = \tan x, \quad \bar x = \bar y (1 + y^2)"
    cases = one_input(-1.4, 1.4)
    reads = ("output",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).tan(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (1 + self.y * self.y)


def tan(input: TensorLike) -> Tensor:
    """Take the tangent of an angle in radians.

    Shapes: input: (*), y: (*)

    >>> tan([0.0, 0.7853982]).data.round(6)
    array([0., 1.], dtype=float32)
    """
    return Tan.apply(input)


class Asin(Function):
    """y = asin x;  dx = g / (1 - x^2)^(1/2)."""

    latex = r"y = \arcsin x, \quad \bar x = \frac{\bar y}{\sqrt{1 - x^2}}"
    cases = one_input(-0.9, 0.9)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).arcsin(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / xp_of(g).sqrt((1 - self.x) * (1 + self.x))


def asin(input: TensorLike) -> Tensor:
    """Take the angle whose sine is `input`; NaN outside of -1 to 1.

    Shapes: input: (*), y: (*)

    >>> asin([0.0, 1.0]).data.round(4)
    array([0.    , 1.5708], dtype=float32)
    """
    return Asin.apply(input)


class Acos(Function):
    """y = acos x;  dx = -g / (1 - x^2)^(1/2)."""

    latex = r"y = \arccos x, \quad \bar x = -\frac{\bar y}{\sqrt{1 - x^2}}"
    cases = one_input(-0.9, 0.9)
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).arccos(self.x)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return -g / xp_of(g).sqrt((1 - self.x) * (1 + self.x))


def acos(input: TensorLike) -> Tensor:
    """Take the angle whose cosine is `input`; NaN outside of -1 to 1.

    Shapes: input: (*), y: (*)

    >>> acos([1.0, -1.0]).data.round(4)
    array([0.    , 3.1416], dtype=float32)
    """
    return Acos.apply(input)


class Atan(Function):
    """y = atan x;  dx = g / (1 + x^2)."""

    latex = r"y = \arctan x, \quad \bar x = \frac{\bar y}{1 + x^2}"
    cases = one_input()
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).arctan(self.x)

    def backward(self, g: Array) -> Array:
        r = xp_of(g).hypot(1.0, self.x)  # x^2 would overflow
        return g / r / r


def atan(input: TensorLike) -> Tensor:
    """Take the angle whose tangent is `input`.

    Shapes: input: (*), y: (*)

    >>> atan([0.0, 1.0]).data.round(4)
    array([0.    , 0.7854], dtype=float32)
    """
    return Atan.apply(input)


class Sinc(Function):
    """y = sin(pi x) / (pi x), 1 at 0;  dx = g (cos(pi x) - y) / x."""

    latex = r"y = \frac{\sin \pi x}{\pi x}, \quad \bar x = \bar y \frac{\cos \pi x - y}{x}"
    cases = (*one_input(-3.0, 3.0), Case(Given([0.0, 1e-3, -0.08, 0.1])))
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        xp, x = xp_of(x), floating(x)
        self.x = wide(x)
        t = pi * self.x
        self.y = xp.where(t == 0, 1.0, xp.sin(t) / xp.where(t == 0, 1.0, t))
        return xp.asarray(self.y, dtype=x.dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        # Near 0 the difference loses its digits: there the series of d(sin t / t)/dt, exact below |t| = 0.3.
        xp, x = xp_of(g), self.x
        t = pi * x
        u = xp.clip(t, -0.3, 0.3)
        s = u * u
        series = -pi * u / 3 * (1 - s / 10 * (1 - s / 28 * (1 - s / 54 * (1 - s / 88))))
        return g * xp.where(xp.abs(t) < 0.3, series, (xp.cos(t) - self.y) / xp.where(x == 0, 1.0, x))


def sinc(input: TensorLike) -> Tensor:
    """Take sin(pi input) / (pi input), which is 1 at 0.

    Shapes: input: (*), y: (*)

    >>> sinc([0.0, 0.5, 1.0]).data.round(3)
    array([ 1.   ,  0.637, -0.   ], dtype=float32)
    """
    return Sinc.apply(input)
