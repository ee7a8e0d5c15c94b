"""What RNN, LSTM and GRU share: layers on top of one another, both directions, sequences of several lengths."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .. import ops
from .._tensor import Tensor
from ..create import zeros
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..ops.argument import tensor_of, whole
from . import init
from .module import Module
from .option import need_probability, need_sizes
from .packed import Ids, PackedSequence, filled, lengths_of, pad_packed_sequence, picked, read_lengths, repacked
from .parameter import Parameter

States = tuple[Tensor, ...]


class RNNBase(Module):
    """A layer that reads a sequence step by step, each step with what it keeps of those before.

    The parameters of layer k are `weight_ih_l{k}`, `weight_hh_l{k}`, `bias_ih_l{k}` and `bias_hh_l{k}`, those that read from
    the end `..._reverse`. All start uniform in [-1/sqrt(hidden_size), 1/sqrt(hidden_size)), as PyTorch's do.
    """

    gates = 1  # blocks of rows in the weights
    kept: tuple[str, ...] = ("h_0",)  # what is kept from step to step

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size, self.hidden_size = need_sizes(name, 1, input_size=input_size, hidden_size=hidden_size)
        (self.num_layers,) = need_sizes(name, 1, num_layers=num_layers)
        need_probability(name, dropout, "dropout")
        if dropout and self.num_layers == 1:
            warnings.warn(f"{name}: dropout is between layers, so that with num_layers=1 nothing is dropped", UserWarning, stacklevel=3)
        self.proj_size = whole("proj_size", proj_size)
        if not 0 <= self.proj_size < self.hidden_size:
            got = {"proj_size": proj_size, "hidden_size": hidden_size}
            raise ArgumentError(explain(f"{name}: a projection makes the state smaller", got=got, need="0, or less than hidden_size"))
        self.bias, self.batch_first, self.dropout, self.bidirectional = bool(bias), bool(batch_first), dropout, bool(bidirectional)
        rows, n = self.gates * self.hidden_size, self.proj_size or self.hidden_size
        for layer in range(self.num_layers):
            features = n * self._directions if layer else self.input_size
            for end in self._ends(layer):
                shapes = {f"weight_ih{end}": (rows, features), f"weight_hh{end}": (rows, n)}
                if self.bias:
                    shapes |= {f"bias_ih{end}": (rows,), f"bias_hh{end}": (rows,)}
                if self.proj_size:
                    shapes[f"weight_hr{end}"] = (n, self.hidden_size)
                for key, shape in shapes.items():
                    setattr(self, key, Parameter(zeros(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights and biases anew."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: PyTorch's for weights that have to lie side by side on a GPU."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer, of each direction one list."""
        return [self._weights(end) for layer in range(self.num_layers) for end in self._ends(layer)]

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _ends(self, layer: int) -> list[str]:
        """How the names of a layer's parameters end, one for each direction."""
        return [f"_l{layer}", f"_l{layer}_reverse"][: self._directions]

    def _weights(self, end: str) -> list[Parameter]:
        kinds = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if self.bias else []), *(["weight_hr"] if self.proj_size else [])]
        return [getattr(self, kind + end) for kind in kinds]

    def _sequence(self, x: Tensor, states: States, weights: list[Any], padding: np.ndarray | None) -> States:
        """One layer in one direction: what is kept after every step, (time, batch, n) each; behind a sequence whatever comes."""
        raise NotImplementedError

    def forward(self, input: Tensor | PackedSequence, hx: Any = None, lengths: Any = None) -> tuple[Any, Any]:
        name = type(self).__name__
        if isinstance(input, PackedSequence):
            if lengths is not None:
                got = {"input": "PackedSequence", "lengths": "given"}
                raise ArgumentError(explain(f"{name}: packed sequences have their lengths", got=got, need="no lengths"))
            x, _ = pad_packed_sequence(input)
            out, last = self._run(self._fitting(x, 3), hx, lengths_of(input)[0])
            return repacked(input, out), last
        x = tensor_of(input)
        x = self._fitting(x, x.ndim)
        alone, swap = x.ndim == 2, x.ndim == 3 and self.batch_first
        x = ops.unsqueeze(x, 1) if alone else ops.transpose(x, 0, 1) if swap else x
        if not len(x):
            raise ShapeError(explain(f"{name}: a sequence without steps", got={"input": tensor_of(input).shape}, need="at least one step"))
        given = np.reshape(lengths, -1) if alone and lengths is not None else lengths
        out, last = self._run(x, hx, None if given is None else read_lengths(name, given, *x.shape[:2]), alone)
        return ops.squeeze(out, 1) if alone else ops.transpose(out, 0, 1) if swap else out, last

    def _fitting(self, x: Tensor, axes: int) -> Tensor:
        if x.ndim != axes or axes not in (2, 3) or x.shape[-1] != self.input_size:
            front = "batch, time" if self.batch_first else "time, batch"
            need = f"({front}, {self.input_size}), or (time, {self.input_size}) for one sequence"
            raise ShapeError(explain(f"{type(self).__name__}: this is no sequence for it", got={"input": x.shape}, need=need))
        return x

    def _run(self, x: Tensor, hx: Any, lengths: Ids | None, alone: bool = False) -> tuple[Tensor, Any]:
        """All layers over (time, batch, feature): the last one's h after every step, and what each keeps at the end."""
        time, batch = x.shape[:2]
        states, backwards, padding = self._first(hx, x, alone), None, None
        if lengths is not None:
            # Read from the end, a sequence begins at its own last step; what stands behind it is never met.
            steps = np.arange(time)[:, None]
            padding = steps >= lengths
            backwards = np.where(padding, steps, lengths - 1 - steps), np.arange(batch)
            x = filled(x, padding)  # whatever stands there, NaN too, has no part in the gradient of the weights

        def reverse(y: Tensor) -> Tensor:
            return ops.flip(y, 0) if backwards is None else picked(y, *backwards)

        ends: list[States] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = ops.dropout(x, self.dropout, self.training)
            outputs: list[Tensor] = []
            for direction, end in enumerate(self._ends(layer)):
                start = tuple([s[len(ends)] for s in states])
                kept = self._sequence(reverse(x) if direction else x, start, self._weights(end), padding)
                outputs.append(reverse(kept[0]) if direction else kept[0])
                ends.append(tuple([k[-1] if lengths is None else picked(k, lengths - 1, np.arange(batch)) for k in kept]))
            x = ops.cat(outputs, 2) if self.bidirectional else outputs[0]
        last = tuple([ops.stack(s, 0) for s in zip(*ends, strict=True)])
        last = tuple([ops.squeeze(s, 1) for s in last]) if alone else last
        return x if padding is None else filled(x, padding), last if len(self.kept) > 1 else last[0]

    def _first(self, hx: Any, x: Tensor, alone: bool) -> States:
        """The states to begin with, (layers directions, batch, n) each, 0 unless given."""
        rows, batch = self.num_layers * self._directions, x.shape[1]
        shapes = [(rows, batch, n) for n in (self.proj_size or self.hidden_size, self.hidden_size)[: len(self.kept)]]
        if hx is None:
            return tuple([zeros(shape, device=x.device, dtype=x.dtype) for shape in shapes])
        states = need_states(type(self).__name__, hx, self.kept)
        needed = [(shape[0], shape[2]) if alone else shape for shape in shapes]
        if [s.shape for s in states] != needed:
            got = {"input": x.shape, **{name: s.shape for name, s in zip(self.kept, states, strict=True)}}
            need = ", ".join([f"{name}: {shape}" for name, shape in zip(self.kept, needed, strict=True)])
            raise ShapeError(explain(f"{type(self).__name__}: the first states don't fit", got=got, need=need))
        return tuple([ops.unsqueeze(s, 1) for s in states]) if alone else states

    def extra_repr(self) -> str:
        default = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        changed = [f"{key}={getattr(self, key)}" for key, value in default.items() if getattr(self, key) != value]
        return ", ".join([str(self.input_size), str(self.hidden_size), *changed])


def need_states(name: str, hx: Any, kept: tuple[str, ...]) -> States:
    """The states as tensors: one, or a tuple of two."""
    if len(kept) == 1:
        if isinstance(hx, tuple):
            raise KeywordError(explain(f"{name}: keeps one state", got={"hx": f"{len(hx)} in a tuple"}, need=kept[0]))
        return (tensor_of(hx),)
    if not isinstance(hx, (tuple, list)) or len(hx) != len(kept):
        need = f"({', '.join(kept)})"
        raise KeywordError(explain(f"{name}: keeps {len(kept)} states", got={"hx": type(hx).__name__}, need=need))
    return tuple([tensor_of(s) for s in hx])


def need_nonlinearity(name: str, nonlinearity: str) -> str:
    """ "tanh" or "relu"."""
    if nonlinearity not in ("tanh", "relu"):
        raise ArgumentError(explain(f"{name}: which nonlinearity?", got={"nonlinearity": repr(nonlinearity)}, need='"tanh" or "relu"'))
    return nonlinearity
