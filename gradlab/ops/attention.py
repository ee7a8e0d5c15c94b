"""Attention: every query takes the mean of the values, weighed by how well the keys fit it."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, DTypeError, GradlabError, ShapeError, explain
from ..function import Function
from .draw import kept_at_random
from .dtype import as_pytorch, beside, need_floats, need_one_dtype, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _need_fit(q: Array, k: Array, v: Array, mask: Array | None, enable_gqa: bool) -> None:
    """Refuse what is no set of queries, keys and values; whether the axes in front broadcast is seen later.

    Raises:
        ShapeError: too few axes, or sizes that differ where they must not.
        DTypeError: not floats, or of several kinds.
    """
    need_floats("scaled_dot_product_attention", q)
    for name, x in (("key", k), ("value", v)):
        if x.dtype is not q.dtype:
            need_floats("scaled_dot_product_attention", x)
            need_one_dtype("scaled_dot_product_attention", **{name: x, "query": q})
    axes = 3 if enable_gqa else 2
    if min(q.ndim, k.ndim, v.ndim) < axes or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise _misfit([q.shape, k.shape, v.shape], "q: (*, query, e), k: (*, key, e), v: (*, key, value)")
    if enable_gqa and (k.shape[-3] != v.shape[-3] or not k.shape[-3] or q.shape[-3] % k.shape[-3]):
        raise _misfit([q.shape, k.shape, v.shape], "with enable_gqa the heads (axis -3) of q a multiple of those of k and v")
    if enable_gqa and mask is not None and mask.ndim > 2 and mask.shape[-3] not in (1, q.shape[-3]):
        raise _misfit([q.shape, k.shape, v.shape, mask.shape], "a mask that broadcasts to (*, query, key)")
    if mask is not None and mask.dtype != bool and (mask.dtype.kind != "f" or mask.dtype.itemsize > max(4, q.dtype.itemsize)):
        got = {"query": q.dtype, "attn_mask": mask.dtype}
        raise DTypeError(explain("scaled_dot_product_attention: this is no mask", got=got, need="booleans, or floats as the query"))


def _misfit(shapes: list[tuple[int, ...]], need: str) -> ShapeError:
    got: dict[str, object] = dict(zip(("query", "key", "value", "attn_mask"), shapes, strict=False))
    return ShapeError(explain("scaled_dot_product_attention: the shapes don't go together", got=got, need=need))


def _grouped(x: Array, groups: int) -> Array:
    """The heads in groups that share keys and values: (*, head, n, m) as (*, group, head of the group, n, m)."""
    heads = x.shape[-3]
    return x.reshape((*x.shape[:-3], groups, heads // groups, *x.shape[-2:]))


def _ungrouped(x: Array) -> Array:
    return x.reshape((*x.shape[:-4], x.shape[-4] * x.shape[-3], *x.shape[-2:]))


def _turned(x: Array) -> Array:
    """The last two axes swapped."""
    return xp_of(x).swapaxes(x, -1, -2)


class Attention(Function):
    """y = p v, p = softmax(s q k^T + mask);  dv = p^T g, dz = p (g v^T - sum of g y), dq = s dz k, dk = s dz^T q, dmask = dz.

    A boolean mask is False where a query must not look; a row without anything to look at gives 0, as in PyTorch, and gradients of 0.

    Source: A. Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762, equation 1; the gradient of the scores by
    the sum of g y: T. Dao et al., FlashAttention, 2022, arXiv:2205.14135, appendix B.2.
    """

    latex = (
        r"P = \mathrm{softmax}(s\,Q K^\top + M), \quad Y = P V, \quad \bar V = P^\top \bar Y, \quad "
        r"\bar Z = P \odot (\bar Y V^\top - \mathrm{rowsum}(\bar Y \odot Y)), \quad "
        r"\bar Q = s\,\bar Z K, \quad \bar K = s\,\bar Z^\top Q, \quad \bar M = \bar Z"
    )
    kind = "matmul"
    cases = (
        Case(Draw((3, 4)), Draw((5, 4)), Draw((5, 2)), scale=0.5),
        Case(Draw((2, 3, 2)), Draw((2, 4, 2)), Draw((2, 4, 3)), scale=0.7, is_causal=True),
        Case(Draw((2, 1, 3, 2)), Draw((1, 2, 4, 2)), Draw((4, 3)), Draw((3, 4)), scale=0.7),
        Case(Draw((3, 2)), Draw((3, 2)), Draw((3, 2)), Given([[True, False, True], [False] * 3, [True] * 3], "bool"), scale=1.0),
        Case(Draw((4, 3, 2)), Draw((2, 2, 2)), Draw((2, 2, 2)), Draw((4, 1, 2)), scale=1.0, enable_gqa=True),
        Case(Draw((1, 4, 2, 2)), Draw((1, 2, 3, 2)), Draw((1, 2, 3, 2)), Draw((1, 1, 2, 3)), scale=1.0, enable_gqa=True),
        Case(Draw((2, 2, 3)), Draw((2, 2, 3)), Draw((2, 2, 3)), scale=1.0, is_causal=True, enable_gqa=True),
        Case(Draw((2, 3, 4)), Draw((2, 0, 4)), Draw((2, 0, 2)), scale=1.0),
        Case(Draw((0, 4)), Draw((3, 4)), Draw((3, 4)), scale=1.0),
    )
    fresh = True

    @staticmethod
    def reference(
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None = None,
        *,
        scale: float,
        is_causal: bool = False,
        enable_gqa: bool = False,
        drawn: Array | None = None,
    ) -> Array:
        """The formula as printed; a row of nothing but -inf becomes 0."""
        xp = xp_of(q)
        if enable_gqa:
            k, v = [xp.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v)]
        z = q @ xp.swapaxes(k, -1, -2) * scale
        if is_causal:
            z = xp.where(xp.tril(xp.ones(z.shape[-2:], dtype=bool)), z, -xp.inf)
        if mask is not None:
            z = xp.where(mask, z, -xp.inf) if mask.dtype == bool else z + mask
        e = xp.exp(z - xp.max(xp.where(z == -xp.inf, -1e30, z), axis=-1, keepdims=True)) if 0 not in z.shape else z
        p = e / xp.maximum(xp.sum(e, axis=-1, keepdims=True), 1e-30)
        return (p if drawn is None else p * drawn) @ v

    @as_pytorch
    def forward(
        self,
        q: Array,
        k: Array,
        v: Array,
        mask: Array | None = None,
        *,
        scale: float,
        is_causal: bool = False,
        enable_gqa: bool = False,
        drawn: Array | None = None,
    ) -> Array:
        _need_fit(q, k, v, mask, enable_gqa)
        xp, dtype, groups = xp_of(q), q.dtype, k.shape[-3] if enable_gqa else 0
        q, k, v = wide(q), wide(k), wide(v)
        if groups:
            q, k, v = _grouped(q, groups), k[..., None, :, :], v[..., None, :, :]
            if mask is not None and mask.ndim > 2:
                mask = _grouped(mask, groups if mask.shape[-3] > 1 else 1)
            drawn = drawn if drawn is None else _grouped(drawn, groups)
        self.q, self.k, self.v, self.scale, self.drawn = q, k, v, scale, drawn
        # In one buffer: scores, less their largest, e to that, probabilities.
        self.p = p = (q * scale) @ _turned(k)
        if is_causal:
            later = xp.arange(p.shape[-1]) > xp.arange(p.shape[-2])[:, None]
            p += xp.asarray(xp.where(later, -xp.inf, 0.0), dtype=p.dtype)
        if mask is not None:
            p += xp.asarray(xp.where(mask, 0.0, -xp.inf), dtype=p.dtype) if mask.dtype == bool else mask
        if p.shape[-1]:
            # A row of nothing but -inf: less a finite number it is -inf still, and e to that is 0, as is its sum.
            p -= xp.maximum(xp.max(p, axis=-1, keepdims=True), -1e30)
            xp.exp(p, out=p)
            p /= xp.maximum(xp.sum(p, axis=-1, keepdims=True), 1.0)  # the largest adds 1 to every other row
        self.weights = p if drawn is None else p * drawn
        self.y = self.weights @ v
        return xp.asarray(_ungrouped(self.y) if groups else self.y, dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, needs = xp_of(g), self.needs
        grouped = self.y.ndim != g.ndim
        g = _grouped(wide(g), self.y.shape[-4]) if grouped else wide(g)
        dv = _turned(self.weights) @ g if needs[2] else None
        dz = dq = dk = None
        if needs[0] or needs[1] or needs[-1]:
            dz = g @ _turned(self.v)
            if self.drawn is not None:
                dz *= self.drawn
            # The sum over a row of dz p, from arrays of the size of y, not of p.
            dz -= xp.einsum("...i,...i->...", g, self.y)[..., None]
            dz *= self.p
            if needs[0]:
                dq = dz @ self.k
                dq *= self.scale
            if needs[1]:
                dk = _turned(dz) @ self.q
                dk *= self.scale
        if grouped:
            dq, dz = [None if d is None else _ungrouped(d) for d in (dq, dz)]
            dk, dv = [None if d is None else xp.sum(d, axis=-3) for d in (dk, dv)]
        return (dq, dk, dv, dz)[: len(needs)]

    def refuse(self, error: ValueError) -> None:
        """Name the shapes."""
        if not isinstance(error, GradlabError):
            raise _misfit([x.shape for x in self.inputs], "axes in front that broadcast, and a mask that broadcasts to (*, query, key)")


def scaled_dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    attn_mask: TensorLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Give every query the mean of the values, weighed by softmax of its products with the keys.

    `attn_mask` says where a query may look (booleans), or is added to the products times `scale` (floats); `is_causal` lets
    query i look at keys 0 to i. `scale` is 1 / sqrt(e) unless given. With `enable_gqa` groups of heads share keys and values.
    A query that may look at nothing gets 0. `dropout_p` drops weights, also outside of training: pass 0 there.

    Shapes: query: (*, query, e), key: (*, key, e), value: (*, key, v), attn_mask: broadcasts to (*, query, key), y: (*, query, v)

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, of several kinds, or a mask that is neither booleans nor floats of theirs.
        ArgumentError: both `attn_mask` and `is_causal`, or a `dropout_p` that is no probability.

    >>> scaled_dot_product_attention([[1.0], [0.0]], [[0.0], [9.0]], [[1.0], [3.0]], is_causal=True).tolist()
    [[1.0], [2.0]]
    """
    q, k, v = query, beside(key, query), beside(value, query)
    if attn_mask is not None and is_causal:
        got = {"attn_mask": "given", "is_causal": is_causal}
        raise ArgumentError(explain("scaled_dot_product_attention: two masks", got=got, need="attn_mask or is_causal, not both"))
    inputs: list[Any] = [x if hasattr(x, "grad_fn") else as_array(x) for x in (q, k, v, *(() if attn_mask is None else (attn_mask,)))]
    params: dict[str, Any] = {"scale": 1 / sqrt(inputs[0].shape[-1] or 1) if scale is None else scale}
    if is_causal:
        params["is_causal"] = True
    if enable_gqa:
        params["enable_gqa"] = True
    if dropout_p:
        params["drawn"] = _drawn(inputs, dropout_p, enable_gqa)
    return Attention.apply(*inputs, **params)


def _drawn(inputs: list[Any], p: float, enable_gqa: bool) -> Array:
    """What is left of the weights, drawn before the step, so that a step that runs again has the same."""
    if not 0.0 <= p <= 1.0:
        got, need = {"dropout_p": p}, "a number from 0 to 1"
        raise ArgumentError(explain("scaled_dot_product_attention: dropout_p is the probability to drop a weight", got=got, need=need))
    arrays = [x.data if hasattr(x, "grad_fn") else x for x in inputs]
    q, k, v = arrays[:3]
    _need_fit(q, k, v, arrays[3] if len(arrays) > 3 else None, enable_gqa)
    own = 3 if enable_gqa else 2  # axes that are not in front
    try:
        front = np.broadcast_shapes(q.shape[:-own], k.shape[:-own])
    except ValueError:
        raise _misfit([x.shape for x in arrays], "axes in front that broadcast") from None
    return kept_at_random(q, (*front, *q.shape[-own:-1], k.shape[-2]), p, 1 / (1 - p) if p < 1 else 0.0)
