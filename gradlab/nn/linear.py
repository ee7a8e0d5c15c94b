"""The fully connected layer, and the one that multiplies two inputs."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import zeros
from . import init
from .module import Module
from .option import need_sizes, shown
from .parameter import Parameter


class Linear(Module):
    """y = x W^T + b: every output is a weighted sum of all inputs.

    Weight and bias start uniform in [-1/sqrt(in_features), 1/sqrt(in_features)), as PyTorch's do.

    Shapes: x: (*, in_features), y: (*, out_features), weight: (out_features, in_features), bias: (out_features,)

    Raises:
        ShapeError: another number of features.

    >>> Linear(3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        in_features, out_features = need_sizes("Linear", in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(zeros(out_features, in_features, device=device, dtype=dtype))
        self.bias = Parameter(zeros(out_features, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        uniform(self, self.in_features)

    def forward(self, x: Tensor) -> Tensor:
        return ops.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{shown(self, 'in_features out_features')}, bias={self.bias is not None}"


class Bilinear(Module):
    """y_k = x1^T W_k x2 + b_k: every output is a weighted sum of all products of an entry of x1 and one of x2.

    Weight and bias start uniform in [-1/sqrt(in1_features), 1/sqrt(in1_features)).

    Shapes: x1: (*, in1_features), x2: (*, in2_features), y: (*, out_features),
    weight: (out_features, in1_features, in2_features), bias: (out_features,)

    Raises:
        ShapeError: another number of features.

    >>> Bilinear(2, 3, 4)(Tensor([[1.0, 2.0]]), Tensor([[1.0, 2.0, 3.0]])).shape
    (1, 4)
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        sizes = need_sizes("Bilinear", in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        self.in1_features, self.in2_features, self.out_features = sizes
        self.weight = Parameter(zeros(sizes[2], sizes[0], sizes[1], device=device, dtype=dtype))
        self.bias = Parameter(zeros(sizes[2], device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        uniform(self, self.in1_features)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return ops.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{shown(self, 'in1_features in2_features out_features')}, bias={self.bias is not None}"


def uniform(module: Module, fan_in: int) -> None:
    """Draw all parameters of `module` itself from [-1/sqrt(fan_in), 1/sqrt(fan_in))."""
    bound = 1 / math.sqrt(max(1, fan_in))
    for _, parameter in module.named_parameters(recurse=False):
        init.uniform_(parameter, -bound, bound)
