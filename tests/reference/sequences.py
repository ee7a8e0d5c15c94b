"""Rows of layers that read sequences: recurrent layers, attention, Transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
