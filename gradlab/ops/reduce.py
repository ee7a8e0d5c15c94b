"""Reductions that use every entry; `dim` is an axis, several, or None for all of them."""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw, Given
from .argument import Dim, axes_of, spelled
from .dtype import counted, need_floats, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

OVER = (
    Case(Draw((3, 4))),
    Case(Draw((3, 4)), dim=0),
    Case(Draw((3, 4)), dim=-1, keepdim=True),
    Case(Draw((2, 3, 4)), dim=(0, -1)),
    Case(Draw((2, 3, 4)), dim=(0, 2), keepdim=True),
    Case(Draw((2, 3)), keepdim=True),
    Case(Draw(())),
    Case(Draw(()), dim=0),
    Case(Draw(()), dim=-1, keepdim=True),
    Case(Draw((1, 1)), dim=0, keepdim=True),
    Case(Draw((0, 3)), dim=1),
    Case(Draw((2, 1, 3)), dim=1),
)


class Sum(AlongAxes):
    """y = sum of x over dim;  dx = g copied along dim."""

    latex = r"y = \sum_{\mathrm{dim}} x, \quad \bar x = \bar y"
    kind = "reduce"
    cases = (*OVER, Case(Draw((0, 3)), dim=0))
    reads = ()

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        self.shape, self.gone = x.shape, None if keepdim or not x.ndim else dim
        return total(counted(x, dtype), dim, keepdim)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        return xp.broadcast_to(g if self.gone is None else xp.expand_dims(g, self.gone), self.shape)


def sum(input: TensorLike, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
    """Add up over `dim`, or everything; integers and booleans as int64, or in the `dtype` asked for.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    >>> sum([[1.0, 2.0], [3.0, 4.0]], dim=0).data
    array([4., 6.], dtype=float32)
    """
    return Sum.apply(input, **spelled(dim, keepdim, numpy, dtype))


class Mean(AlongAxes):
    """y = (sum of x over dim) / n;  dx = g / n copied along dim."""

    latex = r"y = \frac1n \sum_{\mathrm{dim}} x, \quad \bar x = \frac{\bar y}{n}"
    kind = "reduce"
    cases = OVER
    reads = ()

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        x = counted(x, dtype)
        need_floats("mean", x)
        xp = xp_of(x)
        self.shape, self.gone = x.shape, None if keepdim or not x.ndim else dim
        y = total(wide(x), dim, keepdim)
        self.n = product(x.shape) // product(y.shape) if product(y.shape) else 1
        return xp.asarray(y / self.n if self.n else y + xp.nan, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        g = g / self.n if self.n else g
        return xp.broadcast_to(g if self.gone is None else xp.expand_dims(g, self.gone), self.shape)


def mean(input: TensorLike, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
    """Average over `dim`, or everything, in the `dtype` asked for; NaN where there is nothing to average.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        DTypeError: `input` holds integers or booleans.

    >>> mean([[1.0, 2.0], [3.0, 4.0]], dim=1).data
    array([1.5, 3.5], dtype=float32)
    """
    return Mean.apply(input, **spelled(dim, keepdim, numpy, dtype))


class Prod(AlongAxes):
    """y = product of x over dim;  dx = g (product of the others)."""

    latex = r"y = \prod_{\mathrm{dim}} x, \quad \bar x_i = \bar y \prod_{j \ne i} x_j"
    kind = "reduce"
    cases = (
        *OVER,
        Case(Given([[2.0, 0.0, 4.0], [1.0, 2.0, 3.0], [0.0, 0.0, 5.0]]), dim=1),
        Case(Given([[2.0, 0.0], [3.0, 4.0]])),
        Case(Draw((0, 3)), dim=0),
    )
    reads = ("inputs",)
    fresh = True
    by_reference = True

    @staticmethod
    def reference(x: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Array:
        """The formula as printed, the second half times the first until one is left: no division, that a zero would spoil."""
        xp, x = xp_of(x), counted(x, dtype)
        axes = [axis % x.ndim for axis in (range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,) if x.ndim else ())]
        rest = [axis for axis in range(x.ndim) if axis not in axes]
        shape = [x.shape[axis] for axis in rest]
        y = xp.transpose(x, (*rest, *axes)).reshape((*shape, product([x.shape[axis] for axis in axes])))
        while y.shape[-1] > 1:
            n = y.shape[-1] // 2
            halves = y[..., :n] * y[..., n : 2 * n]
            y = xp.concatenate([halves, y[..., 2 * n :]], axis=-1) if y.shape[-1] % 2 else halves
        y = y[..., 0] if y.shape[-1] else xp.ones(shape, dtype=x.dtype)
        return y.reshape([1 if axis in axes else n for axis, n in enumerate(x.shape)]) if keepdim else y

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        xp, x = xp_of(x), counted(x, dtype)
        self.x, self.dim, self.gone = wide(x), dim, None if keepdim else dim
        y = xp.prod(self.x, axis=dim, keepdims=keepdim)
        return xp.asarray(y, dtype=x.dtype) if x.dtype.kind == "f" else y

    def backward(self, g: Array) -> Array:
        # y / x is 0/0 at a zero. The product without zeros is what a lone zero gets; a second zero makes every other gradient 0.
        xp, x, dim = xp_of(g), self.x, self.dim
        zero = x == 0
        rest = xp.where(zero, 1.0, x)
        others = xp.prod(rest, axis=dim, keepdims=True) / rest * (xp.sum(zero, axis=dim, keepdims=True) == zero)
        return others * (g if self.gone is None else xp.expand_dims(g, self.gone))


def prod(input: TensorLike, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
    """Multiply over `dim`, or everything; the gradient is exact also where entries are 0.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    >>> prod([[1.0, 2.0], [3.0, 4.0]], dim=1).data
    array([ 2., 12.], dtype=float32)
    """
    return Prod.apply(input, **spelled(dim, keepdim, numpy, dtype))
