"""The same values, read row by row into another shape. Most of these ops look at the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import KeywordError, ShapeError, explain
from ..function import Function
from .argument import axis_of, sizes, tensor_of, whole

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
            return x.reshape(shape)
        except ValueError:
            raise ShapeError(
                explain(
                    "reshape: the numbers of entries differ",
                    got={"x": x.shape, "shape": shape},
                    need="as many entries as x has; one size may be -1",
                )
            ) from None

    def backward(self, g: Array) -> Array:
        return g.reshape(self.shape)


def reshape(input: TensorLike, *size: int | tuple[int, ...], shape: tuple[int, ...] | None = None) -> Tensor:
    """Read the entries, row by row, into another shape; one size may be -1, for what remains.

    Shapes: input: (*), y: shape

    Raises:
        ShapeError: the entries don't fill the shape.

    >>> reshape([1.0, 2.0, 3.0, 4.0], 2, -1).data
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return Reshape.apply(input, shape=sizes(size, shape))


def view(input: TensorLike, *shape: int | tuple[int, ...], size: tuple[int, ...] | None = None) -> Tensor:
    """Read the entries into another shape without copying, so that a change of one is a change of both.

    Shapes: input: (*), y: shape

    Raises:
        ShapeError: the entries don't fill the shape, or lie in an order that only a copy could change.

    >>> view([1.0, 2.0, 3.0, 4.0], 2, 2).shape
    (2, 2)
    """
    x = tensor_of(input)
    y = reshape(x, *shape, shape=size)
    if not x.is_contiguous() and y.numel() and not xp_of(x.data).may_share_memory(x.data, y.data):
        got = {"x": x.shape, "shape": sizes(shape, size)}
        raise ShapeError(
            explain("view: the entries lie in another order in memory", got=got, need="a shape that needs no copy", fix="x.reshape(...)")
        )
    return y


def view_as(input: TensorLike, other: Tensor) -> Tensor:
    """Read the entries into the shape of another tensor without copying, see `view`.

    Shapes: input: (*), other: (+), y: (+)

    >>> import gradlab as gl
    >>> view_as([1.0, 2.0], gl.zeros(2, 1)).shape
    (2, 1)
    """
    return view(input, tensor_of(other).shape)


def reshape_as(input: TensorLike, other: Tensor) -> Tensor:
    """Read the entries into the shape of another tensor.

    Shapes: input: (*), other: (+), y: (+)

    >>> import gradlab as gl
    >>> reshape_as([1.0, 2.0], gl.zeros(2, 1)).shape
    (2, 1)
    """
    return reshape(input, tensor_of(other).shape)


def ravel(input: TensorLike) -> Tensor:
    """Read the entries, row by row, into one axis.

    Shapes: input: (a, b), y: (a * b)

    >>> ravel([[1.0, 2.0], [3.0, 4.0]]).data
    array([1., 2., 3., 4.], dtype=float32)
    """
    return reshape(input, -1)


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
            return x.reshape((1,))
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
        return x.reshape((*x.shape[:first], joined, *x.shape[last + 1 :]))

    def backward(self, g: Array) -> Array:
        return g.reshape(self.shape)


def flatten(input: TensorLike, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join the axes from `start_dim` to `end_dim` into one.

    Shapes: input: (a, b, c, d), y: (a, b * c, d) for start_dim=1, end_dim=2

    >>> flatten([[[1.0], [2.0]], [[3.0], [4.0]]], start_dim=1).shape
    (2, 2)
    """
    return Flatten.apply(input, start_dim=start_dim, end_dim=end_dim)


def unflatten(input: TensorLike, dim: int, sizes: Sequence[int]) -> Tensor:
    """Open one axis into several; one size may be -1, for what remains.

    Shapes: input: (a, b * c), y: (a, b, c) for dim 1, sizes (b, c)

    Raises:
        ShapeError: the sizes don't multiply up to the axis.

    >>> unflatten([[1.0, 2.0, 3.0, 4.0]], 1, (2, -1)).shape
    (1, 2, 2)
    """
    if not isinstance(sizes, (tuple, list)):
        raise KeywordError(explain("unflatten: into which sizes?", got={"sizes": repr(sizes)}, need="a tuple of sizes"))
    x, wanted = tensor_of(input), tuple([whole("size", n) for n in sizes])
    axis = axis_of("unflatten", dim, x)
    known = prod([n for n in wanted if n != -1])
    if not wanted or wanted.count(-1) > 1 or (x.shape[axis] % known if -1 in wanted and known else known != x.shape[axis]):
        got = {"x": x.shape, "dim": dim, "sizes": wanted}
        raise ShapeError(explain("unflatten: the sizes don't fit", got=got, need=f"a product of {x.shape[axis]}; one size may be -1"))
    return reshape(x, *x.shape[:axis], *wanted, *x.shape[axis + 1 :])


class Contiguous(Function):
    """y = x, its entries row by row in memory;  dx = g."""

    latex = r"y = x, \quad \bar x = \bar y"
    kind = "shape"
    cases = (Case(Draw((3, 4))), Case(Draw((2, 3, 4))), Case(Draw(())), Case(Draw((0, 3))))
    reads = ()

    def forward(self, x: Array) -> Array:
        return xp_of(x).array(x, order="C")

    def backward(self, g: Array) -> Array:
        return g


def contiguous(input: TensorLike) -> Tensor:
    """Give the same values row by row in memory: `input` itself where they are, else a copy.

    Shapes: input: (*), y: (*)

    >>> import gradlab as gl
    >>> contiguous(gl.ones(2, 3).T).is_contiguous()
    True
    """
    x = tensor_of(input)
    return x if x.is_contiguous() else Contiguous.apply(x)
