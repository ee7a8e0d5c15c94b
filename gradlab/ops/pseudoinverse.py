"""The inverse of a matrix that has none: what comes nearest to solving equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case
from .dtype import wide
from .matrix import EMPTY, REGULAR, SEVERAL_TALL, TALL, WIDE, OfMatrices, need_matrices, turned

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class PInverse(OfMatrices):
    """y = x^+;  dx = -y^T g y^T + (1 - x y) g^T y y^T + y^T y g^T (1 - y x).

    Source: Golub and Pereyra (1973), The differentiation of pseudo-inverses, doi 10.1137/0710036, equation 4.12.
    """

    latex = (r"Y = X^+, \quad \bar X = -Y^\top \bar Y Y^\top + (1 - X Y)\, \bar Y^\top Y Y^\top "
             r"+ Y^\top Y \bar Y^\top (1 - Y X)")  # fmt: skip
    kind = "matmul"
    cases = (Case(TALL), Case(WIDE), Case(REGULAR), Case(SEVERAL_TALL), Case(EMPTY))
    reads = ("inputs", "output")
    fresh = True
    unfit, need = "the singular values were not found", "finite entries"

    def forward(self, x: Array, rcond: float | None = None, atol: float = 0.0) -> Array:
        need_matrices("pinv", x, square=False)
        xp = xp_of(x)
        self.x = wide(x)
        u, s, v = xp.linalg.svd(self.x, full_matrices=False)
        # PyTorch's; NumPy's 1e-15 takes noise in float32 for a direction.
        least = max(x.shape[-2:]) * float(xp.finfo(self.x.dtype).eps) if rcond is None else rcond
        some = (s > least * (xp.max(s, axis=-1, keepdims=True) if s.shape[-1] else 0.0)) & (s > atol)
        self.y = (turned(v) * (xp.where(some, 1.0, 0.0) / xp.where(some, s, 1.0))[..., None, :]) @ turned(u)
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        x, y, g = self.x, self.y, wide(g)
        back, turn = turned(y), turned(g)
        left, right = turn @ y @ back, back @ y @ turn
        return left - x @ (y @ left) + right - (right @ y) @ x - back @ g @ back


def pinverse(input: TensorLike, rcond: float | None = None, *, atol: float | None = None) -> Tensor:
    """Invert what can be inverted (Moore and Penrose): y b is the shortest of the vectors v for which `input @ v` comes nearest to b.

    Singular values up to `rcond` times the largest, and up to `atol`, count as 0; `rcond` is max(n, m) times the dtype's precision
    unless one of both is given.

    Shapes: input: (*, n, m), y: (*, m, n)

    Raises:
        ShapeError: no matrices.

    >>> pinverse([[1.0], [1.0]]).data.round(3)
    array([[0.5, 0.5]], dtype=float32)
    """
    if atol:
        return PInverse.apply(input, rcond=0.0 if rcond is None else rcond, atol=atol)
    return PInverse.apply(input) if rcond is None else PInverse.apply(input, rcond=rcond)
