"""Matrices as products of simpler ones. A step with several results returns them side by side in one array, cut apart by its function."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Given
from ..errors import ArgumentError, explain
from .argument import tensor_of
from .dtype import wide
from .matrix import EMPTY, REGULAR, SEVERAL, SEVERAL_TALL, TALL, WIDE, OfMatrices, diagonal, eye, lower, need_matrices, turned

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SYMMETRIC = (
    Case(Given([[4.0, 1.0, -0.5], [1.0, 3.0, 0.5], [-0.5, 0.5, 2.0]])),
    Case(Given([[[2.0, 0.5], [0.5, 1.0]], [[3.0, -1.0], [-1.0, 1.0]]])),
    Case(Given([[2.0]])),
    Case(EMPTY),
)


def _symmetric(x: Array) -> Array:
    return 0.5 * (x + turned(x))


class Cholesky(OfMatrices):
    """x = y y^T, y lower;  dx = sym(y^-T low(y^T g) y^-1), low: the lower triangle with half the diagonal.

    What is decomposed is the symmetric part of x, (x + x^T) / 2, and sym is that of the gradient.

    Source: Murray (2016), Differentiation of the Cholesky decomposition, arXiv 1602.07527, equation 9.
    """

    latex = (r"X = Y Y^\top, \quad \bar X = \mathrm{sym}\!\left(Y^{-\top}\, \Phi(Y^\top \bar Y)\, Y^{-1}\right), "
             r"\quad \Phi: \text{lower triangle, half the diagonal}")  # fmt: skip
    kind = "matmul"
    cases = SYMMETRIC
    reads = ("output",)
    fresh = True
    unfit, need = "the matrix is not positive definite", "eigenvalues above 0"

    def forward(self, x: Array) -> Array:
        need_matrices("cholesky", x)
        xp = xp_of(x)
        self.y = xp.linalg.cholesky(_symmetric(wide(x)))
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, n = xp_of(g), self.y.shape[-1]
        p = xp.where(lower(self.y, n), turned(self.y) @ wide(g), 0.0)
        p = xp.where(eye(self.y, n), 0.5 * p, p)
        back = xp.linalg.inv(self.y)
        return _symmetric(turned(back) @ p @ back)


def cholesky(input: TensorLike, upper: bool = False) -> Tensor:
    """Write a symmetric positive definite matrix as a lower triangle times itself turned; with `upper` give that turned one.

    Shapes: input: (*, n, n), y: (*, n, n)

    Raises:
        ShapeError: no square matrices.
        ArgumentError: one is not positive definite.

    >>> cholesky([[4.0, 2.0], [2.0, 2.0]]).data
    array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    y = Cholesky.apply(input)
    return y.mT if upper else y


class Eigh(OfMatrices):
    """x v = v diag(w), v^T v = 1;  dx = sym(v (diag(dw) + (v^T dv) / E) v^T), E_ij = w_j - w_i, 0 where that is 0.

    The result is [w | v]. What is decomposed is the symmetric part of x. Equal eigenvalues have no vectors of their own, so
    that only what does not depend on the choice among them has a gradient.

    Source: Giles (2008), Collected matrix derivative results for forward and reverse mode algorithmic differentiation, section 3.1.
    """

    latex = (r"X V = V\, \mathrm{diag}(w), \quad \bar X = V \left(\mathrm{diag}(\bar w) + \frac{V^\top \bar V}{E}\right) V^\top, "
             r"\quad E_{ij} = w_j - w_i")  # fmt: skip
    kind = "matmul"
    cases = SYMMETRIC
    reads = ("output",)
    fresh = True
    unfit, need = "the eigenvalues were not found", "finite entries"

    def forward(self, x: Array) -> Array:
        need_matrices("eigh", x)
        xp = xp_of(x)
        self.w, self.v = xp.linalg.eigh(_symmetric(wide(x)))
        return xp.asarray(xp.concatenate([self.w[..., None], self.v], axis=-1), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, g = xp_of(g), wide(g)
        gap = self.w[..., None, :] - self.w[..., :, None]
        inner = xp.where(gap == 0, 0.0, turned(self.v) @ g[..., 1:]) / xp.where(gap == 0, 1.0, gap)
        return _symmetric(self.v @ (diagonal(g[..., 0]) + inner) @ turned(self.v))


class EighResult(NamedTuple):
    """Eigenvalues in rising order, and their vectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def eigh(input: TensorLike) -> EighResult:
    """Find the eigenvalues of symmetric matrices, in rising order, and the vectors that belong to them, as columns of length 1.

    Shapes: input: (*, n, n), eigenvalues: (*, n), eigenvectors: (*, n, n)

    Raises:
        ShapeError: no square matrices.

    >>> eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.data
    array([1., 2.], dtype=float32)
    """
    y = Eigh.apply(input)
    return EighResult(y[..., 0], y[..., 1:])


class SVD(OfMatrices):
    """x = u diag(s) v;  dx = (u (diag(ds) + skew(u^T du) / E s + s skew(v dv^T) / E) + (1 - u u^T) du / s) v + u (dv / s) (1 - v^T v).

    skew(a) = a - a^T, E_ij = s_j^2 - s_i^2, 0 where that is 0. The result is [u s v] in one line, with k = min(n, m) columns
    of u and rows of v that have a gradient.

    Source: Townsend (2016), Differentiating the singular value decomposition; with V turned, as NumPy and PyTorch give it.
    """

    latex = (r"X = U\, \mathrm{diag}(s)\, V, \quad \bar X = U \left(\mathrm{diag}(\bar s) + \frac{U^\top \bar U - \bar U^\top U}{E} S "
             r"+ S\, \frac{V \bar V^\top - \bar V V^\top}{E}\right) V + (1 - U U^\top) \bar U S^{-1} V "
             r"+ U S^{-1} \bar V (1 - V^\top V), \quad E_{ij} = s_j^2 - s_i^2")  # fmt: skip
    kind = "matmul"
    cases = (Case(TALL), Case(WIDE), Case(REGULAR), Case(SEVERAL), Case(SEVERAL_TALL, full=False), Case(EMPTY))
    reads = ("output",)
    fresh = True
    unfit, need = "the singular values were not found", "finite entries"

    def forward(self, x: Array, full: bool = False) -> Array:
        need_matrices("svd", x, square=False)
        xp = xp_of(x)
        u, self.s, v = xp.linalg.svd(wide(x), full_matrices=full)
        k = self.s.shape[-1]
        self.u, self.v, self.full = u[..., :k], v[..., :k, :], (u.shape[-2:], v.shape[-2:])
        lines = [u.reshape((*u.shape[:-2], -1)), self.s, v.reshape((*v.shape[:-2], -1))]
        return xp.asarray(xp.concatenate(lines, axis=-1), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, g, u, s, v = xp_of(g), wide(g), self.u, self.s, self.v
        k, front, (nu, nv) = s.shape[-1], g.shape[:-1], self.full
        at = nu[0] * nu[1]
        gu = g[..., :at].reshape((*front, *nu))[..., :k]
        gs = g[..., at : at + k]
        gv = g[..., at + k :].reshape((*front, *nv))[..., :k, :]
        gap = s[..., None, :] * s[..., None, :] - s[..., :, None] * s[..., :, None]
        far = xp.where(gap == 0, 1.0, gap)
        left, right = turned(u) @ gu, v @ turned(gv)
        left, right = [xp.where(gap == 0, 0.0, m - turned(m)) / far for m in (left, right)]
        inner = diagonal(gs) + left * s[..., None, :] + s[..., :, None] * right
        dx = u @ inner @ v
        if u.shape[-2] > k:
            dx = dx + ((gu - u @ (turned(u) @ gu)) / s[..., None, :]) @ v
        if v.shape[-1] > k:
            dx = dx + (u / s[..., None, :]) @ (gv - (gv @ turned(v)) @ v)
        return dx


class SVDResult(NamedTuple):
    """x = U diag(S) Vh, S in falling order."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def linalg_svd(A: TensorLike, full_matrices: bool = True) -> SVDResult:
    """Write matrices as U diag(S) Vh, U and Vh of columns and rows at right angles, S not negative and in falling order.

    With full_matrices U and Vh are square; the columns beyond min(n, m) can be chosen freely and have no gradient.

    Shapes: A: (*, n, m), U: (*, n, n or k), S: (*, k), Vh: (*, m or k, m), k = min(n, m)

    Raises:
        ShapeError: no matrices.

    >>> linalg_svd([[0.0, 2.0], [1.0, 0.0]]).S.data
    array([2., 1.], dtype=float32)
    """
    x = tensor_of(A)
    need_matrices("svd", x, square=False)
    n, m = x.shape[-2:]
    k = min(n, m)
    y = SVD.apply(x, full=True) if full_matrices and n != m else SVD.apply(x)
    a, b = (n, m) if full_matrices else (k, k)
    front = x.shape[:-2]
    return SVDResult(y[..., : n * a].reshape(*front, n, a), y[..., n * a : n * a + k], y[..., n * a + k :].reshape(*front, b, m))


class SingularValues(OfMatrices):
    """y = s, x = u diag(s) v;  dx = u diag(g) v."""

    latex = r"y = s, \quad X = U\, \mathrm{diag}(s)\, V, \quad \bar X = U\, \mathrm{diag}(\bar y)\, V"
    kind = "reduce"
    cases = (Case(TALL), Case(WIDE), Case(REGULAR), Case(SEVERAL), Case(EMPTY))
    reads = ("output",)
    fresh = True
    unfit, need = "the singular values were not found", "finite entries"

    def forward(self, x: Array) -> Array:
        need_matrices("svdvals", x, square=False)
        self.u, s, self.v = xp_of(x).linalg.svd(wide(x), full_matrices=False)
        return xp_of(x).asarray(s, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return (self.u * wide(g)[..., None, :]) @ self.v


def svdvals(A: TensorLike) -> Tensor:
    """Find the singular values of matrices, in falling order: how much they stretch. Equal ones have a gradient here.

    Shapes: A: (*, n, m), y: (*, min(n, m))

    Raises:
        ShapeError: no matrices.

    >>> svdvals([[0.0, 2.0], [1.0, 0.0]]).data
    array([2., 1.], dtype=float32)
    """
    return SingularValues.apply(A)


class QR(OfMatrices):
    """x = q r, q^T q = 1, r upper;  dx = (dq + q low(m)) r^-T, m = r dr^T - dq^T q, low(m): its lower triangle, mirrored up.

    Of a wide x only the first columns, x1 = q r1, make q: those after them are q r2, so that dx2 = q dr2 and dq gets x2 dr2^T.

    Source: Walter, Lehmann and Lamour (2012), On evaluating higher-order derivatives of the QR decomposition of tall matrices
    with full column rank in forward and reverse mode algorithmic differentiation, doi 10.1080/10556788.2011.610454.
    """

    latex = (r"X = Q R, \quad \bar X = (\bar Q + Q\, \mathrm{low}(M)) R^{-\top}, \quad M = R \bar R^\top - \bar Q^\top Q, "
             r"\quad \mathrm{low}(M): \text{lower triangle, mirrored up}")  # fmt: skip
    kind = "matmul"
    cases = (Case(TALL), Case(WIDE), Case(REGULAR), Case(SEVERAL_TALL), Case(EMPTY))
    reads = ("inputs", "output")
    fresh = True

    def forward(self, x: Array) -> Array:
        need_matrices("qr", x, square=False)
        xp = xp_of(x)
        self.x = wide(x)
        self.q, self.r = xp.linalg.qr(self.x)
        return xp.asarray(xp.concatenate([turned(self.q), self.r], axis=-1), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, g, q, r = xp_of(g), wide(g), self.q, self.r
        n, k = q.shape[-2:]
        dq, dr = turned(g[..., :n]), g[..., n:]
        rest = dr[..., k:]
        if rest.shape[-1]:
            dq = dq + self.x[..., k:] @ turned(rest)
            r, dr = r[..., :k], dr[..., :k]
        m = r @ turned(dr) - turned(dq) @ q
        low = xp.where(lower(m, k), m, turned(m))
        dx = (dq + q @ low) @ turned(xp.linalg.inv(r))
        return xp.concatenate([dx, q @ rest], axis=-1) if rest.shape[-1] else dx


class QRResult(NamedTuple):
    """x = Q R."""

    Q: Tensor
    R: Tensor


def qr(A: TensorLike, mode: str = "reduced") -> QRResult:
    """Write matrices as Q R, the columns of Q at right angles and of length 1, R an upper triangle.

    Shapes: A: (*, n, m), Q: (*, n, k), R: (*, k, m), k = min(n, m)

    Raises:
        ShapeError: no matrices.
        ArgumentError: a mode other than "reduced".

    >>> qr([[0.0, 2.0], [1.0, 3.0]]).R.abs().data
    array([[1., 3.],
           [0., 2.]], dtype=float32)
    """
    if mode != "reduced":
        raise ArgumentError(explain("qr: which mode?", got={"mode": repr(mode)}, need='"reduced", the only one here'))
    y, n = QR.apply(A), tensor_of(A).shape[-2]
    return QRResult(y[..., :n].mT, y[..., n:])
