"""Linear algebra under PyTorch's names: `gl.linalg.solve(a, b)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import ops
from .errors import ArgumentError, ShapeError, explain
from .ops import cholesky as cholesky
from .ops import eigh as eigh
from .ops import matmul as matmul
from .ops import matrix_power as matrix_power
from .ops import qr as qr
from .ops import solve as solve
from .ops import solve_triangular as solve_triangular
from .ops import svdvals as svdvals
from .ops.argument import Dim, tensor_of

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike

svd = ops.linalg_svd


def det(A: TensorLike) -> Tensor:
    """Take the determinants of square matrices.

    >>> round(det([[2.0, 0.0], [0.0, 3.0]]).item(), 3)
    6.0
    """
    return ops.det(A)


def slogdet(A: TensorLike) -> ops.SLogDet:
    """Take the sign and the logarithm of the size of a determinant.

    >>> slogdet([[-1.0, 0.0], [0.0, 1.0]]).sign.item()
    -1.0
    """
    return ops.slogdet(A)


def inv(A: TensorLike) -> Tensor:
    """Invert square matrices.

    >>> inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return ops.inverse(A)


def cross(input: TensorLike, other: TensorLike, *, dim: int = -1) -> Tensor:
    """Multiply vectors in space, along the last axis unless told otherwise.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    """
    return ops.cross(input, other, dim)


def eigvalsh(input: TensorLike) -> Tensor:
    """Find the eigenvalues of symmetric matrices, in rising order.

    >>> eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    return eigh(input).eigenvalues


def multi_dot(tensors: Sequence[TensorLike]) -> Tensor:
    """Multiply matrices in the order that costs little; the first and the last may be vectors.

    >>> multi_dot([[1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]], [3.0, 4.0]]).item()
    11.0
    """
    return ops.chain_matmul(*tensors)


def pinv(input: TensorLike, rcond: float | None = None, *, atol: float | None = None, rtol: float | None = None) -> Tensor:
    """Invert what can be inverted; singular values up to `atol`, or `rtol` (`rcond`) times the largest, count as 0.

    >>> pinv([[2.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    return ops.pinverse(input, rcond if rtol is None else rtol, atol=atol)


class LstSq(NamedTuple):
    """What comes nearest, and by how much it misses."""

    solution: Tensor
    residuals: Tensor


def lstsq(input: TensorLike, b: TensorLike, rcond: float | None = None) -> LstSq:
    """Solve input y = b as nearly as can be: with the least sum of squares of input y - b, and the shortest such y. Both have gradients.

    Shapes: input: (*, n, m), b: (*, n, k) or (*, n), solution: (*, m, k), residuals: (*, k), the sums of squares

    Raises:
        ShapeError: the shapes don't fit.

    >>> lstsq([[1.0], [1.0]], [[1.0], [2.0]]).solution.data.round(3)
    array([[1.5]], dtype=float32)
    """
    x, y = tensor_of(input), tensor_of(b)
    vectors = x.ndim > 1 and y.shape == x.shape[:-1]
    right = y.unsqueeze(-1) if vectors else y
    if x.ndim < 2 or right.ndim < 2 or right.shape[-2] != x.shape[-2]:
        raise ShapeError(
            explain("lstsq: the shapes don't fit", got={"a": x.shape, "b": y.shape}, need="a: (*, n, m), b: (*, n, k) or (*, n)")
        )
    solution = ops.pinverse(x, rcond) @ right
    miss = x @ solution - right
    residuals = (miss * miss).sum(-2)
    return LstSq(solution.squeeze(-1), residuals.squeeze(-1)) if vectors else LstSq(solution, residuals)


def vector_norm(x: TensorLike, ord: float = 2, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Measure length by the p-norm, p = `ord`, over `dim`, or all entries.

    >>> vector_norm([[3.0, 4.0]]).item()
    5.0
    """
    return ops.norm(x, ord, dim, keepdim, dtype)


def matrix_norm(
    input: TensorLike, ord: float | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Measure matrices: "fro" (root of the sum of squares), "nuc" (sum of singular values), 2 and -2 (the largest and the smallest of
    them), 1 and -1 (largest and smallest sum of |column|), inf and -inf (of |row|).

    Raises:
        ShapeError: no matrices, or `dim` names not two axes.
        ArgumentError: another `ord`.

    >>> matrix_norm([[3.0, 0.0], [0.0, 4.0]], 2).item(), matrix_norm([[3.0, 0.0], [0.0, 4.0]], 1).item()
    (4.0, 4.0)
    """
    t = tensor_of(input) if dtype is None else tensor_of(input).to(dtype)
    if len(dim) != 2 or t.ndim < 2:
        raise ShapeError(explain("matrix_norm: takes matrices", got={"x": t.shape, "dim": dim}, need="two axes"))
    if ord not in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        raise ArgumentError(explain("matrix_norm: which norm?", got={"ord": repr(ord)}, need='"fro", "nuc", inf, -inf, 1, -1, 2 or -2'))
    if ord == "fro":
        return ops.norm(t, 2.0, tuple(dim), keepdim)
    t = t.movedim(tuple(dim), (-2, -1))
    if ord in ("nuc", 2, -2):
        s = svdvals(t)
        y = s.sum(-1) if ord == "nuc" else s.amax(-1) if ord == 2 else s.amin(-1)
    else:
        sums = t.abs().sum(-2 if ord in (1, -1) else -1)
        y = sums.amax(-1) if ord > 0 else sums.amin(-1)  # type: ignore[operator]
    if not keepdim:
        return y
    for axis in sorted(i % t.ndim for i in dim):
        y = y.unsqueeze(axis)
    return y


def norm(input: TensorLike, ord: float | str | None = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Measure: all entries as one vector unless `ord` or `dim` say otherwise; with two axes (or a matrix and an `ord`) as `matrix_norm`.

    >>> norm([[3.0, 0.0], [0.0, 4.0]]).item(), norm([[3.0, 0.0], [0.0, 4.0]], "nuc").item()
    (5.0, 7.0)
    """
    t = tensor_of(input) if dtype is None else tensor_of(input).to(dtype)
    axes = (dim,) if isinstance(dim, int) else None if dim is None else tuple(dim)
    if ord is None:
        return vector_norm(t, 2, axes, keepdim)
    if axes is None and t.ndim == 2:
        axes = (0, 1)
    if axes is not None and len(axes) == 2:
        return matrix_norm(t, ord, axes, keepdim)
    if isinstance(ord, str) or (axes is None and t.ndim > 1):
        raise ArgumentError(
            explain("norm: of a vector or of a matrix?", got={"x": t.shape, "ord": repr(ord), "dim": dim}, need="a dim, or another ord")
        )
    return vector_norm(t, ord, axes, keepdim)


def vecdot(x: TensorLike, y: TensorLike, *, dim: int = -1) -> Tensor:
    """Multiply vectors along `dim` entry by entry and add up; what else there is broadcasts.

    >>> vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).tolist()
    [21.0, 43.0]
    """
    return (tensor_of(x) * y).sum(dim)


def vander(x: TensorLike, N: int | None = None) -> Tensor:
    """Raise every entry to the powers 0 to N - 1, along a new last axis; N is as many as there are entries unless given.

    >>> vander([2.0, 3.0], 3).tolist()
    [[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]]
    """
    t = tensor_of(x)
    n = t.shape[-1] if N is None else N
    return ops.stack([t**k for k in range(n)], -1)


def cond(input: TensorLike, p: float | str | None = None) -> Tensor:
    """Say how many times a matrix may magnify an error: the largest singular value by the smallest, or |x| |x^-1| in another norm.

    >>> cond([[4.0, 0.0], [0.0, 2.0]]).item()
    2.0
    """
    if p in (None, 2, -2):
        s = svdvals(input)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return matrix_norm(input, p) * matrix_norm(inv(input), p)  # type: ignore[arg-type]


def matrix_rank(input: TensorLike, tol: float | None = None, *, atol: float | None = None, rtol: float | None = None) -> Tensor:
    """Count the directions in which a matrix does not vanish: singular values above `atol` (`tol`) and above `rtol` times the largest.

    It has no gradient.

    >>> matrix_rank([[1.0, 2.0], [2.0, 4.0]]).item()
    1
    """
    t = tensor_of(input).detach()
    s = svdvals(t)
    low = tol if atol is None else atol
    least = (0.0 if low else max(t.shape[-2:]) * float(np.finfo(t.dtype).eps)) if rtol is None else rtol
    return ((s > least * s.amax(-1, keepdim=True)) & (s > (low or 0.0))).sum(-1)
