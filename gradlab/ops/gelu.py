"""GELU: x times the probability that a normal variable is smaller than x; exact, and in the tanh form.

Source: D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING

from ..backend import Array, float32, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .block import pieces
from .dtype import floating, saturating, wide
from .error_quotient import EDGE, MIDDLE, beyond, near

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))
CASES = (*[Case(Draw(s, -5.0, 5.0)) for s in SHAPES], Case(Draw((4,), 9.0, 40.0)), Case(Draw((4,), -7.0, -5.0)))


# e^(z^2) erfc(z) from 0 to 8 by a quotient shorter than Cody's, fitted by weighted least squares to a relative error below
# 3.5e-9, a thirtieth of what float32 can tell apart. Highest power first: numerator, denominator.
SHORT = ((0.030668582219834706, 0.2189677690505913, 0.7099514884151168, 1.217550804959074, 1.0000000034351235),
         (0.05435751134511074, 0.38814842697826607, 1.284970004174334, 2.357044327481197, 2.3459303331089743, 1.0))  # fmt: skip


def _of_normal(quotient: tuple[tuple[float, ...], ...]) -> list[list[float]]:
    """The coefficients in v = z 2^(1/2) of half of it, which is e^(v^2/2) times the probability that a normal variable is beyond v."""
    top, bottom = ([c * sqrt(0.5) ** k for k, c in enumerate(reversed(cs))][::-1] for cs in quotient)
    return [[0.5 * c for c in top], bottom]


# Cody's middle quotient serves every v here: its relative error, measured, is below 1.4e-15 from 0.66 to 5.6, 5e-12 down to 0 and
# 4e-11 up to 11, where the probability is 1e-28.
SINGLE, DOUBLE = _of_normal(SHORT), _of_normal(MIDDLE)


def _polynomial(coefficients: list[float], z: Array) -> Array:
    y = z * coefficients[0]
    y += coefficients[1]
    for c in coefficients[2:]:
        y *= z
        y += c
    return y


class GELU(Function):
    """y = x P(x), P the normal distribution;  dx = g (P(x) + x P'(x))."""

    latex = r"y = x\,\Phi(x), \quad \bar x = \bar y \left(\Phi(x) + \frac{x}{\sqrt{2\pi}} e^{-x^2/2}\right)"
    cases = CASES
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """The formula as printed, with 2 P(x) = 1 + erf(x / 2^(1/2))."""
        xp, z = xp_of(x), x * sqrt(0.5)
        return 0.5 * x * (1 + xp.where(xp.abs(z) <= EDGE, near(z), xp.sign(z) * (1 - beyond(xp.abs(z)))))

    def forward(self, x: Array) -> Array:
        # With the probability beyond |x| (tail): y = max(x, 0) - |x| tail, and dx / g - 1/2 is odd in x. No branch, no lost digits.
        # In place and in blocks: 1.5 times as fast as line by line on a million entries.
        xp, x = xp_of(x), floating(x)
        self.x = flat = wide(x).reshape(-1)
        self.odd, y = xp.empty_like(flat), xp.empty_like(flat)
        top, bottom = SINGLE if flat.dtype == float32 else DOUBLE
        for v, odd, out in pieces(flat, self.odd, y):
            z = xp.abs(v)
            xp.minimum(z, 42.0, out=z)  # from there on e^(-z^2/2) is 0
            bell = z * z
            bell *= -0.5
            xp.exp(bell, out=bell)
            tail = _polynomial(top, z)
            tail /= _polynomial(bottom, z)
            tail *= bell
            bell *= z
            bell *= 1 / sqrt(2 * pi)
            xp.subtract(bell, tail, out=odd)
            odd += 0.5
            tail *= z
            xp.maximum(v, 0, out=z)
            xp.subtract(z, tail, out=out)
        return xp.asarray(y.reshape(x.shape), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, flat = xp_of(g), self.x
        dx, flat_g = xp.empty_like(flat), g.reshape(-1)
        for v, odd, part, d in pieces(flat, self.odd, flat_g, dx):
            xp.copysign(odd, v, out=d)
            d += 0.5
            d *= part
        return dx.reshape(g.shape)


C = sqrt(2 / pi)
K = 0.044715


class GELUTanh(Function):
    """y = x s with s = (1 + tanh u) / 2, u = c (x + k x^3);  dx = g (s + x s (1 - s) 2 c (1 + 3 k x^2))."""

    latex = (
        r"y = x s, \quad s = \tfrac12 \left(1 + \tanh\left(c\,(x + 0.044715\,x^3)\right)\right), \quad c = \sqrt{2/\pi}, \quad "
        r"\bar x = \bar y \left(s + x\,s (1 - s)\,2c\,(1 + 3 \cdot 0.044715\,x^2)\right)"
    )
    cases = CASES
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """The formula as printed."""
        return 0.5 * x * (1 + xp_of(x).tanh(C * (x + K * x * x * x)))

    @saturating
    def forward(self, x: Array) -> Array:
        # (1 + tanh u) / 2 is 1 / (1 + e^-2u), and exp takes half the time of tanh. In place and in blocks, the whole is 6 times
        # as fast as `reference`. Where e^-2u is infinite, 1 over it is 0, as it should be.
        xp, x = xp_of(x), floating(x)
        self.x = flat = wide(x).reshape(-1)
        self.s, y = xp.empty_like(flat), xp.empty_like(flat)
        for v, s, out in pieces(flat, self.s, y):
            xp.multiply(v, v, out=s)
            s *= -2 * C * K
            s -= 2 * C
            s *= v
            xp.exp(s, out=s)
            s += 1
            xp.divide(1, s, out=s)
            xp.multiply(v, s, out=out)
        return xp.asarray(y.reshape(x.shape), dtype=x.dtype)

    @saturating
    def backward(self, g: Array) -> Array:
        xp, flat = xp_of(g), self.x
        dx, flat_g = xp.empty_like(flat), g.reshape(-1)
        for v, s, part, d in pieces(flat, self.s, flat_g, dx):
            xp.multiply(v, v, out=d)
            d *= 6 * C * K
            d += 2 * C
            d *= v
            d *= s - s * s
            d += s
            d *= part
        return dx.reshape(g.shape)


def gelu(input: TensorLike, approximate: str = "none") -> Tensor:
    """Weigh every value by the probability that a normal variable is smaller; `approximate="tanh"` for the tanh form.

    The two differ by up to 5e-4: weights trained with one belong to that one.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `approximate` is neither "none" nor "tanh".

    >>> gelu([-1.0, 0.0, 2.0]).data.round(4)
    array([-0.1587,  0.    ,  1.9545], dtype=float32)
    """
    if approximate == "none":
        return GELU.apply(input)
    if approximate == "tanh":
        return GELUTanh.apply(input)
    raise ArgumentError(explain("gelu: which form?", got={"approximate": repr(approximate)}, need='"none" or "tanh"'))
