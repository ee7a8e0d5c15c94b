"""Ops that only rearrange: the same values under another shape. Most of them look at the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from ..function import Function
from .argument import axis_of, sizes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Reshape(Function):
    """y = x, read row by row into shape;  dx = g, read back."""

    latex = r"y = \mathrm{reshape}(x), \quad \bar x = \mathrm{reshape}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), shape=(2, 6)),
        Case(Draw((2, 3, 4)), shape=(4, -1)),
        Case(Draw(()), shape=(1, 1)),
        Case(Draw((1,)), shape=()),
        Case(Draw((0, 3)), shape=(3, 0)),
    )
    reads = ()

    def forward(self, x: Array, shape: tuple[int, ...]) -> Array:
        self.shape = x.shape
        try:
            return xp_of(x).reshape(x, shape)
        except ValueError:
            raise ShapeError(
                explain(
                    "reshape: the numbers of entries differ",
                    got={"x": x.shape, "shape": shape},
                    need="as many entries as x has; one size may be -1",
                )
            ) from None

    def backward(self, g: Array) -> Array:
        return xp_of(g).reshape(g, self.shape)


def reshape(x: TensorLike, *shape: int | tuple[int, ...]) -> Tensor:
    """Read the entries, row by row, into another shape; one size may be -1, for what remains.

    Shapes: x: (*), y: shape

    Raises:
        ShapeError: the entries don't fill the shape.

    >>> reshape([1.0, 2.0, 3.0, 4.0], 2, -1).data
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return Reshape.apply(x, shape=sizes(shape))


class Flatten(Function):
    """y = x with the axes start_dim..end_dim joined into one;  dx = g, read back."""

    latex = r"y = \mathrm{flatten}(x), \quad \bar x = \mathrm{reshape}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((3, 4))),
        Case(Draw((2, 3, 4)), start_dim=1),
        Case(Draw((2, 3, 4)), start_dim=-3, end_dim=-2),
        Case(Draw(())),
        Case(Draw((2, 0, 3)), start_dim=1),
    )
    reads = ()

    def forward(self, x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
        self.shape = x.shape
        if not x.shape:
            return xp_of(x).reshape(x, (1,))
        first, last = axis_of("flatten", start_dim, x), axis_of("flatten", end_dim, x)
        if first > last:
            raise ShapeError(
                explain(
                    "flatten: start_dim comes after end_dim", got={"start_dim": start_dim, "end_dim": end_dim}, need="start_dim <= end_dim"
                )
            )
        joined = 1
        for size in x.shape[first : last + 1]:
            joined *= size
        return xp_of(x).reshape(x, (*x.shape[:first], joined, *x.shape[last + 1 :]))

    def backward(self, g: Array) -> Array:
        return xp_of(g).reshape(g, self.shape)


def flatten(x: TensorLike, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join the axes from `start_dim` to `end_dim` into one.

    Shapes: x: (a, b, c, d), y: (a, b * c, d) for start_dim=1, end_dim=2

    >>> flatten([[[1.0], [2.0]], [[3.0], [4.0]]], start_dim=1).shape
    (2, 2)
    """
    return Flatten.apply(x, start_dim=start_dim, end_dim=end_dim)


class Transpose(Function):
    """y = x with dim0 and dim1 swapped;  dx = g with them swapped back."""

    latex = r"y = x^\top, \quad \bar x = \bar y^\top"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), dim0=0, dim1=1),
        Case(Draw((2, 3, 4)), dim0=-1, dim1=0),
        Case(Draw((0, 3)), dim0=0, dim1=1),
    )
    reads = ()

    def forward(self, x: Array, dim0: int, dim1: int) -> Array:
        self.dims = axis_of("transpose", dim0, x), axis_of("transpose", dim1, x)
        return xp_of(x).swapaxes(x, *self.dims)

    def backward(self, g: Array) -> Array:
        return xp_of(g).swapaxes(g, *self.dims)


def transpose(x: TensorLike, dim0: int, dim1: int) -> Tensor:
    """Swap two axes.

    Shapes: x: (a, b), y: (b, a)

    >>> transpose([[1.0, 2.0], [3.0, 4.0]], 0, 1).data
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    return Transpose.apply(x, dim0=dim0, dim1=dim1)


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


def permute(x: TensorLike, *dims: int | tuple[int, ...]) -> Tensor:
    """Put the axes in another order.

    Shapes: x: (a, b, c), y: (c, a, b) for dims (2, 0, 1)

    >>> permute([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], 2, 0, 1).shape
    (3, 2, 1)
    """
    return Permute.apply(x, dims=sizes(dims))


class Expand(Function):
    """y = x repeated along axes of size 1;  dx = g summed over the copies."""

    latex = r"y = \mathrm{expand}(x), \quad \bar x = \sum_{\mathrm{copies}} \bar y"
    kind = "shape"
    cases = (
        Case(Draw((3, 1)), shape=(3, 4)),
        Case(Draw((2, 1, 4)), shape=(-1, 3, -1)),
        Case(Draw((4,)), shape=(2, 3, -1)),
        Case(Draw(()), shape=(2, 3)),
        Case(Draw((1, 3)), shape=(0, 3)),
        Case(Draw((0, 3)), shape=(2, -1, -1)),
    )
    reads = ()

    def forward(self, x: Array, shape: tuple[int, ...]) -> Array:
        lead = len(shape) - x.ndim
        full = tuple([x.shape[i - lead] if n == -1 and i >= lead else n for i, n in enumerate(shape)])
        try:
            return xp_of(x).broadcast_to(x, full)
        except ValueError:
            raise ShapeError(
                explain(
                    "expand: only axes of size 1 can grow",
                    got={"x": x.shape, "shape": shape},
                    need="sizes of x, or others where x has 1; -1 keeps a size",
                )
            ) from None

    def backward(self, g: Array) -> Array:
        return g  # Function.pull sums it over the copies


def expand(x: TensorLike, *shape: int | tuple[int, ...]) -> Tensor:
    """Repeat along axes of size 1, and along new ones in front, without copying; -1 keeps a size.

    Shapes: x: (a, 1), y: (a, b)

    >>> expand([[1.0], [2.0]], 2, 3).data
    array([[1., 1., 1.],
           [2., 2., 2.]], dtype=float32)
    """
    return Expand.apply(x, shape=sizes(shape))


class Squeeze(Function):
    """y = x without axes of size 1;  dx = g with them."""

    latex = r"y = \mathrm{squeeze}(x), \quad \bar x = \mathrm{reshape}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((1, 3, 1))),
        Case(Draw((1, 3, 1)), dim=-1),
        Case(Draw((1, 3, 1)), dim=1),
        Case(Draw((1, 3, 1)), dim=(0, 2)),
        Case(Draw(())),
        Case(Draw((0, 1)), dim=1),
    )
    reads = ()

    def forward(self, x: Array, dim: int | tuple[int, ...] | None = None) -> Array:
        self.shape = x.shape
        dims = range(x.ndim) if dim is None else [axis_of("squeeze", d, x) for d in (dim if isinstance(dim, tuple) else (dim,))]
        return xp_of(x).reshape(x, tuple([n for i, n in enumerate(x.shape) if n != 1 or i not in dims]))

    def backward(self, g: Array) -> Array:
        return xp_of(g).reshape(g, self.shape)


def squeeze(x: TensorLike, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Drop axes of size 1: all of them, or those of `dim` that have it.

    Shapes: x: (1, a, 1), y: (a)

    >>> squeeze([[[1.0], [2.0]]]).shape
    (2,)
    """
    return Squeeze.apply(x, dim=dim)


class Unsqueeze(Function):
    """y = x with a new axis of size 1 at dim;  dx = g without it."""

    latex = r"y = \mathrm{unsqueeze}(x), \quad \bar x = \mathrm{reshape}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), dim=0),
        Case(Draw((2, 3, 4)), dim=-1),
        Case(Draw(()), dim=0),
        Case(Draw((0, 3)), dim=2),
    )
    reads = ()

    def forward(self, x: Array, dim: int) -> Array:
        self.shape = x.shape
        return xp_of(x).expand_dims(x, axis_of("unsqueeze", dim, x, extra=1))

    def backward(self, g: Array) -> Array:
        return xp_of(g).reshape(g, self.shape)


def unsqueeze(x: TensorLike, dim: int) -> Tensor:
    """Add an axis of size 1 at `dim`.

    Shapes: x: (a, b), y: (a, 1, b) for dim 1

    >>> unsqueeze([1.0, 2.0], -1).shape
    (2, 1)
    """
    return Unsqueeze.apply(x, dim=dim)
