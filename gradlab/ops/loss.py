"""What losses share: one weight an entry, and constants beside the inputs. Not an op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ShapeError, explain
from .argument import tensor_of

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
