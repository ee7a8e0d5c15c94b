"""Other spellings of reading entries: along an axis, row by row, where a mask holds. All of them are x[index]."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, xp_of
from ..errors import DTypeError, ShapeError, explain
from .argument import axis_of, tensor_of
from .axis import grid
from .place import along, need_places

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def gather(input: TensorLike, dim: int, index: TensorLike) -> Tensor:
    """Read along `dim` at the places of `index`, one for every entry of the result.

    Shapes: input: (a, b), index: (c, d) with c <= a for dim 1, y: (c, d)

    Raises:
        ShapeError: the index has other axes than `input`, or is longer along one of the others.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers.

    >>> gather([[1.0, 2.0], [3.0, 4.0]], 1, [[0, 0], [1, 0]]).data
    array([[1., 1.],
           [4., 3.]], dtype=float32)
    """
    x, places = tensor_of(input), _integers(index)
    _, at, axis = along("gather", x.data, places, dim)
    y = (x if x.ndim else x.reshape(1))[grid(at, axis)]
    return y if y.shape == places.shape else y.reshape(places.shape)


def take_along_dim(input: TensorLike, indices: TensorLike, dim: int | None = None) -> Tensor:
    """Read along `dim` as `gather`, broadcasting the other axes; without `dim`, of the entries row by row.

    Shapes: input: (a, b), indices: (a, c) or (1, c) for dim 1, y: (a, c)

    >>> take_along_dim([[1.0, 2.0], [3.0, 4.0]], [[1]], dim=1).data
    array([[2.],
           [4.]], dtype=float32)
    """
    t, places = tensor_of(input), tensor_of(indices)
    if dim is None:
        return gather(t.reshape(-1), 0, places.reshape(-1))
    axis = axis_of("take_along_dim", dim, t)
    if places.ndim != t.ndim or any(1 not in (m, n) and m != n for i, (m, n) in enumerate(_pairs(t, places)) if i != axis):
        got = {"x": t.shape, "indices": places.shape, "dim": dim}
        raise ShapeError(explain("take_along_dim: the indices don't fit", got=got, need="as many axes as x, and sizes that broadcast"))
    shape = [n if m == 1 else m for m, n in _pairs(t, places)]
    wide_x, wide_index = [tuple([y.shape[i] if i == axis else n for i, n in enumerate(shape)]) for y in (t, places)]
    return gather(t.expand(wide_x), axis, places.expand(wide_index))


def _pairs(a: Tensor, b: Tensor) -> list[tuple[int, int]]:
    return list(zip(a.shape, b.shape, strict=True))


def index_select(input: TensorLike, dim: int, index: TensorLike) -> Tensor:
    """Read whole entries along `dim`.

    Shapes: input: (a, b), index: (n), y: (n, b) for dim 0

    Raises:
        ShapeError: the index has more than one axis.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers.

    >>> index_select([1.0, 2.0, 3.0], 0, [2, 0, 0]).data
    array([3., 1., 1.], dtype=float32)
    """
    x, places = tensor_of(input), _integers(index)
    if places.ndim > 1:
        raise ShapeError(explain("index_select: places along one axis", got={"index": places.shape}, need="one axis, or none"))
    if not x.ndim and prod(places.shape) != 1:
        raise ShapeError(explain("index_select: a 0-d tensor has one place", got={"index": places.shape}, need="one index"))
    axis = axis_of("index_select", dim, x) if x.ndim else 0
    need_places("index_select", places, x.shape[axis] if x.ndim else 1)
    y = (x if x.ndim else x.reshape(1))[(*(slice(None),) * axis, places.reshape(-1))]
    return y if x.ndim else y.reshape(places.shape)


def _integers(index: Any) -> Array:
    """The index as an array; an empty list is one of integers."""
    places = as_array(getattr(index, "data", index))
    return places if prod(places.shape) else xp_of(places).zeros(places.shape, dtype=int)


def take(input: TensorLike, index: TensorLike) -> Tensor:
    """Read entries counted row by row.

    Shapes: input: (*), index: (+), y: (+)

    Raises:
        PlaceError: a place that `input` does not have.
        DTypeError: the index holds no integers.

    >>> take([[1.0, 2.0], [3.0, 4.0]], [0, -1]).data
    array([1., 4.], dtype=float32)
    """
    x, places = tensor_of(input), _integers(index)
    need_places("take", places, x.numel(), negative=True)
    return x.reshape(-1)[places]


def masked_select(input: TensorLike, mask: TensorLike) -> Tensor:
    """Read the entries where `mask` holds, one after the other, broadcasting both.

    Shapes: input: (*), mask: (*), y: (number of places)

    Raises:
        DTypeError: the mask holds no truth values.
        ShapeError: the shapes don't broadcast.

    >>> masked_select([1.0, 2.0, 3.0], [True, False, True]).data
    array([1., 3.], dtype=float32)
    """
    t, where = tensor_of(input), tensor_of(mask)
    if where.dtype.kind != "b":
        raise DTypeError(explain("masked_select: a mask holds truth values", got={"mask": where.dtype}, need="bool", fix="mask != 0"))
    shape = _shared("masked_select", t.shape, where.shape) or (1,)
    return t.expand(shape)[where.expand(shape)]


def _shared(op: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape both broadcast to."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    if any(1 not in (p, q) and p != q for p, q in zip(a, b, strict=True)):
        raise ShapeError(explain(f"{op}: the shapes don't broadcast", got={"x": a, "mask": b}, need="sizes that are equal or 1"))
    return tuple([q if p == 1 else p for p, q in zip(a, b, strict=True)])
