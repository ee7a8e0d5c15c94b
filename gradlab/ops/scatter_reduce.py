"""What comes together at each place an index names: sums, means, products, the largest, the smallest."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, counted, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import axis_of, tensor_of
from .axis import grid
from .dtype import wide
from .place import along, cells, used

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

CASES = (
    Case(Draw((2, 3)), Draw((2, 2)), Given([[0, 0], [5, 4]], "int64"), include_self=True),
    Case(Draw((2, 3)), Draw((5,)), Given([1, 1, 1, 0, 1], "int64"), include_self=False),
    Case(Draw((2, 1, 3)), Draw((2,)), Given([0, 5], "int64"), include_self=True),
    Case(Draw(()), Draw(()), Given(0, "int64"), include_self=True),
    Case(Draw((0, 3)), Draw((0,)), Given([], "int64"), include_self=True),
)


def _joined(join: Callable[[Array, Array], Array], values: Array, at: Array, n: int) -> tuple[Array, Array]:
    """Per cell of n, all values written to it joined by a rule for two, and how many they are (where 0, the first says nothing).

    Sorted by cell, the values of one are neighbours; each pass joins those a step apart, and the last of a run has all.
    """
    xp, step = xp_of(values), 1
    order = xp.argsort(at)
    at, values = at[order], values[order]
    while step < at.shape[0]:
        same = at[step:] == at[:-step]
        values = xp.concatenate([values[:step], xp.where(same, join(values[:-step], values[step:]), values[step:])])
        step *= 2
    stop = xp.searchsorted(at, xp.arange(n), side="right")
    count = stop - xp.searchsorted(at, xp.arange(n), side="left")
    if not at.shape[0]:
        return xp.zeros(n, dtype=values.dtype), count
    return values[xp.maximum(stop - 1, 0)], count


class ScatterProd(Function):
    """y_i = x_i times every v_k whose place is i;  dx and dv = g times the other factors."""

    latex = (
        r"y_i = x_i \prod_{I_k = i} v_k, \quad \bar x_i = \bar y_i \prod_{I_k = i} v_k, \quad \bar v_k = \bar y_i\, x_i \prod_{l \ne k} v_l"
    )
    kind = "reduce"
    cases = (*CASES, Case(Given([0.0, 2.0, 3.0]), Given([2.0, 0.0, 0.0, 0.0, 5.0]), Given([0, 1, 2, 2, 1], "int64"), include_self=True))
    reads = ("inputs",)
    fresh = True
    by_reference = True

    @staticmethod
    def reference(x: Array, v: Array, at: Array, include_self: bool) -> Array:
        """The formula as printed: at every place a factor for every v, 1 where it goes elsewhere."""
        xp = xp_of(x)
        n = prod(x.shape)
        here = at.reshape((1, -1)) == xp.arange(n).reshape((n, 1))
        factors = xp.where(here, v.reshape((1, -1)), 1.0)
        base = x.reshape(-1) if include_self else xp.where(xp.any(here, axis=1), 1.0, x.reshape(-1))
        return (base * xp.prod(factors, axis=1)).reshape(x.shape)

    def forward(self, x: Array, v: Array, at: Array, include_self: bool) -> Array:
        xp, dtype = xp_of(x), x.dtype
        self.shapes, self.at, self.include_self = (x.shape, v.shape), at.reshape(-1), include_self
        self.v, flat = wide(v.reshape(-1)), wide(x.reshape(-1))
        product, self.count = _joined(xp.multiply, self.v, self.at, prod(x.shape))
        self.x = flat if include_self else xp.where(self.count > 0, 1, flat)
        y = xp.where(self.count > 0, self.x * product, self.x)
        return xp.asarray(y.reshape(x.shape), dtype=dtype)

    def backward(self, g: Array) -> tuple[Array, Array, None]:
        # As in prod: the product without zeros is what a lone zero gets, and of two zeros nothing is left.
        xp, at, g = xp_of(g), self.at, xp_of(g).ravel(wide(g))
        zero_x, zero_v = self.x == 0, self.v == 0
        rest_x, rest_v = xp.where(zero_x, 1, self.x), xp.where(zero_v, 1, self.v)
        n = self.count.shape[0]
        product, _ = _joined(xp.multiply, rest_v, at, n)
        every = rest_x * xp.where(self.count > 0, product, 1)
        zeros = zero_x + _counted(zero_v, at, n)
        dx = g * (every / rest_x) * (zeros == zero_x)
        dx = dx if self.include_self else xp.where(self.count > 0, 0, dx)
        dv = (g * every)[at] / rest_v * (zeros[at] == zero_v)
        return dx.reshape(self.shapes[0]), dv.reshape(self.shapes[1]), None


def _counted(held: Array, at: Array, n: int) -> Array:
    """Per cell, how many of the values written to it hold."""
    return counted(at, n, held)[:n]


class ScatterBest(Function):
    """y_i = largest (or smallest) of x_i and every v_k whose place is i;  g shared evenly by those that equal y_i."""

    latex = r"y_i = \max(x_i, v_{I = i}), \quad \bar v_k = \frac{\bar y_i}{n_i} [v_k = y_i], \; \bar x_i = \frac{\bar y_i}{n_i} [x_i = y_i]"
    kind = "reduce"
    cases = (
        *[Case(*c.inputs, largest=largest, **c.params) for c in CASES for largest in (True, False)],
        Case(Given([2.0, 3.0, 1.0]), Given([2.0, 1.0, 3.0]), Given([0, 0, 1], "int64"), largest=True, include_self=True),
        Case(Given([2.0, 3.0, 1.0]), Given([2.0, 1.0, 3.0]), Given([0, 0, 1], "int64"), largest=True, include_self=False),
    )
    fresh = True

    def forward(self, x: Array, v: Array, at: Array, largest: bool, include_self: bool) -> Array:
        xp = xp_of(x)
        join = xp.maximum if largest else xp.minimum
        self.shapes, self.at, self.include_self = (x.shape, v.shape), at.reshape(-1), include_self
        self.x, self.v = x.reshape(-1), v.reshape(-1)
        best, self.count = _joined(join, self.v, self.at, prod(x.shape))
        self.y = xp.where(self.count > 0, join(best, self.x) if include_self else best, self.x)
        return self.y.reshape(x.shape)

    def backward(self, g: Array) -> tuple[Array, Array, None]:
        xp, at, g, y = xp_of(g), self.at, xp_of(g).ravel(wide(g)), self.y
        hit_x, hit_v = (self.x == y) | (self.x != self.x), (self.v == y[at]) | (self.v != self.v)
        if not self.include_self:
            hit_x = self.count == 0
        g = g / xp.asarray(xp.maximum(hit_x + _counted(hit_v, at, self.count.shape[0]), 1), dtype=g.dtype)
        return (g * hit_x).reshape(self.shapes[0]), (g[at] * hit_v).reshape(self.shapes[1]), None


def scatter_reduce(input: TensorLike, dim: int, index: TensorLike, src: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
    """Join the entries of `src` along `dim` with those of `input` at each place, by "sum", "prod", "mean", "amax" or "amin".

    Without `include_self` what `input` had at a place that is written to does not count.

    Shapes: input: (a, b), index: (c, d) with c <= a for dim 1, src: at least (c, d), y: (a, b)

    Raises:
        ArgumentError: `reduce` is none of these words.
        ShapeError: index or src don't fit.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers, or `src` and `input` differ in dtype.

    >>> scatter_reduce([[1.0, 2.0]], 1, [[0, 0]], [[8.0, 9.0]], "amax").data
    array([[9., 2.]], dtype=float32)
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise ArgumentError(explain("scatter_reduce: how?", got={"reduce": repr(reduce)}, need='"sum", "prod", "mean", "amax" or "amin"'))
    x = tensor_of(input)
    opened, places, axis = along("scatter_reduce", x.data, as_array(getattr(index, "data", index)), dim)
    at, v = grid(places, axis), used("scatter_reduce", x.data, places, src)
    whole = x.reshape(opened.shape)
    if reduce in ("sum", "mean"):
        y = _sum(whole, at, v, include_self)
        y = y if reduce == "sum" else _mean(y, at, include_self)
    else:
        flat = cells(at, opened.shape)
        params: dict[str, Any] = {"include_self": include_self}
        y = (
            ScatterProd.apply(whole, v, flat, **params)
            if reduce == "prod"
            else ScatterBest.apply(whole, v, flat, largest=reduce == "amax", **params)
        )
    return y.reshape(x.shape)


def _sum(x: Tensor, at: tuple[Array, ...], v: Tensor, include_self: bool) -> Tensor:
    return (x if include_self else x.index_put(at, 0)).index_put(at, v, True)


def _mean(y: Tensor, at: tuple[Array, ...], include_self: bool) -> Tensor:
    """Sums divided by how many values are in them; integers are rounded down."""
    count = (y.detach() * 0).index_put(at, 1, True)
    count = count + 1 if include_self else count.masked_fill(count == 0, 1)
    return y / count if y.dtype.kind == "f" else tensor_of(y.data // count.data)


def index_reduce(input: TensorLike, dim: int, index: TensorLike, source: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
    """Join whole entries of `source` along `dim` with those of `input`, as `scatter_reduce`: by "prod", "mean", "amax" or "amin".

    Shapes: input: (a, b), index: (n), source: (n, b) for dim 0, y: (a, b)

    Raises:
        ShapeError: `source` has not one entry of the size of those of `input` for every place.

    >>> index_reduce([1.0, 2.0], 0, [0, 0], [8.0, 9.0], "prod").tolist()
    [72.0, 2.0]
    """
    x, source, places = tensor_of(input), tensor_of(source), tensor_of(index)
    axis = axis_of("index_reduce", dim, x)
    wanted = (*x.shape[:axis], places.numel(), *x.shape[axis + 1 :]) if x.ndim else ()
    if places.ndim > 1 or source.shape != wanted:
        got = {"x": x.shape, "index": places.shape, "source": source.shape}
        raise ShapeError(explain("index_reduce: the source doesn't fit", got=got, need=f"a source of shape {wanted}"))
    at = places.reshape((1,) * axis + (-1,) + (1,) * (x.ndim - axis - 1)).expand(source.shape)
    return scatter_reduce(x, axis, at, source, reduce, include_self=include_self)
