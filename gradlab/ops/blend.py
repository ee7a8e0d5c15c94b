"""Three tensors in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from .dtype import as_pytorch, floats
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Lerp(Broadcasting):
    """y = a + w (b - a);  da = g (1 - w), db = g w, dw = g (b - a)."""

    latex = r"y = a + w (b - a), \quad \bar a = \bar y (1 - w), \quad \bar b = \bar y w, \quad \bar w = \bar y (b - a)"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), Draw((3, 4), 0, 1)),
        Case(Draw((2, 3, 4)), Draw((4,)), Draw((3, 1), 0, 1)),
        Case(Draw((1, 4)), Draw((2, 3, 1)), Draw((), 0, 1)),
        Case(Draw(()), Draw((2,)), Draw((2,), 0, 1)),
        Case(Draw((2,)), Draw(()), Draw((), 0, 1)),
        Case(Draw((0, 3)), Draw((3,)), Draw((0, 1), 0, 1)),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Any, b: Any, w: Any) -> Array:
        self.a, self.b, self.w = a, b, w = floats(a, b, w)
        # From the nearer end, so that w = 1 gives b to the last digit.
        return xp_of(a).where(w < 0.5, a + w * (b - a), b - (1 - w) * (b - a))

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        for_a, for_b, for_w = self.needs
        return g * (1 - self.w) if for_a else None, g * self.w if for_b else None, g * (self.b - self.a) if for_w else None


def lerp(input: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor:
    """Go from `input` the part `weight` of the way to `end`, broadcasting.

    Shapes: input: (*), end: (*), weight: (*), y: the shape all broadcast to

    >>> lerp([0.0, 10.0], 20.0, 0.25).data
    array([ 5. , 12.5], dtype=float32)
    """
    return Lerp.apply(input, end, weight)


class Addcmul(Broadcasting):
    """y = x + c a b with a number c;  dx = g, da = c g b, db = c g a."""

    latex = r"y = x + c\,ab, \quad \bar x = \bar y, \quad \bar a = c \bar y b, \quad \bar b = c \bar y a"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((4,)), Draw((3, 1))),
        Case(Draw((1, 4)), Draw((2, 3, 1)), Draw(())),
        Case(Draw(()), Draw((2,)), Draw((2,))),
        Case(Draw((2,)), Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((3,)), Draw((0, 1))),
        Case(Draw((2,)), Draw((2,)), Draw((2,)), value=-2.5),
    )
    aligns = True
    reads = ("inputs",)

    def forward(self, x: Any, a: Any, b: Any, value: float = 1) -> Array:
        if type(value) is float:
            x, a, b = floats(x, a, b)
        self.a, self.b, self.value = a, b, value
        return x + value * a * b

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        g_scaled, (_, for_a, for_b) = g * self.value, self.needs
        return g, g_scaled * self.b if for_a else None, g_scaled * self.a if for_b else None


def addcmul(input: TensorLike, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
    """Add `value` times the product of two tensors, broadcasting.

    Shapes: input: (*), tensor1: (*), tensor2: (*), y: the shape all broadcast to

    >>> addcmul([1.0, 1.0], [2.0, 3.0], 10.0, value=0.5).data
    array([11., 16.], dtype=float32)
    """
    return Addcmul.apply(input, tensor1, tensor2, value=value)


class Addcdiv(Broadcasting):
    """y = x + c a / b with a number c;  dx = g, da = c g / b, db = -c g a / b^2."""

    latex = r"y = x + c \frac{a}{b}, \quad \bar x = \bar y, \quad \bar a = \frac{c \bar y}{b}, \quad \bar b = -c \bar y \frac{a}{b^2}"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), Draw((3, 4), -2, 2, 0.5)),
        Case(Draw((2, 3, 4)), Draw((4,)), Draw((3, 1), -2, 2, 0.5)),
        Case(Draw((1, 4)), Draw((2, 3, 1)), Draw((), -2, 2, 0.5)),
        Case(Draw(()), Draw((2,)), Draw((2,), -2, 2, 0.5)),
        Case(Draw((2,)), Draw(()), Draw((), -2, 2, 0.5)),
        Case(Draw((0, 3)), Draw((3,)), Draw((0, 1), -2, 2, 0.5)),
        Case(Draw((2,)), Draw((2,)), Draw((2,), 0.5, 2), value=-2.5),
    )
    aligns = True
    reads = ("inputs",)

    @as_pytorch
    def forward(self, x: Any, a: Any, b: Any, value: float = 1) -> Array:
        x, a, self.b = floats(x, a, b)
        self.value, self.quotient = value, a / self.b
        return x + value * self.quotient

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array | None, ...]:
        da = g * self.value / self.b
        return g, da if self.needs[1] else None, -da * self.quotient if self.needs[2] else None


def addcdiv(input: TensorLike, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
    """Add `value` times the quotient of two tensors, broadcasting; integers give float32.

    Shapes: input: (*), tensor1: (*), tensor2: (*), y: the shape all broadcast to

    >>> addcdiv([1.0, 1.0], [2.0, 3.0], 10.0, value=0.5).data
    array([1.1 , 1.15], dtype=float32)
    """
    return Addcdiv.apply(input, tensor1, tensor2, value=value)
