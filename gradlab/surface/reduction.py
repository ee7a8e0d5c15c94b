"""Tensor's methods: reductions; NumPy's axis= and keepdims= are taken too."""

# ruff: noqa: D102 - each method gets the first sentence of its op, see `described`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from ..ops.argument import Dim
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


@described
class Reductions:
    """Reductions; NumPy's axis= and keepdims= are taken too."""

    __slots__ = ()

    def all(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.all(self, dim, keepdim, **numpy)

    def amax(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.amax(self, dim, keepdim, **numpy)

    def amin(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.amin(self, dim, keepdim, **numpy)

    def aminmax(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.aminmax(self, dim, keepdim, **numpy)

    def any(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.any(self, dim, keepdim, **numpy)

    def argmax(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.argmax(self, dim, keepdim, **numpy)

    def argmin(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.argmin(self, dim, keepdim, **numpy)

    def corrcoef(self) -> Tensor:
        return ops.corrcoef(self)

    def count_nonzero(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.count_nonzero(self, dim, keepdim, **numpy)

    def cov(self, correction: float = 1, *, fweights: TensorLike | None = None, aweights: TensorLike | None = None) -> Tensor:
        return ops.cov(self, correction, fweights=fweights, aweights=aweights)

    def cummax(self, dim: int | None = None, **numpy: Any) -> Any:
        return ops.cummax(self, dim, **numpy)

    def cummin(self, dim: int | None = None, **numpy: Any) -> Any:
        return ops.cummin(self, dim, **numpy)

    def cumprod(self, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.cumprod(self, dim, dtype, **numpy)

    def cumsum(self, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.cumsum(self, dim, dtype, **numpy)

    def diff(self, n: int = 1, dim: int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None) -> Tensor:
        return ops.diff(self, n, dim, prepend, append)

    def dist(self, other: TensorLike, p: float = 2.0) -> Tensor:
        return ops.dist(self, other, p)

    def log_softmax(self, dim: int, dtype: Any = None) -> Tensor:
        return ops.log_softmax(self, dim, dtype)

    def logcumsumexp(self, dim: int | None = None, **numpy: Any) -> Tensor:
        return ops.logcumsumexp(self, dim, **numpy)

    def logsumexp(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        return ops.logsumexp(self, dim, keepdim)

    def max(self, dim: Any = None, keepdim: bool = False, *, other: TensorLike | None = None, **numpy: Any) -> Any:
        return ops.max(self, dim, keepdim, other=other, **numpy)

    def mean(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.mean(self, dim, keepdim, dtype, **numpy)

    def median(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.median(self, dim, keepdim, **numpy)

    def min(self, dim: Any = None, keepdim: bool = False, *, other: TensorLike | None = None, **numpy: Any) -> Any:
        return ops.min(self, dim, keepdim, other=other, **numpy)

    def mode(self, dim: int = -1, keepdim: bool = False) -> Any:
        return ops.mode(self, dim, keepdim)

    def nanmean(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.nanmean(self, dim, keepdim, dtype, **numpy)

    def nanmedian(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.nanmedian(self, dim, keepdim, **numpy)

    def nanquantile(
        self, q: TensorLike, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", **numpy: Any
    ) -> Tensor:
        return ops.nanquantile(self, q, dim, keepdim, interpolation=interpolation, **numpy)

    def nansum(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.nansum(self, dim, keepdim, dtype, **numpy)

    def norm(self, p: float | str = "fro", dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.norm(self, p, dim, keepdim, dtype, **numpy)

    def prod(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.prod(self, dim, keepdim, dtype, **numpy)

    def quantile(
        self, q: TensorLike, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", **numpy: Any
    ) -> Tensor:
        return ops.quantile(self, q, dim, keepdim, interpolation=interpolation, **numpy)

    def renorm(self, p: float, dim: int, maxnorm: float) -> Tensor:
        return ops.renorm(self, p, dim, maxnorm)

    def softmax(self, dim: int, dtype: Any = None) -> Tensor:
        return ops.softmax(self, dim, dtype)

    def std(self, dim: Dim = None, correction: float = 1, keepdim: bool = False, *, unbiased: bool | None = None, **numpy: Any) -> Tensor:
        return ops.std(self, dim, correction, keepdim, unbiased=unbiased, **numpy)

    def sum(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.sum(self, dim, keepdim, dtype, **numpy)

    def var(self, dim: Dim = None, correction: float = 1, keepdim: bool = False, *, unbiased: bool | None = None, **numpy: Any) -> Tensor:
        return ops.var(self, dim, correction, keepdim, unbiased=unbiased, **numpy)
