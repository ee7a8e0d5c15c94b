"""GPT: a decoder that tells, after every token, how likely each next one is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import arange
from ..nn import Dropout, Embedding, KVCache, LayerNorm, Linear, Module, ModuleList, init
from ..nn.mask import causal
from .bert import chosen, draw, joined, need_heads, need_ids, split


class CausalAttention(Module):
    """Attention to what came before, in several heads; queries, keys and values are made by one product.

    Shapes: x: (batch, time, channel), y as x
    """

    def __init__(self, channels: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.out = Linear(channels, 3 * channels), Linear(channels, channels)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        q, k, v = (split(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            k, v = cache.extend(self, k, v)
        past = k.shape[-2] - q.shape[-2]
        mask = causal(q, k.shape[-2], past=past) if past and q.shape[-2] > 1 else None  # one query is the last: it sees all keys
        y = ops.scaled_dot_product_attention(q, k, v, mask, self.dropout if self.training else 0.0, is_causal=not past)
        return self.out(joined(y))


class Block(Module):
    """x <- x + attention(norm(x));  x <- x + linear2(gelu(linear1(norm(x)))): normed before each, so that the sum stays plain.

    Shapes: x: (batch, time, channel), y as x
    """

    def __init__(self, channels: int, heads: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = LayerNorm(channels, eps=eps), LayerNorm(channels, eps=eps)
        self.attention = CausalAttention(channels, heads, dropout)
        self.linear1, self.linear2 = Linear(channels, 4 * channels), Linear(4 * channels, channels)
        self.drop = Dropout(dropout)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        x = x + self.drop(self.attention(self.norm1(x), cache))
        return x + self.drop(self.linear2(ops.gelu(self.linear1(self.norm2(x)), approximate="tanh")))


class GPT(Module):
    """GPT-2: for each place the logits of the token that comes next.

    The arguments have the names of config.json in the transformers library; `hub.load(model, path, hub.GPT2)` brings weights.
    The last layer is the table of the tokens once more. With an `nn.KVCache` it goes on after the tokens that the cache has seen.

    Shapes: input_ids: (batch, time) integers, y: (batch, time, vocab_size)

    Raises:
        ArgumentError: heads that don't divide the channels.
        ShapeError: more tokens than `n_positions`, or ids that are no (batch, time).

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; weights of layers that end in the
    sum begin smaller by 1 / sqrt(2 n_layer), section 2.3.

    >>> GPT(vocab_size=11, n_positions=8, n_embd=12, n_layer=1, n_head=3)([[3, 1, 4]]).shape
    (1, 3, 11)
    """

    def __init__(
        self,
        vocab_size: int = 50257,
        n_positions: int = 1024,
        n_embd: int = 768,
        n_layer: int = 12,
        n_head: int = 12,
        resid_pdrop: float = 0.1,
        layer_norm_epsilon: float = 1e-5,
    ) -> None:
        super().__init__()
        need_heads("GPT", n_embd, n_head)
        self.tokens, self.positions = Embedding(vocab_size, n_embd), Embedding(n_positions, n_embd)
        self.drop = Dropout(resid_pdrop)
        self.blocks = ModuleList(Block(n_embd, n_head, resid_pdrop, layer_norm_epsilon) for _ in range(n_layer))
        self.norm = LayerNorm(n_embd, eps=layer_norm_epsilon)
        self.apply(draw)
        for block in self.blocks:
            for layer in (block.attention.out, block.linear2):
                init.normal_(layer.weight, 0.0, 0.02 / math.sqrt(2 * n_layer))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> GPT:
        """A model of the sizes that a config.json names."""
        return cls(**chosen(cls, config, "n_layer"))

    def forward(self, input_ids: Any, cache: KVCache | None = None) -> Tensor:
        past = 0 if cache is None else cache.steps
        ids = need_ids("GPT", input_ids, self.positions.num_embeddings - past)
        x = self.drop(self.tokens(ids) + self.positions(arange(past, past + ids.shape[1], device=ids.device)))
        for block in self.blocks:
            x = block(x, cache)
        return ops.linear(self.norm(x), self.tokens.weight)
