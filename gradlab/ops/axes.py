"""The axes in another order; the values stay where they are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import DimError, ShapeError, explain
from ..function import Function
from .argument import axis_of, sizes, tensor_of

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Transpose(Function):
    """y = x with dim0 and dim1 swapped;  dx = g with them swapped back."""

    latex = r"y = x^\top, \quad \bar x = \bar y^\top"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), dim0=0, dim1=1),
        Case(Draw((2, 3, 4)), dim0=-1, dim1=0),
        Case(Draw(()), dim0=0, dim1=-1),
        Case(Draw((0, 3)), dim0=0, dim1=1),
    )
    reads = ()

    def forward(self, x: Array, dim0: int, dim1: int) -> Array:
        if not x.ndim and {dim0, dim1} <= {0, -1}:
            self.dims = None
            return x
        self.dims = axis_of("transpose", dim0, x), axis_of("transpose", dim1, x)
        return xp_of(x).swapaxes(x, *self.dims)

    def backward(self, g: Array) -> Array:
        return g if self.dims is None else xp_of(g).swapaxes(g, *self.dims)


def transpose(input: TensorLike, dim0: int, dim1: int) -> Tensor:
    """Swap two axes.

    Shapes: input: (a, b), y: (b, a)

    >>> transpose([[1.0, 2.0], [3.0, 4.0]], 0, 1).data
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    return Transpose.apply(input, dim0=dim0, dim1=dim1)


class Permute(Function):
    """y = x with its axes in the order dims;  dx = g in the inverse order."""

    latex = r"y = \pi(x), \quad \bar x = \pi^{-1}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((2, 3, 4)), dims=(2, 0, 1)),
        Case(Draw((2, 3, 4)), dims=(-1, 1, 0)),
        Case(Draw((3, 4)), dims=(1, 0)),
        Case(Draw(()), dims=()),
        Case(Draw((0, 3)), dims=(1, 0)),
    )
    reads = ()

    def forward(self, x: Array, dims: tuple[int, ...]) -> Array:
        self.order = [axis_of("permute", d, x) for d in dims]
        if sorted(self.order) != list(range(x.ndim)):
            raise ShapeError(
                explain(
                    "permute: every axis must appear once",
                    got={"x": x.shape, "dims": dims},
                    need=f"the numbers 0 to {x.ndim - 1} in some order",
                )
            )
        return xp_of(x).transpose(x, self.order)

    def backward(self, g: Array) -> Array:
        return xp_of(g).transpose(g, [self.order.index(i) for i in range(g.ndim)])


def permute(input: TensorLike, *axes: int | tuple[int, ...], dims: tuple[int, ...] | None = None) -> Tensor:
    """Put the axes in another order.

    Shapes: input: (a, b, c), y: (c, a, b) for dims (2, 0, 1)

    >>> permute([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], 2, 0, 1).shape
    (3, 2, 1)
    """
    return Permute.apply(input, dims=sizes(axes, dims))


def t(input: TensorLike) -> Tensor:
    """Transpose a matrix; a vector and a 0-d tensor as they are.

    Shapes: input: (a, b), y: (b, a)

    Raises:
        ShapeError: there are more than two axes.

    >>> t([[1.0, 2.0]]).shape
    (2, 1)
    """
    x = tensor_of(input)
    if x.ndim > 2:
        fix = "x.mT"
        raise ShapeError(explain("t: this is no matrix", got={"x": x.shape}, need="two axes at the most", fix=fix))
    return transpose(x, 0, 1) if x.ndim == 2 else x


def swapaxes(input: TensorLike, axis0: int, axis1: int) -> Tensor:
    """Swap two axes, as `transpose`.

    Shapes: input: (a, b), y: (b, a)

    >>> swapaxes([[1.0, 2.0]], 0, 1).shape
    (2, 1)
    """
    return transpose(input, axis0, axis1)


def swapdims(input: TensorLike, dim0: int, dim1: int) -> Tensor:
    """Swap two axes, as `transpose`.

    Shapes: input: (a, b), y: (b, a)

    >>> swapdims([[1.0, 2.0]], 0, 1).shape
    (2, 1)
    """
    return transpose(input, dim0, dim1)


def movedim(input: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Move axes to other places; the rest keeps its order.

    Shapes: input: (a, b, c), y: (b, c, a) for source 0, destination -1

    Raises:
        DimError: an axis is not there or named twice, or source and destination are not equally many.

    >>> movedim([[[1.0, 2.0]]], 0, -1).shape
    (1, 2, 1)
    """
    x = tensor_of(input)
    if not x.ndim and source in (0, -1) and destination in (0, -1):
        return permute(x)
    named: list[Any] = [dims if isinstance(dims, (tuple, list)) else (dims,) for dims in (source, destination)]
    old, new = [[axis_of("movedim", d, x) for d in dims] for dims in named]
    if len(old) != len(new) or len(set(old)) != len(old) or len(set(new)) != len(new):
        got = {"source": source, "destination": destination}
        raise DimError(explain("movedim: the axes don't pair up", got=got, need="as many places as axes, each named once"))
    order = [axis for axis in range(x.ndim) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return permute(x, tuple(order))


def moveaxis(input: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Move axes to other places, as `movedim`.

    Shapes: input: (a, b, c), y: (b, c, a) for source 0, destination -1

    >>> moveaxis([[[1.0, 2.0]]], 0, -1).shape
    (1, 2, 1)
    """
    return movedim(input, source, destination)
