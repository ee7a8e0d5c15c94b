"""What ops on whole matrices share: which shapes they take, and what they say of one that has no inverse. Not an op."""

from __future__ import annotations

import numpy as np

from ..backend import Array, xp_of
from ..cases import Case, Given
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import need_floats

REGULAR = Given([[2.0, 1.0, 0.5], [-1.0, 3.0, 1.0], [0.5, -0.5, 1.5]])
SEVERAL = Given([[[2.0, 1.0], [0.5, 1.5]], [[1.0, -2.0], [1.0, 1.0]]])
EMPTY = Given(np.zeros((2, 0, 0)))
SQUARES = (Case(REGULAR), Case(SEVERAL), Case(Given([[2.0]])), Case(EMPTY))
TALL = Given([[1.0, 0.5], [-0.5, 2.0], [1.5, 1.0]])
WIDE = Given([[1.0, -0.5, 1.5], [0.5, 2.0, 1.0]])
SEVERAL_TALL = Given([[[1.0], [-2.0]], [[0.5], [1.0]]])


class OfMatrices(Function):
    """A step on the last two axes; a matrix it can make nothing of is refused."""

    unfit = "the matrix is singular"
    fix = ""

    def refuse(self, error: ValueError) -> None:
        """Say what the matrix lacks."""
        if not isinstance(error, np.linalg.LinAlgError):
            return
        got = {"shape": self.inputs[0].shape, "says": error}
        name = type(self).__name__.lower()
        raise ArgumentError(explain(f"{name}: {self.unfit}", got=got, need=self.need, fix=self.fix)) from None

    need = "linearly independent columns"


def need_matrices(op: str, x: Array, square: bool = True) -> None:
    """Refuse what is no matrix, or not as wide as high.

    Raises:
        ShapeError: fewer than two axes, or two sizes where one is needed.
        DTypeError: `x` holds integers.
    """
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        need = "(*, n, n)" if square else "(*, n, m)"
        raise ShapeError(explain(f"{op}: takes {'square ' if square else ''}matrices", got={"x": x.shape}, need=need))
    need_floats(op, x)


def solved(a: Array, b: Array) -> Array:
    """a^-1 b for matrices, what stands in front broadcast, which CuPy's `solve` does not do."""
    xp = xp_of(a)
    if a.shape[:-2] != b.shape[:-2]:
        try:
            front = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        except ValueError:
            need = "sizes before the last two that are equal or 1"
            raise ShapeError(explain("solve: the sizes in front don't broadcast", got={"a": a.shape, "b": b.shape}, need=need)) from None
        a, b = [xp.broadcast_to(x, (*front, *x.shape[-2:])) for x in (a, b)]
    return xp.linalg.solve(a, b)


def turned(x: Array) -> Array:
    """Rows as columns."""
    return xp_of(x).swapaxes(x, -1, -2)


def diagonal(values: Array) -> Array:
    """Square matrices with these on the diagonal."""
    n = values.shape[-1]
    return xp_of(values).where(eye(values, n), values[..., None, :], 0.0)


def eye(x: Array, n: int) -> Array:
    """Where the diagonal is."""
    i = xp_of(x).arange(n)
    return i[:, None] == i


def lower(x: Array, n: int, strictly: bool = False) -> Array:
    """Where the lower triangle is, without the diagonal if `strictly`."""
    i = xp_of(x).arange(n)
    return i[:, None] > i if strictly else i[:, None] >= i
