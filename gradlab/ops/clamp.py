"""Keeping values inside bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..errors import DTypeError, explain
from ..function import Function
from .dtype import kept

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Clamp(Function):
    """y = x, moved to the nearer of min and max where it is outside;  dx = g where min <= x <= max, else 0."""

    latex = r"y = \min(\max(x, a), b), \quad \bar x = \bar y\,[a \le x \le b]"
    cases = (
        Case(Given([[-1.5, 0.2, 0.9], [0.7, -0.1, 3.0]]), min=-0.5, max=1.0),
        Case(Draw((2, 3, 4), gap=0.1), min=0.0),
        Case(Draw((4,), gap=0.1), max=0.0),
        Case(Draw(()), min=-3.0, max=3.0),
        Case(Draw((0, 3)), min=0.0),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, min: float | None = None, max: float | None = None) -> Array:
        self.x, self.min, self.max = x, min, max
        return xp_of(x).clip(x, min, max)

    def backward(self, g: Array) -> Array:
        inside = self.x >= self.min if self.min is not None else self.x <= self.max
        if self.min is not None and self.max is not None:
            inside &= self.x <= self.max
        return kept(g, inside)


def clamp(x: TensorLike, min: float | None = None, max: float | None = None) -> Tensor:
    """Move values below `min` to `min` and values above `max` to `max`; what is moved gets no gradient.

    Shapes: x: (*), y: (*)

    Raises:
        DTypeError: neither bound is given, or one is not a number (`gl.maximum` takes tensors).

    >>> clamp([-2.0, 0.5, 3.0], min=0.0, max=1.0).data
    array([0. , 0.5, 1. ], dtype=float32)
    """
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds or not all(isinstance(bound, (int, float)) for bound in bounds):
        raise DTypeError(explain("clamp: the bounds are numbers", got={"min": min, "max": max}, need="a number for min, max or both"))
    return Clamp.apply(x, min=min, max=max)
