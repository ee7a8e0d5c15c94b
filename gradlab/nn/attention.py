"""MultiheadAttention: several attentions side by side, each on its own projection of queries, keys and values."""

from __future__ import annotations

from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import zeros
from ..errors import ArgumentError, ShapeError, explain
from ..ops.argument import tensor_of
from . import init
from .kv_cache import KVCache
from .linear import Linear
from .mask import both, causal, merged, weighed
from .module import Module
from .option import need_probability, need_sizes
from .parameter import Parameter


class MultiheadAttention(Module):
    """Concat(head_1 ... head_h) W_o, head_i = softmax(Q_i K_i^T / sqrt(d)) V_i, with Q_i, K_i, V_i projections to embed_dim / num_heads.

    Gives the output and, with `need_weights`, the mean of the heads' weights (each one's unless `average_attn_weights`).
    A mask says by True where NOT to look, or is added to the scores: `attn_mask` for query and key, `key_padding_mask` for keys;
    `is_causal` lets query i look at keys 0 to i, also without a mask. A query that may look at nothing gets weights of 0 (PyTorch
    has NaN there with `need_weights`). With a `cache` (`KVCache`) keys and values of earlier calls come first where query and key
    are one tensor, else they are projected the first time only; `attn_mask` and `key_padding_mask` are then for all of them.

    Args:
        dropout: the probability to drop a weight while training.
        bias: whether the projections have one.
        add_bias_kv: one more key and value, which are learned.
        add_zero_attn: one more key and value of zeros.
        kdim, vdim: features of key and value, embed_dim unless given.
        batch_first: the batch axis comes before time.
        positions: turns queries and keys by where they stand, as `RotaryPositions` does; in self-attention only.

    Shapes: query: (query, batch, embed_dim), key: (key, batch, kdim), value: (key, batch, vdim), with `batch_first` (batch, query,
        ...), or all without batch; attn_mask: (query, key) or (batch num_heads, query, key); key_padding_mask: (batch, key);
        output: as query; weights: (batch, query, key), or (batch, num_heads, query, key)

    Raises:
        ShapeError: sizes or masks that don't go together.
        DTypeError: a mask that is neither booleans nor floats.

    Source: A. Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762, section 3.2.2.

    >>> x = zeros(7, 2, 8)
    >>> y, weights = MultiheadAttention(8, 4)(x, x, x)
    >>> y.shape, weights.shape
    ((7, 2, 8), (2, 7, 7))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
        positions: Module | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        e, self.num_heads = self.embed_dim, _ = need_sizes(name, 1, embed_dim=embed_dim, num_heads=num_heads)
        if e % self.num_heads:
            got = {"embed_dim": e, "num_heads": num_heads}
            raise ShapeError(explain(f"{name}: the heads can't share the features", got=got, need="embed_dim a multiple of num_heads"))
        self.kdim, self.vdim = need_sizes(name, 1, kdim=e if kdim is None else kdim, vdim=e if vdim is None else vdim)
        self.head_dim = e // self.num_heads
        need_probability(name, dropout, "dropout")
        self.dropout, self.add_zero_attn, self.batch_first = dropout, bool(add_zero_attn), bool(batch_first)

        def parameter(there: bool, *shape: int) -> Parameter | None:
            return Parameter(zeros(shape, device=device, dtype=dtype)) if there else None

        alike = self.kdim == self.vdim == e
        self.in_proj_weight = parameter(alike, 3 * e, e)
        self.q_proj_weight = parameter(not alike, e, e)
        self.k_proj_weight = parameter(not alike, e, self.kdim)
        self.v_proj_weight = parameter(not alike, e, self.vdim)
        self.in_proj_bias = parameter(bias, 3 * e)
        self.bias_k, self.bias_v = parameter(add_bias_kv, 1, 1, e), parameter(add_bias_kv, 1, 1, e)
        self.out_proj, self.positions = Linear(e, e, bias=bias, dtype=dtype), positions
        if device is not None:
            self.to(device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew: Xavier's uniform ones for the projections, biases of 0."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)
        self.out_proj.reset_parameters()
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        given = [tensor_of(x) for x in (query, key, value)]
        self._need_fit(*given)
        alone = given[0].ndim == 2
        same = query is key, key is value
        q, k, v = [ops.unsqueeze(x, 0 if self.batch_first else 1) for x in given] if alone else given
        q, k, v = self._projected(q, k, v, same, cache)
        length = k.shape[-2]
        k, v = self._with_extra_keys(k, v)
        extra = k.shape[-2] - length
        mask = merged(type(self).__name__, q, length, extra, attn_mask, key_padding_mask)
        p = self.dropout if self.training else 0.0
        past = length - q.shape[-2] if cache is not None and same[0] else 0
        is_causal = is_causal and length > past + 1  # else no key is later than the first query
        plain = is_causal and not (past or extra or need_weights or mask is not None)
        if is_causal and not plain:
            mask = both(mask, causal(q, length, extra, past))
        if need_weights:
            y, weights = weighed(q, k, v, mask, p)
            weights = ops.mean(weights, 1) if average_attn_weights else weights
            weights = ops.squeeze(weights, 0) if alone else weights
        else:
            y, weights = ops.scaled_dot_product_attention(q, k, v, mask, p, is_causal=plain), None
        y = ops.permute(y, (0, 2, 1, 3) if self.batch_first else (2, 0, 1, 3))
        y = self.out_proj(ops.reshape(y, (*y.shape[:2], self.embed_dim)))
        return ops.squeeze(y, 0 if self.batch_first else 1) if alone else y, weights

    def _need_fit(self, q: Tensor, k: Tensor, v: Tensor) -> None:
        time, batch = (1, 0) if self.batch_first else (0, 1)
        widths = (self.embed_dim, self.kdim, self.vdim)
        fits = q.ndim in (2, 3) and q.ndim == k.ndim == v.ndim and (q.shape[-1], k.shape[-1], v.shape[-1]) == widths
        if not fits or k.shape[:-1] != v.shape[:-1] or (q.ndim == 3 and q.shape[batch] != k.shape[batch]):
            front = ["batch, query", "batch, key"] if time else ["query, batch", "key, batch"]
            need = f"query: ({front[0]}, {widths[0]}), key: ({front[1]}, {widths[1]}), value: ({front[1]}, {widths[2]})"
            got = {"query": q.shape, "key": k.shape, "value": v.shape}
            raise ShapeError(explain(f"{type(self).__name__}: the shapes don't go together", got=got, need=f"{need}, or all without batch"))

    def _projected(self, q: Tensor, k: Tensor, v: Tensor, same: tuple[bool, bool], cache: KVCache | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, (batch, head, time, feature) each; with a cache also the keys and values it has."""
        joined = self.in_proj_weight is not None
        if joined and all(same):
            q, k, v = self._heads(q, 0, 3)
        else:
            (q,) = self._heads(q, 0, 1)
            kept = None if cache is None or same[0] else cache.fixed(self)
            if kept is not None:
                return q, *kept
            k, v = self._heads(k, 1, 2) if joined and same[1] else (*self._heads(k, 1, 1), *self._heads(v, 2, 1))
        if self.positions is not None:
            if not same[0]:
                got = {"query": "one tensor", "key": "another"}
                raise ArgumentError(explain(f"{type(self).__name__}: positions of what?", got=got, need="self-attention: m(x, x, x)"))
            past = 0 if cache is None else cache.length(self)
            q, k = self.positions(q, offset=past), self.positions(k, offset=past)
        if cache is not None and same[0]:
            k, v = cache.extend(self, k, v)
        elif cache is not None:
            cache.keep(self, k, v)
        return q, k, v

    def _heads(self, x: Tensor, first: int, n: int) -> tuple[Tensor, ...]:
        """n of the projections to query, key and value, cut into heads: (batch, head, time, feature) each."""
        weight, bias = self.in_proj_weight, self.in_proj_bias
        rows = slice(first * self.embed_dim, (first + n) * self.embed_dim)
        if weight is None:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)[first]
        elif n < 3:
            weight = weight[rows]
        if bias is not None and n < 3:
            bias = bias[rows]
        x = ops.linear(x, weight, bias)  # pyright: ignore[reportArgumentType]  # one is there without the joined one
        x = ops.reshape(x, (*x.shape[:2], n, self.num_heads, self.head_dim))
        return ops.unbind(ops.permute(x, (2, 0, 3, 1, 4) if self.batch_first else (2, 1, 3, 0, 4)), 0)

    def _with_extra_keys(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values with the learned one and that of zeros behind, where there are such."""
        batch, extra = k.shape[0], []
        if self.bias_k is not None and self.bias_v is not None:
            shape = (1, self.num_heads, 1, self.head_dim)
            extra.append([ops.expand(ops.reshape(b, shape), (batch, *shape[1:])) for b in (self.bias_k, self.bias_v)])
        if self.add_zero_attn:
            nothing = zeros((batch, self.num_heads, 1, self.head_dim), device=k.device, dtype=k.dtype)
            extra.append([nothing, nothing])
        return (ops.cat([k, *[x for x, _ in extra]], 2), ops.cat([v, *[x for _, x in extra]], 2)) if extra else (k, v)
