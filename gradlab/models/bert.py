"""BERT: an encoder in which every word looks at all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import arange, as_tensor, zeros_like
from ..errors import ArgumentError, ShapeError, explain
from ..nn import Dropout, Embedding, LayerNorm, Linear, Module, ModuleList, init


class Attention(Module):
    """Attention among the words of a sentence, in several heads.

    Shapes: x: (batch, time, channel), mask: (batch, 1, 1, time), True where there is a word; y as x
    """

    def __init__(self, channels: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value, self.out = (Linear(channels, channels) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (split(layer(x), self.heads) for layer in (self.query, self.key, self.value))
        y = ops.scaled_dot_product_attention(q, k, v, mask, dropout_p=self.dropout if self.training else 0.0)
        return self.out(joined(y))


def split(x: Tensor, heads: int) -> Tensor:
    """(batch, time, channel) as (batch, head, time, channel / heads)."""
    batch, time, channels = x.shape
    return x.reshape(batch, time, heads, channels // heads).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    """(batch, head, time, channel) as (batch, time, head x channel)."""
    batch, heads, time, channels = x.shape
    return x.transpose(1, 2).reshape(batch, time, heads * channels)


class Block(Module):
    """x <- norm(x + attention(x));  x <- norm(x + linear2(gelu(linear1(x)))): normed after each sum, as BERT does.

    Shapes: x: (batch, time, channel), y as x
    """

    def __init__(self, channels: int, heads: int, inner: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.attention = Attention(channels, heads, dropout)
        self.norm1, self.norm2 = LayerNorm(channels, eps=eps), LayerNorm(channels, eps=eps)
        self.linear1, self.linear2 = Linear(channels, inner), Linear(inner, channels)
        self.drop = Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self.norm1(x + self.drop(self.attention(x, mask)))
        return self.norm2(x + self.drop(self.linear2(ops.gelu(self.linear1(x)))))


class Bert(Module):
    """The encoder of BERT, and of models of its make such as MiniLM: a vector for each word of a sentence.

    The arguments have the names of config.json in the transformers library; `hub.load(model, path, hub.BERT)` brings weights.

    Shapes: input_ids: (batch, time) integers, attention_mask: (batch, time), 1 where there is a word and 0 where there is
    none, token_type_ids as input_ids; y: (batch, time, hidden_size)

    Raises:
        ArgumentError: heads that don't divide the channels.
        ShapeError: more words than `max_position_embeddings`, or ids that are no (batch, time).

    Source: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers", arXiv 1810.04805; without the pooler.

    >>> model = Bert(vocab_size=11, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    >>> model([[3, 1, 4]]).shape, model.eval().embed([[3, 1, 4]]).shape
    ((1, 3, 8), (1, 8))
    """

    def __init__(
        self,
        vocab_size: int = 30522,
        hidden_size: int = 768,
        num_hidden_layers: int = 12,
        num_attention_heads: int = 12,
        intermediate_size: int = 3072,
        max_position_embeddings: int = 512,
        type_vocab_size: int = 2,
        layer_norm_eps: float = 1e-12,
        hidden_dropout_prob: float = 0.1,
    ) -> None:
        super().__init__()
        need_heads("Bert", hidden_size, num_attention_heads)
        self.words = Embedding(vocab_size, hidden_size)
        self.positions = Embedding(max_position_embeddings, hidden_size)
        self.types = Embedding(type_vocab_size, hidden_size)
        self.norm, self.drop = LayerNorm(hidden_size, eps=layer_norm_eps), Dropout(hidden_dropout_prob)
        sizes = (hidden_size, num_attention_heads, intermediate_size, hidden_dropout_prob, layer_norm_eps)
        self.blocks = ModuleList(Block(*sizes) for _ in range(num_hidden_layers))
        self.apply(draw)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Bert:
        """A model of the sizes that a config.json names."""
        return cls(**chosen(cls, config, "num_hidden_layers"))

    def forward(self, input_ids: Any, attention_mask: Any = None, token_type_ids: Any = None) -> Tensor:
        ids = need_ids("Bert", input_ids, self.positions.num_embeddings)
        types = zeros_like(ids) if token_type_ids is None else as_tensor(token_type_ids)
        x = self.words(ids) + self.positions(arange(ids.shape[1], device=ids.device)) + self.types(types)
        x = self.drop(self.norm(x))
        mask = None if attention_mask is None else as_tensor(attention_mask).bool()[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return x

    def embed(self, input_ids: Any, attention_mask: Any = None) -> Tensor:
        """One vector of length 1 a sentence: the mean over its words, as sentence-transformers takes it.

        Shapes: input_ids: (batch, time), attention_mask as there, y: (batch, hidden_size)
        """
        x = self(input_ids, attention_mask)
        if attention_mask is None:
            return ops.normalize(x.mean(1), dim=-1)
        weights = as_tensor(attention_mask).to(dtype=x.dtype)[:, :, None]
        return ops.normalize((x * weights).sum(1) / weights.sum(1).clamp(min=1e-9), dim=-1)


# What GPT shares


def draw(module: Module) -> None:
    """Draw weights from N(0, 0.02^2), biases are 0, as BERT and GPT-2 begin."""
    if isinstance(module, (Linear, Embedding)):
        init.normal_(module.weight, 0.0, 0.02)
    if isinstance(module, Linear) and module.bias is not None:
        init.zeros_(module.bias)


def need_heads(name: str, channels: int, heads: int) -> None:
    """Refuse heads that don't divide the channels."""
    if heads < 1 or channels % heads:
        got = {"channels": channels, "heads": heads}
        raise ArgumentError(explain(f"{name}: each head gets the same number of channels", got=got, need="channels a multiple of heads"))


def need_ids(name: str, ids: Any, longest: int) -> Tensor:
    """The ids as a tensor (batch, time), at most `longest` in a row."""
    ids = as_tensor(ids)
    if ids.ndim != 2 or ids.shape[1] > longest:
        raise ShapeError(explain(f"{name}: these are no sentences", got={"ids": ids.shape}, need=f"(batch, time), time at most {longest}"))
    return ids


def chosen(cls: type[Module], config: Mapping[str, Any], *needed: str) -> dict[str, Any]:
    """The entries of a config that `cls` takes.

    Raises:
        ArgumentError: one that is needed is not there: the config is that of another model.
    """
    missing = [name for name in needed if name not in config]
    if missing:
        got = {"config": ", ".join(map(str, config)) or "empty", "missing": ", ".join(missing)}
        raise ArgumentError(explain(f"{cls.__name__}: this is the config of another model", got=got, need=", ".join(needed)))
    taken = cls.__init__.__annotations__
    return {name: value for name, value in config.items() if name in taken}
