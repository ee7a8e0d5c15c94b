"""Writing along an axis at places that an index tensor names. All of it is x[index] = v, or x[index] += v on a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import as_array
from ..errors import ArgumentError, ShapeError, explain
from .argument import axis_of, tensor_of
from .axis import grid
from .place import along, used

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def scatter(input: TensorLike, dim: int, index: TensorLike, src: TensorLike | None = None, *, value: float | None = None) -> Tensor:
    """Copy `input` with entries along `dim` replaced by those of `src`, or by one value; of two for one place the last stays.

    Shapes: input: (a, b), index: (c, d) with c <= a for dim 1, src: at least (c, d), y: (a, b)

    Raises:
        ShapeError: index or src don't fit.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers, or `src` and `input` differ in dtype.

    >>> scatter([[1.0, 2.0, 3.0]], 1, [[0, 2]], [[8.0, 9.0]]).data
    array([[8., 2., 9.]], dtype=float32)
    """
    given = src if value is None else value
    if given is None:
        raise ArgumentError(explain("scatter: what is to be written?", got={"src": None, "value": None}, need="one of them"))
    return _written("scatter", tensor_of(input), dim, index, given, add=False)


def scatter_add(input: TensorLike, dim: int, index: TensorLike, src: TensorLike) -> Tensor:
    """Copy `input` with the entries of `src` added along `dim`; a place named twice gets both.

    Shapes: input: (a, b), index: (c, d) with c <= a for dim 1, src: at least (c, d), y: (a, b)

    Raises:
        ShapeError: index or src don't fit.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers, or `src` and `input` differ in dtype.

    >>> scatter_add([[1.0, 2.0]], 1, [[0, 0]], [[8.0, 9.0]]).data
    array([[18.,  2.]], dtype=float32)
    """
    return _written("scatter_add", tensor_of(input), dim, index, src, add=True)


def _written(op: str, x: Tensor, dim: int, index: Any, src: Any, *, add: bool) -> Tensor:
    opened, places, axis = along(op, x.data, as_array(getattr(index, "data", index)), dim)
    y = x.reshape(opened.shape).index_put(grid(places, axis), used(op, x.data, places, src), add)
    return y.reshape(x.shape)


def select_scatter(input: TensorLike, src: TensorLike, dim: int, index: int) -> Tensor:
    """Copy `input` with one entry along `dim` replaced by `src`.

    Shapes: input: (a, b), src: (b) for dim 0, y: (a, b)

    Raises:
        ShapeError: `src` has another shape than the entry.

    >>> select_scatter([[1.0, 2.0], [3.0, 4.0]], [9.0, 8.0], 1, 0).tolist()
    [[9.0, 2.0], [8.0, 4.0]]
    """
    x = tensor_of(input)
    return _replaced("select_scatter", x, (*(slice(None),) * axis_of("select_scatter", dim, x), index), src)


def slice_scatter(
    input: TensorLike, src: TensorLike, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Copy `input` with a slice along `dim` replaced by `src`.

    Shapes: input: (a, b), src: (length of the slice, b) for dim 0, y: (a, b)

    Raises:
        ShapeError: `src` has another shape than the slice.

    >>> slice_scatter([1.0, 2.0, 3.0], [9.0], start=1, end=2).tolist()
    [1.0, 9.0, 3.0]
    """
    x = tensor_of(input)
    return _replaced("slice_scatter", x, (*(slice(None),) * axis_of("slice_scatter", dim, x), slice(start, end, step)), src)


def diagonal_scatter(input: TensorLike, src: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Copy `input` with a diagonal of the plane of two axes replaced by `src`, whose last axis it is.

    Shapes: input: (a, b), src: (min(a, b)) for offset 0, y: (a, b)

    Raises:
        ShapeError: `src` has another shape than the diagonal.

    >>> diagonal_scatter([[1.0, 2.0], [3.0, 4.0]], [9.0, 8.0]).tolist()
    [[9.0, 2.0], [3.0, 8.0]]
    """
    t = tensor_of(input).movedim((dim1, dim2), (-2, -1))
    n = t.detach().diagonal(offset, -2, -1).shape[-1]
    places = tuple([[i + max(s * offset, 0) for i in range(n)] for s in (-1, 1)])
    return _replaced("diagonal_scatter", t, (..., *places), src).movedim((-2, -1), (dim1, dim2))


def _replaced(op: str, x: Tensor, index: tuple[Any, ...], src: TensorLike) -> Tensor:
    src, shape = tensor_of(src), x.detach()[index].shape
    if src.shape != shape:
        raise ShapeError(explain(f"{op}: the source doesn't fit", got={"x": x.shape, "src": src.shape}, need=f"shape {shape}"))
    return x.index_put(index, src)
