"""NumPy's complaints about axes and sizes, in gradlab's words. Not an op: bases of those that have a dim or that broadcast."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..backend import Array
from ..errors import DimError, ShapeError, explain
from ..function import Function
from .argument import Dim


class AlongAxes(Function):
    """A step with a `dim`; one that the input does not have, or has named twice, is refused."""

    def refuse(self, error: ValueError) -> None:
        """Name the axis."""
        name = type(self).__name__.lower()
        if isinstance(error, np.exceptions.AxisError):
            shape: tuple[int, ...] = self.inputs[0].shape
            dim: Any = self.params.get("dim")
            n = max(len(shape), 1)
            wrong = [d for d in (dim if isinstance(dim, tuple) else (dim,)) if not -n <= d < n]
            if wrong:
                need = f"a dim from {-n} to {n - 1}"
                raise DimError(explain(f"{name}: there is no axis {wrong[0]}", got={"x": shape, "dim": dim}, need=need)) from None
        if isinstance(error, np.exceptions.AxisError) or "duplicate" in str(error):
            raise DimError(explain(f"{name}: an axis is named twice", got={"dim": self.params["dim"]}, need="every axis once")) from None


def need_entries(op: str, x: Array, dim: Dim) -> None:
    """Refuse to choose from nothing.

    Raises:
        ShapeError: an axis that goes has no entries.
    """
    axes = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    if 0 in x.shape and any(x.shape[axis] == 0 for axis in axes if -x.ndim <= axis < x.ndim):
        raise ShapeError(explain(f"{op}: nothing to choose from", got={"x": x.shape, "dim": dim}, need="at least one entry along dim"))


class Broadcasting(Function):
    """A step on inputs that broadcast; sizes that cannot are refused."""

    called: ClassVar[str] = ""  # what users call it, where that is not the name of the class

    def refuse(self, error: ValueError) -> None:
        """Name the shapes."""
        shapes = [x.shape for x in self.inputs]
        if not _broadcast(shapes):
            got = {"abc"[i]: shape for i, shape in enumerate(shapes)}
            need = "sizes that are equal or 1, counted from the last axis"
            name = self.called or type(self).__name__.lower()
            raise ShapeError(explain(f"{name}: the shapes don't broadcast", got=got, need=need)) from None


def _broadcast(shapes: list[tuple[int, ...]]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True
