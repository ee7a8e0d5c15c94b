"""Pooling as modules: the largest, the mean or a norm of each window; and putting the largest back."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import ops
from .._tensor import Tensor
from ..ops.argument import need_number
from ..ops.windows import Size, per_axis
from .module import Module
from .option import shown


class Pool(Module):
    """What poolings share: the window, and how far it moves, its own size unless `stride` says otherwise."""

    axes: ClassVar[int]

    def __init__(self, kernel_size: Size, stride: Size | None, padding: Size) -> None:
        super().__init__()
        name, n = type(self).__name__, self.axes
        stride = kernel_size if stride is None else stride
        for option, value, least in (("kernel_size", kernel_size, 1), ("stride", stride, 1), ("padding", padding, 0)):
            per_axis(name, option, value, n, least)
        self.kernel_size: Any = kernel_size
        self.stride: Any = stride
        self.padding: Any = padding

    def _per_axis(self) -> None:
        """Keep the sizes as one number an axis."""
        for option in ("kernel_size", "stride", "padding"):
            setattr(self, option, per_axis(type(self).__name__, option, getattr(self, option), self.axes))

    def extra_repr(self) -> str:
        return shown(self, "kernel_size stride padding")


class MaxPool(Pool):
    """What MaxPool1d, 2d and 3d share."""

    def __init__(
        self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, dilation: Size = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size, stride, padding)
        per_axis(type(self).__name__, "dilation", dilation, self.axes, 1)
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def forward(self, x: Tensor) -> Any:
        op = (ops.max_pool1d, ops.max_pool2d, ops.max_pool3d)[self.axes - 1]
        return op(x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)

    def extra_repr(self) -> str:
        return shown(self, "kernel_size stride padding dilation ceil_mode")


class AvgPool(Pool):
    """What AvgPool2d and 3d share."""

    def __init__(
        self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size, stride, padding)
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, x: Tensor) -> Tensor:
        op = (ops.avg_pool2d, ops.avg_pool3d)[self.axes - 2]
        return op(x, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)


class LPPool(Module):
    """What LPPool1d, 2d and 3d share."""

    axes: ClassVar[int]

    def __init__(self, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> None:
        super().__init__()
        need_number(type(self).__name__, norm_type=norm_type)
        per_axis(type(self).__name__, "kernel_size", kernel_size, self.axes, 1)
        per_axis(type(self).__name__, "stride", kernel_size if stride is None else stride, self.axes, 1)
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        op = (ops.lp_pool1d, ops.lp_pool2d, ops.lp_pool3d)[self.axes - 1]
        return op(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return shown(self, "norm_type kernel_size stride ceil_mode")


class AvgPool1d(Pool):
    """The mean of each window of sequences.

    Args:
        count_include_pad: whether zeros of the padding count.
        ceil_mode: whether a last window that goes beyond the end counts.

    Shapes: x: (batch, channel, length) or without batch, y: as x with a shorter last axis

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.

    >>> AvgPool1d(2)(Tensor([[1.0, 3.0, 5.0, 5.0]])).tolist()
    [[2.0, 5.0]]
    """

    axes = 1

    def __init__(
        self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self._per_axis()
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, x: Tensor) -> Tensor:
        return ops.avg_pool1d(x, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class MaxPool1d(MaxPool):
    """The largest entry of each window of sequences; the first of them at a tie.

    Args:
        stride: how far the window moves; its own size without.
        padding: what counts as -inf at both ends, at most half the window.
        dilation: how far apart the entries are that a window sees.
        return_indices: whether the places of the largest come with them, for MaxUnpool1d.
        ceil_mode: whether a last window that goes beyond the end counts.

    Shapes: x: (batch, channel, length) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 1


class MaxPool2d(MaxPool):
    """The largest entry of each window of images; the first of them at a tie.

    Args:
        stride: how far the window moves; its own size without.
        padding: what counts as -inf at both ends, at most half the window.
        dilation: how far apart the entries are that a window sees.
        return_indices: whether the places of the largest come with them, for MaxUnpool2d.
        ceil_mode: whether a last window that goes beyond the end counts.

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.

    >>> MaxPool2d(2)(Tensor([[[1.0, 2.0], [4.0, 3.0]]])).tolist()
    [[[4.0]]]
    """

    axes = 2


class MaxPool3d(MaxPool):
    """The largest entry of each window of volumes; the first of them at a tie.

    Args:
        stride: how far the window moves; its own size without.
        padding: what counts as -inf at both ends, at most half the window.
        dilation: how far apart the entries are that a window sees.
        return_indices: whether the places of the largest come with them, for MaxUnpool3d.
        ceil_mode: whether a last window that goes beyond the end counts.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 3


class AvgPool2d(AvgPool):
    """The mean of each window of images.

    Args:
        count_include_pad: whether zeros of the padding count.
        ceil_mode: whether a last window that goes beyond the end counts.
        divisor_override: what to divide by instead.

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 2


class AvgPool3d(AvgPool):
    """The mean of each window of volumes.

    Args:
        count_include_pad: whether zeros of the padding count.
        ceil_mode: whether a last window that goes beyond the end counts.
        divisor_override: what to divide by instead.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 3


class LPPool1d(LPPool):
    """(sum of x^p)^(1/p) of each window of sequences, p the `norm_type`.

    Shapes: x: (batch, channel, length) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 1


class LPPool2d(LPPool):
    """(sum of x^p)^(1/p) of each window of images, p the `norm_type`.

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 2


class LPPool3d(LPPool):
    """(sum of x^p)^(1/p) of each window of volumes, p the `norm_type`.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with shorter last axes

    Raises:
        ShapeError: another number of axes, or a window larger than the padded input.
        ArgumentError: a size that has no meaning.
    """

    axes = 3
