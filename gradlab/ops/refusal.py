"""NumPy's complaints about axes and sizes, in gradlab's words. Not an op: bases of those that have a dim or that broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import DimError, ShapeError, explain
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor


_run = Function._run  # called by this name, it costs half of what super() does


class AlongAxes(Function):
    """A step with a `dim`; one that the input does not have, or has named twice, is refused."""

    def _run(self) -> Tensor:
        try:
            return _run(self)
        except np.exceptions.AxisError:
            shape, dim = self.inputs[0].shape, self.params["dim"]
            n = max(len(shape), 1)
            wrong = next(d for d in (dim if isinstance(dim, tuple) else (dim,)) if not -n <= d < n)
            what = f"{type(self).__name__.lower()}: there is no axis {wrong}"
            raise DimError(explain(what, got={"x": shape, "dim": dim}, need=f"a dim from {-n} to {n - 1}")) from None
        except ValueError as error:
            if "duplicate" not in str(error):
                raise
            what = f"{type(self).__name__.lower()}: an axis is named twice"
            raise DimError(explain(what, got={"dim": self.params["dim"]}, need="every axis once")) from None


class Broadcasting(Function):
    """A step on inputs that broadcast; sizes that cannot are refused."""

    def _run(self) -> Tensor:
        try:
            return _run(self)
        except ValueError:
            shapes = [x.shape for x in self.inputs]
            if _broadcast(shapes):
                raise
            what = f"{type(self).__name__.lower()}: the shapes don't broadcast"
            got = {"abc"[i]: shape for i, shape in enumerate(shapes)}
            raise ShapeError(explain(what, got=got, need="sizes that are equal or 1, counted from the last axis")) from None


def _broadcast(shapes: list[tuple[int, ...]]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True
