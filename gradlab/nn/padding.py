"""Padding as modules: what is put around sequences, images and volumes before a window slides over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .. import ops
from .._tensor import Tensor
from ..errors import ArgumentError, explain
from ..ops.argument import whole
from .module import Module
from .option import need_axes

Ends = int | Sequence[int]


class Padding(Module):
    """What all paddings share: how much is put before and behind each of the last axes, the last axis first."""

    axes: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: Ends) -> None:
        super().__init__()
        name, n = type(self).__name__, 2 * self.axes
        given = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * n
        if len(given) != n:
            need = f"one number, or {n}: before and behind each axis, the last axis first"
            raise ArgumentError(explain(f"{name}: too many or too few numbers", got={"padding": padding}, need=need))
        self.padding = tuple([whole("padding", p) for p in given])

    def forward(self, x: Tensor) -> Tensor:
        need_axes(self, x, (self.axes + 1, self.axes + 2), f"{self.axes} axes behind (batch, channel) or (channel)")
        return ops.pad(x, self.padding, mode=self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(Padding):
    """Put the mirror image of sequences around them; the outermost entry itself is not repeated.

    Args:
        padding: one number for all ends, or (left, right).

    Shapes: x: (batch, channel, length) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more than there is to take the padding from.
        ArgumentError: too many or too few numbers.

    >>> ReflectionPad1d(2)(Tensor([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]
    """

    axes = 1
    mode = "reflect"


class ReflectionPad2d(Padding):
    """Put the mirror image of images around them; the outermost entry itself is not repeated.

    Args:
        padding: one number for all ends, or (left, right, top, bottom).

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more than there is to take the padding from.
        ArgumentError: too many or too few numbers.
    """

    axes = 2
    mode = "reflect"


class ReflectionPad3d(Padding):
    """Put the mirror image of volumes around them; the outermost entry itself is not repeated.

    Args:
        padding: one number for all ends, or (left, right, top, bottom, front, back).

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more than there is to take the padding from.
        ArgumentError: too many or too few numbers.
    """

    axes = 3
    mode = "reflect"


class ReplicationPad1d(Padding):
    """Put the outermost entries of sequences around them.

    Args:
        padding: one number for all ends, or (left, right).

    Shapes: x: (batch, channel, length) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes.
        ArgumentError: too many or too few numbers.

    >>> ReplicationPad1d(1)(Tensor([[1.0, 2.0]])).tolist()
    [[1.0, 1.0, 2.0, 2.0]]
    """

    axes = 1
    mode = "replicate"


class ReplicationPad2d(Padding):
    """Put the outermost entries of images around them.

    Args:
        padding: one number for all ends, or (left, right, top, bottom).

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes.
        ArgumentError: too many or too few numbers.
    """

    axes = 2
    mode = "replicate"


class ReplicationPad3d(Padding):
    """Put the outermost entries of volumes around them.

    Args:
        padding: one number for all ends, or (left, right, top, bottom, front, back).

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes.
        ArgumentError: too many or too few numbers.
    """

    axes = 3
    mode = "replicate"


class CircularPad1d(Padding):
    """Go on around sequences with their other end.

    Args:
        padding: one number for all ends, or (left, right).

    Shapes: x: (batch, channel, length) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more than there is to take the padding from.
        ArgumentError: too many or too few numbers.

    >>> CircularPad1d(1)(Tensor([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 1.0, 2.0, 3.0, 1.0]]
    """

    axes = 1
    mode = "circular"


class CircularPad2d(Padding):
    """Go on around images with their other end.

    Args:
        padding: one number for all ends, or (left, right, top, bottom).

    Shapes: x: (batch, channel, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more than there is to take the padding from.
        ArgumentError: too many or too few numbers.
    """

    axes = 2
    mode = "circular"


class CircularPad3d(Padding):
    """Go on around volumes with their other end.

    Args:
        padding: one number for all ends, or (left, right, top, bottom, front, back).

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x with longer last axes

    Raises:
        ShapeError: another number of axes, or more than there is to take the padding from.
        ArgumentError: too many or too few numbers.
    """

    axes = 3
    mode = "circular"
