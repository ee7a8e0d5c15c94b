"""Parts of matrices: triangles, diagonals, blocks. Further axes in front are batches of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, current_device, int64, moved, total, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from ..function import Function
from .argument import tensor_of
from .dtype import counted

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

MATRICES = (
    Case(Draw((3, 4))),
    Case(Draw((4, 3)), diagonal=1),
    Case(Draw((2, 3, 3)), diagonal=-1),
    Case(Draw((0, 3))),
    Case(Draw((2, 2)), diagonal=-5),
)


def _need_matrix(op: str, x: Array) -> None:
    if x.ndim < 2:
        raise ShapeError(explain(f"{op}: this is no matrix", got={"x": x.shape}, need="two axes or more"))


class TriL(Function):
    """y = x on and below a diagonal, 0 above;  dx = g there, 0 above."""

    latex = r"y_{ij} = x_{ij}\,[j - i \le k], \quad \bar x_{ij} = \bar y_{ij}\,[j - i \le k]"
    kind = "shape"
    cases = MATRICES
    reads = ()
    fresh = True

    def forward(self, x: Array, diagonal: int = 0) -> Array:
        _need_matrix("tril", x)
        self.diagonal = diagonal
        return xp_of(x).tril(x, diagonal)

    def backward(self, g: Array) -> Array:
        return xp_of(g).tril(g, self.diagonal)


def tril(input: TensorLike, diagonal: int = 0) -> Tensor:
    """Keep the lower triangle: the entries on and below the `diagonal`-th diagonal.

    Shapes: input: (*, a, b), y: (*, a, b)

    >>> tril([[1.0, 2.0], [3.0, 4.0]]).data
    array([[1., 0.],
           [3., 4.]], dtype=float32)
    """
    return TriL.apply(input, diagonal=diagonal)


class TriU(Function):
    """y = x on and above a diagonal, 0 below;  dx = g there, 0 below."""

    latex = r"y_{ij} = x_{ij}\,[j - i \ge k], \quad \bar x_{ij} = \bar y_{ij}\,[j - i \ge k]"
    kind = "shape"
    cases = MATRICES
    reads = ()
    fresh = True

    def forward(self, x: Array, diagonal: int = 0) -> Array:
        _need_matrix("triu", x)
        self.diagonal = diagonal
        return xp_of(x).triu(x, diagonal)

    def backward(self, g: Array) -> Array:
        return xp_of(g).triu(g, self.diagonal)


def triu(input: TensorLike, diagonal: int = 0) -> Tensor:
    """Keep the upper triangle: the entries on and above the `diagonal`-th diagonal.

    Shapes: input: (*, a, b), y: (*, a, b)

    >>> triu([[1.0, 2.0], [3.0, 4.0]]).data
    array([[1., 2.],
           [0., 4.]], dtype=float32)
    """
    return TriU.apply(input, diagonal=diagonal)


def tril_indices(row: int, col: int, offset: int = 0, dtype: Any = int64, device: Any = None) -> Tensor:
    """List the places on and below a diagonal of a (row, col) matrix: row numbers, then column numbers.

    Shapes: y: (2, number of places)

    >>> tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return tensor_of(moved(np.stack(np.tril_indices(row, offset, col)).astype(dtype or int64), current_device(device)))


def triu_indices(row: int, col: int, offset: int = 0, dtype: Any = int64, device: Any = None) -> Tensor:
    """List the places on and above a diagonal of a (row, col) matrix: row numbers, then column numbers.

    Shapes: y: (2, number of places)

    >>> triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return tensor_of(moved(np.stack(np.triu_indices(row, offset, col)).astype(dtype or int64), current_device(device)))


class Trace(Function):
    """y = sum of x on the diagonal;  dx = g on the diagonal, 0 elsewhere."""

    latex = r"y = \sum_i x_{ii}, \quad \bar x_{ij} = \bar y\,[i = j]"
    kind = "reduce"
    cases = (Case(Draw((3, 3))), Case(Draw((2, 4))), Case(Draw((0, 3))))
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        if x.ndim != 2:
            raise ShapeError(explain("trace: this is no matrix", got={"x": x.shape}, need="two axes"))
        self.shape = x.shape
        return total(xp_of(x).diagonal(counted(x)))

    def backward(self, g: Array) -> Array:
        return g * xp_of(g).eye(*self.shape, dtype=g.dtype)


def trace(input: TensorLike) -> Tensor:
    """Add up the diagonal of a matrix.

    Shapes: input: (a, b), y: ()

    Raises:
        ShapeError: `input` has not two axes.

    >>> trace([[1.0, 2.0], [3.0, 4.0]]).item()
    5.0
    """
    return Trace.apply(input)
