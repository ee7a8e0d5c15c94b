"""How far values spread: variance and standard deviation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from .argument import Dim, axes_of, need_number, spelled, tensor_of
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


def _centred(x: Array, dim: Dim, correction: float) -> tuple[Array, float]:
    """x less its mean over dim, and what its squares are divided by."""
    s = total(x, dim, keepdims=True)
    n = prod(x.shape) // (prod(s.shape) or 1)
    return x - s / (n or 1), n - correction


def _mean_square(d: Array, n: float, dim: Dim, keepdim: bool) -> Array:
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

    def forward(self, x: Array, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_floats("var", x)
        self.gone = None if keepdim else dim
        self.d, self.n = _centred(wide(x), dim, correction)
        return xp_of(x).asarray(_mean_square(self.d, self.n, dim, keepdim), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return self.d * _kept(g * (2 / self.n if self.n > 0 else xp_of(g).nan), self.gone)


def _asked(dim: Any, correction: float, keepdim: bool, unbiased: bool | None, numpy: dict[str, Any]) -> dict[str, Any]:
    """The params, where the older `unbiased=False` says correction=0."""
    if correction.__class__ is not int:
        need_number("var", correction=correction)
    return {"correction": correction if unbiased is None else int(unbiased), **spelled(dim, keepdim, numpy)}


def var(
    input: TensorLike, dim: Dim = None, correction: float = 1, keepdim: bool = False, *, unbiased: bool | None = None, **numpy: Any
) -> Tensor:
    """Average the squared distances to the mean, over n - `correction`; NaN where that is 0.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        DTypeError: `input` holds integers or booleans.

    >>> var([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]], dim=1).data
    array([1., 0.], dtype=float32)
    """
    return Var.apply(input, **_asked(dim, correction, keepdim, unbiased, numpy))


class Std(AlongAxes):
    """y = (sum of (x - mean x)^2 over dim / (n - c))^(1/2);  dx = g (x - mean x) / ((n - c) y), 0 where y is 0."""

    latex = r"y = \sqrt{\frac{1}{n - c} \sum_{\mathrm{dim}} (x - \mu)^2}, \quad \bar x = \bar y\, \frac{x - \mu}{(n - c)\, y}"
    kind = "reduce"
    cases = (*OVER, Case(Draw((4,)), correction=0), Case(Draw(()), correction=0))
    fresh = True

    def forward(self, x: Array, dim: Dim = None, correction: float = 1, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_floats("std", x)
        self.gone = None if keepdim else dim
        self.d, self.n = _centred(wide(x), dim, correction)
        self.y = xp_of(x).sqrt(_mean_square(self.d, self.n, dim, keepdim))
        return xp_of(x).asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, y = xp_of(g), self.y
        some = y != 0
        return self.d * _kept(xp.where(some, g, 0.0) / (xp.where(some, y, 1.0) * (self.n or 1)), self.gone)


def std(
    input: TensorLike, dim: Dim = None, correction: float = 1, keepdim: bool = False, *, unbiased: bool | None = None, **numpy: Any
) -> Tensor:
    """Take the root of the variance; the gradient is 0 where all entries are equal.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        DTypeError: `input` holds integers or booleans.

    >>> std([[1.0, 3.0], [5.0, 5.0]], dim=1, correction=0).data
    array([1., 0.], dtype=float32)
    """
    return Std.apply(input, **_asked(dim, correction, keepdim, unbiased, numpy))


class VarMean(NamedTuple):
    """What `var_mean` gives."""

    var: Tensor
    mean: Tensor


def var_mean(
    input: TensorLike, dim: Dim = None, correction: float = 1, keepdim: bool = False, *, unbiased: bool | None = None, **numpy: Any
) -> VarMean:
    """Give the variance and the mean, as `(var, mean)`.

    Shapes: input: (*), var and mean: input without dim (1 there with keepdim)

    >>> var_mean([1.0, 2.0, 3.0]).mean.item()
    2.0
    """
    params = _asked(dim, correction, keepdim, unbiased, numpy)
    y = Var.apply(input, **params)
    return VarMean(y, tensor_of(input).mean(params.get("dim"), params.get("keepdim", False)))


class StdMean(NamedTuple):
    """What `std_mean` gives."""

    std: Tensor
    mean: Tensor


def std_mean(
    input: TensorLike, dim: Dim = None, correction: float = 1, keepdim: bool = False, *, unbiased: bool | None = None, **numpy: Any
) -> StdMean:
    """Give the standard deviation and the mean, as `(std, mean)`.

    Shapes: input: (*), std and mean: input without dim (1 there with keepdim)

    >>> std_mean([1.0, 3.0], correction=0).std.item()
    1.0
    """
    params = _asked(dim, correction, keepdim, unbiased, numpy)
    y = Std.apply(input, **params)
    return StdMean(y, tensor_of(input).mean(params.get("dim"), params.get("keepdim", False)))


def cov(input: TensorLike, correction: float = 1, *, fweights: TensorLike | None = None, aweights: TensorLike | None = None) -> Tensor:
    """Give the covariances of the rows: how they vary together, over n - `correction`.

    `fweights` says how often each observation was made, `aweights` how much it counts, as NumPy's of these names.

    Shapes: input: (variable, observation), weights: (observation), y: (variable, variable); input: (observation), y: ()

    Raises:
        ShapeError: there are more than two axes.

    >>> cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = tensor_of(input)
    if x.ndim > 2:
        raise ShapeError(explain("cov: one row a variable", got={"x": x.shape}, need="two axes at the most"))
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    if fweights is aweights is None:
        d = rows - rows.mean(1, keepdim=True)
        y = (d @ d.mT) / (rows.shape[1] - correction)
    else:
        each, count = [1.0 if w is None else tensor_of(w).to(rows.dtype) for w in (aweights, fweights)]
        w: Any = each * count
        n = w.sum()
        d = rows - (rows * w).sum(1, keepdim=True) / n
        y = ((d * w) @ d.mT) / (n - correction * (w * each).sum() / n)
    return y.reshape(()) if x.ndim < 2 else y


def corrcoef(input: TensorLike) -> Tensor:
    """Give the correlations of the rows: covariances over both standard deviations.

    Shapes: input: (variable, observation), y: (variable, variable); input: (observation), y: ()

    >>> corrcoef([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]).data.round(3)
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    c = cov(input)
    if not c.ndim:
        return c / c
    s = c.diagonal().sqrt()
    return (c / s.reshape(-1, 1) / s).clamp(-1.0, 1.0)
