"""Where attention may look: masks as MultiheadAttention takes them, in one mask as `scaled_dot_product_attention` takes it."""

from __future__ import annotations

from math import sqrt
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import arange, zeros
from ..errors import DTypeError, ShapeError, explain
from ..ops.argument import tensor_of


def merged(name: str, q: Tensor, length: int, extra: int, attn_mask: Any, key_padding_mask: Any) -> Tensor | None:
    """Both masks in one, True where to look, or floats to add; `extra` keys behind the others are open to all.

    Shapes: q: (batch, head, query, feature), attn_mask: (query, length) or (batch head, query, length), key_padding_mask:
        (batch, length), result: broadcasts to (batch, head, query, length + extra)

    Raises:
        ShapeError: a mask that doesn't fit.
        DTypeError: neither booleans nor floats.
    """
    batch, heads, time, _ = q.shape
    mask = None
    if attn_mask is not None:
        x = _look(name, "attn_mask", attn_mask, q)
        if x.shape not in ((time, length), (batch * heads, time, length)):
            need = f"({time}, {length}), query and key; or ({batch * heads}, {time}, {length}), one for each sample and head"
            raise ShapeError(explain(f"{name}: the mask doesn't fit", got={"attn_mask": x.shape}, need=need))
        mask = x if x.ndim == 2 else ops.reshape(x, (batch, heads, time, length))
    if key_padding_mask is not None:
        x = _look(name, "key_padding_mask", key_padding_mask, q)
        if x.shape != (batch, length) and (batch > 1 or x.shape != (length,)):
            need = f"({batch}, {length}): batch, key"
            raise ShapeError(explain(f"{name}: the mask doesn't fit", got={"key_padding_mask": x.shape}, need=need))
        mask = both(mask, ops.reshape(x, (batch, 1, 1, length)))
    return mask if mask is None or not extra else ops.pad(mask, (0, extra), value=True if mask.dtype == bool else 0.0)


def causal(q: Tensor, length: int, extra: int = 0, past: int = 0) -> Tensor:
    """True where a key is not later than the query, (query, length + extra); the first query comes after `past` keys."""
    last = arange(q.shape[-2], device=q.device)[:, None] + past
    place = arange(length + extra, device=q.device)
    seen = ops.le(place, last)
    return ops.logical_or(seen, ops.ge(place, length)) if extra else seen


def weighed(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float) -> tuple[Tensor, Tensor]:
    """`scaled_dot_product_attention`, and the weights it has for each key, (*, query, key)."""
    z = ops.matmul(ops.mul(q, 1 / sqrt(q.shape[-1])), ops.transpose(k, -1, -2))
    if mask is None:
        weights = ops.softmax(z, -1)
    else:
        mask = mask if mask.dtype != bool else _added(mask, z)
        nothing = ops.all(ops.eq(mask, float("-inf")), -1, keepdim=True)  # to look at: no score has a place in a softmax
        z = ops.masked_fill(ops.add(z, mask), nothing, 0.0)
        weights = ops.masked_fill(ops.softmax(z, -1), nothing, 0.0)
    weights = ops.dropout(weights, p) if p else weights
    return ops.matmul(weights, v), weights


def _look(name: str, which: str, mask: Any, q: Tensor) -> Tensor:
    """A mask with True where to look, or floats to add, in the dtype of the queries."""
    x = tensor_of(mask)
    if x.dtype.kind not in "bf":
        need = "booleans, True where not to look, or floats to add"
        raise DTypeError(explain(f"{name}: this is no mask", got={which: x.dtype}, need=need, fix=f"{which}.bool()"))
    return ops.logical_not(x) if x.dtype == bool else x if x.dtype == q.dtype else x.to(q.dtype)


def _added(mask: Tensor, like: Tensor) -> Tensor:
    """True as 0, False as -inf."""
    return ops.masked_fill(zeros(mask.shape, device=mask.device, dtype=like.dtype), ops.logical_not(mask), float("-inf"))


def both(a: Tensor | None, b: Tensor) -> Tensor:
    """What both masks let through."""
    if a is None:
        return b
    if a.dtype == b.dtype == bool:
        return ops.logical_and(a, b)
    return ops.add(_added(a, b) if a.dtype == bool else a, _added(b, a) if b.dtype == bool else b)
