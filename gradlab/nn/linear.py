"""The fully connected layer."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..backend import DEFAULT_FLOAT
from ..create import zeros
from ..errors import ShapeError, explain
from ..ops.argument import whole
from . import init
from .module import Module
from .parameter import Parameter


class Linear(Module):
    """y = x W^T + b: every output is a weighted sum of all inputs.

    Weight and bias start uniform in [-1/sqrt(in_features), 1/sqrt(in_features)), as PyTorch's do.

    Shapes: x: (*, in_features), y: (*, out_features), weight: (out_features, in_features), bias: (out_features,)

    >>> Linear(3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = DEFAULT_FLOAT) -> None:
        super().__init__()
        in_features, out_features = whole("in_features", in_features), whole("out_features", out_features)
        if in_features < 0 or out_features < 0:
            raise ShapeError(
                explain("Linear: sizes can't be negative", got={"in_features": in_features, "out_features": out_features}, need=">= 0")
            )
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(zeros(out_features, in_features, dtype=dtype))
        self.bias = Parameter(zeros(out_features, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(max(1, self.in_features))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return ops.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
