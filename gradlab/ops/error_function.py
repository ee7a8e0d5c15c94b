"""The error function, its complement and its inverse; how they are computed is said in `error_quotient`."""

from __future__ import annotations

from math import erf as erf_of_number
from math import erfc as erfc_of_number
from math import pi, sqrt
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Given
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, floating, wide
from .error_quotient import EDGE, bell, beyond, near

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Erf(Function):
    """y = 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x;  dx = g 2 e^(-x^2) / sqrt(pi)."""

    latex = r"y = \frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2} dt, \quad \bar x = \bar y\,\frac{2}{\sqrt{\pi}} e^{-x^2}"
    cases = (*one_input(-3.0, 3.0), Case(Given([-5.5, 4.5, 0.3, -0.1])))
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """Python's erf, entry by entry."""
        xp = xp_of(x)
        return xp.asarray([erf_of_number(float(v)) for v in x.reshape(-1)]).reshape(x.shape)

    def forward(self, x: Array) -> Array:
        xp, x = xp_of(x), floating(x)
        self.x = z = wide(x)
        y = xp.where(xp.abs(z) <= EDGE, near(z), xp.copysign(1 - beyond(xp.abs(z)), z))
        return xp.asarray(xp.where(z == z, y, z), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return g * bell(self.x)


def erf(input: TensorLike) -> Tensor:
    """Take the error function: the probability that a normal variable of variance 1/2 is within -input and input.

    Shapes: input: (*), y: (*)

    >>> erf([0.0, 0.5, -2.0]).data.round(4)
    array([ 0.    ,  0.5205, -0.9953], dtype=float32)
    """
    return Erf.apply(input)


class Erfc(Function):
    """y = 1 - erf(x);  dx = -g 2 e^(-x^2) / sqrt(pi)."""

    latex = r"y = 1 - \mathrm{erf}(x), \quad \bar x = -\bar y\,\frac{2}{\sqrt{\pi}} e^{-x^2}"
    cases = (*one_input(-3.0, 3.0), Case(Given([-5.5, 4.5, 0.3, -0.1])))
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """Python's erfc, entry by entry."""
        xp = xp_of(x)
        return xp.asarray([erfc_of_number(float(v)) for v in x.reshape(-1)]).reshape(x.shape)

    def forward(self, x: Array) -> Array:
        xp, x = xp_of(x), floating(x)
        self.x = z = wide(x)
        tail = beyond(xp.abs(z))
        y = xp.where(xp.abs(z) <= EDGE, 1 - near(z), xp.where(z < 0, 2 - tail, tail))
        return xp.asarray(xp.where(z == z, y, z), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return -g * bell(self.x)


def erfc(input: TensorLike) -> Tensor:
    """Take 1 - erf(input), with all its digits where erf is nearly 1.

    Shapes: input: (*), y: (*)

    >>> erfc([0.0, 0.5, 8.0]).data
    array([1.00000000e+00, 4.79500055e-01, 1.12242964e-29], dtype=float32)
    """
    return Erfc.apply(input)


class Erfinv(Function):
    """y with erf(y) = x;  dx = g sqrt(pi) / 2 e^(y^2)."""

    latex = r"y = \mathrm{erf}^{-1}(x), \quad \bar x = \bar y\,\frac{\sqrt{\pi}}{2} e^{y^2}"
    cases = (*one_input(-0.9, 0.9), Case(Given([0.95, -0.98, 1e-3])))
    reads = ("output",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        # Source: S. Winitzki, A handy approximation for the error function and its inverse, 2008, is right to 2e-3; Halley's step
        # cubes that. Whether 1 - |x| or |x| is known exactly decides which of erfc and erf is compared.
        xp, x = xp_of(x), floating(x)
        z = xp.abs(wide(x))
        logarithm = xp.log((1 - z) * (1 + z))
        t = 2 / (pi * 0.147) + logarithm / 2
        y = xp.sqrt(xp.sqrt(t * t - logarithm / 0.147) - t)
        for _ in range(3):
            miss = xp.where(y <= EDGE, near(y) - z, (1 - z) - beyond(y)) / bell(y)
            y = y - miss / (1 + y * miss)
        self.y = xp.copysign(xp.where(z == 1, xp.inf, y), wide(x))
        return xp.asarray(self.y, dtype=x.dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return g * (0.5 * sqrt(pi) * xp_of(g).exp(self.y * self.y))


def erfinv(input: TensorLike) -> Tensor:
    """Take the number whose error function is `input`; infinite at -1 and 1, NaN beyond.

    Shapes: input: (*), y: (*)

    >>> erfinv([0.0, 0.5, -1.0]).data.round(4)
    array([0.    , 0.4769,   -inf], dtype=float32)
    """
    return Erfinv.apply(input)
