"""One layer of a Transformer: attention, then a net for each step by itself; what each gives is added to what it got."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .. import ops
from .._tensor import Tensor
from ..errors import ArgumentError, KeywordError, explain
from .attention import MultiheadAttention
from .dropout import Dropout
from .kv_cache import KVCache
from .linear import Linear
from .module import Module
from .norm import LayerNorm

Activation = str | Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": ops.relu, "gelu": ops.gelu}


class _Layer(Module):
    """What both layers share: their attentions, linear2(activation(linear1(x))), norms and dropouts."""

    _attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = ops.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.activation, place = _activation(type(self).__name__, activation), {"device": device, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **place))
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        self.norm_first = bool(norm_first)
        for i in range(1, len(self._attentions) + 2):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **place))
        for i in range(1, len(self._attentions) + 2):
            setattr(self, f"dropout{i}", Dropout(dropout))

    def _added(self, x: Tensor, i: int, part: Callable[[Tensor], Tensor]) -> Tensor:
        """x + part(norm(x)) where norms come first, else norm(x + part(x))."""
        norm, dropout = getattr(self, f"norm{i}"), getattr(self, f"dropout{i}")
        return x + dropout(part(norm(x))) if self.norm_first else norm(x + dropout(part(x)))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """x = norm1(x + attention(x)), y = norm2(x + linear2(activation(linear1(x)))); with `norm_first` x + attention(norm1(x)) and so on.

    With a causal mask (`is_causal=True` is enough) it is a layer of GPT, and a `cache` (`KVCache`) lets it go step by step.
    Masks say by True where not to look, or are added to the scores, see `MultiheadAttention`; `layer.self_attn.positions =
    nn.RotaryPositions(...)` turns its queries and keys.

    Args:
        activation: "relu", "gelu", or a function or module of one tensor.
        norm_first: normalise what the parts get, not what they give.
        bias: whether the linear layers, the projections and the norms have one.

    Shapes: src: (time, batch, d_model), with `batch_first` (batch, time, d_model), or (time, d_model); src_mask: (time, time) or
        (batch nhead, time, time); src_key_padding_mask: (batch, time); y: as src

    Raises:
        ShapeError: sizes or masks that don't go together.
        ArgumentError: another activation.

    Source: A. Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762, section 3; `norm_first`: R. Xiong et al., 2020,
    arXiv:2002.04745, figure 1.

    >>> from gradlab import zeros
    >>> TransformerEncoderLayer(8, 2, dim_feedforward=16)(zeros(5, 3, 8)).shape
    (5, 3, 8)
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor:
        def attention(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal, cache=cache)[0]

        return self._added(self._added(src, 1, attention), 2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """As `TransformerEncoderLayer`, and between its two parts an attention that reads `memory`, what an encoder gave.

    With a `cache` memory is projected the first time only, and later steps may come one by one.

    Shapes: tgt: (time, batch, d_model), memory: (key, batch, d_model), with `batch_first` (batch, time or key, d_model), or without
        batch; tgt_mask: (time, time), memory_mask: (time, key), tgt_key_padding_mask: (batch, time), memory_key_padding_mask:
        (batch, key); y: as tgt

    Source: A. Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762, section 3.

    >>> from gradlab import zeros
    >>> TransformerDecoderLayer(8, 2, dim_feedforward=16)(zeros(5, 3, 8), zeros(7, 3, 8), tgt_is_causal=True).shape
    (5, 3, 8)
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor:
        def attention(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal, cache=cache)[0]

        def reading(x: Tensor) -> Tensor:
            masks = {"key_padding_mask": memory_key_padding_mask, "attn_mask": memory_mask, "is_causal": memory_is_causal}
            return self.multihead_attn(x, memory, memory, need_weights=False, cache=cache, **masks)[0]

        return self._added(self._added(self._added(tgt, 1, attention), 2, reading), 3, self._feed_forward)


def _activation(name: str, given: Any) -> Any:
    if callable(given):
        return given
    if not isinstance(given, str):
        got = {"activation": repr(given)}
        raise KeywordError(explain(f"{name}: this is no activation", got=got, need='"relu", "gelu", or a function of one tensor'))
    if given not in ACTIVATIONS:
        got = {"activation": repr(given)}
        raise ArgumentError(explain(f"{name}: which activation?", got=got, need='"relu", "gelu", or a function of one tensor'))
    return ACTIVATIONS[given]
