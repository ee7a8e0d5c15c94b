"""One number put around sequences, images and volumes, as modules."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from ..ops.argument import need_number
from .option import shown
from .padding import Ends, Padding


class Constant(Padding):
    """What ConstantPad1d, 2d and 3d share: the number that is put there; it takes any number of axes before the last ones."""

    mode = "constant"

    def __init__(self, padding: Ends, value: float) -> None:
        super().__init__(padding)
        need_number(type(self).__name__, value=value)
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        return ops.pad(x, self.padding, value=self.value)

    def extra_repr(self) -> str:
        return shown(self, "padding value")


class Zero(Constant):
    """What ZeroPad1d, 2d and 3d share."""

    def __init__(self, padding: Ends) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(Constant):
    """Put one number around sequences; negative paddings cut off.

    Args:
        padding: one number for all ends, or (left, right).

    Shapes: x: (batch, channel, length) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more cut off than there is.
        ArgumentError: too many or too few numbers.

    >>> ConstantPad1d((1, 2), 9.0)(Tensor([[1.0]])).tolist()
    [[9.0, 1.0, 9.0, 9.0]]
    """

    axes = 1


class ConstantPad2d(Constant):
    """Put one number around images; negative paddings cut off.

    Args:
        padding: one number for all ends, or (left, right, top, bottom).

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more cut off than there is.
        ArgumentError: too many or too few numbers.
    """

    axes = 2


class ConstantPad3d(Constant):
    """Put one number around volumes; negative paddings cut off.

    Args:
        padding: one number for all ends, or (left, right, top, bottom, front, back).

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more cut off than there is.
        ArgumentError: too many or too few numbers.
    """

    axes = 3


class ZeroPad1d(Zero):
    """Put zeros around sequences; negative paddings cut off.

    Args:
        padding: one number for all ends, or (left, right).

    Shapes: x: (batch, channel, length) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more cut off than there is.
        ArgumentError: too many or too few numbers.
    """

    axes = 1


class ZeroPad2d(Zero):
    """Put zeros around images; negative paddings cut off.

    Args:
        padding: one number for all ends, or (left, right, top, bottom).

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more cut off than there is.
        ArgumentError: too many or too few numbers.

    >>> ZeroPad2d((1, 0, 0, 1))(Tensor([[[1.0]]])).tolist()
    [[[0.0, 1.0], [0.0, 0.0]]]
    """

    axes = 2


class ZeroPad3d(Zero):
    """Put zeros around volumes; negative paddings cut off.

    Args:
        padding: one number for all ends, or (left, right, top, bottom, front, back).

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more cut off than there is.
        ArgumentError: too many or too few numbers.
    """

    axes = 3
