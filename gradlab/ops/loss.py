"""What losses share: rows of classes and their ids, one weight an entry, constants beside the inputs. Not an op."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, is_array, on_host, xp_of
from ..errors import DTypeError, LabelError, ShapeError, explain
from .argument import tensor_of
from .dtype import all_below

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def weighted(op: str, losses: Tensor, weight: TensorLike, reduction: str) -> Tensor:
    """One loss an entry times one weight an entry, as asked for; the mean divides by the sum of the weights.

    Raises:
        ShapeError: not one weight an entry.
    """
    w = tensor_of(weight)
    if w.shape != losses.shape:
        raise ShapeError(explain(f"{op}: one weight an entry", got={"input": losses.shape, "weight": w.shape}, need="the same shape"))
    y = losses * w
    return y if reduction == "none" else y.sum() if reduction == "sum" else y.sum() / w.sum()


def values_of(op: str, name: str, values: Any, x: Any) -> Any:
    """Constants that come beside the inputs (weights of classes, of entries) as an array or number, refused if they don't broadcast to `x`.

    Raises:
        ShapeError: they don't fit.
    """
    values = values.data if hasattr(values, "grad_fn") else values
    extent, shape = np.shape(values), x.shape if hasattr(x, "shape") else np.shape(x)
    if len(extent) > len(shape) or any(n not in (1, m) for n, m in zip(extent[::-1], shape[::-1], strict=False)):
        raise ShapeError(
            explain(f"{op}: {name} does not fit", got={"input": shape, name: extent}, need="a shape that broadcasts to the input's")
        )
    return values


def rows_of(x: Array) -> Array:
    """(class), (batch, class) or (batch, class, *) as (row, class)."""
    if x.ndim == 2:
        return x
    xp = xp_of(x)
    if x.ndim > 2:
        x = xp.moveaxis(x, 1, -1)
    return x.reshape((prod(x.shape[:-1]), x.shape[-1]))


def unrowed(rows: Array, shape: tuple[int, ...]) -> Array:
    """What `rows_of` did, undone."""
    if len(shape) == 2:
        return rows
    xp = xp_of(rows)
    if len(shape) == 1:
        return rows.reshape(shape)
    return xp.moveaxis(rows.reshape((shape[0], *shape[2:], shape[1])), -1, 1)


def places(op: str, ids: Array, shape: tuple[int, int], ignore_index: int) -> tuple[Array, Array | None]:
    """Where in the rows, read as one line, the right classes are, and which rows count (None: all).

    Raises:
        LabelError: an id that is no class; a negative one would find the class of another row.
    """
    xp = xp_of(ids)
    n, classes = shape
    if ids.ndim != 1:
        ids = ids.reshape((n,))
    live = None
    if not on_host(ids):  # whether every id is a class is not asked: the device would have to be waited for
        live = ids != ignore_index
        ids = xp.where(live, ids, 0)
    elif n and not (all_below(ids, classes) and not 0 <= ignore_index < classes):
        live = ids != ignore_index
        ids = xp.where(live, ids, 0)
        low, high = xp.min(ids), xp.max(ids)
        if low < 0 or high >= classes:
            need = f"0 to {classes - 1}, or ignore_index={ignore_index}"
            raise LabelError(explain(f"{op}: a class id is none of the classes", got={"smallest": low, "largest": high}, need=need))
    return xp.arange(0, n * classes, max(classes, 1)) + ids, live


def counted(weights: Array, dtype: Any) -> Any:
    """The sum, as a number where that waits for no device."""
    n = xp_of(weights).sum(weights, dtype=dtype)
    return float(n) if on_host(weights) else n


def divisor(n: Any, reduction: str) -> Any:
    """What the gradient is divided by: 1 instead of nothing, where no row counts."""
    if reduction != "mean":
        return 1
    return xp_of(n).where(n == 0, 1.0, n) if is_array(n) else n or 1


def need_class_weight(op: str, weight: Any, classes: int) -> Any:
    """The weights of the classes as an array.

    Raises:
        ShapeError: not one a class.
    """
    w = as_array(weight.data if hasattr(weight, "grad_fn") else weight)
    if w.shape != (classes,):
        raise ShapeError(explain(f"{op}: one weight a class", got={"weight": w.shape}, need=f"({classes},)"))
    return w


def need_class_ids(op: str, x: Any, ids: Any) -> bool:
    """Whether `ids` are class ids for scores `x`: they have its shape without the axis of classes, the second.

    Raises:
        DTypeError: the scores are no floating numbers, or the ids no integers.
    """
    shape = x.shape
    got = {"input": shape, "target": ids.shape}
    if x.dtype.kind != "f":
        swapped = ids.dtype.kind == "f" and shape == (*ids.shape[:1], *ids.shape[2:])
        fix = f"{op}(target, input): first the scores" if swapped else "input.float()"
        raise DTypeError(explain(f"{op}: scores are floating numbers", got=got, need="a floating input", fix=fix))
    if not shape or ids.shape != ((shape[0], *shape[2:]) if len(shape) > 1 else ()):
        return False
    if ids.dtype.kind not in "iu":
        need = "integers, or a probability for every class" if op == "cross_entropy" else "integers"
        raise DTypeError(explain(f"{op}: class ids are integers", got=got, need=need, fix="target.long()"))
    return True
