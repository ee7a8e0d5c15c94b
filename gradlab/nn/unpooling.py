"""What max pooling found, put back where it was, as modules."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ops
from .._tensor import Tensor
from ..ops.windows import Size
from .pooling import Pool


class MaxUnpool(Pool):
    """What MaxUnpool1d, 2d and 3d share."""

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__(kernel_size, stride, padding)
        self._per_axis()

    def forward(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        op = (ops.max_unpool1d, ops.max_unpool2d, ops.max_unpool3d)[self.axes - 1]
        return op(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(MaxUnpool):
    """Put what MaxPool1d found back where it was, and 0 elsewhere.

    Args:
        output_size: in the call, the size of the output where several are pooled to the same.

    Shapes: x and indices: what MaxPool1d returned of (batch, channel, length), y: (batch, channel, length)

    Raises:
        ShapeError: indices of another shape, or an output_size that is not pooled to this.

    >>> from gradlab import nn
    >>> MaxUnpool1d(2)(*nn.MaxPool1d(2, return_indices=True)(Tensor([[1.0, 2.0, 4.0, 3.0]]))).tolist()
    [[0.0, 2.0, 4.0, 0.0]]
    """

    axes = 1


class MaxUnpool2d(MaxUnpool):
    """Put what MaxPool2d found back where it was, and 0 elsewhere.

    Args:
        output_size: in the call, the size of the output where several are pooled to the same.

    Shapes: x and indices: what MaxPool2d returned of (batch, channel, height, width), y: (batch, channel, height, width)

    Raises:
        ShapeError: indices of another shape, or an output_size that is not pooled to this.
    """

    axes = 2


class MaxUnpool3d(MaxUnpool):
    """Put what MaxPool3d found back where it was, and 0 elsewhere.

    Args:
        output_size: in the call, the size of the output where several are pooled to the same.

    Shapes: x and indices: what MaxPool3d returned of (batch, channel, depth, height, width), y: (batch, channel, depth, height, width)

    Raises:
        ShapeError: indices of another shape, or an output_size that is not pooled to this.
    """

    axes = 3
