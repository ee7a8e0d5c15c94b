"""The logarithm of the gamma function, and its slope.

Source: M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 1964: asymptotic series 6.1.41 (ln gamma), 6.3.18
(digamma) and 6.4.12 (trigamma), entered above 9 by the recurrences 6.1.15, 6.3.5 and 6.4.6; below 1/2 the reflections 6.1.17,
6.3.7 and 6.4.7. Computed in float64; the error is below 1e-13 of the larger of 1 and the value.
"""

from __future__ import annotations

from math import lgamma as lgamma_of_number
from math import log, pi
from typing import TYPE_CHECKING

from ..backend import Array, float64, xp_of
from ..cases import Case, Given
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, floating

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHIFT = 9
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B2, B4, ... B14
POLES = (*one_input(0.6, 4.0), Case(Given([-0.5, -1.3, -2.7, 12.0])))


def _series(z: Array, divisors: tuple[int, ...]) -> Array:
    """The sum of B2k / (divisor z^2k), without the first 1 / z^2."""
    y = xp_of(z).zeros_like(z)
    for b, divisor in zip(reversed(BERNOULLI), reversed(divisors), strict=True):
        y = y / (z * z) + b / divisor
    return y


def _log_gamma(z: Array) -> Array:
    """ln gamma(z) for z >= 1/2."""
    xp, product = xp_of(z), xp_of(z).ones_like(z)
    for i in range(SHIFT):
        product = product * xp.where(z < SHIFT, z + i, 1.0)
    w = xp.where(z < SHIFT, z + SHIFT, z)
    series = _series(w, tuple([2 * k * (2 * k - 1) for k in range(1, 8)])) / w
    return (w - 0.5) * xp.log(w) - w + (0.5 * log(2 * pi)) + series - xp.log(product)


def _digamma(z: Array) -> Array:
    """The slope of ln gamma for z >= 1/2."""
    xp, sum = xp_of(z), xp_of(z).zeros_like(z)
    for i in range(SHIFT):
        sum = sum + xp.where(z < SHIFT, 1 / (z + i), 0.0)
    w = xp.where(z < SHIFT, z + SHIFT, z)
    return xp.log(w) - 0.5 / w - _series(w, tuple([2 * k for k in range(1, 8)])) / (w * w) - sum


def _trigamma(z: Array) -> Array:
    """The slope of digamma for z >= 1/2."""
    xp, sum = xp_of(z), xp_of(z).zeros_like(z)
    for i in range(SHIFT):
        sum = sum + xp.where(z < SHIFT, 1 / ((z + i) * (z + i)), 0.0)
    w = xp.where(z < SHIFT, z + SHIFT, z)
    return 1 / w + 0.5 / (w * w) + _series(w, (1,) * 7) / (w * w * w) + sum


def _folded(x: Array) -> tuple[Array, Array, Array]:
    """`x`, or 1 - x below 1/2, in float64; where it is below; and there the angle pi x without its half turns, else any."""
    xp = xp_of(x)
    x = xp.asarray(floating(x), dtype=float64)
    return xp.where(x < 0.5, 1 - x, x), x < 0.5, xp.where(x < 0.5, pi * (x - xp.rint(x)), 1.0)


def _slope(x: Array) -> Array:
    """Digamma everywhere: -+inf at -+0, NaN at the other whole numbers below."""
    xp = xp_of(x)
    z, below, angle = _folded(x)
    y = _digamma(z) - xp.where(below, pi / xp.tan(angle), 0.0)
    x = xp.asarray(x, dtype=float64)
    return xp.where(below & (x == xp.rint(x)), xp.where(x == 0, -xp.copysign(xp.inf, x), xp.nan), y)


class Lgamma(Function):
    """y = ln |gamma(x)|;  dx = g digamma(x)."""

    latex = r"y = \ln |\Gamma(x)|, \quad \bar x = \bar y\,\psi(x)"
    cases = POLES
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """Python's lgamma, entry by entry."""
        xp = xp_of(x)
        return xp.asarray([lgamma_of_number(float(v)) for v in x.reshape(-1)]).reshape(x.shape)

    @as_pytorch
    def forward(self, x: Array) -> Array:
        xp, self.x = xp_of(x), floating(x)
        z, below, angle = _folded(x)
        y = _log_gamma(z)
        y = xp.where(below, log(pi) - xp.log(xp.abs(xp.sin(angle))) - y, y)
        return xp.asarray(xp.where(xp.abs(self.x) == xp.inf, xp.inf, y), dtype=self.x.dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g * _slope(self.x)


def lgamma(input: TensorLike) -> Tensor:
    """Take the logarithm of the gamma function's size, ln (input - 1)! for whole numbers; inf at 0, -1, -2, ...

    Shapes: input: (*), y: (*)

    >>> lgamma([1.0, 5.0, 0.5]).data.round(4)
    array([0.    , 3.1781, 0.5724], dtype=float32)
    """
    return Lgamma.apply(input)


class Digamma(Function):
    """y = the slope of ln gamma(x);  dx = g times the slope of that."""

    latex = r"y = \psi(x) = \frac{\Gamma'(x)}{\Gamma(x)}, \quad \bar x = \bar y\,\psi'(x)"
    cases = POLES
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return xp_of(x).asarray(_slope(self.x), dtype=self.x.dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        z, below, angle = _folded(self.x)
        y, sine = _trigamma(z), xp.sin(angle)
        return g * xp.where(below, pi * pi / (sine * sine) - y, y)


def digamma(input: TensorLike) -> Tensor:
    """Take the slope of the logarithm of the gamma function; -inf at 0, NaN at -1, -2, ...

    Shapes: input: (*), y: (*)

    >>> digamma([1.0, 5.0, 0.5]).data.round(4)
    array([-0.5772,  1.5061, -1.9635], dtype=float32)
    """
    return Digamma.apply(input)
