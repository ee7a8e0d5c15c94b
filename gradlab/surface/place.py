"""Tensor's methods: entries by place, and drawn ones."""

# ruff: noqa: D102 - each method gets the first sentence of its op, see `described`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from ..backend import Generator
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


@described
class Places:
    """Entries by place, and drawn ones."""

    __slots__ = ()

    def argwhere(self) -> Tensor:
        return ops.argwhere(self)

    def bernoulli(self, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
        return ops.bernoulli(self, p, generator=generator)

    def diagonal_scatter(self, src: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        return ops.diagonal_scatter(self, src, offset, dim1, dim2)

    def gather(self, dim: int, index: TensorLike) -> Tensor:
        return ops.gather(self, dim, index)

    def index_add(self, dim: int, index: TensorLike, source: TensorLike, *, alpha: float = 1) -> Tensor:
        return ops.index_add(self, dim, index, source, alpha=alpha)

    def index_copy(self, dim: int, index: TensorLike, source: TensorLike) -> Tensor:
        return ops.index_copy(self, dim, index, source)

    def index_fill(self, dim: int, index: TensorLike, value: TensorLike) -> Tensor:
        return ops.index_fill(self, dim, index, value)

    def index_put(self, indices: Any, values: TensorLike, accumulate: bool = False) -> Tensor:
        return ops.index_put(self, indices, values, accumulate)

    def index_reduce(self, dim: int, index: TensorLike, source: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
        return ops.index_reduce(self, dim, index, source, reduce, include_self=include_self)

    def index_select(self, dim: int, index: TensorLike) -> Tensor:
        return ops.index_select(self, dim, index)

    def masked_fill(self, mask: TensorLike, value: TensorLike) -> Tensor:
        return ops.masked_fill(self, mask, value)  # type: ignore[arg-type]

    def masked_scatter(self, mask: TensorLike, source: TensorLike) -> Tensor:
        return ops.masked_scatter(self, mask, source)

    def masked_select(self, mask: TensorLike) -> Tensor:
        return ops.masked_select(self, mask)

    def multinomial(self, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor:
        return ops.multinomial(self, num_samples, replacement, generator=generator)

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        return ops.nonzero(self, as_tuple=as_tuple)

    def put(self, index: TensorLike, source: TensorLike, accumulate: bool = False) -> Tensor:
        return ops.put(self, index, source, accumulate)

    def scatter(self, dim: int, index: TensorLike, src: TensorLike | None = None, *, value: float | None = None) -> Tensor:
        return ops.scatter(self, dim, index, src, value=value)

    def scatter_add(self, dim: int, index: TensorLike, src: TensorLike) -> Tensor:
        return ops.scatter_add(self, dim, index, src)

    def scatter_reduce(self, dim: int, index: TensorLike, src: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
        return ops.scatter_reduce(self, dim, index, src, reduce, include_self=include_self)

    def select_scatter(self, src: TensorLike, dim: int, index: int) -> Tensor:
        return ops.select_scatter(self, src, dim, index)

    def slice_scatter(self, src: TensorLike, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
        return ops.slice_scatter(self, src, dim, start, end, step)

    def take(self, index: TensorLike) -> Tensor:
        return ops.take(self, index)

    def take_along_dim(self, indices: TensorLike, dim: int | None = None) -> Tensor:
        return ops.take_along_dim(self, indices, dim)

    def where(self, condition: TensorLike, other: TensorLike) -> Tensor:
        """`self` where the condition holds, `other` elsewhere."""
        return ops.where(condition, self, other)
