"""Matrix products."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from ..function import Function
from .argument import need_letters
from .dtype import beside, need_one_dtype, times

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class MatMul(Function):
    """y = a b;  da = g b^T, db = a^T g."""

    latex = r"Y = AB, \quad \bar A = \bar Y B^\top, \quad \bar B = A^\top \bar Y"
    kind = "matmul"
    cases = (
        Case(Draw((3, 4)), Draw((4, 2))),
        Case(Draw((3,)), Draw((3,))),
        Case(Draw((3, 4)), Draw((4,))),
        Case(Draw((3,)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((4, 2))),
        Case(Draw((2, 3, 4)), Draw((4,))),
        Case(Draw((3,)), Draw((2, 3, 4))),
        Case(Draw((3, 2)), Draw((4, 2, 3))),
        Case(Draw((2, 1, 3, 2)), Draw((4, 2, 3))),
        Case(Draw((0, 3)), Draw((3, 2))),
        Case(Draw((3, 0)), Draw((0, 2))),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array) -> Array:
        self.a, self.b = a, b
        try:
            if a.dtype is not b.dtype:
                need_one_dtype("matmul", a=a, b=b)
            if b.ndim == 2 and a.ndim > 2:  # rows of one matrix: a single product, not one a batch entry
                return times(a.reshape((prod(a.shape[:-1]), a.shape[-1])), b).reshape((*a.shape[:-1], b.shape[-1]))
            return times(a, b)
        except (ValueError, AttributeError):  # AttributeError: a Python number
            raise _mismatch(xp_of(a).shape(a), xp_of(b).shape(b)) from None

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, a, b = xp_of(g), self.a, self.b
        for_a, for_b = self.needs
        # A vector is a matrix of one row (left) or one column (right).
        rows, columns = a.ndim == 1, b.ndim == 1
        if rows:
            a, g = a[None, :], (g[..., None] if columns else g[..., None, :])
        if columns:
            b, g = b[:, None], g[..., None]
        shape, tall = a.shape, b.ndim == 2 and a.ndim > 2
        if tall:  # one product of tall matrices, not a batch of products and a sum
            n = prod(shape[:-1])
            a, g = a.reshape((n, shape[-1])), g.reshape((n, g.shape[-1]))
        da = times(g, xp.swapaxes(b, -1, -2)) if for_a else None
        db = times(xp.swapaxes(a, -1, -2), g) if for_b else None
        if tall and da is not None:
            da = da.reshape(shape)
        if rows and da is not None:
            da = da[..., 0, :]
        if columns and db is not None:
            db = db[..., 0]
        return da, db


def _mismatch(a: tuple[int, ...], b: tuple[int, ...]) -> ShapeError:
    got = {"a": a, "b": b}
    if not a or not b:
        return ShapeError(
            explain("matmul: takes vectors and matrices, not single numbers", got=got, need="a: (..., n, k), b: (..., k, m)", fix="a * b")
        )
    if a[-1] != b[-2 if len(b) > 1 else -1]:
        fix = "b.T" if len(b) == 2 and a[-1] == b[-1] else "a.T" if len(a) == 2 and len(b) == 2 and a[-2] == b[-2] else ""
        need = "a: (..., n, k), b: (..., k, m)" if len(b) > 1 else "a: (..., k), b: (k)"
        return ShapeError(explain("matmul: the inner sizes differ", got=got, need=need, fix=fix))
    return ShapeError(explain("matmul: the sizes in front don't broadcast", got=got, need="sizes before the last two that are equal or 1"))


def matmul(input: TensorLike, other: TensorLike) -> Tensor:
    """Multiply matrices, `input @ other`; a vector counts as a row on the left and as a column on the right.

    Shapes: input: (..., n, k), other: (..., k, m), y: (..., n, m); what stands in front broadcasts

    Raises:
        ShapeError: the inner sizes differ.
        DTypeError: the dtypes differ; a list takes the dtype of what it meets.

    >>> matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).data
    array([21., 43.], dtype=float32)
    """
    return MatMul.apply(beside(input, other), beside(other, input))


def mm(input: TensorLike, mat2: TensorLike) -> Tensor:
    """Multiply two matrices; unlike `matmul` it takes nothing else.

    Shapes: input: (n, k), mat2: (k, m), y: (n, m)

    Raises:
        ShapeError: other shapes.

    >>> mm([[1.0, 2.0]], [[3.0], [4.0]]).data
    array([[11.]], dtype=float32)
    """
    need_letters("mm", "(n k), (k m)", a=input, b=mat2)
    return MatMul.apply(beside(input, mat2), beside(mat2, input))


def mv(input: TensorLike, vec: TensorLike) -> Tensor:
    """Multiply a matrix and a vector.

    Shapes: input: (n, k), vec: (k), y: (n)

    Raises:
        ShapeError: other shapes.

    >>> mv([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).data
    array([21., 43.], dtype=float32)
    """
    need_letters("mv", "(n k), (k)", a=input, b=vec)
    return MatMul.apply(beside(input, vec), beside(vec, input))


def bmm(input: TensorLike, mat2: TensorLike) -> Tensor:
    """Multiply matrix by matrix along a batch; unlike `matmul` it does not broadcast.

    Shapes: input: (batch, n, k), mat2: (batch, k, m), y: (batch, n, m)

    Raises:
        ShapeError: other shapes.

    >>> bmm([[[1.0, 2.0]], [[3.0, 4.0]]], [[[1.0], [1.0]], [[2.0], [2.0]]]).data
    array([[[ 3.]],
           [[14.]]], dtype=float32)
    """
    need_letters("bmm", "(batch n k), (batch k m)", a=input, b=mat2)
    return MatMul.apply(beside(input, mat2), beside(mat2, input))


def dot(input: TensorLike, tensor: TensorLike) -> Tensor:
    """Multiply two vectors entry by entry and add up.

    Shapes: input: (n), tensor: (n), y: ()

    Raises:
        ShapeError: other shapes.

    >>> float(dot([1.0, 2.0], [3.0, 4.0]).data)
    11.0
    """
    need_letters("dot", "(n), (n)", a=input, b=tensor)
    return MatMul.apply(beside(input, tensor), beside(tensor, input))


def vdot(input: TensorLike, other: TensorLike) -> Tensor:
    """Multiply two vectors entry by entry and add up, as `dot`: these numbers are real.

    Shapes: input: (n), other: (n), y: ()

    Raises:
        ShapeError: other shapes.

    >>> float(vdot([1.0, 2.0], [3.0, 4.0]).data)
    11.0
    """
    need_letters("vdot", "(n), (n)", a=input, b=other)
    return MatMul.apply(beside(input, other), beside(other, input))
