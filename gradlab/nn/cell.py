"""RNNCell, LSTMCell and GRUCell: one step of a recurrent layer, for loops of one's own."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import zeros
from ..errors import ShapeError, explain
from ..ops.argument import tensor_of
from . import init
from .module import Module
from .option import need_sizes
from .parameter import Parameter
from .rnn_base import States, need_nonlinearity, need_states


class RNNCellBase(Module):
    """What the cells share: weights, uniform in [-1/sqrt(hidden_size), 1/sqrt(hidden_size)) at first, and states that may be left out."""

    gates = 1
    kept: tuple[str, ...] = ("h",)

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size = need_sizes(type(self).__name__, 1, input_size=input_size, hidden_size=hidden_size)
        self.bias, rows = bool(bias), self.gates * self.hidden_size
        for name, shape in {"weight_ih": (rows, self.input_size), "weight_hh": (rows, self.hidden_size)}.items():
            setattr(self, name, Parameter(zeros(shape, device=device, dtype=dtype)))
        for name in ("bias_ih", "bias_hh"):
            setattr(self, name, Parameter(zeros(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights and biases anew."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _step(self, x: Tensor, states: States, weights: list[Any]) -> States:
        raise NotImplementedError

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        x, name = tensor_of(input), type(self).__name__
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            need = f"(batch, {self.input_size}), or ({self.input_size},) for one sample"
            raise ShapeError(explain(f"{name}: this is no step for it", got={"input": x.shape}, need=need))
        shape = (*x.shape[:-1], self.hidden_size)
        if hx is None:
            states = tuple([zeros(shape, device=x.device, dtype=x.dtype) for _ in self.kept])
        else:
            states = need_states(name, hx, self.kept)
        if any(s.shape != shape for s in states):
            got = {"input": x.shape, **{key: s.shape for key, s in zip(self.kept, states, strict=True)}}
            raise ShapeError(explain(f"{name}: the states don't fit", got=got, need=f"{' and '.join(self.kept)}: {shape}"))
        alone = x.ndim == 1
        if alone:
            x, states = ops.unsqueeze(x, 0), tuple([ops.unsqueeze(s, 0) for s in states])
        after = self._step(x, states, [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh])
        after = tuple([ops.squeeze(s, 0) for s in after]) if alone else tuple(after)
        return after if len(self.kept) > 1 else after[0]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """h' = f(W x + b + U h + c), f tanh or relu: one step of a plain recurrent layer. Without `hx` h is 0.

    Shapes: input: (batch, input_size) or (input_size,), hx and h': (batch, hidden_size) or (hidden_size,)

    Raises:
        ShapeError: the input or `hx` has another shape.

    >>> RNNCell(3, 5)(zeros(2, 3)).shape
    (2, 5)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.nonlinearity = need_nonlinearity("RNNCell", nonlinearity)
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def _step(self, x: Tensor, states: States, weights: list[Any]) -> States:
        return ((ops.rnn_relu_cell if self.nonlinearity == "relu" else ops.rnn_tanh_cell)(x, *states, *weights),)

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}")


class GRUCell(RNNCellBase):
    """One step of `GRU`. Without `hx` h is 0.

    Shapes: input: (batch, input_size) or (input_size,), hx and h': (batch, hidden_size) or (hidden_size,)

    >>> GRUCell(3, 5)(zeros(3)).shape
    (5,)
    """

    gates = 3

    def _step(self, x: Tensor, states: States, weights: list[Any]) -> States:
        return (ops.gru_cell(x, *states, *weights),)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: takes (h, c) and gives (h', c'). Without `hx` both are 0.

    Shapes: input: (batch, input_size) or (input_size,), h and c: (batch, hidden_size) or (hidden_size,)

    >>> h, c = LSTMCell(3, 5)(zeros(2, 3))
    >>> h.shape, c.shape
    ((2, 5), (2, 5))
    """

    gates = 4
    kept = ("h", "c")

    def _step(self, x: Tensor, states: States, weights: list[Any]) -> States:
        h, c = states
        return ops.lstm_cell(x, (h, c), *weights)
