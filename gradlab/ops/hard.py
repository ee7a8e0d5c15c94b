"""Activations made of straight lines, cheap stand-ins for smooth curves, and shrinking ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Given
from ..errors import ArgumentError, explain
from ..function import Function
from .argument import not_in_place
from .casework import one_input
from .dtype import as_pytorch, floating, kept, numbers

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Hardtanh(Function):
    """y = x, moved to the nearer of min and max where it is outside;  dx = g where min < x < max, else 0."""

    latex = r"y = \min(\max(x, a), b), \quad \bar x = \bar y\,[a < x < b]"
    cases = (*one_input(-0.9, 0.9), Case(Given([-3.0, -0.5, 0.5, 1.7, 9.0]), min_val=-2.0, max_val=1.5))
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, min_val: float = -1.0, max_val: float = 1.0) -> Array:
        self.x = x = numbers(x)
        self.min, self.max = (min_val, max_val) if x.dtype.kind == "f" else (int(min_val), int(max_val))
        return xp_of(x).clip(x, self.min, self.max)

    def backward(self, g: Array) -> Array:
        return kept(g, ~((self.x <= self.min) | (self.x >= self.max)))


def hardtanh(input: TensorLike, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Move values outside of `min_val` to `max_val` to the nearer of the two. At both there is no gradient any more, unlike in clamp.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `min_val` is above `max_val`.
        KeywordError: `inplace` is asked for.

    >>> hardtanh([-3.0, 0.5, 2.0]).data
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    not_in_place("hardtanh", inplace)
    if min_val > max_val:
        raise ArgumentError(
            explain("hardtanh: the bounds are the wrong way round", got={"min_val": min_val, "max_val": max_val}, need="min_val <= max_val")
        )
    return Hardtanh.apply(input, min_val=min_val, max_val=max_val)


def relu6(input: TensorLike, inplace: bool = False) -> Tensor:
    """Set negative values to 0, and those above 6 to 6.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> relu6([-3.0, 0.5, 8.0]).data
    array([0. , 0.5, 6. ], dtype=float32)
    """
    not_in_place("relu6", inplace)
    return Hardtanh.apply(input, min_val=0.0, max_val=6.0)


class Hardsigmoid(Function):
    """y = (x + 3) / 6, moved into [0, 1];  dx = g / 6 where -3 < x < 3, else 0."""

    latex = r"y = \min\left(\max\left(\tfrac{x + 3}{6}, 0\right), 1\right), \quad \bar x = \tfrac16 \bar y\,[-3 < x < 3]"
    cases = (*one_input(), Case(Given([-4.0, -2.9, 2.9, 9.0])))
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        xp, self.x = xp_of(x), floating(x)
        return xp.clip(self.x / 6 + 0.5, 0.0, 1.0)

    def backward(self, g: Array) -> Array:
        return kept(g / 6, (self.x > -3) & (self.x < 3))


def hardsigmoid(input: TensorLike, inplace: bool = False) -> Tensor:
    """Go from 0 at -3 to 1 at 3 in a straight line.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> hardsigmoid([-4.0, 0.0, 1.5]).data
    array([0.  , 0.5 , 0.75], dtype=float32)
    """
    not_in_place("hardsigmoid", inplace)
    return Hardsigmoid.apply(input)


class Hardswish(Function):
    """y = x s with s = (x + 3) / 6, moved into [0, 1];  dx = g s, and g (x / 3 + 1 / 2) where -3 < x < 3."""

    latex = (
        r"y = x\,s, \quad s = \min\left(\max\left(\tfrac{x + 3}{6}, 0\right), 1\right), "
        r"\quad \bar x = \bar y \left(s + \tfrac{x}{6}\,[-3 < x < 3]\right)"
    )
    cases = (*one_input(), Case(Given([-4.0, -2.9, 2.9, 9.0])))
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        xp, self.x = xp_of(x), floating(x)
        return self.x * xp.clip(self.x / 6 + 0.5, 0.0, 1.0)

    def backward(self, g: Array) -> Array:
        xp, x = xp_of(g), self.x
        return kept(g * xp.where(x < 3, x / 3 + 0.5, 1.0), ~(x <= -3))


def hardswish(input: TensorLike, inplace: bool = False) -> Tensor:
    """Weigh every value by its hardsigmoid. Source: Howard et al., 2019, arXiv:1905.02244.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> hardswish([-4.0, 1.0, 4.0]).data.round(4)
    array([-0.    ,  0.6667,  4.    ], dtype=float32)
    """
    not_in_place("hardswish", inplace)
    return Hardswish.apply(input)


class Hardshrink(Function):
    """y = x, 0 where -l <= x <= l;  dx = g, 0 there."""

    latex = r"y = x\,[|x| > \lambda], \quad \bar x = \bar y\,[|x| > \lambda]"
    cases = (*one_input(0.6, 2.0), Case(Given([-2.0, -0.4, 0.0, 0.7])), Case(Given([-2.0, 0.7]), lambd=1.5))
    reads = ()
    fresh = True

    def forward(self, x: Array, lambd: float = 0.5) -> Array:
        x = floating(x)
        self.outside = ~((x >= -lambd) & (x <= lambd))
        return kept(x, self.outside)

    def backward(self, g: Array) -> Array:
        return kept(g, self.outside)


def hardshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """Set values within `lambd` of 0 to 0.

    Shapes: input: (*), y: (*)

    >>> hardshrink([-2.0, 0.3]).data
    array([-2.,  0.], dtype=float32)
    """
    return Hardshrink.apply(input, lambd=lambd)


class Softshrink(Function):
    """y = x - l where x > l, x + l where x < -l, else 0;  dx = g, 0 where y is."""

    latex = r"y = \mathrm{sign}(x) \max(|x| - \lambda, 0), \quad \bar x = \bar y\,[|x| > \lambda]"
    cases = (*one_input(0.6, 2.0), Case(Given([-2.0, -0.4, 0.0, 0.7])), Case(Given([-2.0, 0.7]), lambd=1.5))
    reads = ()
    fresh = True

    def forward(self, x: Array, lambd: float = 0.5) -> Array:
        xp, x = xp_of(x), floating(x)
        self.outside = ~((x >= -lambd) & (x <= lambd))
        return kept(x - xp.copysign(xp.asarray(lambd, dtype=x.dtype), x), self.outside)

    def backward(self, g: Array) -> Array:
        return kept(g, self.outside)


def softshrink(input: TensorLike, lambd: float = 0.5) -> Tensor:
    """Move every value towards 0 by `lambd`, and not across it.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `lambd` is negative.

    >>> softshrink([-2.0, 0.3]).data
    array([-1.5,  0. ], dtype=float32)
    """
    if lambd < 0:
        raise ArgumentError(explain("softshrink: lambd is a distance", got={"lambd": lambd}, need="0 or more"))
    return Softshrink.apply(input, lambd=lambd)


class Tanhshrink(Function):
    """y = x - tanh x;  dx = g tanh^2 x."""

    latex = r"y = x - \tanh x, \quad \bar x = \bar y \tanh^2 x"
    cases = one_input(-3.0, 3.0)
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        x = floating(x)
        self.t = xp_of(x).tanh(x)
        return x - self.t

    def backward(self, g: Array) -> Array:
        return g * (self.t * self.t)


def tanhshrink(input: TensorLike) -> Tensor:
    """Take what tanh leaves over.

    Shapes: input: (*), y: (*)

    >>> tanhshrink([0.0, 2.0]).data.round(4)
    array([0.   , 1.036], dtype=float32)
    """
    return Tanhshrink.apply(input)
