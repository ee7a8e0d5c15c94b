"""Values by rank, between two neighbours where the rank is no whole number. A composition: sorting, reading, blending."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, on_host, xp_of
from ..errors import ArgumentError, ShapeError, explain
from .argument import axis_of, spelled, tensor_of
from .dtype import as_pytorch, need_floats

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _ranks(x: Array, q: Array, skip_nan: bool) -> Array:
    """Where each quantile stands among sorted entries, as a fraction; with a NaN among them, at the end, which is one."""
    xp, n = xp_of(x), x.shape[-1]
    q = xp.asarray(q, dtype="float64").reshape(-1)
    nans = xp.sum(x != x, axis=-1, keepdims=True)
    if skip_nan:
        return xp.maximum(n - 1 - nans, 0) * q
    return xp.where(nans > 0, n - 1, (n - 1) * q)


def _neighbours(rank: Array, how: str) -> tuple[Array, Array, Array]:
    """The two places a rank lies between, and how far it is from the first to the second."""
    xp = xp_of(rank)
    if how in ("lower", "higher", "nearest"):
        rank = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}[how](rank)
    low, high = xp.floor(rank), xp.ceil(rank)
    return xp.asarray(low, dtype="int64"), xp.asarray(high, dtype="int64"), (high - low) * 0.5 if how == "midpoint" else rank - low


@as_pytorch  # infinite neighbours
def _quantile(op: str, x: Any, q: Any, dim: Any, keepdim: bool, how: str, skip_nan: bool) -> Tensor:
    x = tensor_of(x)
    need_floats(op, x.data)
    wanted: Any = as_array(q.data) if hasattr(q, "grad_fn") else np.asarray(q, "float64")  # 0.1 in full
    if how not in WAYS:
        raise ArgumentError(explain(f"{op}: how between two entries?", got={"interpolation": repr(how)}, need=", ".join(WAYS)))
    if wanted.ndim > 1 or (on_host(wanted) and not all(0 <= value <= 1 for value in wanted.ravel())):
        raise ArgumentError(
            explain(f"{op}: which part is below?", got={"q": wanted.tolist()}, need="a number from 0 to 1, or a list of them")
        )
    axis = None if dim is None else axis_of(op, dim, x) if x.ndim else 0
    if not prod(x.shape) and (axis is None or not x.shape[axis]):
        raise ShapeError(explain(f"{op}: nothing to choose from", got={"x": x.shape, "dim": dim}, need="at least one entry"))
    values = (x.reshape(-1) if axis is None or not x.ndim else x.movedim(axis, -1)).sort(-1).values
    low, high, weight = _neighbours(_ranks(values.data, wanted, skip_nan), how)
    y = values.take_along_dim(tensor_of(low), -1)
    if how in ("linear", "midpoint"):
        y = y.lerp(values.take_along_dim(tensor_of(high), -1), tensor_of(weight).to(y.dtype))
    y = y.movedim(-1, 0)
    if keepdim:
        y = y.reshape(y.shape[0], *[1 if axis is None or i == axis else n for i, n in enumerate(x.shape)])
    return y if wanted.ndim else y.squeeze(0)


def quantile(
    input: TensorLike, q: TensorLike, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", **numpy: Any
) -> Tensor:
    """Give the value that the part `q` of the entries is below, of everything or along `dim`; NaN wins.

    Between two entries the way is "linear", or one of "lower", "higher", "midpoint" and "nearest".

    Shapes: input: (a, b), q: () or (n), y: (a) or (n, a) for dim 1

    Raises:
        ArgumentError: a q outside 0 to 1, or an unknown way.
        ShapeError: there is nothing to choose from.
        DTypeError: `input` holds integers.

    >>> quantile([4.0, 1.0, 3.0, 2.0], 0.5).item()
    2.5
    """
    params = spelled(dim, keepdim, numpy)
    return _quantile("quantile", input, q, params.get("dim"), params.get("keepdim", False), interpolation, skip_nan=False)


def nanquantile(
    input: TensorLike, q: TensorLike, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", **numpy: Any
) -> Tensor:
    """Give the value that the part `q` of the numbers is below, leaving NaN out, see `quantile`.

    Shapes: input: (a, b), q: () or (n), y: (a) or (n, a) for dim 1

    >>> nanquantile([4.0, float("nan"), 3.0], 0.5).item()
    3.5
    """
    params = spelled(dim, keepdim, numpy)
    return _quantile("nanquantile", input, q, params.get("dim"), params.get("keepdim", False), interpolation, skip_nan=True)
