"""Where a step stands, for layers that would not know: waves that are added, and turns of queries and keys."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import ops
from .._tensor import Tensor
from ..create import tensor
from ..errors import ArgumentError, DTypeError, ShapeError, explain
from ..ops.argument import need_number, tensor_of, whole
from .module import Module
from .option import need_sizes

Wave = np.ndarray[Any, np.dtype[np.float64]]


class SinusoidalPositions(Module):
    """x + P, P[t, 2i] = sin(t / base^(2i / d)), P[t, 2i + 1] = cos(t / base^(2i / d)): each step gets waves of its own.

    Without parameters, and for sequences of any length. `offset` is where the first step stands: `cache.steps` when generating.

    Shapes: x: (time, batch, d_model), with `batch_first` (batch, time, d_model), or (time, d_model); y: as x

    Raises:
        ShapeError: another shape.

    Source: A. Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762, section 3.5.

    >>> SinusoidalPositions(4)(tensor([[0.0] * 4, [0.0] * 4])).data.round(3)
    array([[0.   , 1.   , 0.   , 1.   ],
           [0.841, 0.54 , 0.01 , 1.   ]], dtype=float32)
    """

    def __init__(self, d_model: int, batch_first: bool = False, base: float = 10000.0) -> None:
        super().__init__()
        (self.d_model,) = need_sizes("SinusoidalPositions", 1, d_model=d_model)
        self.base, self.batch_first = _need_base("SinusoidalPositions", base), bool(batch_first)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        x = _floating("SinusoidalPositions", tensor_of(x))
        if x.ndim not in (2, 3) or x.shape[-1] != self.d_model:
            front = "batch, time" if self.batch_first else "time, batch"
            need = f"({front}, {self.d_model}), or (time, {self.d_model})"
            raise ShapeError(explain("SinusoidalPositions: this is no sequence for it", got={"x": x.shape}, need=need))
        time_last = x.ndim == 2 or self.batch_first
        pair = _waves("SinusoidalPositions", offset, x.shape[-2] if time_last else x.shape[0], self.d_model, self.base)
        waves = np.stack(pair, -1).reshape(len(pair[0]), -1)[:, : self.d_model]
        return ops.add(x, tensor(waves if time_last else waves[:, None], dtype=x.dtype, device=x.device))

    def extra_repr(self) -> str:
        return f"{self.d_model}" + (f", base={self.base}" if self.base != 10000 else "")


class RotaryPositions(Module):
    """Turn each pair of features by the angle t base^(-2i / d): products of queries and keys then depend on their distance only.

    y_2i = x_2i cos - x_2i+1 sin, y_2i+1 = x_2i sin + x_2i+1 cos. Give queries and keys to it, not values; or hand it to
    `MultiheadAttention(positions=...)`. A pair is two neighbours; with `interleaved=False` features i and i + d / 2, as in Llama
    and GPT-NeoX. `offset` is where the first step stands: `cache.steps` when generating.

    Shapes: x: (*, time, head_dim), y: as x

    Raises:
        ShapeError: another number of features, or an odd one.

    Source: J. Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021, arXiv:2104.09864, equation 34.

    >>> RotaryPositions(2)(tensor([[1.0, 0.0], [1.0, 0.0]])).data.round(3)
    array([[1.   , 0.   ],
           [0.54 , 0.841]], dtype=float32)
    """

    def __init__(self, head_dim: int, base: float = 10000.0, interleaved: bool = True) -> None:
        super().__init__()
        (self.head_dim,) = need_sizes("RotaryPositions", 1, head_dim=head_dim)
        if self.head_dim % 2:
            raise ShapeError(explain("RotaryPositions: features are turned in pairs", got={"head_dim": head_dim}, need="an even number"))
        self.base, self.interleaved = _need_base("RotaryPositions", base), bool(interleaved)

    def forward(self, x: Tensor, offset: int = 0) -> Tensor:
        x, half = _floating("RotaryPositions", tensor_of(x)), self.head_dim // 2
        if x.ndim < 2 or x.shape[-1] != self.head_dim:
            need = f"(*, time, {self.head_dim})"
            raise ShapeError(explain("RotaryPositions: these are no queries or keys for it", got={"x": x.shape}, need=need))
        waves = _waves("RotaryPositions", offset, x.shape[-2], self.head_dim, self.base)
        sin, cos = [tensor(wave, dtype=x.dtype, device=x.device) for wave in waves]
        a, b = (x[..., ::2], x[..., 1::2]) if self.interleaved else (x[..., :half], x[..., half:])
        turned = ops.sub(ops.mul(a, cos), ops.mul(b, sin)), ops.add(ops.mul(a, sin), ops.mul(b, cos))
        return ops.reshape(ops.stack(turned, -1), x.shape) if self.interleaved else ops.cat(turned, -1)

    def extra_repr(self) -> str:
        return f"{self.head_dim}, base={self.base}, interleaved={self.interleaved}"


def _waves(name: str, offset: int, time: int, features: int, base: float) -> tuple[Wave, Wave]:
    """Sine and cosine of t base^(-2i / features) for the steps from `offset` on, (time, features / 2) each."""
    offset = whole("offset", offset)
    if offset < 0:
        raise ArgumentError(explain(f"{name}: no step stands before the first", got={"offset": offset}, need=">= 0"))
    sin, cos = _table(1 << (offset + time).bit_length(), features, base)
    return sin[offset : offset + time], cos[offset : offset + time]


@lru_cache(maxsize=16)
def _table(time: int, features: int, base: float) -> tuple[Wave, Wave]:
    """Lengths are powers of 2, so that few are made while a sequence grows."""
    angle = np.arange(time)[:, None] * base ** (-np.arange(0, features, 2) / features)
    return np.sin(angle), np.cos(angle)


def _floating(name: str, x: Tensor) -> Tensor:
    if x.dtype.kind != "f":
        raise DTypeError(explain(f"{name}: takes floating numbers", got={"x": x.dtype}, need="embeddings, not the ids of tokens"))
    return x


def _need_base(name: str, base: float) -> float:
    need_number(name, base=base)
    if not base > 1:
        raise ArgumentError(explain(f"{name}: waves get longer from feature to feature", got={"base": base}, need="above 1"))
    return float(base)
