"""Rectifiers that bend into an exponential below 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .argument import not_in_place
from .casework import one_input
from .dtype import floating

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class ELU(Function):
    """y = s x where x > 0, else s a (e^(r x) - 1);  dx = g s where x > 0, else g s a r e^(r x)."""

    latex = r"y = s\,x\,[x > 0] + s\,a\,(e^{r x} - 1)\,[x \le 0], \quad \bar x = \bar y\,s \left([x > 0] + a r\,e^{r x}\,[x \le 0]\right)"
    cases = (
        *one_input(gap=0.1),
        Case(Draw((5,), gap=0.1), alpha=1.5),
        Case(Draw((5,), gap=0.1), alpha=0.7, scale=1.1, rate=2.0),
        Case(Draw((5,), gap=0.1), rate=2.0),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> Array:
        xp, self.x = xp_of(x), floating(x)
        self.alpha, self.scale, self.rate = alpha, scale, rate
        # e^z - 1 = 2 t / (1 - t) with t = tanh(z / 2), to all digits below 0; NumPy's expm1 takes 8 times as long.
        t = xp.tanh(0.5 * rate * xp.minimum(self.x, 0))
        return scale * (xp.maximum(self.x, 0) + 2 * alpha * (t / (1 - t)))

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        slope = xp.exp(self.rate * xp.minimum(self.x, 0))  # 1 above 0
        if self.alpha * self.rate != 1:
            slope = xp.where(self.x > 0, 1.0, self.alpha * self.rate * slope)
        return g * (self.scale * slope)


def elu(input: TensorLike, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Keep positive values, and let negative ones approach `-alpha`. Source: Clevert, Unterthiner, Hochreiter, 2015, arXiv:1511.07289.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> elu([-1.0, 2.0]).data.round(4)
    array([-0.6321,  2.    ], dtype=float32)
    """
    not_in_place("elu", inplace)
    return ELU.apply(input, alpha=alpha)


def selu(input: TensorLike, inplace: bool = False) -> Tensor:
    """Scale elu so that layers keep mean 0 and variance 1. Source: Klambauer et al., 2017, arXiv:1706.02515, equation 2.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> selu([-1.0, 2.0]).data.round(4)
    array([-1.1113,  2.1014], dtype=float32)
    """
    not_in_place("selu", inplace)
    return ELU.apply(input, alpha=1.6732632423543772, scale=1.0507009873554805)


def celu(input: TensorLike, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Stretch elu so that its slope has no jump, whatever `alpha`. Source: J. T. Barron, 2017, arXiv:1704.07483.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `alpha` is 0.
        KeywordError: `inplace` is asked for.

    >>> celu([-1.0, 2.0], 2.0).data.round(4)
    array([-0.7869,  2.    ], dtype=float32)
    """
    not_in_place("celu", inplace)
    if alpha == 0:
        raise ArgumentError(explain("celu: x is divided by alpha", got={"alpha": alpha}, need="a number other than 0"))
    return ELU.apply(input, alpha=alpha, rate=1 / alpha)
