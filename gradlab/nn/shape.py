"""Modules that change shapes, and the one that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops
from .._tensor import Tensor
from .module import Module


class Identity(Module):
    """Returns what it gets: a place holder for a layer that is left out. Takes any arguments, as that layer does.

    Shapes: x: (*), y: as x
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """Join the axes `start_dim` to `end_dim` into one; without options all but the batch axis.

    Shapes: x: (batch, *), y: (batch, n)

    Raises:
        DimError: no such axis.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        return ops.flatten(x, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split the axis `dim` into several; one of their sizes may be -1.

    Shapes: x: (*, n, *), y: (*, *unflattened_size, *)

    Raises:
        ShapeError: the sizes make another number of entries.
        DimError: no such axis.

    >>> Unflatten(1, (2, 3))(Tensor([[1.0] * 6])).shape
    (1, 2, 3)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, x: Tensor) -> Tensor:
        return ops.unflatten(x, self.dim, tuple(self.unflattened_size))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
