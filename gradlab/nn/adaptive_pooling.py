"""Pooling to a size that is asked for, as modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .. import ops
from .._tensor import Tensor
from ..ops.windows import per_axis
from .module import Module
from .option import shown

Wanted = int | None | Sequence[int | None]


class AdaptiveAvgPool(Module):
    """What AdaptiveAvgPool1d, 2d and 3d share."""

    axes: ClassVar[int]

    def __init__(self, output_size: Wanted) -> None:
        super().__init__()
        wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * self.axes
        per_axis(type(self).__name__, "output_size", [0 if n is None else n for n in wanted], self.axes)
        self.output_size: Any = output_size

    def forward(self, x: Tensor) -> Tensor:
        return (ops.adaptive_avg_pool1d, ops.adaptive_avg_pool2d, ops.adaptive_avg_pool3d)[self.axes - 1](x, self.output_size)

    def extra_repr(self) -> str:
        return shown(self, "output_size")


class AdaptiveMaxPool(AdaptiveAvgPool):
    """What AdaptiveMaxPool1d, 2d and 3d share."""

    def __init__(self, output_size: Wanted, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, x: Tensor) -> Any:
        op = (ops.adaptive_max_pool1d, ops.adaptive_max_pool2d, ops.adaptive_max_pool3d)[self.axes - 1]
        return op(x, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(AdaptiveAvgPool):
    """The mean of windows that divide sequences as evenly as they can into an output of the size that is asked for.

    Args:
        output_size: the size of each of the last axes; None keeps it.

    Shapes: x: (batch, channel, length) or without batch, y: as x with last axes of output_size

    Raises:
        ShapeError: another number of axes.
        ArgumentError: an output_size that has no meaning.
    """

    axes = 1


class AdaptiveAvgPool2d(AdaptiveAvgPool):
    """The mean of windows that divide images as evenly as they can into an output of the size that is asked for.

    Args:
        output_size: the size of each of the last axes; None keeps it.

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with last axes of output_size

    Raises:
        ShapeError: another number of axes.
        ArgumentError: an output_size that has no meaning.

    >>> AdaptiveAvgPool2d(1)(Tensor([[[1.0, 2.0], [4.0, 5.0]]])).tolist()
    [[[3.0]]]
    """

    axes = 2


class AdaptiveAvgPool3d(AdaptiveAvgPool):
    """The mean of windows that divide volumes as evenly as they can into an output of the size that is asked for.

    Args:
        output_size: the size of each of the last axes; None keeps it.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with last axes of output_size

    Raises:
        ShapeError: another number of axes.
        ArgumentError: an output_size that has no meaning.
    """

    axes = 3


class AdaptiveMaxPool1d(AdaptiveMaxPool):
    """The largest of windows that divide sequences as evenly as they can into an output of the size that is asked for.

    Args:
        output_size: the size of each of the last axes; None keeps it.
        return_indices: whether the places of the largest come with them.

    Shapes: x: (batch, channel, length) or without batch, y: as x with last axes of output_size

    Raises:
        ShapeError: another number of axes.
        ArgumentError: an output_size that has no meaning.
    """

    axes = 1


class AdaptiveMaxPool2d(AdaptiveMaxPool):
    """The largest of windows that divide images as evenly as they can into an output of the size that is asked for.

    Args:
        output_size: the size of each of the last axes; None keeps it.
        return_indices: whether the places of the largest come with them.

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with last axes of output_size

    Raises:
        ShapeError: another number of axes.
        ArgumentError: an output_size that has no meaning.
    """

    axes = 2


class AdaptiveMaxPool3d(AdaptiveMaxPool):
    """The largest of windows that divide volumes as evenly as they can into an output of the size that is asked for.

    Args:
        output_size: the size of each of the last axes; None keeps it.
        return_indices: whether the places of the largest come with them.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with last axes of output_size

    Raises:
        ShapeError: another number of axes.
        ArgumentError: an output_size that has no meaning.
    """

    axes = 3
