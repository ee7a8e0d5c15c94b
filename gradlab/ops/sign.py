"""Signs, and values without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..function import Function
from .casework import broadcasts, one_input
from .dtype import NUMBERS, floats, kept, module_of, need_no_booleans, numbers
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Abs(Function):
    """y = |x|;  dx = g sign(x), which is 0 at 0."""

    latex = r"y = |x|, \quad \bar x = \bar y\, \mathrm{sign}(x)"
    cases = one_input(gap=0.1)
    reads = ("inputs",)
    exact = True
    fresh = True

    def forward(self, x: Array) -> Array:
        need_no_booleans("abs", x)
        self.x = x
        return abs_of(x)

    def backward(self, g: Array) -> Array:
        return g * xp_of(g).sign(self.x)


abs_of = abs  # the built-in, kept under a name of its own: below, `abs` is the op


def abs(input: TensorLike) -> Tensor:
    """Take the absolute value.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values.

    >>> abs([1.0, -2.0]).data
    array([1., 2.], dtype=float32)
    """
    return Abs.apply(input)


class Sign(Function):
    """y = -1, 0 or 1, as x is below, at or above 0;  dx = 0."""

    latex = r"y = \mathrm{sign}(x), \quad \bar x = 0"
    cases = one_input(gap=0.1)
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        x = numbers(x)
        return xp_of(x).sign(x) if x.dtype.kind != "b" else x | False

    def backward(self, g: Array) -> Array:
        return xp_of(g).zeros_like(g)


def sign(input: TensorLike) -> Tensor:
    """Say whether a value is negative, 0 or positive: -1, 0 or 1. NaN stays NaN, where PyTorch has 0.

    Shapes: input: (*), y: (*)

    >>> sign([-3.0, 0.0, 0.5]).data
    array([-1.,  0.,  1.], dtype=float32)
    """
    return Sign.apply(input)


class SignBit(Function):
    """y = whether x has a minus in front, as -0.0 has;  no gradient."""

    latex = r"y = [x < 0 \text{ or } x = -0]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        x = numbers(x)
        return xp_of(x).signbit(x) if x.dtype.kind == "f" else x < 0


def signbit(input: TensorLike) -> Tensor:
    """Say where a value has a minus in front; -0.0 has.

    Shapes: input: (*), y: (*), boolean

    >>> signbit([-1.0, -0.0, 0.0]).data
    array([ True,  True, False])
    """
    return SignBit.apply(input)


class CopySign(Broadcasting):
    """y = |a| with the sign of b;  da = g where that is a's own sign, else -g, and 0 where a is 0; db = 0."""

    latex = r"y = |a|\,\mathrm{sign}(b), \quad \bar a = \bar y\,\mathrm{sign}(a)\,\mathrm{sign}(b), \quad \bar b = 0"
    cases = broadcasts((-2, 2, 0.1), (-2, 2, 0.1))
    aligns = True
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.a, b = floats(a, b)
        self.y = xp_of(b).copysign(self.a, b)
        return self.y

    def backward(self, g: Array) -> tuple[Array, Array]:
        xp = xp_of(g)
        return g * (xp.sign(self.a) * xp.sign(self.y)), xp.zeros_like(g)


def copysign(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the size of `input` and the sign of `other`, broadcasting; -0.0 counts as negative.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> copysign([1.0, -2.0], [-0.0, 3.0]).data
    array([-1.,  2.], dtype=float32)
    """
    return CopySign.apply(input, other)


class Heaviside(Broadcasting):
    """y = 0, v or 1, as x is below, at or above 0;  dx = 0, dv = g where x is 0."""

    latex = r"y = [x > 0] + v\,[x = 0], \quad \bar x = 0, \quad \bar v = \bar y\,[x = 0]"
    cases = broadcasts((-2, 2, 0.1))
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Any, v: Any) -> Array:
        xp = module_of(x, v)
        x = x if type(x) not in NUMBERS else xp.asarray(x, dtype=v.dtype)
        self.at_zero = x == 0
        return xp.where(self.at_zero, v, xp.where(x != x, x, x > 0))

    def backward(self, g: Array) -> tuple[Array, Array]:
        return xp_of(g).zeros_like(g), kept(g, self.at_zero)


def heaviside(input: TensorLike, values: TensorLike) -> Tensor:
    """Step from 0 below 0 to 1 above it, broadcasting; at 0 the value is `values`.

    Shapes: input: (*), values: (*), y: the shape both broadcast to

    >>> heaviside([-1.5, 0.0, 2.0], 0.5).data
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return Heaviside.apply(input, values)
