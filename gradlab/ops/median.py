"""The entry in the middle, and the most frequent one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..errors import ShapeError, explain
from ..function import Function
from .argument import axis_of, spelled, tensor_of
from .axis import grid, opened, part, places, scan
from .dtype import wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class MiddleValue(NamedTuple):
    """What `median`, `nanmedian` and `mode` give along an axis: the values, and where they are."""

    values: Tensor
    indices: Tensor


class Median(Function):
    """y = lower middle of all x;  dx = g shared evenly by the entries that equal y."""

    latex = r"y = x_{(\lceil n / 2 \rceil)}, \quad \bar x_i = \bar y\, \frac{[x_i = y]}{\#\{j : x_j = y\}}"
    kind = "reduce"
    cases = (
        Case(Draw((3, 4))),
        Case(Draw((2, 3, 3))),
        Case(Draw(())),
        Case(Given([3.0, -1.0, 2.0]), skip_nan=True),
        Case(Given([1.0, 2.0, 2.0])),
        Case(Draw((0, 3))),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, skip_nan: bool = False) -> Array:
        xp = xp_of(x)
        if 0 in x.shape:
            if x.dtype.kind != "f":
                raise ShapeError(explain("median: nothing to choose from", got={"x": x.shape}, need="at least one entry"))
            self.hit, self.n = xp.zeros(x.shape, dtype=bool), 1
            return xp.asarray(xp.nan, dtype=x.dtype)
        ranked = xp.sort(x.reshape(-1))
        n, nans = ranked.shape[0], xp.sum(ranked != ranked)  # NaNs come last
        y = ranked[xp.maximum(n - 1 - nans, 0) // 2 if skip_nan else xp.where(nans > 0, n - 1, (n - 1) // 2)]
        self.hit = (x == y) | ((x != x) & (y != y))
        self.n = xp.sum(self.hit)
        return y

    def backward(self, g: Array) -> Array:
        g = wide(g)
        return self.hit * (g / xp_of(g).asarray(self.n, dtype=g.dtype))


class ArgMedian(Function):
    """k = place of the lower middle of x along dim;  no gradient."""

    latex = r"k : x_k = x_{(\lceil n / 2 \rceil)}"
    kind = "reduce"
    cases = (Case(Draw((3, 4)), dim=0), Case(Draw((2, 3, 4)), dim=-2), Case(Draw(()), dim=0), Case(Draw((0, 3)), dim=1))
    reads = ()

    def forward(self, x: Array, dim: int, skip_nan: bool = False) -> Array:
        xp, shape = xp_of(x), x.shape
        x, axis = opened("median", x, dim)
        n = x.shape[axis]
        if not n:
            raise ShapeError(explain("median: nothing to choose from", got={"x": shape, "dim": dim}, need="at least one entry along dim"))
        order = xp.argsort(x, axis=axis, kind="stable")
        nans = xp.sum(x != x, axis=axis, keepdims=True)
        rank = xp.maximum(n - 1 - nans, 0) // 2 if skip_nan else xp.where(nans > 0, n - nans, (n - 1) // 2)
        return order[grid(rank, axis)].reshape(tuple([1 if i == axis else m for i, m in enumerate(shape)]))


def _middle(x: TensorLike, dim: Any, keepdim: bool, numpy: dict[str, Any], skip_nan: bool) -> Any:
    x, params = tensor_of(x), spelled(dim, keepdim, numpy)
    dim = params.get("dim")
    if dim is None:
        y = Median.apply(x, skip_nan=True) if skip_nan else Median.apply(x)
        return y.reshape((1,) * x.ndim) if "keepdim" in params else y
    indices = ArgMedian.apply(x, dim=dim, skip_nan=skip_nan)
    values = x.take_along_dim(indices, dim) if x.ndim else x.clone()
    if "keepdim" in params or not x.ndim:
        return MiddleValue(values, indices)
    axis = axis_of("median", dim, x)
    return MiddleValue(values.squeeze(axis), indices.squeeze(axis))


def median(input: TensorLike, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
    """Take the middle entry of everything, or `(values, indices)` along `dim`; of two in the middle the smaller. NaN wins.

    Without `dim`, entries that tie share the gradient evenly; with it, one of them gets all.

    Shapes: input: (*), y: () without dim; values and indices: input without dim (1 there with keepdim)

    Raises:
        ShapeError: there is no entry along `dim`.

    >>> median([4.0, 1.0, 3.0, 2.0]).item()
    2.0
    """
    return _middle(input, dim, keepdim, numpy, skip_nan=False)


def nanmedian(input: TensorLike, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
    """Take the middle of the numbers, leaving NaN out, see `median`.

    Shapes: input: (*), y: () without dim; values and indices: input without dim (1 there with keepdim)

    >>> nanmedian([4.0, float("nan"), 3.0]).item()
    3.0
    """
    return _middle(input, dim, keepdim, numpy, skip_nan=True)


class ArgMode(Function):
    """k = last place of the most frequent x along dim, of the smallest of several;  no gradient."""

    latex = r"k : x_k = \mathrm{argmax}_v\, \#\{i : x_i = v\}"
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), dim=0),
        Case(Given([[[1.0, 2.0, 2.0], [3.0, 3.0, 1.0]]]), dim=-1),
        Case(Draw(()), dim=0),
        Case(Draw((0, 3)), dim=1),
    )
    reads = ()

    def forward(self, x: Array, dim: int) -> Array:
        xp, shape = xp_of(x), x.shape
        x, axis = opened("mode", x, dim)
        if not x.shape[axis]:
            raise ShapeError(explain("mode: nothing to choose from", got={"x": shape, "dim": dim}, need="at least one entry along dim"))
        order = xp.argsort(x, axis=axis, kind="stable")
        ranked, place = x[grid(order, axis)], places(x, axis)
        new = ranked[part(axis, 1)] != ranked[part(axis, None, -1)]
        start = xp.concatenate([xp.zeros_like(order[part(axis, None, 1)]), xp.where(new, place[1:], 0)], axis=axis)
        length = place - scan(xp.maximum, start, axis)  # of the run of equal entries, so far
        best = xp.expand_dims(xp.argmax(length, axis=axis), axis)
        return order[grid(best, axis)].reshape(tuple([1 if i == axis else m for i, m in enumerate(shape)]))


def mode(input: TensorLike, dim: int = -1, keepdim: bool = False) -> MiddleValue:
    """Take the most frequent entry along `dim`, of several the smallest, as `(values, indices)`; its last place has the gradient.

    Shapes: input: (a, b), values and indices: (a), or (a, 1) with keepdim

    Raises:
        ShapeError: there is no entry along `dim`.

    >>> mode([2.0, 1.0, 2.0, 1.0, 3.0]).values.item()
    1.0
    """
    x = tensor_of(input)
    indices = ArgMode.apply(x, dim=dim)
    values = x.take_along_dim(indices, dim) if x.ndim else x.clone()
    if keepdim or not x.ndim:
        return MiddleValue(values, indices)
    axis = axis_of("mode", dim, x)
    return MiddleValue(values.squeeze(axis), indices.squeeze(axis))
