"""Sums and products with logarithms in them, where the plain formula would overflow or be NaN."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Given
from .casework import broadcasts
from .dtype import as_pytorch, floats, kept
from .logistic import logistic
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

LN2 = log(2.0)


class Xlogy(Broadcasting):
    """y = a ln b, 0 where a is 0;  da = g ln b (0 where a is 0 and b <= 0), db = g a / b."""

    latex = r"y = a \ln b, \quad \bar a = \bar y \ln b, \quad \bar b = \bar y \frac{a}{b}"
    cases = broadcasts(b=(0.5, 3.0))
    aligns = True
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        self.a, self.b = floats(a, b)
        xp = xp_of(self.b)
        self.log = xp.log(self.b)
        return xp.where((self.a == 0) & (self.b == self.b), 0.0, self.a * self.log)

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        da = kept(g * self.log, (self.a != 0) | ~(self.b <= 0)) if self.needs[0] else None
        return da, g * (self.a / self.b) if self.needs[1] else None


def xlogy(input: TensorLike, other: TensorLike) -> Tensor:
    """Multiply `input` by the logarithm of `other`, broadcasting; 0 where `input` is 0, whatever the logarithm.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> xlogy([0.0, 2.0], [0.0, 1.0]).data
    array([0., 0.], dtype=float32)
    """
    return Xlogy.apply(input, other)


class LogAddExp(Broadcasting):
    """y = ln(e^a + e^b);  da = g s, db = g (1 - s) with s = sigmoid(a - b)."""

    latex = r"y = \ln(e^a + e^b), \quad \bar a = \bar y\,\sigma(a - b), \quad \bar b = \bar y\,\sigma(b - a)"
    cases = (*broadcasts(), Case(Given([40.0, -40.0, 3.0]), Given([-40.0, -41.0, 2.0])))
    aligns = True
    reads = ()
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        a, b = floats(a, b)
        self.difference = a - b
        return xp_of(a).logaddexp(a, b)

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        d = self.difference
        return g * logistic(d) if self.needs[0] else None, g * logistic(-d) if self.needs[1] else None


def logaddexp(input: TensorLike, other: TensorLike) -> Tensor:
    """Add two numbers that are given, and wanted, as logarithms, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> logaddexp([-800.0, 0.0], -800.0).data
    array([-799.3068,    0.    ], dtype=float32)
    """
    return LogAddExp.apply(input, other)


class LogAddExp2(Broadcasting):
    """y = log2(2^a + 2^b);  da = g s, db = g (1 - s) with s = sigmoid((a - b) ln 2)."""

    latex = r"y = \log_2(2^a + 2^b), \quad \bar a = \bar y\,\sigma((a - b) \ln 2), \quad \bar b = \bar y\,\sigma((b - a) \ln 2)"
    cases = (*broadcasts(), Case(Given([60.0, -60.0, 3.0]), Given([-60.0, -61.0, 2.0])))
    aligns = True
    reads = ()
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        a, b = floats(a, b)
        self.difference = LN2 * (a - b)
        return xp_of(a).logaddexp2(a, b)

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        d = self.difference
        return g * logistic(d) if self.needs[0] else None, g * logistic(-d) if self.needs[1] else None


def logaddexp2(input: TensorLike, other: TensorLike) -> Tensor:
    """Add two numbers that are given, and wanted, as logarithms to the base 2, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> logaddexp2([-2000.0, 0.0], -2000.0).data
    array([-1999.,     0.], dtype=float32)
    """
    return LogAddExp2.apply(input, other)
