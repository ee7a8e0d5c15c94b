"""Products that are not plain ones of matrices: added to something, of blocks, of vectors in space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, as_array, total, xp_of
from ..cases import Case, Draw
from ..errors import DimError, ShapeError, explain
from ..function import Function
from .argument import need_letters, tensor_of, whole
from .dtype import beside, need_one_dtype, times
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class AddMM(Function):
    """y = beta c + alpha a b;  dc = beta g, da = alpha g b^T, db = alpha a^T g."""

    latex = (r"Y = \beta C + \alpha A B, \quad \bar C = \beta \bar Y, \quad \bar A = \alpha \bar Y B^\top, "
             r"\quad \bar B = \alpha A^\top \bar Y")  # fmt: skip
    kind = "matmul"
    cases = (
        Case(Draw((3, 2)), Draw((3, 4)), Draw((4, 2))),
        Case(Draw((2,)), Draw((3, 4)), Draw((4, 2)), beta=0.5, alpha=-2.0),
        Case(Draw((3,)), Draw((3, 4)), Draw((4,)), alpha=3.0),
        Case(Draw((1, 3, 1)), Draw((2, 3, 4)), Draw((2, 4, 2))),
        Case(Draw(()), Draw((3, 4)), Draw((4, 2)), beta=0.0),
        Case(Draw((0, 2)), Draw((0, 4)), Draw((4, 2))),
        Case(Draw((3, 2)), Draw((3, 0)), Draw((0, 2))),
    )
    reads = ("inputs",)

    def forward(self, c: Array, a: Array, b: Array, beta: float = 1.0, alpha: float = 1.0) -> Array:
        if a.dtype is not b.dtype:
            need_one_dtype("addmm", a=a, b=b)
        if c.dtype is not b.dtype:
            need_one_dtype("addmm", c=c, b=b)
        self.a, self.b, self.beta, self.alpha = a, b, beta, alpha
        y = times(a, b) if alpha == 1 else alpha * times(a, b)
        if c.ndim > y.ndim or any(n not in (1, m) for n, m in zip(c.shape[::-1], y.shape[::-1], strict=False)):
            got = {"input": c.shape, "product": y.shape}
            raise ShapeError(explain("addmm: the input does not fit the product", got=got, need="a shape that broadcasts to the product's"))
        # As in PyTorch, what counts for nothing may be NaN.
        return y + xp_of(c).zeros_like(c) if beta == 0 else y + (c if beta == 1 else beta * c)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, a, b, needs = xp_of(g), self.a, self.b, self.needs
        scaled = g if self.alpha == 1 else self.alpha * g
        dc = g if self.beta == 1 else self.beta * g
        if b.ndim == 1:
            da, db = scaled[:, None] * b, times(scaled, a) if needs[2] else None
        else:
            da = times(scaled, xp.swapaxes(b, -1, -2)) if needs[1] else None
            db = times(xp.swapaxes(a, -1, -2), scaled) if needs[2] else None
        return dc, da, db


def _add_product(op: str, need: str, c: TensorLike, a: TensorLike, b: TensorLike, beta: float, alpha: float) -> Tensor:
    need_letters(op, need, a=a, b=b)
    a, b, c = beside(a, b), beside(b, a), beside((c,) if isinstance(c, (int, float)) else c, a)
    return AddMM.apply(c, a, b) if beta == alpha == 1 else AddMM.apply(c, a, b, beta=beta, alpha=alpha)


def addmm(input: TensorLike, mat1: TensorLike, mat2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add to `beta` times the input `alpha` times the product of two matrices.

    Shapes: input: broadcasts to (n, m), mat1: (n, k), mat2: (k, m), y: (n, m)

    Raises:
        ShapeError: other shapes.

    >>> addmm([1.0, 2.0], [[1.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]]).data
    array([[5., 8.]], dtype=float32)
    """
    return _add_product("addmm", "(n k), (k m)", input, mat1, mat2, beta, alpha)


def addmv(input: TensorLike, mat: TensorLike, vec: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add to `beta` times the input `alpha` times a matrix times a vector.

    Shapes: input: broadcasts to (n), mat: (n, k), vec: (k), y: (n)

    Raises:
        ShapeError: other shapes.

    >>> addmv([1.0, 2.0], [[1.0, 1.0], [0.0, 1.0]], [3.0, 4.0]).data
    array([8., 6.], dtype=float32)
    """
    return _add_product("addmv", "(n k), (k)", input, mat, vec, beta, alpha)


def baddbmm(input: TensorLike, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add to `beta` times the input `alpha` times the products of two batches of matrices.

    Shapes: input: broadcasts to (batch, n, m), batch1: (batch, n, k), batch2: (batch, k, m), y: (batch, n, m)

    Raises:
        ShapeError: other shapes.

    >>> baddbmm([1.0], [[[1.0, 1.0]]], [[[1.0], [3.0]]], beta=10).data
    array([[[14.]]], dtype=float32)
    """
    return _add_product("baddbmm", "(batch n k), (batch k m)", input, batch1, batch2, beta, alpha)


def addbmm(input: TensorLike, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add to `beta` times the input `alpha` times the sum of the products of two batches of matrices.

    Shapes: input: broadcasts to (n, m), batch1: (batch, n, k), batch2: (batch, k, m), y: (n, m)

    Raises:
        ShapeError: other shapes.

    >>> addbmm([0.0], [[[1.0, 1.0]], [[0.0, 1.0]]], [[[1.0], [3.0]], [[5.0], [6.0]]]).data
    array([[10.]], dtype=float32)
    """
    need_letters("addbmm", "(batch n k), (batch k m)", batch1=batch1, batch2=batch2)
    a, b = tensor_of(beside(batch1, batch2)), tensor_of(beside(batch2, batch1))
    n, m = a.shape[1], b.shape[2]
    inner = a.shape[0] * a.shape[2]
    return addmm(input, a.transpose(0, 1).reshape(n, inner), b.reshape(inner, m), beta=beta, alpha=alpha)


def addr(input: TensorLike, vec1: TensorLike, vec2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Add to `beta` times the input `alpha` times every entry of one vector times every entry of another.

    Shapes: input: broadcasts to (n, m), vec1: (n), vec2: (m), y: (n, m)

    Raises:
        ShapeError: other shapes.

    >>> addr([0.0], [1.0, 2.0], [3.0, 4.0]).data
    array([[3., 4.],
           [6., 8.]], dtype=float32)
    """
    need_letters("addr", "(n), (m)", vec1=vec1, vec2=vec2)
    a, b = tensor_of(beside(vec1, vec2)), tensor_of(beside(vec2, vec1))
    return addmm(input, a.unsqueeze(1), b.unsqueeze(0), beta=beta, alpha=alpha)


class Kron(Function):
    """y = a, each entry replaced by that entry times b;  da = sum of g b over each block, db = sum of g a over the blocks."""

    latex = (r"Y_{ip+k,\,jq+l} = A_{ij} B_{kl}, \quad \bar A_{ij} = \sum_{kl} \bar Y_{ip+k,\,jq+l} B_{kl}, "
             r"\quad \bar B_{kl} = \sum_{ij} \bar Y_{ip+k,\,jq+l} A_{ij}")  # fmt: skip
    kind = "matmul"
    cases = (
        Case(Draw((2, 3)), Draw((3, 2))),
        Case(Draw((2,)), Draw((2, 3))),
        Case(Draw((2, 1, 2)), Draw((3,))),
        Case(Draw(()), Draw((2, 3))),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 2)), Draw((2, 2))),
    )
    aligns = True
    reads = ("inputs",)

    def forward(self, a: Array, b: Array) -> Array:
        n = max(a.ndim, b.ndim)
        small, large = [(1,) * (n - x.ndim) + x.shape for x in (b, a)]
        # Sizes of a and of b in turn: (rows of a, rows of b, columns of a, columns of b).
        self.a = a.reshape(tuple([size for n in large for size in (n, 1)]))
        self.b = b.reshape(tuple([size for n in small for size in (1, n)]))
        self.shapes = a.shape, b.shape
        y = self.a * self.b
        self.split = y.shape
        return y.reshape(tuple([p * q for p, q in zip(large, small, strict=True)]))

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        g = g.reshape(self.split)
        axes = [tuple(range(first, g.ndim, 2)) for first in (1, 0)]
        grads = [total(g * other, axis) if need else None for other, axis, need in zip((self.b, self.a), axes, self.needs, strict=True)]
        return tuple([d if d is None else d.reshape(shape) for d, shape in zip(grads, self.shapes, strict=True)])


def kron(input: TensorLike, other: TensorLike) -> Tensor:
    """Replace every entry of `input` by that entry times all of `other` (Kronecker product).

    Shapes: input: (n, m), other: (p, q), y: (n p, m q); with other numbers of axes likewise

    >>> kron([[1.0, 2.0]], [[1.0], [10.0]]).data
    array([[ 1.,  2.],
           [10., 20.]], dtype=float32)
    """
    return Kron.apply(*[x if hasattr(x, "grad_fn") else as_array(x) for x in (input, other)])


class Cross(Broadcasting):
    """y = a x b, along an axis of size 3;  da = b x g, db = g x a."""

    latex = r"y = a \times b, \quad \bar a = b \times \bar y, \quad \bar b = \bar y \times a"
    cases = (
        Case(Draw((3,)), Draw((3,))),
        Case(Draw((2, 3)), Draw((4, 2, 3)), dim=-1),
        Case(Draw((2, 3)), Draw((1, 3)), dim=-1),
        Case(Draw((1, 3)), Draw((2, 3)), dim=-1),
        Case(Draw((2, 1, 3)), Draw((1, 2, 3)), dim=-1),
        Case(Draw((3, 2)), Draw((3, 2)), dim=0),
        Case(Draw((0, 3)), Draw((0, 3)), dim=-1),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array, dim: int = -1) -> Array:
        self.a, self.b, self.dim = a, b, dim
        return _cross(a, b, dim)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        return _cross(self.b, g, self.dim) if self.needs[0] else None, _cross(g, self.a, self.dim) if self.needs[1] else None


def _cross(a: Array, b: Array, dim: int) -> Array:
    """With R the turn (1, 2, 0) -> (0, 1, 2): R(a R(b) - R(a) b)."""
    xp = xp_of(a)
    return xp.roll(a * xp.roll(b, -1, axis=dim) - xp.roll(a, -1, axis=dim) * b, -1, axis=dim)


def cross(input: TensorLike, other: TensorLike, dim: int | None = None) -> Tensor:
    """Multiply vectors in space: at right angles to both, as long as the area between them. `dim` is the first axis of size 3.

    Shapes: input: (*, 3), other: (*, 3), y: (*, 3)

    Raises:
        DimError: no axis of size 3, or another one asked for.
        ShapeError: shapes that don't broadcast.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).data
    array([0., 0., 1.], dtype=float32)
    """
    a, b = beside(input, other), beside(other, input)
    x, y = [tuple(getattr(v, "shape", ())) for v in (a, b)]
    if dim is None:
        dim = next((i - len(x) for i, n in enumerate(x) if n == 3), 0)
    dim = whole("dim", dim)
    if any(not -len(s) <= dim < max(len(s), 1) or not s or s[dim] != 3 for s in (x, y)) or (dim >= 0 and len(x) != len(y)):
        raise DimError(
            explain("cross: vectors in space have 3 entries", got={"a": x, "b": y, "dim": dim}, need="an axis of size 3 in both")
        )
    return Cross.apply(a, b, dim=dim)
