"""Sums and products up to each entry, and differences between neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import axis_of, one_dim, tensor_of
from .axis import opened, part, recur
from .dtype import counted, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

ALONG = (
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4)), dim=-2),
    Case(Draw((5,)), dim=-1),
    Case(Draw(()), dim=0),
    Case(Draw((0, 3)), dim=0),
    Case(Draw((2, 0)), dim=0),
    Case(Draw((2, 1)), dim=1),
)


class CumSum(Function):
    """y_i = x_1 + ... + x_i along dim;  dx_i = g_i + ... + g_n."""

    latex = r"y_i = \sum_{j \le i} x_j, \quad \bar x_i = \sum_{j \ge i} \bar y_j"
    kind = "reduce"
    cases = ALONG
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: int, dtype: Any = None) -> Array:
        xp, x = xp_of(x), counted(x, dtype)
        self.shape = x.shape
        opened_x, self.axis = opened("cumsum", wide(x), dim)
        return xp.asarray(xp.cumsum(opened_x, axis=self.axis).reshape(x.shape), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, axis = xp_of(g), self.axis
        g = wide(g) if g.ndim else g.reshape((1,))
        return xp.flip(xp.cumsum(xp.flip(g, axis=axis), axis=axis), axis=axis).reshape(self.shape)


def cumsum(input: TensorLike, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
    """Add up the entries so far along `dim`; integers and booleans as int64, or in the `dtype` asked for.

    Shapes: input: (*), y: (*)

    >>> cumsum([1.0, 2.0, 3.0], 0).data
    array([1., 3., 6.], dtype=float32)
    """
    params = {} if dtype is None else {"dtype": dtype}
    return CumSum.apply(input, dim=one_dim("cumsum", dim, numpy), **params)


class CumProd(Function):
    """y_i = x_1 ... x_i along dim;  dx_i = (x_1 ... x_{i-1}) r_i with r_i = g_i + x_{i+1} r_{i+1}."""

    latex = r"y_i = \prod_{j \le i} x_j, \quad \bar x_i = \sum_{j \ge i} \bar y_j \prod_{k \le j,\, k \ne i} x_k"
    kind = "reduce"
    cases = (*ALONG, Case(Given([2.0, 0.0, 4.0, 5.0]), dim=0), Case(Given([[2.0, 0.0, 4.0], [0.0, 3.0, 0.0]]), dim=-1))
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, dim: int, dtype: Any = None) -> Array:
        xp, x = xp_of(x), counted(x, dtype)
        self.shape = x.shape
        self.x, self.axis = opened("cumprod", wide(x), dim)
        return xp.asarray(xp.cumprod(self.x, axis=self.axis).reshape(x.shape), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        # Nothing is divided by x, so that zeros need no care.
        xp, x, axis = xp_of(g), self.x, self.axis
        one, g = xp.ones_like(x[part(axis, None, 1)]), wide(g).reshape(x.shape)
        r = recur(xp.concatenate([x[part(axis, 1)], one], axis=axis), g, axis)
        before = xp.concatenate([one, xp.cumprod(x[part(axis, None, -1)], axis=axis)], axis=axis)
        return (before * r).reshape(self.shape)


def cumprod(input: TensorLike, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
    """Multiply the entries so far along `dim`; the gradient is exact also where entries are 0.

    Shapes: input: (*), y: (*)

    >>> cumprod([2.0, 3.0, 4.0], 0).data
    array([ 2.,  6., 24.], dtype=float32)
    """
    params = {} if dtype is None else {"dtype": dtype}
    return CumProd.apply(input, dim=one_dim("cumprod", dim, numpy), **params)


class Diff(Function):
    """y_i = x_{i+1} - x_i along dim, n times, of the inputs joined;  dx_i = g_{i-1} - g_i."""

    latex = r"y_i = x_{i+1} - x_i, \quad \bar x_i = \bar y_{i-1} - \bar y_i"
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), dim=0),
        Case(Draw((2, 3, 4)), dim=-2, n=2),
        Case(Draw((4,)), n=0),
        Case(Draw((2, 3)), n=5),
        Case(Draw((2, 1)), Draw((2, 3)), Draw((2, 2)), n=1),
        Case(Draw((0, 3))),
        Case(Draw((2, 0)), n=1),
    )
    reads = ()

    def forward(self, *xs: Array, n: int = 1, dim: int = -1) -> Array:
        xp = xp_of(xs[0])
        self.axis = _need_axis(xs[0], dim)
        self.lengths = [x.shape[self.axis] for x in xs]
        y = xs[0] if len(xs) == 1 else xp.concatenate(xs, axis=self.axis)
        self.times = min(n, y.shape[self.axis])
        for _ in range(self.times):
            later, earlier = y[part(self.axis, 1)], y[part(self.axis, None, -1)]
            y = later != earlier if y.dtype.kind == "b" else later - earlier
        return y

    def backward(self, g: Array) -> tuple[Array, ...]:
        xp, axis = xp_of(g), self.axis
        for _ in range(self.times):
            edge = xp.zeros((*g.shape[:axis], 1, *g.shape[axis + 1 :]), dtype=g.dtype)
            g = xp.concatenate([edge, g], axis=axis) - xp.concatenate([g, edge], axis=axis)
        stops = [sum(self.lengths[: i + 1]) for i in range(len(self.lengths))]
        return tuple([g[part(axis, stop - n, stop)] for n, stop in zip(self.lengths, stops, strict=True)])


def _need_axis(x: Array, dim: int) -> int:
    if not x.ndim:
        raise ShapeError(explain("diff: a 0-d tensor has no neighbours", got={"x": x.shape}, need="at least one axis"))
    return axis_of("diff", dim, x)


def diff(input: TensorLike, n: int = 1, dim: int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None) -> Tensor:
    """Subtract from each entry along `dim` the one before it, `n` times; `prepend` and `append` are joined first.

    Shapes: input: (a, b), y: (a, b - n)

    Raises:
        ShapeError: `input` is 0-d.
        ArgumentError: n is negative.

    >>> diff([1.0, 4.0, 9.0]).data
    array([3., 5.], dtype=float32)
    """
    if n < 0:
        raise ArgumentError(explain("diff: how often?", got={"n": n}, need="0 or more"))
    return Diff.apply(*[t for t in (prepend, tensor_of(input), append) if t is not None], n=n, dim=dim)


def _areas(y: TensorLike, x: TensorLike | None, dx: float, dim: int) -> Tensor:
    """The trapezoid between each pair of neighbours along `dim`, which comes last."""
    y = tensor_of(y).movedim(dim, -1)
    width: Any = dx
    if x is not None:
        x = tensor_of(x)
        width = diff(x if x.ndim == 1 else x.movedim(dim, -1))
    return (y[..., 1:] + y[..., :-1]) * width / 2


def trapezoid(y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Measure the area under `y` at the points `x`, or at points `dx` apart, by trapezoids along `dim`.

    Shapes: y: (a, b), x: (b) or (a, b), result: (a)

    >>> trapezoid([1.0, 2.0, 3.0], [0.0, 1.0, 3.0]).item()
    6.5
    """
    return _areas(y, x, dx, dim).sum(-1)


def cumulative_trapezoid(y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Measure the area under `y` up to each point but the first, by trapezoids along `dim`.

    Shapes: y: (a, b), x: (b) or (a, b), result: (a, b - 1)

    >>> cumulative_trapezoid([1.0, 2.0, 3.0]).data
    array([1.5, 4. ], dtype=float32)
    """
    return _areas(y, x, dx, dim).cumsum(-1).movedim(-1, dim)


def trapz(y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Measure the area under `y` by trapezoids, as `trapezoid`.

    Shapes: y: (a, b), x: (b) or (a, b), result: (a)

    >>> trapz([1.0, 2.0, 3.0]).item()
    4.0
    """
    return trapezoid(y, x, dx, dim)
