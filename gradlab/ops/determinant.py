"""Determinants, and their logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, explain
from .argument import tensor_of
from .dtype import as_pytorch, wide
from .matrix import SQUARES, OfMatrices, eye, need_matrices, turned

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Det(OfMatrices):
    """y = det x;  dx = g times the cofactors of x, g y x^-T where x has an inverse.

    With the singular values s of x = u diag(s) v the cofactors are det(u) det(v) u diag(product of the other s) v: also for a
    singular matrix, whose determinant still has a slope.
    """

    latex = (r"y = \det X, \quad \bar X = \bar y\, \det(U V)\; U\, \mathrm{diag}\Bigl(\prod_{j \ne i} s_j\Bigr) V, "
             r"\quad X = U\, \mathrm{diag}(s)\, V")  # fmt: skip
    kind = "reduce"
    cases = (*SQUARES, Case(Given([[1.0, 2.0], [3.0, 1.0]])), Case(Given([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.5, -1.0]])))
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        need_matrices("det", x)
        self.x = wide(x)
        return xp_of(x).asarray(xp_of(x).linalg.det(self.x), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        u, s, v = xp.linalg.svd(self.x)
        others = xp.prod(xp.where(eye(s, s.shape[-1]), 1.0, s[..., None, :]), axis=-1)
        sign = xp.linalg.det(u) * xp.linalg.det(v)
        return (g * sign)[..., None, None] * ((u * others[..., None, :]) @ v)


def det(input: TensorLike) -> Tensor:
    """Take the determinant of square matrices; the gradient is right for singular ones too.

    Shapes: input: (*, n, n), y: (*)

    Raises:
        ShapeError: no square matrices.

    >>> float(det([[2.0, 1.0], [0.0, 4.0]]).data)
    8.0
    """
    return Det.apply(input)


class LogAbsDet(OfMatrices):
    """y = log |det x|;  dx = g x^-T."""

    latex = r"y = \log |\det X|, \quad \bar X = \bar y\, X^{-\top}"
    kind = "reduce"
    cases = SQUARES
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        need_matrices("logabsdet", x)
        self.x = wide(x)
        return xp_of(x).asarray(xp_of(x).linalg.slogdet(self.x)[1], dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        try:
            return turned(xp_of(g).linalg.inv(self.x)) * g[..., None, None]
        except np.linalg.LinAlgError:
            got = {"shape": self.x.shape}
            need = "a matrix with an inverse"
            raise ArgumentError(explain("logabsdet: the matrix is singular, its slope infinite", got=got, need=need)) from None


class SignDet(OfMatrices):
    """y = sign of det x: -1, 0 or 1;  dx = 0, for it is flat between its jumps."""

    latex = r"y = \mathrm{sign} \det X, \quad \bar X = 0"
    kind = "reduce"
    cases = (*SQUARES, Case(Draw((2, 3, 3))))
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        need_matrices("slogdet", x)
        self.shape = x.shape
        return xp_of(x).asarray(xp_of(x).linalg.slogdet(wide(x))[0], dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return xp_of(g).zeros(self.shape, dtype=g.dtype)


class SLogDet(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


def slogdet(input: TensorLike) -> SLogDet:
    """Take the sign and the logarithm of the size of a determinant, which itself may be too large or small for its dtype.

    Shapes: input: (*, n, n), sign: (*), logabsdet: (*)

    Raises:
        ShapeError: no square matrices.

    >>> sign, logabsdet = slogdet([[0.0, 2.0], [3.0, 0.0]])
    >>> sign.item(), round(logabsdet.exp().item(), 3)
    (-1.0, 6.0)
    """
    x = tensor_of(input)
    return SLogDet(SignDet.apply(x.detach()), LogAbsDet.apply(x))


def logdet(input: TensorLike) -> Tensor:
    """Take the logarithm of a determinant: -inf where that is 0, NaN where it is negative.

    Shapes: input: (*, n, n), y: (*)

    Raises:
        ShapeError: no square matrices.

    >>> logdet([[2.0, 0.0], [0.0, 0.5]]).item()
    0.0
    """
    sign, logabsdet = slogdet(input)
    return logabsdet.masked_fill(sign < 0, float("nan"))
