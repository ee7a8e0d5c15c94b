"""Tensor's methods and operators, one line each; what they do is said in `ops`."""

# ruff: noqa: D102, N802 - each method gets the first sentence of its op, below; T is PyTorch's name

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import ops
from .backend import float32, float64, int64, is_place
from .ops.argument import Dim

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike


class Surface:
    """What can be written on a Tensor: operators with a Tensor, array or number on either side, and ops as methods."""

    __slots__ = ()

    # -- operators

    def __add__(self, other: TensorLike) -> Tensor:
        return ops.add(self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return ops.add(other, self)

    def __sub__(self, other: TensorLike) -> Tensor:
        return ops.sub(self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return ops.sub(other, self)

    def __mul__(self, other: TensorLike) -> Tensor:
        return ops.mul(self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return ops.mul(other, self)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return ops.div(self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return ops.div(other, self)

    def __pow__(self, other: TensorLike) -> Tensor:
        return ops.pow(self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return ops.pow(other, self)

    def __matmul__(self, other: TensorLike) -> Tensor:
        return ops.matmul(self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return ops.matmul(other, self)

    def __neg__(self) -> Tensor:
        return ops.neg(self)

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]

    def __abs__(self) -> Tensor:
        return ops.abs(self)

    def __lt__(self, other: TensorLike) -> Tensor:
        return ops.lt(self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return ops.le(self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return ops.gt(self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return ops.ge(self, other)

    def __eq__(self, other: object) -> Any:
        return NotImplemented if other is None or isinstance(other, str) else ops.eq(self, other)

    def __ne__(self, other: object) -> Any:
        return NotImplemented if other is None or isinstance(other, str) else ops.ne(self, other)

    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Tensor:
        return ops.getitem(self, index)

    # -- elementwise

    def add(self, other: TensorLike) -> Tensor:
        return ops.add(self, other)

    def sub(self, other: TensorLike) -> Tensor:
        return ops.sub(self, other)

    def mul(self, other: TensorLike) -> Tensor:
        return ops.mul(self, other)

    def div(self, other: TensorLike) -> Tensor:
        return ops.div(self, other)

    def neg(self) -> Tensor:
        return ops.neg(self)

    def abs(self) -> Tensor:
        return ops.abs(self)

    def pow(self, exponent: TensorLike) -> Tensor:
        return ops.pow(self, exponent)

    def exp(self) -> Tensor:
        return ops.exp(self)

    def log(self) -> Tensor:
        return ops.log(self)

    def sqrt(self) -> Tensor:
        return ops.sqrt(self)

    def sin(self) -> Tensor:
        return ops.sin(self)

    def cos(self) -> Tensor:
        return ops.cos(self)

    def tanh(self) -> Tensor:
        return ops.tanh(self)

    def sigmoid(self) -> Tensor:
        return ops.sigmoid(self)

    def relu(self) -> Tensor:
        return ops.relu(self)

    def maximum(self, other: TensorLike) -> Tensor:
        return ops.maximum(self, other)

    def minimum(self, other: TensorLike) -> Tensor:
        return ops.minimum(self, other)

    def lt(self, other: TensorLike) -> Tensor:
        return ops.lt(self, other)

    def le(self, other: TensorLike) -> Tensor:
        return ops.le(self, other)

    def gt(self, other: TensorLike) -> Tensor:
        return ops.gt(self, other)

    def ge(self, other: TensorLike) -> Tensor:
        return ops.ge(self, other)

    def eq(self, other: TensorLike) -> Tensor:
        return ops.eq(self, other)

    def ne(self, other: TensorLike) -> Tensor:
        return ops.ne(self, other)

    def clamp(self, min: float | None = None, max: float | None = None) -> Tensor:
        return ops.clamp(self, min, max)

    def masked_fill(self, mask: TensorLike, value: TensorLike) -> Tensor:
        return ops.masked_fill(self, mask, value)  # type: ignore[arg-type]

    # -- reductions; NumPy's axis= and keepdims= are taken too

    def sum(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.sum(self, dim, keepdim, dtype, **numpy)

    def mean(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.mean(self, dim, keepdim, dtype, **numpy)

    def prod(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.prod(self, dim, keepdim, dtype, **numpy)

    def nansum(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.nansum(self, dim, keepdim, dtype, **numpy)

    def nanmean(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.nanmean(self, dim, keepdim, dtype, **numpy)

    def all(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.all(self, dim, keepdim, **numpy)

    def any(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.any(self, dim, keepdim, **numpy)

    def count_nonzero(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.count_nonzero(self, dim, keepdim, **numpy)

    def aminmax(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.aminmax(self, dim, keepdim, **numpy)

    def max(self, dim: Any = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.max(self, dim, keepdim, **numpy)

    def min(self, dim: Any = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.min(self, dim, keepdim, **numpy)

    def amax(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.amax(self, dim, keepdim, **numpy)

    def amin(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.amin(self, dim, keepdim, **numpy)

    def argmax(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.argmax(self, dim, keepdim, **numpy)

    def argmin(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.argmin(self, dim, keepdim, **numpy)

    def norm(self, p: float | str = 2.0, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.norm(self, p, dim, keepdim, **numpy)

    def var(self, dim: Dim = None, correction: float = 1, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.var(self, dim, correction, keepdim, **numpy)

    def std(self, dim: Dim = None, correction: float = 1, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.std(self, dim, correction, keepdim, **numpy)

    def logsumexp(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        return ops.logsumexp(self, dim, keepdim)

    def softmax(self, dim: int) -> Tensor:
        return ops.softmax(self, dim)

    def log_softmax(self, dim: int) -> Tensor:
        return ops.log_softmax(self, dim)

    # -- shape

    @property
    def T(self) -> Tensor:
        """The axes in reverse order."""
        return ops.permute(self, tuple(range(self.ndim))[::-1])  # type: ignore[attr-defined]

    @property
    def mT(self) -> Tensor:
        """The last two axes swapped."""
        return ops.transpose(self, -2, -1)

    def reshape(self, *shape: int | tuple[int, ...]) -> Tensor:
        return ops.reshape(self, *shape)

    view = reshape

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        return ops.flatten(self, start_dim, end_dim)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        return ops.transpose(self, dim0, dim1)

    def permute(self, *dims: int | tuple[int, ...]) -> Tensor:
        return ops.permute(self, *dims)

    def expand(self, *shape: int | tuple[int, ...]) -> Tensor:
        return ops.expand(self, *shape)

    def squeeze(self, dim: int | tuple[int, ...] | None = None) -> Tensor:
        return ops.squeeze(self, dim)

    def unsqueeze(self, dim: int) -> Tensor:
        return ops.unsqueeze(self, dim)

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        return ops.narrow(self, dim, start, length)

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        return ops.split(self, split_size, dim)  # type: ignore[arg-type]

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.chunk(self, chunks, dim)  # type: ignore[arg-type]

    def matmul(self, other: TensorLike) -> Tensor:
        return ops.matmul(self, other)

    # -- copies

    def clone(self) -> Tensor:
        return ops.clone(self)

    def astype(self, dtype: Any) -> Tensor:
        """The same values in another kind of number; the gradient comes back in the old one."""
        return ops.cast(self, dtype)

    def to(self, target: Any) -> Tensor:
        """In another kind of number, as `astype`; or, for "cpu", as it is."""
        return self if is_place(target) else ops.cast(self, target)  # type: ignore[return-value]

    def cpu(self) -> Tensor:
        """In main memory, where it is already."""
        return self  # type: ignore[return-value]

    def float(self) -> Tensor:
        """The same values as float32."""
        return ops.cast(self, float32)

    def double(self) -> Tensor:
        """The same values as float64."""
        return ops.cast(self, float64)

    def long(self) -> Tensor:
        """The same values as int64."""
        return ops.cast(self, int64)


for _method in vars(Surface).values():  # help(t.exp) says what `ops.exp` says first
    if callable(_method) and _method.__doc__ is None and hasattr(ops, _method.__name__):
        _method.__doc__ = (getattr(ops, _method.__name__).__doc__ or "").partition("\n")[0]
