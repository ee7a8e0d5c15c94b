"""Tensor's methods: entries in order, and along one axis."""

# ruff: noqa: D102 - each method gets the first sentence of its op, see `described`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


@described
class Orders:
    """Entries in order, and along one axis."""

    __slots__ = ()

    def argsort(self, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
        return ops.argsort(self, dim, descending, stable)

    def bincount(self, weights: TensorLike | None = None, minlength: int = 0) -> Tensor:
        return ops.bincount(self, weights, minlength)

    def histc(self, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
        return ops.histc(self, bins, min, max)

    def kthvalue(self, k: int, dim: int = -1, keepdim: bool = False) -> Any:
        return ops.kthvalue(self, k, dim, keepdim)

    def msort(self) -> Tensor:
        return ops.msort(self)

    def sort(self, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        return ops.sort(self, dim, descending, stable)

    def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        return ops.topk(self, k, dim, largest, sorted)

    def unique(self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
        return ops.unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
        return ops.unique_consecutive(self, return_inverse, return_counts, dim)
