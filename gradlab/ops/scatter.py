"""Writing along an axis at places that an index tensor names. All of it is x[index] = v, or x[index] += v on a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import as_array
from ..errors import ArgumentError, explain
from .argument import tensor_of
from .axis import grid
from .place import along, used

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def scatter(x: TensorLike, dim: int, index: TensorLike, src: TensorLike | None = None, *, value: float | None = None) -> Tensor:
    """Copy `x` with entries along `dim` replaced by those of `src`, or by one value; of two for one place the last stays.

    Shapes: x: (a, b), index: (c, d) with c <= a for dim 1, src: at least (c, d), y: (a, b)

    Raises:
        ShapeError: index or src don't fit.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers, or `src` and `x` differ in dtype.

    >>> scatter([[1.0, 2.0, 3.0]], 1, [[0, 2]], [[8.0, 9.0]]).data
    array([[8., 2., 9.]], dtype=float32)
    """
    given = src if value is None else value
    if given is None:
        raise ArgumentError(explain("scatter: what is to be written?", got={"src": None, "value": None}, need="one of them"))
    return _written("scatter", tensor_of(x), dim, index, given, add=False)


def scatter_add(x: TensorLike, dim: int, index: TensorLike, src: TensorLike) -> Tensor:
    """Copy `x` with the entries of `src` added along `dim`; a place named twice gets both.

    Shapes: x: (a, b), index: (c, d) with c <= a for dim 1, src: at least (c, d), y: (a, b)

    Raises:
        ShapeError: index or src don't fit.
        PlaceError: a place that the axis does not have.
        DTypeError: the index holds no integers, or `src` and `x` differ in dtype.

    >>> scatter_add([[1.0, 2.0]], 1, [[0, 0]], [[8.0, 9.0]]).data
    array([[18.,  2.]], dtype=float32)
    """
    return _written("scatter_add", tensor_of(x), dim, index, src, add=True)


def _written(op: str, x: Tensor, dim: int, index: Any, src: Any, *, add: bool) -> Tensor:
    opened, places, axis = along(op, x.data, as_array(getattr(index, "data", index)), dim)
    y = x.reshape(opened.shape).index_put(grid(places, axis), used(op, x.data, places, src), add)
    return y.reshape(x.shape)
