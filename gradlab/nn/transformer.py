"""Layers of a Transformer on top of one another, and encoder and decoder in one."""

from __future__ import annotations

import copy
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import full
from ..errors import ShapeError, explain
from ..ops.argument import tensor_of
from . import init
from .container import ModuleList
from .kv_cache import KVCache
from .module import Module
from .norm import LayerNorm
from .option import need_sizes
from .transformer_layer import Activation, TransformerDecoderLayer, TransformerEncoderLayer


def _copies(layer: Module, num_layers: int) -> ModuleList:
    need_sizes("Transformer", 1, num_layers=num_layers)
    return ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])


class TransformerEncoder(Module):
    """`num_layers` copies of a layer, each of which gets what the one before it gave; behind all of them `norm`.

    The copies begin with the same numbers, as PyTorch's do. With `is_causal=True` and a `cache` (`KVCache`) it goes step by step.
    `enable_nested_tensor` and `mask_check` are there for PyTorch's sake: padding is computed like the rest.

    Shapes: as the layer's

    >>> from gradlab import zeros
    >>> encoder, cache = TransformerEncoder(TransformerEncoderLayer(8, 2, 16), num_layers=2), KVCache()
    >>> [encoder(zeros(n, 3, 8), is_causal=True, cache=cache).shape for n in (5, 1)], cache.steps
    ([(5, 3, 8), (1, 3, 8)], 6)
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers, self.num_layers, self.norm = _copies(encoder_layer, num_layers), num_layers, norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
        cache: KVCache | None = None,
    ) -> Tensor:
        masks: dict[str, Any] = {"src_mask": mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": bool(is_causal)}
        for layer in self.layers:
            src = layer(src, **masks, **({} if cache is None else {"cache": cache}))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a layer that also reads `memory`; behind all of them `norm`. With a `cache` it goes step by step.

    Shapes: as the layer's

    >>> from gradlab import zeros
    >>> decoder = TransformerDecoder(TransformerDecoderLayer(8, 2, 16), num_layers=2)
    >>> decoder(zeros(5, 3, 8), zeros(7, 3, 8)).shape
    (5, 3, 8)
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers, self.num_layers, self.norm = _copies(decoder_layer, num_layers), num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor:
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal)
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, **({} if cache is None else {"cache": cache}))
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder that reads `src`, and a decoder that reads `tgt` and what the encoder gave.

    Matrices start as Xavier's uniform ones. To generate, call `encoder` once, then `decoder` with a `KVCache` for each step. Masks
    are those of the layers; a missing `tgt_mask` hides nothing, give `tgt_is_causal=True` or `generate_square_subsequent_mask`.

    Args:
        custom_encoder, custom_decoder: modules to stand in their places.

    Shapes: src: (source, batch, d_model), tgt: (target, batch, d_model), with `batch_first` (batch, source or target, d_model), or
        without batch; y: as tgt

    Raises:
        ShapeError: sizes or masks that don't go together.

    Source: A. Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762.

    >>> from gradlab import zeros
    >>> model = Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> model(zeros(7, 3, 8), zeros(5, 3, 8), tgt_is_causal=True).shape
    (5, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = ops.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is None:
            custom_encoder = TransformerEncoder(TransformerEncoderLayer(*given), num_encoder_layers, norm())
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(TransformerDecoderLayer(*given), num_decoder_layers, norm())
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead, self.batch_first = d_model, nhead, bool(batch_first)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every matrix anew."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """0 where a step may look: at itself and those before; -inf where it must not.

        >>> Transformer.generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        return ops.triu(full((sz, sz), float("-inf"), device=device, dtype=dtype), 1)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        source, target, batch = tensor_of(src), tensor_of(tgt), 0 if self.batch_first else 1
        axes, need = (source.ndim, target.ndim), f"(time, batch, {self.d_model}), or with batch_first (batch, time, {self.d_model})"
        fits = axes in ((2, 2), (3, 3)) and source.shape[-1] == target.shape[-1] == self.d_model
        if not fits or (axes == (3, 3) and source.shape[batch] != target.shape[batch]):
            got = {"src": source.shape, "tgt": target.shape}
            raise ShapeError(explain("Transformer: the shapes don't go together", got=got, need=f"both {need}"))
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self.decoder(tgt, memory, *masks, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)
