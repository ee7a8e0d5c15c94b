"""RNN, LSTM and GRU: layers that read a sequence step by step, each step with what they keep of those before."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from .._tensor import Tensor
from ..create import full, tensor, zeros
from .rnn_base import RNNBase, States, need_nonlinearity


class RNN(RNNBase):
    """h' = f(W x + b + U h + c), f tanh or relu: plain recurrent layers; gives the last layer's h after every step, and each one's last.

    `hx` is the state to begin with, 0 unless given. Sequences of several lengths come packed, or padded with their `lengths`:
    then each is read to its own end, the output behind it is 0, and what stands in the padding is without effect.
    `dropout` drops entries between layers while training. One sequence may come without a batch axis.

    Shapes: input: (time, batch, input_size), with `batch_first` (batch, time, input_size); hx, h_n: (num_layers directions, batch,
        hidden_size); lengths: (batch,); output: as the input, with directions hidden_size features

    Raises:
        ShapeError: the input or `hx` has another shape.
        ArgumentError: a length below 1 or above the number of steps.

    Source: J. L. Elman, Finding Structure in Time, Cognitive Science 14 (1990) 179-211.

    >>> output, h_n = RNN(3, 5, num_layers=2)(zeros(7, 2, 3))
    >>> output.shape, h_n.shape
    ((7, 2, 5), (2, 2, 5))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.nonlinearity = need_nonlinearity("RNN", nonlinearity)
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype)

    def _sequence(self, x: Tensor, states: States, weights: list[Any], padding: np.ndarray | None) -> States:
        if padding is not None and self.nonlinearity == "relu":
            # Behind its end a sequence would go on, and with relu grow beyond all numbers: one more feature holds it at 0. Its weight
            # is far below all sums, and no further, as gradients are multiplied by it too.
            w_ih, *others = weights
            behind = tensor(padding[:, :, None], dtype=x.dtype, device=x.device)
            stop = full((self.hidden_size, 1), -1e3 if x.dtype.itemsize == 2 else -1e30, dtype=x.dtype, device=x.device)
            x, weights = ops.cat([x, behind], 2), [ops.cat([w_ih, stop], 1), *others]
        return (ops.rnn(x, *states, *weights, nonlinearity=self.nonlinearity),)


class GRU(RNNBase):
    """Recurrent layers of which one gate resets and another keeps the state; gives the last layer's h for every step, and each one's last.

    r, z = sigmoid(W x + b + U h + c), n = tanh(W x + b + r (U h + c)), h' = (1 - z) n + z h. Options and shapes are those of `RNN`.

    Source: K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014, arXiv:1406.1078; as in PyTorch the
    reset gate multiplies U h + c, not h.

    >>> output, h_n = GRU(3, 5, bidirectional=True, batch_first=True)(zeros(2, 7, 3), lengths=[7, 4])
    >>> output.shape, h_n.shape
    ((2, 7, 10), (2, 2, 5))
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype)

    def _sequence(self, x: Tensor, states: States, weights: list[Any], padding: np.ndarray | None) -> States:
        return (ops.gru(x, *states, *weights),)


class LSTM(RNNBase):
    """Recurrent layers with a cell that gates write, keep and read; gives the last layer's h after every step, and each one's last h and c.

    i, f, o = sigmoid(z), g = tanh(z), z = W x + b + U h + c, c' = f c + i g, h' = o tanh(c'). Options and shapes are those of `RNN`;
    `hx` is (h_0, c_0), and (h_n, c_n) comes back. With `proj_size` h' = V o tanh(c') has that many features, V = `weight_hr_l{k}`.

    Source: S. Hochreiter, J. Schmidhuber, Long Short-Term Memory, Neural Computation 9 (1997) 1735-1780; with the forget gate of
    F. A. Gers, J. Schmidhuber, F. Cummins, 2000; the projection: H. Sak et al., 2014, arXiv:1402.1128.

    >>> output, (h_n, c_n) = LSTM(3, 5, num_layers=2)(zeros(7, 2, 3))
    >>> output.shape, h_n.shape, c_n.shape
    ((7, 2, 5), (2, 2, 5), (2, 2, 5))
    """

    gates = 4
    kept = ("h_0", "c_0")

    def _sequence(self, x: Tensor, states: States, weights: list[Any], padding: np.ndarray | None) -> States:
        h, c = states
        if not self.proj_size:
            return ops.lstm(x, (h, c), *weights)
        w_ih, w_hh, *biases, w_hr = weights
        # U h = (U V) s where s = o tanh(c) is h before the projection: an LSTM in s. Only the first h comes from outside: it is read
        # as further features of the first step.
        w = ops.matmul(w_hh, w_hr)
        joined, nothing = ops.cat([w_ih, w_hh], 1), zeros(c.shape, device=c.device, dtype=c.dtype)
        s, c = ops.lstm_cell(ops.cat([x[0], h], 1), (nothing, c), joined, w, *biases)
        later = ops.lstm(x[1:], (s, c), w_ih, w, *biases)
        s, c = [ops.cat([ops.unsqueeze(first, 0), rest], 0) for first, rest in zip((s, c), later, strict=True)]
        return ops.linear(s, w_hr), c
