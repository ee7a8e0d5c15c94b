"""Tensor's methods: the same entries in another shape."""

# ruff: noqa: D102, N802 - each method gets the first sentence of its op, see `described`; T is PyTorch's name

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import ops
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor


@described
class Shapes:
    """The same entries in another shape."""

    __slots__ = ()

    def adjoint(self) -> Tensor:
        """The last two axes swapped, as `mT`: there are no complex numbers."""
        return ops.transpose(self, -2, -1)

    def broadcast_to(self, *shape: int | tuple[int, ...], size: tuple[int, ...] | None = None) -> Tensor:
        return ops.broadcast_to(self, *shape, size=size)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.chunk(self, chunks, dim)

    def contiguous(self) -> Tensor:
        return ops.contiguous(self)

    def diag(self, diagonal: int = 0) -> Tensor:
        return ops.diag(self, diagonal)

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
        return ops.diag_embed(self, offset, dim1, dim2)

    def diagflat(self, offset: int = 0) -> Tensor:
        return ops.diagflat(self, offset)

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        return ops.diagonal(self, offset, dim1, dim2)

    def dsplit(self, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        return ops.dsplit(self, indices_or_sections)

    def expand(self, *shape: int | tuple[int, ...], size: tuple[int, ...] | None = None) -> Tensor:
        return ops.expand(self, *shape, size=size)

    def expand_as(self, other: Tensor) -> Tensor:
        return ops.expand_as(self, other)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        return ops.flatten(self, start_dim, end_dim)

    def flip(self, *axes: int | tuple[int, ...], dims: tuple[int, ...] | None = None) -> Tensor:
        return ops.flip(self, *axes, dims=dims)

    def fliplr(self) -> Tensor:
        return ops.fliplr(self)

    def flipud(self) -> Tensor:
        return ops.flipud(self)

    @property
    def H(self) -> Tensor:
        """A matrix transposed, as `t()`."""
        return ops.t(self)

    def hsplit(self, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        return ops.hsplit(self, indices_or_sections)

    def is_contiguous(self) -> bool:
        """Whether the entries lie row by row in memory."""
        return bool(self._data.flags.c_contiguous)  # type: ignore[attr-defined]

    @property
    def mH(self) -> Tensor:
        """The last two axes swapped, as `mT`: there are no complex numbers."""
        return ops.transpose(self, -2, -1)

    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        return ops.moveaxis(self, source, destination)

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        return ops.movedim(self, source, destination)

    @property
    def mT(self) -> Tensor:
        """The last two axes swapped."""
        return ops.transpose(self, -2, -1)

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        return ops.narrow(self, dim, start, length)

    def permute(self, *axes: int | tuple[int, ...], dims: tuple[int, ...] | None = None) -> Tensor:
        return ops.permute(self, *axes, dims=dims)

    def ravel(self) -> Tensor:
        return ops.ravel(self)

    def repeat(self, *times: int | tuple[int, ...], repeats: tuple[int, ...] | None = None) -> Tensor:
        return ops.repeat(self, *times, repeats=repeats)

    def repeat_interleave(self, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
        return ops.repeat_interleave(self, repeats, dim, output_size=output_size)

    def reshape(self, *size: int | tuple[int, ...], shape: tuple[int, ...] | None = None) -> Tensor:
        return ops.reshape(self, *size, shape=shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        return ops.reshape_as(self, other)

    def roll(self, shifts: int | tuple[int, ...], dims: int | tuple[int, ...] | None = None) -> Tensor:
        return ops.roll(self, shifts, dims)

    def rot90(self, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Tensor:
        return ops.rot90(self, k, dims)

    def select(self, dim: int, index: int) -> Tensor:
        return ops.select(self, dim, index)

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        return ops.split(self, split_size, dim)

    def squeeze(self, dim: int | tuple[int, ...] | None = None) -> Tensor:
        return ops.squeeze(self, dim)

    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        return ops.swapaxes(self, axis0, axis1)

    def swapdims(self, dim0: int, dim1: int) -> Tensor:
        return ops.swapdims(self, dim0, dim1)

    @property
    def T(self) -> Tensor:
        """The axes in reverse order."""
        return ops.permute(self, tuple(range(self.ndim))[::-1])  # type: ignore[attr-defined]

    def t(self) -> Tensor:
        return ops.t(self)

    def tensor_split(self, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.tensor_split(self, indices_or_sections, dim)

    def tile(self, *times: int | tuple[int, ...], dims: tuple[int, ...] | None = None) -> Tensor:
        return ops.tile(self, *times, dims=dims)

    def trace(self) -> Tensor:
        return ops.trace(self)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        return ops.transpose(self, dim0, dim1)

    def tril(self, diagonal: int = 0) -> Tensor:
        return ops.tril(self, diagonal)

    def triu(self, diagonal: int = 0) -> Tensor:
        return ops.triu(self, diagonal)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.unbind(self, dim)

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        return ops.unflatten(self, dim, sizes)

    def unfold(self, dimension: int, size: int, step: int) -> Tensor:
        """Copy out the windows of `size` entries along one axis, `step` apart; the entries of a window go to a new last axis."""
        return ops.unfold_copy(self, dimension, size, step)

    def unsqueeze(self, dim: int) -> Tensor:
        return ops.unsqueeze(self, dim)

    def view(self, *shape: int | tuple[int, ...], size: tuple[int, ...] | None = None) -> Tensor:
        return ops.view(self, *shape, size=size)

    def view_as(self, other: Tensor) -> Tensor:
        return ops.view_as(self, other)

    def vsplit(self, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        return ops.vsplit(self, indices_or_sections)
