"""Dropout as a module."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from ..errors import ArgumentError, explain
from ..ops.argument import need_number
from .module import Module


class Dropout(Module):
    """While training, set each entry to 0 with probability `p` and scale the rest by 1 / (1 - p); in eval do nothing.

    Source: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting" (there the
    scaling is at test time; here, as in PyTorch, at training time).

    >>> Dropout(0.5).eval()(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        need_number("Dropout", p=p)
        if not 0 <= p <= 1:
            raise ArgumentError(explain("Dropout: p is a probability", got={"p": p}, need="0 <= p <= 1"))
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return ops.dropout(x, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}"
