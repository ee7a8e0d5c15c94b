"""Entries in order along an axis: all of them, or some by rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, explain
from ..function import Function
from .argument import axis_of, tensor_of, whole
from .axis import grid, opened, part

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

ALONG = (
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4)), dim=-2),
    Case(Draw(()), dim=-1),
    Case(Draw((0, 3)), dim=1),
    Case(Given([2.0, 1.0, 2.0]), dim=0),
)


class Ranked(NamedTuple):
    """What `sort`, `topk` and `kthvalue` give: the values, and the place each came from."""

    values: Tensor
    indices: Tensor


def _order(x: Array, axis: int, descending: bool) -> Array:
    """The places along an axis by rising, or falling, value; equal ones stay in order, and NaN counts as the largest."""
    xp = xp_of(x)
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(xp.argsort(xp.flip(x, axis=axis), axis=axis, kind="stable"), axis=axis)


class ByRank(Function):
    """y = x at the places k along dim, none of them named twice;  dx = g there, 0 elsewhere."""

    latex = r"y_i = x_{k_i}, \quad \bar x_{k_i} = \bar y_i"
    kind = "shape"
    cases = (
        Case(Draw((3,)), Given([2, 0, 1], "int64"), dim=0),
        Case(Draw((2, 3)), Given([[1], [2]], "int64"), dim=-1),
        Case(Draw((3, 2, 2)), Given([[[0, 2], [1, 1]]], "int64"), dim=0),
        Case(Draw(()), Given(0, "int64"), dim=0),
        Case(Draw((0, 3)), Ints((0, 3)), dim=0),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, index: Array, dim: int) -> Array:
        xp = xp_of(x)
        self.shape, out = x.shape, index.shape
        x, axis = opened("sort", x, dim)
        index = index.reshape(out if out else (1,))
        self.at, self.opened = grid(xp.array(index), axis), x.shape
        return x[self.at].reshape(out)

    def backward(self, g: Array) -> tuple[Array, None]:
        xp = xp_of(g)
        dx = xp.zeros(self.opened, dtype=g.dtype)
        dx[self.at] = g if g.ndim else g.reshape((1,))
        return dx.reshape(self.shape), None


class ArgSort(Function):
    """k = places of x along dim by rising (or falling) value;  no gradient."""

    latex = r"k = \mathrm{argsort}_{\mathrm{dim}}\, x"
    kind = "shape"
    cases = (*ALONG, Case(Draw((3, 4)), dim=1, descending=True))
    reads = ()

    def forward(self, x: Array, dim: int, descending: bool = False) -> Array:
        opened_x, axis = opened("sort", x, dim)
        return xp_of(x).reshape(_order(opened_x, axis, descending), x.shape)


def argsort(input: TensorLike, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Say where the entries along `dim` come from when they are in order; equal ones stay as they were, NaN is the largest.

    Shapes: input: (*), y: (*), int64

    >>> argsort([3.0, 1.0, 2.0]).data
    array([1, 2, 0])
    """
    return ArgSort.apply(input, dim=dim, descending=descending)


def sort(input: TensorLike, dim: int = -1, descending: bool = False, stable: bool = False) -> Ranked:
    """Put the entries along `dim` in order, as `(values, indices)`; equal ones stay as they were, NaN is the largest.

    Shapes: input: (*), values and indices: (*)

    >>> sort([3.0, 1.0, 2.0]).values.data
    array([1., 2., 3.], dtype=float32)
    """
    x = tensor_of(input)
    indices = ArgSort.apply(x, dim=dim, descending=descending)
    return Ranked(ByRank.apply(x, indices, dim=dim), indices)


def msort(input: TensorLike) -> Tensor:
    """Put the entries along the first axis in order.

    Shapes: input: (a, *), y: (a, *)

    >>> msort([[3.0], [1.0]]).tolist()
    [[1.0], [3.0]]
    """
    return sort(input, 0).values


class ArgTopK(Function):
    """k = places of the n largest (or smallest) x along dim, best first;  no gradient."""

    latex = r"k = \mathrm{argtop}_n\, x"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), n=2, dim=-1),
        Case(Draw((2, 30, 2)), n=2, dim=1, largest=False),
        Case(Draw(()), n=1, dim=0),
        Case(Draw((0, 3)), n=2, dim=1),
    )
    reads = ()

    def forward(self, x: Array, n: int, dim: int, largest: bool = True) -> Array:
        xp, shape = xp_of(x), x.shape
        x, axis = opened("topk", x, dim)
        size = x.shape[axis]
        if not 0 <= n <= size:
            raise ArgumentError(explain("topk: so many are not there", got={"x": shape, "k": n, "dim": dim}, need=f"0 <= k <= {size}"))
        if 0 < n < size // 8:  # few of many: the rest need not be in order
            some = xp.argpartition(x, size - n if largest else n - 1, axis=axis)
            some = xp.sort(some[part(axis, size - n) if largest else part(axis, 0, n)], axis=axis)
            index = some[grid(_order(x[grid(some, axis)], axis, largest), axis)]
        else:
            index = _order(x, axis, largest)[part(axis, 0, n)]
        return index if shape else index.reshape((n,) if n != 1 else ())


def topk(input: TensorLike, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Ranked:
    """Take the `k` largest, or smallest, entries along `dim`, best first, as `(values, indices)`; NaN is the largest.

    Shapes: input: (a, b), values and indices: (a, k)

    Raises:
        ArgumentError: there are fewer than `k`.

    >>> topk([3.0, 1.0, 2.0], 2).indices.data
    array([0, 2])
    """
    x = tensor_of(input)
    indices = ArgTopK.apply(x, n=whole("k", k), dim=dim, largest=largest)
    return Ranked(ByRank.apply(x, indices, dim=dim), indices)


def kthvalue(input: TensorLike, k: int, dim: int = -1, keepdim: bool = False) -> Ranked:
    """Take the `k`-th smallest entry along `dim` (1 is the smallest), as `(values, indices)`; NaN is the largest.

    Shapes: input: (a, b), values and indices: (a), or (a, 1) with keepdim

    Raises:
        ArgumentError: there is no `k`-th.

    >>> kthvalue([3.0, 1.0, 2.0], 2).values.item()
    2.0
    """
    x = tensor_of(input)
    axis = axis_of("kthvalue", dim, x) if x.ndim else 0
    n = x.shape[axis] if x.ndim else 1
    if not 1 <= k <= n:
        raise ArgumentError(explain("kthvalue: so many are not there", got={"x": x.shape, "k": k, "dim": dim}, need=f"1 <= k <= {n}"))
    indices = ArgSort.apply(x, dim=dim)
    if not x.ndim:
        return Ranked(ByRank.apply(x, indices, dim=dim), indices)
    indices = indices[part(axis, k - 1, k)]
    values = ByRank.apply(x, indices, dim=dim)
    return Ranked(values, indices) if keepdim else Ranked(values.squeeze(axis), indices.squeeze(axis))
