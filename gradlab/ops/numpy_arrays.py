"""More of NumPy's functions on a Tensor: order, places, joining and cutting, with NumPy's arguments. Not an op: part of `numpy_names`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError, explain
from .argument import axis_of, tensor_of
from .count import bincount, searchsorted
from .cumulative import diff, trapezoid
from .expand import broadcast_tensors, meshgrid
from .gather import take, take_along_dim
from .join import cat, column_stack, dstack, hstack, vstack
from .member import isin
from .present import nanmean, nansum
from .quantile import nanquantile, quantile
from .sort import argsort, sort
from .split import split, tensor_split
from .squeeze import atleast_1d, atleast_2d, atleast_3d
from .triangle import trace
from .truth import all, any, count_nonzero  # noqa: A004
from .where import argwhere, nonzero

if TYPE_CHECKING:
    from .._tensor import Tensor

Axis = int | tuple[int, ...] | None


def _sorted(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    """Without an axis of the flattened tensor; every kind of sorting is the stable one."""
    return sort(tensor_of(a).reshape(-1)).values if axis is None else sort(a, axis).values


def _argsorted(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Tensor:
    return argsort(tensor_of(a).reshape(-1)) if axis is None else argsort(a, axis)


def _median(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """NumPy's median is between the two in the middle, where PyTorch's is the lower one."""

    def median(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        return _over(op, a, 0.5, axis, keepdims, "midpoint")

    return median


def _quantile(op: Callable[..., Tensor], scale: float) -> Callable[..., Tensor]:
    """quantile, percentile: `method` is how between two entries."""

    def quantile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Tensor:
        return _over(op, a, np.asarray(q, "float64") / scale, axis, keepdims, method)

    return quantile


def _over(op: Callable[..., Tensor], a: Any, q: Any, axis: Axis, keepdims: bool, how: str) -> Tensor:
    """Several axes as one, which comes last."""
    a = tensor_of(a)
    if not isinstance(axis, tuple):
        return op(a, q, axis, keepdims, interpolation=how)
    gone = [axis_of("quantile", i, a) for i in axis]
    rest = [i for i in range(a.ndim) if i not in gone]
    y = op(a.permute(*rest, *gone).reshape(*[a.shape[i] for i in rest], -1), q, -1, interpolation=how)
    return y.reshape(*np.shape(q), *[1 if i in gone else n for i, n in enumerate(a.shape)]) if keepdims else y


def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Tensor:
    if axis is None:
        return take(a, indices)
    a = tensor_of(a)
    return a[(*(slice(None),) * axis_of("take", axis, a), indices)]


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Unlike `array_split`, into equal pieces only."""
    ary = tensor_of(ary)
    if not isinstance(indices_or_sections, int):
        return list(tensor_split(ary, list(indices_or_sections), axis))
    n = ary.shape[axis_of("split", axis, ary)]
    if n % indices_or_sections:
        got = {"x": ary.shape, "sections": indices_or_sections, "axis": axis}
        raise ShapeError(
            explain("numpy.split: the pieces would not be equal", got=got, need="a divisor of the size", fix="numpy.array_split")
        )
    return list(split(ary, n // indices_or_sections, axis)) if n else list(tensor_split(ary, indices_or_sections, axis))


def _cut(axis: int) -> Callable[..., list[Tensor]]:
    """hsplit, vsplit, dsplit; a vector is cut along its only axis."""
    return lambda ary, indices_or_sections: _split(ary, indices_or_sections, axis if np.ndim(ary) > axis or axis != 1 else 0)


def _questioned(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """any, all, count_nonzero, nansum, nanmean: NumPy's order of arguments."""
    return lambda a, axis=None, out=None, keepdims=False: op(a, axis, keepdims)


def _summed(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda a, axis=None, dtype=None, out=None, keepdims=False: op(a, axis, keepdims, dtype)


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    return diff(a, n, axis, prepend, append)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Tensor:
    a = tensor_of(a)
    return trace(a) if a.ndim == 2 and not offset and dtype is None else a.diagonal(offset, axis1, axis2).sum(-1, dtype=dtype)


def _each(op: Callable[[Any], Tensor]) -> Callable[..., Any]:
    """atleast_1d and its like: of several tensors a tuple."""
    return lambda *arys: op(arys[0]) if len(arys) == 1 else tuple([op(a) for a in arys])


def _append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    return cat([tensor_of(arr).reshape(-1), tensor_of(values).reshape(-1)]) if axis is None else cat([arr, values], axis)


def _joined(op: Callable[[Sequence[Any]], Tensor]) -> Callable[..., Tensor]:
    """vstack, hstack, dstack, column_stack: of a list."""

    def join(tup: Sequence[Any], *, dtype: Any = None, casting: Any = None) -> Tensor:
        y = op(tup)
        return y if dtype is None else y.to(dtype)

    return join


def _flat_places(a: Any) -> Tensor:
    return nonzero(tensor_of(a).reshape(-1), as_tuple=True)[0]


def _ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Tensor:
    a = tensor_of(a)
    return a.amax(axis, keepdims) - a.amin(axis, keepdims)


ARRAYS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.any: _questioned(any),
    np.all: _questioned(all),
    np.count_nonzero: lambda a, axis=None, *, keepdims=False: count_nonzero(a, axis, keepdims),
    np.nansum: _summed(nansum),
    np.nanmean: _summed(nanmean),
    np.ptp: _ptp,
    np.median: _median(quantile),
    np.nanmedian: _median(nanquantile),
    np.quantile: _quantile(quantile, 1),
    np.nanquantile: _quantile(nanquantile, 1),
    np.percentile: _quantile(quantile, 100),
    np.nanpercentile: _quantile(nanquantile, 100),
    np.diff: _diff,
    np.trapezoid: lambda y, x=None, dx=1.0, axis=-1: trapezoid(y, x, dx, axis),
    np.sort: _sorted,
    np.argsort: _argsorted,
    np.searchsorted: lambda a, v, side="left", sorter=None: searchsorted(a, v, side=side, sorter=sorter),
    np.bincount: lambda x, weights=None, minlength=0: bincount(x, weights, minlength),
    np.isin: lambda element, test_elements, assume_unique=False, invert=False, *, kind=None: isin(element, test_elements, invert=invert),
    np.take: _take,
    np.take_along_axis: lambda arr, indices, axis=-1: take_along_dim(arr, indices, axis),
    np.nonzero: lambda a: nonzero(a, as_tuple=True),
    np.flatnonzero: _flat_places,
    np.argwhere: argwhere,
    np.trace: _trace,
    np.append: _append,
    np.vstack: _joined(vstack),
    np.hstack: _joined(hstack),
    np.dstack: _joined(dstack),
    np.column_stack: _joined(column_stack),
    np.split: _split,
    np.array_split: lambda ary, indices_or_sections, axis=0: list(tensor_split(ary, indices_or_sections, axis)),
    np.vsplit: _cut(0),
    np.hsplit: _cut(1),
    np.dsplit: _cut(2),
    np.unstack: lambda x, axis=0: tensor_of(x).unbind(axis),
    np.broadcast_arrays: lambda *args, subok=False: broadcast_tensors(*args),
    np.meshgrid: lambda *xi, copy=True, sparse=False, indexing="xy": meshgrid(*xi, indexing=indexing),
    np.atleast_1d: _each(atleast_1d),
    np.atleast_2d: _each(atleast_2d),
    np.atleast_3d: _each(atleast_3d),
}  # fmt: skip
