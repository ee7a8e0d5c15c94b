"""First values of parameters, written in place: each function fills the tensor it gets and returns it.

A unit that sums `fan_in` inputs of variance 1 has an output of variance fan_in * var(w). Xavier keeps that near 1 in both
directions, Kaiming also makes up for what the nonlinearity takes away (`gain`).
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from .._tensor import Tensor
from ..backend import Array, Generator, xp_of
from ..backend import generator as drawn_by
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..ops.argument import need_number

Mode = Literal["fan_in", "fan_out"]
_GAINS = {"linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers drawn uniformly from [a, b)."""
    need_number("uniform_", a=a, b=b)
    return _write(tensor, drawn_by(generator).random(dtype=_drawn_in(tensor), size=tensor.shape) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers drawn from the normal distribution."""
    need_number("normal_", mean=mean, std=std)
    return _write(tensor, drawn_by(generator).standard_normal(dtype=_drawn_in(tensor), size=tensor.shape) * std + mean)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number.

    >>> constant_(Tensor([0.0, 0.0]), 0.5).tolist()
    [0.5, 0.5]
    """
    need_number("constant_", val=val)
    return _write(tensor, val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return _write(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return _write(tensor, 1)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in [-a, a) with a = gain sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural networks", eq. 16.
    """
    fan_in, fan_out = fans(tensor)
    bound = gain * math.sqrt(6 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with std = gain sqrt(2 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010, eq. 12.
    """
    fan_in, fan_out = fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2 / (fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Uniform in [-b, b) with b = gain sqrt(3 / fan); `a` is the negative slope of a leaky ReLU.

    Source: He et al. 2015, arXiv:1502.01852, eq. 10 and 14 (there as a normal distribution).
    """
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Normal with std = gain / sqrt(fan); `a` is the negative slope of a leaky ReLU.

    Source: He et al. 2015, arXiv:1502.01852, eq. 10 and 14.
    """
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much weights must grow to keep the variance through a nonlinearity.

    >>> round(calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity == "leaky_relu":
        need_number("calculate_gain", param=0.01 if param is None else param)
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ArgumentError(
            explain("calculate_gain: unknown nonlinearity", got={"nonlinearity": nonlinearity}, need=", ".join([*_GAINS, "leaky_relu"]))
        )
    return _GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and outputs a weight of shape (out, in, *kernel) joins.

    >>> fans(Tensor([[1.0, 2.0, 3.0]]))
    (3, 1)
    """
    shape = tensor.shape
    if len(shape) < 2:
        raise ShapeError(explain("init: fan in and fan out need a weight", got={"tensor": shape}, need="(out, in) or (out, in, *kernel)"))
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def _fan(tensor: Tensor, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(explain("init: unknown mode", got={"mode": mode}, need="fan_in or fan_out"))
    return max(1, fans(tensor)[mode == "fan_out"])


def _drawn_in(tensor: Tensor) -> Any:
    if not isinstance(tensor, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KeywordError(explain("init: this is no tensor", got={"tensor": type(tensor).__name__}, need="a Parameter, or a tensor"))
    return np.float64 if tensor.dtype == np.float64 else np.float32  # the two dtypes NumPy's generators draw


def _write(tensor: Tensor, values: Array | float) -> Tensor:
    data = tensor._data
    data[...] = values if isinstance(values, (int, float)) else xp_of(data).asarray(values)
    tensor.bump()
    return tensor
