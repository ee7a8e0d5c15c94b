"""Indices as arrays understand them, and what is wrong with one. Not an op."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..backend import Array, int64, is_array, need_one_device, on_host, xp_of
from ..errors import DimError, DTypeError, PlaceError, ShapeError, explain
from .argument import tensor_of
from .axis import opened


def raw_index(index: Any) -> Any:
    """An index as arrays understand it: Tensors in it become arrays, a whole number in one becomes an int.

    >>> raw_index((slice(None), [0, 0]))
    (slice(None, None, None), [0, 0])
    """
    return tuple([_raw(i) for i in index]) if isinstance(index, tuple) else _raw(index)


def _raw(i: Any) -> Any:
    array = i.data if hasattr(i, "grad_fn") else i
    if on_host(array) and not array.ndim and array.dtype.kind in "iu":
        return int(array)
    return [_raw(j) for j in array] if isinstance(array, list) else array


def is_basic(index: Any) -> bool:
    """Whether only ints, slices, None and ... are in it, so that NumPy answers with a view."""
    for i in index if isinstance(index, tuple) else (index,):
        if not (i is None or i is Ellipsis or isinstance(i, (slice, int, np.integer))) or isinstance(i, bool):
            return False
    return True


def in_two_steps(index: Any, ndim: int) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """An index as numbers, slices and new axes first, then arrays only, where NumPy puts the axes of the arrays elsewhere; else None.

    NumPy takes a number or a truth value for an array, and any ... for a gap between arrays, and arrays with a gap between
    them put their axes in front. PyTorch takes numbers first, a truth value is a mask over a new axis, and a ... that stands
    for no axis is no gap.

    >>> in_two_steps((0, slice(1, 2), [0, 1]), 3)
    ((0, slice(1, 2, None), slice(None, None, None)), (slice(None, None, None), [0, 1]))
    """
    if not isinstance(index, tuple):
        return None
    kinds = [_kind(i) for i in index]
    places = [place for place, kind in enumerate(kinds) if kind in ("array", "number", "truth")]
    if not {"array", "truth"} & set(kinds) or kinds.count("dots") > 1 or places[-1] - places[0] < len(places):
        return None
    axes = [_axes(i) if kind == "array" else kind in ("number", "slice") for i, kind in zip(index, kinds, strict=True)]
    rest = ndim - sum(axes)
    apart = {"number", "truth"} & set(kinds) or ("dots" in kinds[places[0] : places[-1]] and not rest)
    if not apart or rest < 0:
        return None
    first: list[Any] = []
    then: list[Any] = []
    for i, kind, n in zip(index, kinds, axes, strict=True):
        if kind == "dots":
            first.append(i)
            then += [slice(None)] * rest
        elif kind == "array":
            first += [slice(None)] * n
            then.append(i)
        else:
            first.append(None if kind == "truth" else i)
            if kind != "number":
                then.append(slice(None) if kind != "truth" else i.reshape((1,)) if is_array(i) else [0] * bool(i))
    return tuple(first), tuple(then)


def _kind(i: Any) -> str:
    """What a part of an index is to PyTorch: a number, a truth value, an array, ..., a slice, or a new axis."""
    if isinstance(i, (bool, np.bool_)) or (is_array(i) and not i.ndim and i.dtype.kind == "b"):
        return "truth"
    if isinstance(i, (int, np.integer)):
        return "number"
    return "dots" if i is Ellipsis else "slice" if isinstance(i, slice) else "new axis" if i is None else "array"


def _axes(i: Any) -> int:
    """How many axes an index array stands for: a mask for as many as it has."""
    mask = i if is_array(i) else np.asarray(i)
    return mask.ndim if mask.dtype.kind == "b" else 1


def copied(index: Any, x: Any) -> tuple[Any, ...]:
    """The index with arrays of its own, so that filling one anew does not move the gradient.

    Raises:
        DeviceError: one of them is on another device than `x`; CuPy would copy it over in secret.
    """
    return tuple([_copy(i, x) for i in (index if isinstance(index, tuple) else (index,))])


def _copy(i: Any, x: Any) -> Any:
    if is_array(i):
        if not on_host(i) or not on_host(x):
            need_one_device("x[i]", {"x": getattr(x, "_data", x), "i": i})
        return xp_of(i).array(i)
    if not isinstance(i, list):
        return i
    xp = xp_of(x)
    array = xp.array(i)
    return array if prod(array.shape) else xp.zeros(array.shape, dtype=int)  # an empty list would be one of floats


def misplaced(x: Any, index: Any, error: IndexError) -> PlaceError | DimError:
    """What an array library said about an index, in gradlab's words."""
    said, shape = str(error), x.shape
    parts = index if isinstance(index, tuple) else (index,)
    got: dict[str, object] = {"x": shape, "index": tuple([_told(i) for i in parts if i is not Ellipsis or len(parts) == 1])}
    if "out of bounds" in said:
        axis, place, n = said.partition(" for axis ")[2].split(" ")[0], said.split(" ")[1], said.rpartition(" ")[2]
        return PlaceError(explain(f"x[i]: axis {axis} has no place {place}", got=got, need=f"places from -{n} to {int(n) - 1}"))
    if "too many" in said:
        return DimError(explain("x[i]: more indices than axes", got=got, need=f"{len(shape)} at the most"))
    if "boolean index did not match" in said:
        return DimError(
            explain("x[i]: the mask has another shape than what it picks from", got=got, need="the sizes of the axes it stands for")
        )
    if "broadcast" in said:
        return DimError(explain("x[i]: the index arrays don't broadcast", got=got, need="sizes that are equal or 1"))
    return PlaceError(explain("x[i]: this is no index", got=got, need="integers, slices, None, ..., and integer or boolean arrays"))


def _told(i: Any) -> object:
    """A number or a slice as it is; an array by its shape and dtype."""
    return f"{i.dtype} array {i.shape}" if is_array(i) and i.ndim else i


def along(op: str, x: Array, index: Array, dim: int) -> tuple[Array, Array, int]:
    """`x`, an index with a place along `dim` for every entry of the result, and `dim` counted from the front.

    Raises:
        ShapeError: the index has other axes than `x`, or is longer along one of the others.
        DTypeError, PlaceError: see `need_places`.
    """
    x, axis = opened(op, x, dim)
    if not index.ndim:
        index = index.reshape((1,))
    if not prod(index.shape):
        index = xp_of(index).zeros(index.shape if index.ndim == x.ndim else (0,) * x.ndim, dtype=int)
    if index.ndim != x.ndim or any(i != axis and n > x.shape[i] for i, n in enumerate(index.shape)):
        got = {"x": x.shape, "index": index.shape, "dim": dim}
        raise ShapeError(explain(f"{op}: the index doesn't fit", got=got, need="as many axes as x, and no more entries along any but dim"))
    need_places(op, index, x.shape[axis])
    return x, index, axis


def used(op: str, x: Array, places: Array, src: Any) -> Any:
    """As much of `src` as there are places; a number as it is.

    >>> import numpy as np
    >>> used("scatter", np.zeros(3), np.array([0, 1]), np.ones(5)).shape
    (2,)
    """
    if isinstance(src, (int, float)):
        return src
    src = tensor_of(src)
    if src.dtype != x.dtype:
        got = {"x": x.dtype, "src": src.dtype}
        raise DTypeError(explain(f"{op}: the dtypes differ", got=got, need="one dtype for both", fix="src.to(x.dtype)"))
    src = src if src.ndim else src.reshape(1)
    if src.ndim != places.ndim or any(n > m for n, m in zip(places.shape, src.shape, strict=True)):
        got = {"index": places.shape, "src": src.shape}
        raise ShapeError(explain(f"{op}: a value for every place, please", got=got, need="src at least as long along every axis"))
    return src if src.shape == places.shape else src[tuple([slice(0, n) for n in places.shape])]


def cells(at: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    """Places of integer arrays, one an axis, counted row by row.

    >>> import numpy as np
    >>> cells((np.array([[0], [1]]), np.array([0, 2])), (2, 3))
    array([[0, 2],
           [3, 5]])
    """
    out: Any = 0
    for i, n in zip(at, shape, strict=True):
        out = out * n + xp_of(i).asarray(i, dtype=int64)  # small integers don't hold it
    return out


def need_places(op: str, index: Array, n: int, *, negative: bool = False) -> None:
    """Refuse an index array of no integers, or with places that an axis of n entries doesn't have.

    The values are looked at in main memory only: to look at them on a device would stop it.

    Raises:
        DTypeError: the index holds no integers.
        PlaceError: a place is not there.
    """
    if index.dtype.kind not in "iu":
        raise DTypeError(explain(f"{op}: an index holds integers", got={"index": index.dtype}, need="integers", fix="index.long()"))
    if not on_host(index) or not prod(index.shape):
        return
    xp, lowest = xp_of(index), -n if negative else 0
    low, high = int(xp.min(index)), int(xp.max(index))
    if low < lowest or high >= n:
        wrong = low if low < lowest else high
        raise PlaceError(explain(f"{op}: there is no place {wrong}", got={"entries": n}, need=f"places from {lowest} to {n - 1}"))
