"""Rows of layers that read sequences: recurrent layers, attention, Transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .modules import draw, row


def ins(*shapes: Any) -> Callable[[], list[Any]]:
    """Inputs of these shapes, one seed each; a list of shapes is a tuple of inputs."""

    def make() -> list[Any]:
        return [
            tuple([draw(*s, seed=10 * i + k) for k, s in enumerate(shape)]) if isinstance(shape, list) else draw(*shape, seed=i)
            for i, shape in enumerate(shapes)
        ]

    return make


def packed(lengths: list[int], batch_first: bool = False) -> Callable[..., Any]:
    """Called on a packed sequence, of which the output is padded again."""

    def call(nn: Any, module: Any, x: Any, *hx: Any) -> Any:
        pack = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=False)
        out, last = module(pack, *hx)
        return nn.utils.rnn.pad_packed_sequence(out, batch_first=batch_first)[0], last

    return call


X, F, H = (4, 2, 3), 3, 2
for name, extra in (("RNN", {"nonlinearity": "relu"}), ("GRU", {}), ("LSTM", {"proj_size": 1})):
    two = name == "LSTM"
    row(name, F, H, inputs=ins(X))
    row(name, F, H, inputs=ins(X, [(1, 2, H)] * 2 if two else (1, 2, H)), note="with states")
    row(name, F, H, inputs=ins((4, F)), note="one sequence")
    row(name, F, H, inputs=ins((4, F), [(1, H)] * 2 if two else (1, H)), note="one sequence with states")
    row(name, F, H, bias=False, batch_first=True, inputs=ins(X))
    row(name, F, H, num_layers=3, inputs=ins(X))
    both: dict[str, Any] = {"num_layers": 2, "bidirectional": True}
    row(name, F, H, inputs=ins(X, [(4, 2, H)] * 2 if two else (4, 2, H)), **both)
    row(name, F, H, inputs=ins((4, 3, F)), call=packed([2, 4, 1]), note="packed", **both)
    row(name, F, H, inputs=ins((3, 4, F)), call=packed([2, 4, 1], True), note="packed", batch_first=True)
    first = [(4, 3, H)] * 2 if two else (4, 3, H)
    row(name, F, H, inputs=ins((4, 3, F), first), call=packed([2, 4, 1]), note="packed with states", **both)
    if extra:
        row(name, F, H, inputs=ins(X), **extra)
        row(name, F, H, inputs=ins((4, 3, F)), call=packed([2, 4, 1]), note="packed", **both, **extra)
row("LSTM", F, H, proj_size=1, bias=False, inputs=ins(X, [(1, 2, 1), (1, 2, H)]), note="with states")
row("LSTM", F, H, proj_size=1, inputs=ins((1, 2, F), [(1, 2, 1), (1, 2, H)]), note="one step with states")

for name in ("RNNCell", "GRUCell", "LSTMCell"):
    two = name == "LSTMCell"
    row(name, F, H, inputs=ins((2, F)))
    row(name, F, H, inputs=ins((2, F), [(2, H)] * 2 if two else (2, H)), note="with states")
    row(name, F, H, inputs=ins((F,)), note="one sample")
    row(name, F, H, bias=False, inputs=ins((F,), [(H,)] * 2 if two else (H,)), note="one sample with states")
row("RNNCell", F, H, nonlinearity="relu", inputs=ins((2, F), (2, H)))


# -- attention

E, B = 4, 2
FUTURE = np.triu(np.ones((3, 3), bool), 1)
PADDED = np.array([[False, False, False, True, True], [False] * 5])
SCORES = draw(3, 5, seed=9)


def attention(note: str, *inputs: Any, still: Any = None, options: Any = None, **call: Any) -> None:
    """Query of 3 steps, key and value of 5 unless told otherwise."""
    inputs = inputs or ((3, B, E), (5, B, E), (5, B, E))
    options = options or {}
    row(
        "MultiheadAttention",
        E,
        2,
        inputs=ins(*inputs),
        note=note,
        still=still,
        call=lambda nn, m, *xs, **kw: m(*xs, **kw, **call),
        **options,
    )


def alike(**call: Any) -> Callable[..., Any]:
    """Self-attention: one tensor in all three places."""
    return lambda nn, m, x, **kw: m(x, x, x, **kw, **call)


attention("cross")
attention("each head's weights", average_attn_weights=False)
attention("no weights", need_weights=False)
attention("one sample", (3, E), (5, E), (5, E))
attention("one sample, heads", (3, E), (5, E), (5, E), average_attn_weights=False)
attention("batch first", (B, 3, E), (B, 5, E), (B, 5, E), options={"batch_first": True})
attention("no bias", options={"bias": False})
attention("widths", (3, B, E), (5, B, 3), (5, B, 6), options={"kdim": 3, "vdim": 6})
attention("widths, no bias", (3, B, E), (5, B, E), (5, B, 6), options={"vdim": 6, "bias": False})
for weights in (True, False):
    how: dict[str, Any] = {"need_weights": weights}
    text = "weights" if weights else "no weights"
    attention(f"padding, {text}", still={"key_padding_mask": PADDED}, **how)
    attention(f"added padding, {text}", still={"key_padding_mask": draw(B, 5)}, **how)
    attention(f"bool mask, {text}", still={"attn_mask": SCORES > 0.2}, **how)
    attention(f"float mask, {text}", still={"attn_mask": SCORES}, **how)
    attention(f"a mask a head, {text}", still={"attn_mask": draw(2 * B, 3, 5) > 0.3}, **how)
    attention(f"both masks, {text}", still={"attn_mask": SCORES > 0.7, "key_padding_mask": PADDED}, **how)
    attention(f"both masks, one added, {text}", still={"attn_mask": SCORES, "key_padding_mask": np.where(PADDED, -np.inf, 0)}, **how)
    more = {"add_bias_kv": True, "add_zero_attn": True}
    attention(f"more keys, {text}", options=more, **how)
    attention(
        f"more keys and masks, {text}", still={"attn_mask": SCORES, "key_padding_mask": np.where(PADDED, -1.0, 0)}, options=more, **how
    )
    for options in ({}, {"batch_first": True}, {"bias": False}):
        shape = (B, 3, E) if "batch_first" in options else (3, B, E)
        row("MultiheadAttention", E, 2, inputs=ins(shape), call=alike(**how), note=f"self, {text}", **options)
    row(
        "MultiheadAttention",
        E,
        4,
        inputs=ins((3, B, E)),
        call=alike(is_causal=True, **how),
        still={"attn_mask": FUTURE},
        note=f"causal, {text}",
    )
    mask = [(3, 5)] if weights else [(2 * B, 3, 5)]  # one that is learned, as the bias of a distance is
    learned = lambda nn, m, q, k, mask, how=how: m(q, k, k, attn_mask=mask[0], **how)  # noqa: E731
    row("MultiheadAttention", E, 2, inputs=ins((3, B, E), (5, B, E), mask), call=learned, note=f"learned mask, {text}")
row("MultiheadAttention", E, 1, inputs=ins((3, B, E), (5, B, E)), call=lambda nn, m, q, k: m(q, k, k), note="memory")


# -- Transformers

FF = 3
SRC, TGT = (3, B, E), (2, B, E)
HIDE = np.triu(np.full((3, 3), -np.inf), 1)
LATE = np.array([[False, False, True], [False] * 3])


def transformer(name: str, *inputs: Any, note: str = "", still: Any = None, options: Any = None, **call: Any) -> None:
    """A layer of 2 heads."""
    options = {"dim_feedforward": FF, **(options or {})}

    def called(nn: Any, m: Any, *xs: Any, **kw: Any) -> Any:
        return m(*xs, **kw, **call)

    row(name, E, 2, inputs=ins(*inputs), note=note, still=still, call=called, **options)


SWAPPED = {"batch_first": True, "norm_first": True}
for name, shapes in (("TransformerEncoderLayer", (SRC,)), ("TransformerDecoderLayer", (TGT, SRC))):
    transformer(name, *shapes)
    transformer(name, *[(n, E) for n, *_ in shapes], note="one sample")
    transformer(name, *[(B, n, E) for n, *_ in shapes], options=SWAPPED)
    transformer(name, *shapes, options={"activation": "gelu", "bias": False, "layer_norm_eps": 0.01})
    transformer(name, *shapes, options={"norm_first": True})
transformer("TransformerEncoderLayer", SRC, note="masks", still={"src_mask": HIDE, "src_key_padding_mask": LATE})
transformer("TransformerEncoderLayer", SRC, note="causal", still={"src_mask": FUTURE}, is_causal=True)
masks = {"tgt_mask": HIDE[:2, :2], "memory_mask": FUTURE[1:], "memory_key_padding_mask": np.where(LATE, -np.inf, 0)}
transformer("TransformerDecoderLayer", TGT, SRC, note="masks", still=masks, tgt_is_causal=True)
transformer("TransformerDecoderLayer", TGT, SRC, note="padding", still={"tgt_key_padding_mask": LATE[:, 1:]}, options={"norm_first": True})


def stack(kind: str, norm: bool) -> Callable[..., Any]:
    """Two layers and, or not, a norm."""

    def make(nn: Any, dtype: Any) -> Any:
        layer = getattr(nn, f"Transformer{kind}Layer")(E, 2, FF, norm_first=norm, dtype=dtype)
        return getattr(nn, f"Transformer{kind}")(layer, 2, nn.LayerNorm(E, dtype=dtype) if norm else None)

    return make


row("TransformerEncoder", inputs=ins(SRC), make=stack("Encoder", False), note="two layers")
row(
    "TransformerEncoder",
    inputs=ins(SRC),
    make=stack("Encoder", True),
    note="with a norm",
    still={"mask": HIDE, "src_key_padding_mask": LATE},
)
row("TransformerDecoder", inputs=ins(TGT, SRC), make=stack("Decoder", False), note="two layers")
row("TransformerDecoder", inputs=ins(TGT, SRC), make=stack("Decoder", True), note="with a norm", still=masks)

SIZES = {"num_encoder_layers": 1, "num_decoder_layers": 2}
transformer("Transformer", SRC, TGT, options=SIZES)
every = {"src_mask": FUTURE, "src_key_padding_mask": LATE, "tgt_mask": FUTURE[:2, :2], "memory_key_padding_mask": LATE}
transformer("Transformer", (B, 3, E), (B, 2, E), note="masks", still=every, options={**SIZES, **SWAPPED, "activation": "gelu"})
transformer("Transformer", (3, E), (2, E), note="one sample", options={**SIZES, "bias": False})
