"""Angles: of a point in the plane, and between degrees and radians."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..function import Function
from .casework import broadcasts, one_input
from .dtype import as_pytorch, floating, floats, kept
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Atan2(Broadcasting):
    """y = angle of the point (b, a);  da = g b / (a^2 + b^2), db = -g a / (a^2 + b^2), 0 where both are 0."""

    latex = r"y = \arg(b + i a), \quad \bar a = \bar y \frac{b}{a^2 + b^2}, \quad \bar b = -\bar y \frac{a}{a^2 + b^2}"
    cases = broadcasts((-2, 2, 0.3), (-2, 2, 0.3))
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.a, self.b = floats(a, b)
        return xp_of(self.a).arctan2(self.a, self.b)

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        r = xp_of(g).hypot(self.a, self.b)  # a^2 + b^2 would overflow
        part = kept(g / r, r != 0)
        return (kept(part * (self.b / r), r != 0) if self.needs[0] else None), (
            kept(-part * (self.a / r), r != 0) if self.needs[1] else None
        )


def atan2(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the angle of the point with height `input` and width `other`, from -pi to pi, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> atan2([1.0, 1.0], [1.0, -1.0]).data.round(4)
    array([0.7854, 2.3562], dtype=float32)
    """
    return Atan2.apply(input, other)


class Deg2Rad(Function):
    """y = x pi / 180;  dx = g pi / 180."""

    latex = r"y = \frac{\pi}{180} x, \quad \bar x = \frac{\pi}{180} \bar y"
    cases = one_input()
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        return floating(x) * (pi / 180)

    def backward(self, g: Array) -> Array:
        return g * (pi / 180)


def deg2rad(input: TensorLike) -> Tensor:
    """Turn degrees into radians.

    Shapes: input: (*), y: (*)

    >>> deg2rad([180.0]).data.round(4)
    array([3.1416], dtype=float32)
    """
    return Deg2Rad.apply(input)


class Rad2Deg(Function):
    """y = x 180 / pi;  dx = g 180 / pi."""

    latex = r"y = \frac{180}{\pi} x, \quad \bar x = \frac{180}{\pi} \bar y"
    cases = one_input()
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        return floating(x) * (180 / pi)

    def backward(self, g: Array) -> Array:
        return g * (180 / pi)


def rad2deg(input: TensorLike) -> Tensor:
    """Turn radians into degrees.

    Shapes: input: (*), y: (*)

    >>> rad2deg([3.1415927]).data.round(2)
    array([180.], dtype=float32)
    """
    return Rad2Deg.apply(input)
