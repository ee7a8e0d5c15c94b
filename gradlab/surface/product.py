"""Tensor's methods: products and matrices."""

# ruff: noqa: D102 - each method gets the first sentence of its op, see `described`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


@described
class Products:
    """Products and matrices."""

    __slots__ = ()

    def addbmm(self, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addbmm(self, batch1, batch2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def addmm(self, mat1: TensorLike, mat2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addmm(self, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def addmv(self, mat: TensorLike, vec: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addmv(self, mat, vec, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def addr(self, vec1: TensorLike, vec2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addr(self, vec1, vec2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def baddbmm(self, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.baddbmm(self, batch1, batch2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def bmm(self, mat2: TensorLike) -> Tensor:
        return ops.bmm(self, mat2)  # type: ignore[arg-type]

    def cholesky(self, upper: bool = False) -> Tensor:
        return ops.cholesky(self, upper)  # type: ignore[arg-type]

    def cross(self, other: TensorLike, dim: int | None = None) -> Tensor:
        return ops.cross(self, other, dim)  # type: ignore[arg-type]

    def det(self) -> Tensor:
        return ops.det(self)  # type: ignore[arg-type]

    def dot(self, tensor: TensorLike) -> Tensor:
        return ops.dot(self, tensor)  # type: ignore[arg-type]

    def inner(self, other: TensorLike) -> Tensor:
        return ops.inner(self, other)  # type: ignore[arg-type]

    def inverse(self) -> Tensor:
        return ops.inverse(self)  # type: ignore[arg-type]

    def kron(self, other: TensorLike) -> Tensor:
        return ops.kron(self, other)  # type: ignore[arg-type]

    def logdet(self) -> Tensor:
        return ops.logdet(self)  # type: ignore[arg-type]

    def matmul(self, other: TensorLike) -> Tensor:
        return ops.matmul(self, other)

    def matrix_power(self, n: int) -> Tensor:
        return ops.matrix_power(self, n)  # type: ignore[arg-type]

    def mm(self, mat2: TensorLike) -> Tensor:
        return ops.mm(self, mat2)  # type: ignore[arg-type]

    def mv(self, vec: TensorLike) -> Tensor:
        return ops.mv(self, vec)  # type: ignore[arg-type]

    def outer(self, vec2: TensorLike) -> Tensor:
        return ops.outer(self, vec2)  # type: ignore[arg-type]

    def pinverse(self, rcond: float | None = None, *, atol: float | None = None) -> Tensor:
        return ops.pinverse(self, rcond, atol=atol)  # type: ignore[arg-type]

    def qr(self, mode: str = "reduced") -> Any:
        return ops.qr(self, mode)  # type: ignore[arg-type]

    def slogdet(self) -> Any:
        return ops.slogdet(self)  # type: ignore[arg-type]

    def vdot(self, other: TensorLike) -> Tensor:
        return ops.vdot(self, other)  # type: ignore[arg-type]
