"""How large values are, and how far they spread: norm, variance, standard deviation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from .argument import Dim, spelled
from .dtype import need_floats, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

OVER = (
    Case(Draw((3, 4))),
    Case(Draw((3, 4)), dim=0),
    Case(Draw((3, 4)), dim=-1, keepdim=True),
    Case(Draw((2, 3, 4)), dim=(0, -1)),
    Case(Draw((2, 3, 4)), dim=(0, 2), keepdim=True),
    Case(Draw((0, 3)), dim=1),
    Case(Draw((2, 1, 3)), dim=(0, 1), keepdim=True),
)


def _kept(g: Array, gone: Dim) -> Array:
    """g with the axes that the reduction dropped."""
    return g if gone is None else xp_of(g).expand_dims(g, gone)


class Norm(AlongAxes):
    """y = (sum of |x|^p over dim)^(1/p);  dx = g sign(x) (|x| / y)^(p-1), 0 where y is 0."""

    latex = r"y = \left(\sum_{\mathrm{dim}} |x|^p\right)^{1/p}, \quad \bar x = \bar y\, \mathrm{sign}(x) \left(\frac{|x|}{y}\right)^{p-1}"
    kind = "reduce"
    cases = (
        *OVER,
        Case(Draw(())),
        Case(Draw(()), dim=0, keepdim=True),
        Case(Draw((3, 4), gap=0.1), p=1.0, dim=1),
        Case(Draw((2, 3, 4), gap=0.1), p=3.0, dim=1),
    )
    fresh = True

    def forward(self, x: Array, p: float = 2.0, dim: Dim = None, keepdim: bool = False) -> Array:
        need_floats("norm", x)
        xp = xp_of(x)
        self.x, self.p, self.gone = wide(x), p, None if keepdim else dim
        size = xp.abs(self.x)
        self.y = total(size if p == 1 else size**p, dim, keepdim) ** (1 / p)
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, y = xp_of(g), self.y
        some = y != 0
        g, y = _kept(xp.where(some, g, 0.0), self.gone), _kept(xp.where(some, y, 1.0), self.gone)
        if self.p == 2:
            return g * (self.x / y)
        return g * xp.sign(self.x) * (xp.abs(self.x) / y) ** (self.p - 1)


def norm(x: TensorLike, p: float = 2.0, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Measure length: the root of the sum of squares, or the p-norm for any p from 1 on. The gradient at length 0 is 0.

    Shapes: x: (*), y: x without dim (1 there with keepdim)

    Raises:
        ArgumentError: p is below 1, or infinite.
        DTypeError: `x` holds integers or booleans.

    >>> norm([[3.0, 4.0], [0.0, 0.0]], dim=1).data
    array([5., 0.], dtype=float32)
    """
    if not 1 <= p < float("inf"):
        raise ArgumentError(
            explain("norm: this p gives no norm", got={"p": p}, need="1 <= p, finite", fix="x.abs().amax()" if p == float("inf") else "")
        )
    return Norm.apply(x, p=p, **spelled(dim, keepdim, numpy))


def _centred(x: Array, dim: Dim, correction: int) -> tuple[Array, int]:
    """x less its mean over dim, and what its squares are divided by."""
    s = total(x, dim, keepdims=True)
    n = prod(x.shape) // (prod(s.shape) or 1)
    return x - s / (n or 1), n - correction


def _mean_square(d: Array, n: int, dim: Dim, keepdim: bool) -> Array:
    return total(d * d, dim, keepdim) * (1 / n if n > 0 else xp_of(d).nan)


class Var(AlongAxes):
    """y = sum of (x - mean x)^2 over dim / (n - c);  dx = 2 g (x - mean x) / (n - c)."""

    latex = r"y = \frac{1}{n - c} \sum_{\mathrm{dim}} (x - \mu)^2, \quad \bar x = \frac{2 \bar y}{n - c} (x - \mu)"
    kind = "reduce"
    cases = (
        *OVER,
        Case(Draw(()), correction=0),
        Case(Draw(()), dim=0, correction=0),
        Case(Draw((2, 1)), dim=1, correction=0, keepdim=True),
        Case(Draw((4,)), correction=0),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
        need_floats("var", x)
        self.gone = None if keepdim else dim
        self.d, self.n = _centred(wide(x), dim, correction)
        return xp_of(x).asarray(_mean_square(self.d, self.n, dim, keepdim), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return self.d * _kept(g * (2 / self.n if self.n > 0 else xp_of(g).nan), self.gone)


def var(x: TensorLike, dim: Dim = None, correction: int = 1, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Average the squared distances to the mean, over n - `correction`; NaN where that is 0.

    Shapes: x: (*), y: x without dim (1 there with keepdim)

    Raises:
        DTypeError: `x` holds integers or booleans.

    >>> var([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]], dim=1).data
    array([1., 0.], dtype=float32)
    """
    return Var.apply(x, correction=correction, **spelled(dim, keepdim, numpy))


class Std(AlongAxes):
    """y = (sum of (x - mean x)^2 over dim / (n - c))^(1/2);  dx = g (x - mean x) / ((n - c) y), 0 where y is 0."""

    latex = r"y = \sqrt{\frac{1}{n - c} \sum_{\mathrm{dim}} (x - \mu)^2}, \quad \bar x = \bar y\, \frac{x - \mu}{(n - c)\, y}"
    kind = "reduce"
    cases = (*OVER, Case(Draw((4,)), correction=0), Case(Draw(()), correction=0))
    fresh = True

    def forward(self, x: Array, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Array:
        need_floats("std", x)
        self.gone = None if keepdim else dim
        self.d, self.n = _centred(wide(x), dim, correction)
        self.y = xp_of(x).sqrt(_mean_square(self.d, self.n, dim, keepdim))
        return xp_of(x).asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, y = xp_of(g), self.y
        some = y != 0
        return self.d * _kept(xp.where(some, g, 0.0) / (xp.where(some, y, 1.0) * (self.n or 1)), self.gone)


def std(x: TensorLike, dim: Dim = None, correction: int = 1, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Take the root of the variance; the gradient is 0 where all entries are equal.

    Shapes: x: (*), y: x without dim (1 there with keepdim)

    Raises:
        DTypeError: `x` holds integers or booleans.

    >>> std([[1.0, 3.0], [5.0, 5.0]], dim=1, correction=0).data
    array([1., 0.], dtype=float32)
    """
    return Std.apply(x, correction=correction, **spelled(dim, keepdim, numpy))
