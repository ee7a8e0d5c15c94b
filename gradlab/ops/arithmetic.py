"""Elementwise arithmetic; inputs broadcast, and `Function.pull` sums the gradients back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array
from ..errors import DTypeError, explain
from ..function import Function
from .casework import broadcasts, one_input
from .dtype import NUMBERS, as_pytorch, need_no_booleans
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Add(Broadcasting):
    """y = a + b;  da = g, db = g."""

    latex = r"y = a + b, \quad \bar a = \bar b = \bar y"
    cases = broadcasts()
    aligns = True
    exact = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a + b

    def backward(self, g: Array) -> tuple[Array, Array]:
        return g, g


class AddScaled(Broadcasting):
    """y = a + c b with a number c;  da = g, db = c g."""

    latex = r"y = a + cb, \quad \bar a = \bar y, \quad \bar b = c \bar y"
    cases = broadcasts(alpha=-2.5)
    called = "add"
    aligns = True
    reads = ()

    @as_pytorch
    def forward(self, a: Array, b: Array, alpha: float) -> Array:
        need_no_booleans("add and sub with alpha", a, b)
        if type(alpha) is float and (a if type(b) in NUMBERS else b).dtype.kind != "f":
            got = {"alpha": alpha, "dtype": (a if type(b) in NUMBERS else b).dtype}
            raise DTypeError(explain("add and sub: a fraction of integers is no integer", got=got, need="a whole alpha, or floats"))
        self.alpha = alpha
        return a + b * alpha if alpha >= 0 else a - b * -alpha  # unsigned integers take no number below 0

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        return g, g * self.alpha if self.needs[1] else None


def add(input: TensorLike, other: TensorLike, alpha: float = 1) -> Tensor:
    """Add two tensors, broadcasting; `input + other`, or `input + alpha * other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: `alpha` is no whole number, and both tensors hold integers.

    >>> add([1.0, 2.0], 10.0).data
    array([11., 12.], dtype=float32)
    """
    return Add.apply(input, other) if alpha == 1 else AddScaled.apply(input, other, alpha=alpha)


class Sub(Broadcasting):
    """y = a - b;  da = g, db = -g."""

    latex = r"y = a - b, \quad \bar a = \bar y, \quad \bar b = -\bar y"
    cases = broadcasts()
    aligns = True
    exact = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        try:
            return a - b
        except TypeError:
            need_no_booleans("sub", a, b, fix="a ^ b")
            raise

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        return g, -g if self.needs[1] else None


def sub(input: TensorLike, other: TensorLike, alpha: float = 1) -> Tensor:
    """Subtract `other` from `input`, broadcasting; `input - other`, or `input - alpha * other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: both hold truth values, or `alpha` is no whole number and both hold integers.

    >>> sub(10.0, [1.0, 2.0]).data
    array([9., 8.], dtype=float32)
    """
    return Sub.apply(input, other) if alpha == 1 else AddScaled.apply(input, other, alpha=-alpha)


class Mul(Broadcasting):
    """y = a b;  da = g b, db = g a."""

    latex = r"y = ab, \quad \bar a = \bar y b, \quad \bar b = \bar y a"
    cases = broadcasts()
    aligns = True
    exact = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array) -> Array:
        self.a, self.b = a, b
        return a * b

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        for_a, for_b = self.needs
        return g * self.b if for_a else None, g * self.a if for_b else None


def mul(input: TensorLike, other: TensorLike) -> Tensor:
    """Multiply two tensors, broadcasting; `input * other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> mul([1.0, 2.0], [[3.0], [4.0]]).data
    array([[3., 6.],
           [4., 8.]], dtype=float32)
    """
    return Mul.apply(input, other)


class Neg(Function):
    """y = -x;  dx = -g."""

    latex = r"y = -x, \quad \bar x = -\bar y"
    cases = one_input()
    reads = ()
    exact = True
    fresh = True

    def forward(self, x: Array) -> Array:
        try:
            return -x
        except TypeError:
            need_no_booleans("neg", x, fix="~x")
            raise

    def backward(self, g: Array) -> Array:
        return -g


def neg(input: TensorLike) -> Tensor:
    """Change the sign; `-input`.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds truth values.

    >>> neg([1.0, -2.0]).data
    array([-1.,  2.], dtype=float32)
    """
    return Neg.apply(input)
