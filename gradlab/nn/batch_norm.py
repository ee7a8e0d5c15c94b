"""Layers that bring each channel to mean 0 and variance 1: over a batch, or over the places of each example."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from .. import ops
from .._tensor import Tensor
from ..create import ones, tensor, zeros
from ..errors import ShapeError, explain
from ..ops.argument import need_number
from . import init
from .module import Module
from .norm import reset
from .option import need_axes, need_sizes, shown
from .parameter import Parameter


class ChannelNorm(Module):
    """What BatchNorm and InstanceNorm share: a weight and a bias per channel, and running statistics."""

    ndims: ClassVar[tuple[int, ...]]
    what: ClassVar[str]
    _later = ("num_batches_tracked",)  # PyTorch has it since version 0.4.1
    num_batches_tracked: Tensor | None

    def __init__(
        self, num_features: int, eps: float, momentum: float | None, affine: bool, track_running_stats: bool, device: Any, dtype: Any,
        bias: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        name, place = type(self).__name__, {"device": device, "dtype": dtype}
        (self.num_features,) = need_sizes(name, num_features=num_features)
        need_number(name, eps=eps, momentum=0.0 if momentum is None else momentum)
        self.eps, self.momentum, self.affine, self.track_running_stats = eps, momentum, affine, track_running_stats
        self.weight = Parameter(ones(num_features, **place)) if affine else None
        self.bias = Parameter(zeros(num_features, **place)) if affine and bias else None
        self.register_buffer("running_mean", zeros(num_features, **place) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **place) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", tensor(0, device=device) if track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Forget the running statistics: mean 0, variance 1, no batch."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)  # type: ignore[arg-type]

    def reset_parameters(self) -> None:
        """Start anew: weight 1, bias 0, and no running statistics."""
        self.reset_running_stats()
        reset(self)

    def _check(self, x: Any, channel: int = 1) -> None:
        need_axes(self, x, self.ndims, self.what)
        if x.shape[channel] != self.num_features:
            need = f"{self.num_features} channels: {self.what}"
            raise ShapeError(explain(f"{type(self).__name__}: another number of channels", got={"x": x.shape}, need=need))

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, {shown(self, 'eps momentum affine')}, bias={self.bias is not None}, {shown(self, 'track_running_stats')}"
        )


class BatchNorm(ChannelNorm):
    """What BatchNorm1d, 2d and 3d share."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, x: Tensor) -> Tensor:
        self._check(x)
        mean, var, count = self.running_mean, self.running_var, self.num_batches_tracked
        if not self.training and mean is not None:
            return ops.batch_norm(x, mean, var, self.weight, self.bias, False, eps=self.eps)
        if x.shape[0] * prod(x.shape[2:]) == 1:
            need = "more than one value a channel, to have a variance: a larger batch"
            raise ShapeError(
                explain(
                    f"{type(self).__name__}: one value a channel, while training",
                    got={"x": x.shape},
                    need=need if not self.training or mean is None else f"{need}, or a DataLoader with drop_last=True",
                    fix="model.eval() to use the running statistics" if self.training and mean is not None else "",
                )
            )
        if not (self.training and self.track_running_stats) or mean is None:
            return ops.batch_norm(x, None, None, self.weight, self.bias, True, eps=self.eps)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.momentum is None and count is not None:
            momentum = 1 / (count.item() + 1)
        y = ops.batch_norm(x, mean, var, self.weight, self.bias, True, momentum, self.eps)
        if count is not None:
            count._data[...] += 1
            count.bump()
        return y


class BatchNorm1d(BatchNorm):
    """Bring every channel to mean 0 and variance 1 over the batch and its places, then scale and shift it.

    While training by the statistics of the batch (variance with n below the line), and the running ones are moved towards
    them: r becomes (1 - momentum) r + momentum s, the variance with n - 1. In eval by the running ones, so that examples
    don't depend on one another.

    Args:
        momentum: the part that the new batch has; None for the plain mean of all batches.
        affine: whether there is a weight (first 1) and, unless `bias` is False, a bias (first 0).
        track_running_stats: False keeps none, and eval normalises by the batch too.

    Shapes: x: (batch, channel) or (batch, channel, length), y: as x; weight, bias, running_mean, running_var: (channel,)

    Raises:
        ShapeError: one value a channel while training; other axes or channels.

    Source: Ioffe and Szegedy 2015, arXiv:1502.03167, algorithms 1 and 2.

    >>> BatchNorm1d(1)(Tensor([[1.0], [3.0]])).data.round(3).tolist()
    [[-1.0], [1.0]]
    """

    ndims, what = (2, 3), "(batch, channel) or (batch, channel, length)"


class BatchNorm2d(BatchNorm):
    """Bring every channel of images to mean 0 and variance 1 over batch, height and width, see BatchNorm1d.

    Shapes: x: (batch, channel, height, width), y: as x; weight, bias, running_mean, running_var: (channel,)

    Raises:
        ShapeError: one value a channel while training; other axes or channels.
    """

    ndims, what = (4,), "(batch, channel, height, width)"


class BatchNorm3d(BatchNorm):
    """Bring every channel of volumes to mean 0 and variance 1 over batch and places, see BatchNorm1d.

    Shapes: x: (batch, channel, depth, height, width), y: as x; weight, bias, running_mean, running_var: (channel,)

    Raises:
        ShapeError: one value a channel while training; other axes or channels.
    """

    ndims, what = (5,), "(batch, channel, depth, height, width)"


class InstanceNorm(ChannelNorm):
    """What InstanceNorm1d, 2d and 3d share."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False, track_running_stats: bool = False,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, x: Tensor) -> Tensor:
        alone = len(getattr(x, "shape", ())) == self.ndims[0]
        self._check(x, 0 if alone else 1)
        live = self.training or not self.track_running_stats
        y = ops.instance_norm(
            x[None] if alone else x, self.running_mean, self.running_var, self.weight, self.bias, live, self.momentum or 0.0, self.eps
        )
        return y[0] if alone else y


class InstanceNorm1d(InstanceNorm):
    """Bring each channel of every example to mean 0 and variance 1 over its places, then scale and shift it.

    Args:
        affine: whether there is a weight (first 1) and, unless `bias` is False, a bias (first 0).
        track_running_stats: whether eval normalises by means over all examples seen while training.

    Shapes: x: (batch, channel, length) or (channel, length), y: as x

    Raises:
        ShapeError: one place only; other axes or channels.

    Source: Ulyanov et al. 2016, arXiv:1607.08022.
    """

    ndims, what = (2, 3), "(batch, channel, length) or (channel, length)"


class InstanceNorm2d(InstanceNorm):
    """Bring each channel of every image to mean 0 and variance 1 over height and width, see InstanceNorm1d.

    Shapes: x: (batch, channel, height, width) or (channel, height, width), y: as x

    Raises:
        ShapeError: one place only; other axes or channels.
    """

    ndims, what = (3, 4), "(batch, channel, height, width) or (channel, height, width)"


class InstanceNorm3d(InstanceNorm):
    """Bring each channel of every volume to mean 0 and variance 1 over its places, see InstanceNorm1d.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x

    Raises:
        ShapeError: one place only; other axes or channels.
    """

    ndims, what = (4, 5), "(batch, channel, depth, height, width) or without batch"
