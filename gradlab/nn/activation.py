"""Nonlinearities as modules; the formulas are in `ops`."""

from __future__ import annotations

from typing import Literal

from .. import ops
from .._tensor import Tensor
from ..errors import ArgumentError
from .module import Module


class ReLU(Module):
    """max(x, 0).

    >>> ReLU()(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.relu(x)


class Tanh(Module):
    """tanh(x), in (-1, 1)."""

    def forward(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class Sigmoid(Module):
    """1 / (1 + e^-x), in (0, 1)."""

    def forward(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)


class GELU(Module):
    """x Phi(x), with Phi the normal distribution function.

    Args:
        approximate: "none" for the exact form, "tanh" for the usual approximation.
    """

    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None:
        super().__init__()
        if approximate not in ("none", "tanh"):
            raise ArgumentError(f"GELU: approximate is 'none' or 'tanh', not {approximate!r}")
        self.approximate: Literal["none", "tanh"] = approximate

    def forward(self, x: Tensor) -> Tensor:
        return ops.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softmax(Module):
    """e^x / sum(e^x) along `dim`: positive numbers that sum to 1."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        return ops.softmax(x, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """x - log(sum(e^x)) along `dim`, in a form that doesn't overflow."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
