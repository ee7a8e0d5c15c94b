"""Sums and averages over the numbers that are there: NaN is a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from .argument import Dim, axes_of, spelled
from .dtype import as_pytorch, counted, need_floats, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

OVER = (
    Case(Draw((3, 4))),
    Case(Draw((2, 3, 4)), dim=(0, -1)),
    Case(Draw((2, 3)), dim=-1, keepdim=True),
    Case(Draw(())),
    Case(Draw(()), dim=0),
    Case(Draw((0, 3)), dim=1),
)


class NanSum(AlongAxes):
    """y = sum of the x over dim that are numbers;  dx = g there, 0 at NaN."""

    latex = r"y = \sum_{\mathrm{dim},\, x \ne \mathrm{NaN}} x, \quad \bar x = \bar y\,[x \ne \mathrm{NaN}]"
    kind = "reduce"
    cases = (*OVER, Case(Draw((0, 3)), dim=0))
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        x = counted(x, dtype)
        self.there, self.gone = x == x, None if keepdim or not x.ndim else dim
        return total(xp_of(x).where(self.there, x, 0), dim, keepdim)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        return xp.where(self.there, g if self.gone is None else xp.expand_dims(g, self.gone), 0)


def nansum(input: TensorLike, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
    """Add up over `dim`, or everything, as if NaN were 0.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    >>> nansum([1.0, float("nan"), 2.0]).item()
    3.0
    """
    return NanSum.apply(input, **spelled(dim, keepdim, numpy, dtype))


class NanMean(AlongAxes):
    """y = (sum of the n numbers among x over dim) / n;  dx = g / n there, 0 at NaN."""

    latex = r"y = \frac1n \sum_{\mathrm{dim},\, x \ne \mathrm{NaN}} x, \quad \bar x = \frac{\bar y}{n}\,[x \ne \mathrm{NaN}]"
    kind = "reduce"
    cases = OVER
    reads = ()
    fresh = True

    @as_pytorch
    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        x = counted(x, dtype)
        need_floats("nanmean", x)
        xp, some = xp_of(x), wide(x)
        self.there, self.gone = x == x, None if keepdim or not x.ndim else dim
        self.n = xp.sum(self.there, axis=dim, keepdims=keepdim, dtype=some.dtype)
        return xp.asarray(total(xp.where(self.there, some, 0), dim, keepdim) / self.n, dtype=x.dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        xp, g = xp_of(g), g / self.n
        return xp.where(self.there, g if self.gone is None else xp.expand_dims(g, self.gone), 0)


def nanmean(input: TensorLike, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
    """Average over `dim`, or everything, leaving NaN out; NaN where nothing is left.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        DTypeError: `input` holds integers or booleans.

    >>> nanmean([1.0, float("nan"), 2.0]).item()
    1.5
    """
    return NanMean.apply(input, **spelled(dim, keepdim, numpy, dtype))
