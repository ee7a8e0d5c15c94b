"""Quotients and remainders, rounded down or towards 0 or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..errors import ArgumentError, explain
from .casework import broadcasts
from .dtype import NUMBERS, as_pytorch, floating, module_of, need_no_booleans, need_no_zero
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Div(Broadcasting):
    """y = a / b;  da = g / b, db = -g a / b^2."""

    latex = r"y = \frac{a}{b}, \quad \bar a = \frac{\bar y}{b}, \quad \bar b = -\bar y \frac{a}{b^2}"
    cases = broadcasts(b=(-2, 2, 0.5))
    aligns = True
    exact = True
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        # A Python number stays one, so that it does not widen; integer tensors become float32, not NumPy's float64.
        self.b = b if type(b) in NUMBERS else floating(b)
        self.y = (a if type(a) in NUMBERS else floating(a)) / self.b
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = g / self.b
        return da, -da * self.y if self.needs[1] else None


class FloorDiv(Broadcasting):
    """y = floor(a / b);  da = 0, db = 0."""

    latex = r"y = \left\lfloor \frac{a}{b} \right\rfloor, \quad \bar a = \bar b = 0"
    cases = broadcasts((0.6, 0.9), (1.0, 1.1))
    called = "floor_divide"
    aligns = True
    reads = ()
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        need_no_booleans("floor_divide", a, b)
        need_no_zero("floor_divide", a, b)
        return a // b

    def backward(self, g: Array) -> tuple[Array, Array]:
        return xp_of(g).zeros_like(g), xp_of(g).zeros_like(g)


class TruncDiv(Broadcasting):
    """y = a / b without its fraction, rounded towards 0;  da = 0, db = 0."""

    latex = r"y = \mathrm{trunc}\,\frac{a}{b}, \quad \bar a = \bar b = 0"
    cases = broadcasts((0.6, 0.9), (1.0, 1.1))
    called = "div"
    aligns = True
    reads = ()
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        need_no_booleans("div", a, b)
        need_no_zero("div", a, b)
        xp = module_of(a, b)
        if getattr(a if type(a) not in NUMBERS else b, "dtype", xp.float32).kind == "f":
            return xp.trunc(a / b)
        return a // b + ((a % b != 0) & ((a < 0) != (b < 0)))  # a quotient in floats would lose digits beyond 2^53

    def backward(self, g: Array) -> tuple[Array, Array]:
        return xp_of(g).zeros_like(g), xp_of(g).zeros_like(g)


def div(input: TensorLike, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
    """Divide `input` by `other`, broadcasting; `input / other`. Integers give float32, unless the quotient is rounded.

    `rounding_mode="floor"` rounds down and is `input // other`, "trunc" rounds towards 0; neither has a slope.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        ArgumentError: no such rounding mode, or whole numbers divided by 0 and rounded.

    >>> div([1, 2], 2).data
    array([0.5, 1. ], dtype=float32)
    >>> div([-7, 7], 2, rounding_mode="floor").data, div([-7, 7], 2, rounding_mode="trunc").data
    (array([-4,  3]), array([-3,  3]))
    """
    if rounding_mode is None:
        return Div.apply(input, other)
    if rounding_mode not in ("floor", "trunc"):
        got = {"rounding_mode": repr(rounding_mode)}
        raise ArgumentError(explain("div: how is it to be rounded?", got=got, need='None, "floor" or "trunc"'))
    return (FloorDiv if rounding_mode == "floor" else TruncDiv).apply(input, other)


def floor_divide(input: TensorLike, other: TensorLike) -> Tensor:
    """Divide and round down, broadcasting; `input // other`. The result has no slope: its gradient is 0.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        ArgumentError: whole numbers are divided by 0.
        DTypeError: both hold truth values.

    >>> floor_divide([-7.0, 7.0], 2.0).data
    array([-4.,  3.], dtype=float32)
    """
    return FloorDiv.apply(input, other)


class Remainder(Broadcasting):
    """y = a - b floor(a / b);  da = g, db = -g floor(a / b)."""

    latex = r"y = a - b\,q, \quad q = \left\lfloor \frac{a}{b} \right\rfloor, \quad \bar a = \bar y, \quad \bar b = -\bar y\,q"
    cases = (*broadcasts((2.2, 2.8), (1.0, 1.05)), *broadcasts((-2.8, -2.2), (1.0, 1.05))[:2])
    aligns = True
    reads = ("inputs",)

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        need_no_booleans("remainder", a, b)
        need_no_zero("remainder", a, b)
        self.a, self.b = a, b
        return a % b

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array, Array | None]:
        return g, -g * (self.a // self.b) if self.needs[1] else None


def remainder(input: TensorLike, other: TensorLike) -> Tensor:
    """Take what division leaves over, with the sign of the divisor, broadcasting; `input % other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        ArgumentError: whole numbers are divided by 0.
        DTypeError: both hold truth values.

    >>> remainder([-7.0, 7.0], 3.0).data
    array([2., 1.], dtype=float32)
    """
    return Remainder.apply(input, other)


class Fmod(Broadcasting):
    """y = a - b trunc(a / b);  da = g, db = -g trunc(a / b)."""

    latex = r"y = a - b\,q, \quad q = \mathrm{trunc}\,\frac{a}{b}, \quad \bar a = \bar y, \quad \bar b = -\bar y\,q"
    cases = (*broadcasts((2.2, 2.35), (0.6, 0.62)), *broadcasts((-2.35, -2.2), (0.6, 0.62))[:2])
    aligns = True
    reads = ("inputs",)

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        need_no_booleans("fmod", a, b)
        need_no_zero("fmod", a, b)
        self.a, self.b = a, b
        return module_of(a, b).fmod(a, b)

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array, Array | None]:
        return g, -g * xp_of(g).trunc(self.a / self.b) if self.needs[1] else None


def fmod(input: TensorLike, other: TensorLike) -> Tensor:
    """Take what division leaves over, with the sign of the dividend, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        ArgumentError: whole numbers are divided by 0.
        DTypeError: both hold truth values.

    >>> fmod([-7.0, 7.0], 3.0).data
    array([-1.,  1.], dtype=float32)
    """
    return Fmod.apply(input, other)
