"""The same values in more places, without a copy: broadcasting, and grids of points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import sizes, tensor_of

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


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


def expand(input: TensorLike, *shape: int | tuple[int, ...], size: tuple[int, ...] | None = None) -> Tensor:
    """Repeat along axes of size 1, and along new ones in front, without copying; -1 keeps a size.

    Shapes: input: (a, 1), y: (a, b)

    >>> expand([[1.0], [2.0]], 2, 3).data
    array([[1., 1., 1.],
           [2., 2., 2.]], dtype=float32)
    """
    return Expand.apply(input, shape=sizes(shape, size))


def expand_as(input: TensorLike, other: Tensor) -> Tensor:
    """Repeat to the shape of another tensor, without copying.

    Shapes: input: (a, 1), other: (a, b), y: (a, b)

    >>> import gradlab as gl
    >>> expand_as([1.0, 2.0], gl.zeros(3, 2)).shape
    (3, 2)
    """
    return expand(input, tensor_of(other).shape)


def broadcast_to(input: TensorLike, *shape: int | tuple[int, ...], size: tuple[int, ...] | None = None) -> Tensor:
    """Repeat to a shape, without copying, as `expand`.

    Shapes: input: (a, 1), y: (a, b)

    >>> broadcast_to([1.0, 2.0], (3, 2)).shape
    (3, 2)
    """
    return expand(input, *shape, size=size)


def broadcast_tensors(*tensors: TensorLike) -> tuple[Tensor, ...]:
    """Bring tensors to the shape that all of them broadcast to, without copying.

    Shapes: inputs: (a, 1), (b), ...; each y: (a, b)

    Raises:
        ShapeError: sizes differ and none of them is 1.

    >>> [y.shape for y in broadcast_tensors([[1.0], [2.0]], [1.0, 2.0, 3.0])]
    [(2, 3), (2, 3)]
    """
    xs = [tensor_of(x) for x in _listed(tensors)]
    try:
        shape = np.broadcast_shapes(*[x.shape for x in xs])
    except ValueError:
        got = {str(i): x.shape for i, x in enumerate(xs)}
        need = "sizes that are equal or 1, counted from the last axis"
        raise ShapeError(explain("broadcast_tensors: the shapes don't broadcast", got=got, need=need)) from None
    return tuple([expand(x, shape) for x in xs])


def meshgrid(*tensors: TensorLike, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Make the coordinates of every point of a grid from those along each axis.

    With "xy" the first two axes of the results are swapped: rows are y, columns x.

    Shapes: inputs: (a), (b), ...; each y: (a, b, ...)

    Raises:
        ShapeError: an input has more than one axis.
        ArgumentError: `indexing` is neither "ij" nor "xy".

    >>> [y.tolist() for y in meshgrid([1, 2], [3, 4])]
    [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    if indexing not in ("ij", "xy"):
        raise ArgumentError(explain("meshgrid: which order?", got={"indexing": repr(indexing)}, need='"ij" or "xy"'))
    grids = _grids("meshgrid", tensors)
    swap = indexing == "xy" and len(grids) > 1
    return tuple([y.transpose(0, 1) if swap else y for y in grids])


def _grids(op: str, tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Each input along an axis of its own, repeated along those of the others."""
    xs = [tensor_of(x) for x in _listed(tensors)]
    if any(x.ndim > 1 for x in xs):
        got = {str(i): x.shape for i, x in enumerate(xs)}
        raise ShapeError(explain(f"{op}: coordinates along one axis, please", got=got, need="one axis each, or none"))
    shape = tuple([x.numel() for x in xs])
    return tuple([expand(x.reshape((1,) * i + (-1,) + (1,) * (len(xs) - 1 - i)), shape) for i, x in enumerate(xs)])


def _listed(tensors: tuple[Any, ...]) -> Any:
    """The tensors, whether they came one by one or as one list."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
