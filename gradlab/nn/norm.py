"""Layers that bring what passes to mean 0 and variance 1: over a batch, an example, or groups of its channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..create import ones, zeros
from ..errors import ArgumentError, explain
from ..ops.argument import need_number, whole
from . import init
from .module import Module
from .option import need_sizes, shown
from .parameter import Parameter


class LayerNorm(Module):
    """Bring every example to mean 0 and variance 1 over its last axes, then scale and shift each entry.

    Args:
        normalized_shape: the sizes of these axes.
        elementwise_affine: whether there is a weight (first 1) and, unless `bias` is False, a bias (first 0).

    Shapes: x: (*, *normalized_shape), y: as x; weight, bias: normalized_shape

    Raises:
        ShapeError: other last axes; a weight of another shape.

    Source: Ba et al. 2016, arXiv:1607.06450, eq. 4.

    >>> LayerNorm(2)(Tensor([[1.0, 3.0], [0.0, 0.0]])).data.round(3).tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape("LayerNorm", normalized_shape), eps, elementwise_affine
        need_number("LayerNorm", eps=eps)
        self.weight = Parameter(ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.bias = Parameter(zeros(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine and bias else None

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        reset(self)

    def forward(self, x: Tensor) -> Tensor:
        return ops.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {shown(self, 'eps elementwise_affine')}, bias={self.bias is not None}"


class RMSNorm(Module):
    """Divide every example by the root of its mean square over the last axes, then scale each entry: LayerNorm without the mean.

    Args:
        normalized_shape: the sizes of these axes.
        eps: what is added below the root; None for the smallest step of the dtype at 1.

    Shapes: x: (*, *normalized_shape), y: as x; weight: normalized_shape

    Raises:
        ShapeError: other last axes; a weight of another shape.

    Source: Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4.

    >>> RMSNorm(2)(Tensor([3.0, 4.0])).data.round(4).tolist()
    [0.8485000133514404, 1.1313999891281128]
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape("RMSNorm", normalized_shape), eps, elementwise_affine
        need_number("RMSNorm", eps=0.0 if eps is None else eps)
        self.weight = Parameter(ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None

    def reset_parameters(self) -> None:
        """Weight 1."""
        reset(self)

    def forward(self, x: Tensor) -> Tensor:
        return ops.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, {shown(self, 'eps elementwise_affine')}"


class GroupNorm(Module):
    """Bring every example to mean 0 and variance 1 over each group of its channels, then scale and shift each channel.

    Args:
        affine: whether there is a weight (first 1) and, unless `bias` is False, a bias (first 0).

    Shapes: x: (batch, channel, *), y: as x; weight, bias: (channel,)

    Raises:
        ShapeError: another number of channels, or one value a group.
        ArgumentError: channels that don't make so many groups.

    Source: Wu and He 2018, arXiv:1803.08494, eq. 1 and 7.

    >>> GroupNorm(2, 4)(Tensor([[1.0, 3.0, 5.0, 5.0]])).data.round(3).tolist()
    [[-1.0, 1.0, 0.0, 0.0]]
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_groups, self.num_channels = need_sizes("GroupNorm", num_groups=num_groups, num_channels=num_channels)
        need_number("GroupNorm", eps=eps)
        if not num_groups or num_channels % num_groups:
            got = {"num_groups": num_groups, "num_channels": num_channels}
            raise ArgumentError(explain("GroupNorm: the channels don't make so many groups", got=got, need="a multiple of num_groups"))
        self.eps, self.affine = eps, affine
        self.weight = Parameter(ones(num_channels, device=device, dtype=dtype)) if affine else None
        self.bias = Parameter(zeros(num_channels, device=device, dtype=dtype)) if affine and bias else None

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        reset(self)

    def forward(self, x: Tensor) -> Tensor:
        return ops.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, {shown(self, 'eps affine')}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """Divide each entry by (k + alpha times the mean square of the `size` channels around it)^beta.

    Shapes: x: (batch, channel, *), y: as x

    Raises:
        ShapeError: no channels.

    Source: Krizhevsky et al. 2012, "ImageNet classification with deep convolutional neural networks", section 3.3; there the
    sum of squares, here, as in PyTorch, the mean.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        need_number("LocalResponseNorm", alpha=alpha, beta=beta, k=k)
        self.size, self.alpha, self.beta, self.k = whole("size", size), alpha, beta, k

    def forward(self, x: Tensor) -> Tensor:
        return ops.local_response_norm(x, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, {shown(self, 'alpha beta k')}"


def _shape(op: str, given: Any) -> tuple[int, ...]:
    shape = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    return need_sizes(op, **{f"normalized_shape[{i}]": n for i, n in enumerate(shape)}) if shape else ()


def reset(module: Module) -> None:
    """Fill the weight of `module` itself with 1, its bias with 0."""
    for name, parameter in module.named_parameters(recurse=False):
        (init.ones_ if name == "weight" else init.zeros_)(parameter)
