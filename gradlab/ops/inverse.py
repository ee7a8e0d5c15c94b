"""Inverses, and linear equations solved without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, bool_, xp_of
from ..cases import Case, Given
from ..errors import ShapeError, explain
from .argument import tensor_of, whole
from .dtype import beside, need_one_dtype, wide
from .matrix import EMPTY, REGULAR, SEVERAL, SQUARES, OfMatrices, eye, lower, need_matrices, solved, turned

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Inverse(OfMatrices):
    """y = x^-1;  dx = -y^T g y^T."""

    latex = r"Y = X^{-1}, \quad \bar X = -Y^\top \bar Y Y^\top"
    kind = "matmul"
    cases = SQUARES
    reads = ("output",)
    fresh = True
    fix = "gl.linalg.pinv(x)"

    def forward(self, x: Array) -> Array:
        need_matrices("inverse", x)
        xp = xp_of(x)
        self.y = xp.linalg.inv(wide(x))
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        back = turned(self.y)
        return -(back @ g @ back)


def inverse(input: TensorLike) -> Tensor:
    """Invert square matrices. To solve a x = b, `gl.linalg.solve(a, b)` is faster and more exact.

    Shapes: input: (*, n, n), y: (*, n, n)

    Raises:
        ShapeError: no square matrices.
        ArgumentError: one is singular.

    >>> inverse([[2.0, 0.0], [0.0, 4.0]]).data
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return Inverse.apply(input)


def matrix_power(input: TensorLike, n: int) -> Tensor:
    """Multiply a square matrix by itself, n factors, in about log2 n products; for n < 0 its inverse.

    Shapes: input: (*, k, k), y: (*, k, k)

    Raises:
        ShapeError: no square matrices.
        ArgumentError: `n` is negative and `input` is singular.

    >>> matrix_power([[1.0, 1.0], [0.0, 1.0]], 5).data
    array([[1., 5.],
           [0., 1.]], dtype=float32)
    """
    base, n = tensor_of(input), whole("n", n)
    need_matrices("matrix_power", base)
    if n < 0:
        base, n = inverse(base), -n
    if n == 0:  # depends on nothing, but is still a result of x
        xp, array = xp_of(base.data), base.data
        nothing = base.masked_fill(xp.ones(array.shape, dtype=bool_), 0.0)
        return nothing + xp.asarray(eye(array, array.shape[-1]), dtype=array.dtype)
    y: Any = None
    while True:
        n, odd = divmod(n, 2)
        if odd:
            y = base if y is None else y @ base
        if not n:
            return y
        base = base @ base


class Solve(OfMatrices):
    """y = a^-1 b;  db = a^-T g, da = -db y^T."""

    latex = r"Y = A^{-1} B, \quad \bar B = A^{-\top} \bar Y, \quad \bar A = -\bar B Y^\top"
    kind = "matmul"
    cases = (
        Case(REGULAR, Given([[1.0, 2.0], [0.5, -1.0], [-2.0, 1.0]])),
        Case(REGULAR, Given([1.0, 0.5, -2.0])),
        Case(SEVERAL, Given([[1.0, 2.0], [0.5, -1.0]])),
        Case(SEVERAL, Given([[[1.0], [2.0]], [[0.5], [-1.0]]])),
        Case(Given([[2.0, 1.0], [0.5, 1.5]]), Given([[[1.0], [2.0]], [[0.5], [-1.0]]])),
        Case(EMPTY, Given(np.zeros((2, 0, 1)))),
    )
    reads = ("inputs", "output")

    def forward(self, a: Array, b: Array) -> Array:
        need_matrices("solve", a)
        need_one_dtype("solve", a=a, b=b)
        xp = xp_of(a)
        # As in PyTorch, b holds vectors where it has the shape of a without its last axis.
        self.vectors = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
        right = b[..., None] if self.vectors else b
        if not b.ndim or right.shape[-2] != a.shape[-1]:
            raise ShapeError(
                explain("solve: the shapes don't fit", got={"a": a.shape, "b": b.shape}, need="a: (*, n, n), b: (*, n, k) or (*, n)")
            )
        self.a = wide(a)
        self.y = solved(self.a, wide(right))
        return xp.asarray(self.y[..., 0] if self.vectors else self.y, dtype=b.dtype)

    def backward(self, g: Array) -> tuple[Array | None, Array]:
        g = wide(g[..., None] if self.vectors else g)
        db = solved(turned(self.a), g)
        return -(db @ turned(self.y)) if self.needs[0] else None, db[..., 0] if self.vectors else db


def solve(A: TensorLike, B: TensorLike, *, left: bool = True) -> Tensor:
    """Solve A y = B, or y A = B for left=False.

    Shapes: A: (*, n, n), B: (*, n, k), (*, n) or (n), y: as B; what stands in front broadcasts

    Raises:
        ShapeError: the shapes don't fit.
        ArgumentError: `A` is singular.

    >>> solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0]).data
    array([0.5 , 0.25], dtype=float32)
    """
    a, b = tensor_of(beside(A, B)), tensor_of(beside(B, A))
    return Solve.apply(a, b) if left else Solve.apply(a.mT, b.mT).mT


class SolveTriangular(OfMatrices):
    """y = t^-1 b, t the upper (lower) triangle of a;  db = t^-T g, da = -db y^T in that triangle.

    With unitriangular the diagonal of t is 1, whatever a has there.
    """

    latex = r"Y = T^{-1} B, \quad \bar B = T^{-\top} \bar Y, \quad \bar A = -\bar B Y^\top \text{ in the triangle}"
    kind = "matmul"
    cases = (
        Case(REGULAR, Given([[1.0, 2.0], [0.5, -1.0], [-2.0, 1.0]]), upper=True),
        Case(REGULAR, Given([[1.0], [0.5], [-2.0]]), upper=False, unitriangular=True),
        Case(SEVERAL, Given([[1.0, 2.0], [0.5, -1.0]]), upper=False),
        Case(EMPTY, Given(np.zeros((2, 0, 1))), upper=True),
    )
    reads = ("inputs", "output")

    def forward(self, a: Array, b: Array, upper: bool, unitriangular: bool = False) -> Array:
        need_matrices("solve_triangular", a)
        need_one_dtype("solve_triangular", a=a, b=b)
        xp, n = xp_of(a), a.shape[-1]
        if b.ndim < 2 or b.shape[-2] != n:
            raise ShapeError(
                explain("solve_triangular: the shapes don't fit", got={"a": a.shape, "b": b.shape}, need="a: (*, n, n), b: (*, n, k)")
            )
        below = lower(a, n, strictly=upper != unitriangular)
        self.inside = ~below if upper else below
        self.t = xp.where(self.inside, wide(a), 0.0)
        if unitriangular:
            self.t = xp.where(eye(a, n), 1.0, self.t)
        self.y = solved(self.t, wide(b))
        return xp.asarray(self.y, dtype=b.dtype)

    def backward(self, g: Array) -> tuple[Array | None, Array]:
        xp = xp_of(g)
        db = solved(turned(self.t), wide(g))
        return xp.where(self.inside, -(db @ turned(self.y)), 0.0) if self.needs[0] else None, db


def solve_triangular(input: TensorLike, B: TensorLike, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """Solve input y = B (y input = B for left=False), reading one triangle of `input`; with `unitriangular` its diagonal counts as 1.

    Shapes: input: (*, n, n), B: (*, n, k), y: as B

    Raises:
        ShapeError: the shapes don't fit.
        ArgumentError: `input` is singular.

    >>> solve_triangular([[2.0, 9.0], [1.0, 4.0]], [[1.0], [1.0]], upper=False).data
    array([[0.5  ],
           [0.125]], dtype=float32)
    """
    a, b = tensor_of(beside(input, B)), tensor_of(beside(B, input))
    if not left:
        return solve_triangular(a.mT, b.mT, upper=not upper, unitriangular=unitriangular).mT
    return SolveTriangular.apply(a, b, upper=upper, unitriangular=unitriangular)
