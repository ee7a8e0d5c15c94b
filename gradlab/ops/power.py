"""Powers, exponentials, logarithms and the two circular functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..function import Function
from .dtype import as_pytorch, floating, kept
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))
POSITIVE = tuple(Case(Draw(s, 0.5, 3.0)) for s in SHAPES)


class Pow(Broadcasting):
    """y = a^b;  da = g b a^(b-1), db = g y log a (0 where a is 0 and b >= 0)."""

    latex = r"y = a^b, \quad \bar a = \bar y\, b\, a^{b-1}, \quad \bar b = \bar y\, y \log a"
    cases = (
        Case(Draw((3, 4), 0.5, 2.0), Draw((3, 4))),
        Case(Draw((2, 3, 4), 0.5, 2.0), Draw((4,))),
        Case(Draw((3, 1), 0.5, 2.0), Draw((1, 4))),
        Case(Draw((), 0.5, 2.0), Draw((2, 3))),
        Case(Draw((2, 3), 0.5, 2.0), Draw(())),
        Case(Draw((), 0.5, 2.0), Draw(())),
        Case(Draw((0, 3), 0.5, 2.0), Draw((3,))),
    )
    aligns = True
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        self.a, self.b = a, b
        self.y = a**b
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, a, b = xp_of(g), self.a, self.b
        da = db = None
        if self.needs[0]:
            da = kept(g * (b * a ** (b - 1)), b != 0)  # where b is 0, a^-1 may be infinite, and 0 times that NaN
        if self.needs[1]:
            # Taken in g's dtype, which a Python number `a` has not.
            db = kept(g * self.y * xp.log(xp.asarray(a, dtype=g.dtype)), (a != 0) | (b < 0))
        return da, db


def pow(a: TensorLike, b: TensorLike) -> Tensor:
    """Raise `a` to the power `b`, broadcasting; `a ** b`, with a number on either side too.

    The exponent's gradient is 0 where the base is 0 and the exponent is not negative, and NaN where the base is negative.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> pow([1.0, -2.0, 3.0], 2).data
    array([1., 4., 9.], dtype=float32)
    >>> pow(2.0, [1.0, 3.0]).data
    array([2., 8.], dtype=float32)
    """
    return Pow.apply(a, b)


class Exp(Function):
    """y = e^x;  dx = g y."""

    latex = r"y = e^x, \quad \bar x = \bar y\, y"
    cases = tuple(Case(Draw(s)) for s in SHAPES)
    reads = ("output",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).exp(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * self.y


def exp(x: TensorLike) -> Tensor:
    """Raise e to the power `x`.

    Shapes: x: (*), y: (*)

    >>> exp([0.0, 1.0]).data.round(3)
    array([1.   , 2.718], dtype=float32)
    """
    return Exp.apply(x)


class Log(Function):
    """y = ln x;  dx = g / x."""

    latex = r"y = \ln x, \quad \bar x = \frac{\bar y}{x}"
    cases = POSITIVE
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = x
        return xp_of(x).log(floating(x))

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g / self.x


def log(x: TensorLike) -> Tensor:
    """Take the natural logarithm; -inf at 0, NaN below.

    Shapes: x: (*), y: (*)

    >>> log([1.0, 10.0]).data.round(3)
    array([0.   , 2.303], dtype=float32)
    """
    return Log.apply(x)


class Sqrt(Function):
    """y = x^(1/2);  dx = g / (2 y), which is infinite at 0."""

    latex = r"y = \sqrt{x}, \quad \bar x = \frac{\bar y}{2y}"
    cases = POSITIVE
    reads = ("output",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).sqrt(floating(x))
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return 0.5 * g / self.y


def sqrt(x: TensorLike) -> Tensor:
    """Take the square root; NaN below 0.

    Shapes: x: (*), y: (*)

    >>> sqrt([0.0, 4.0]).data
    array([0., 2.], dtype=float32)
    """
    return Sqrt.apply(x)


class Sin(Function):
    """y = sin x;  dx = g cos x."""

    latex = r"y = \sin x, \quad \bar x = \bar y \cos x"
    cases = tuple(Case(Draw(s)) for s in SHAPES)
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).sin(self.x)

    def backward(self, g: Array) -> Array:
        return g * xp_of(g).cos(self.x)


def sin(x: TensorLike) -> Tensor:
    """Take the sine of an angle in radians.

    Shapes: x: (*), y: (*)

    >>> sin([0.0, 1.5707964]).data
    array([0., 1.], dtype=float32)
    """
    return Sin.apply(x)


class Cos(Function):
    """y = cos x;  dx = -g sin x."""

    latex = r"y = \cos x, \quad \bar x = -\bar y \sin x"
    cases = tuple(Case(Draw(s)) for s in SHAPES)
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).cos(self.x)

    def backward(self, g: Array) -> Array:
        return -g * xp_of(g).sin(self.x)


def cos(x: TensorLike) -> Tensor:
    """Take the cosine of an angle in radians.

    Shapes: x: (*), y: (*)

    >>> cos([0.0, 3.1415927]).data
    array([ 1., -1.], dtype=float32)
    """
    return Cos.apply(x)
