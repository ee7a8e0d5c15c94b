"""Tensor's methods: operators, with a Tensor, array or number on either side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from ..written_out import written_out
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


@described
class Operators:
    """Operators, with a Tensor, array or number on either side."""

    __slots__ = ()

    @written_out(ops.Add)
    def __add__(self, other: TensorLike) -> Tensor:
        return ops.add(self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return ops.add(other, self)

    @written_out(ops.Sub)
    def __sub__(self, other: TensorLike) -> Tensor:
        return ops.sub(self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return ops.sub(other, self)

    @written_out(ops.Mul)
    def __mul__(self, other: TensorLike) -> Tensor:
        return ops.mul(self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return ops.mul(other, self)

    @written_out(ops.Div)
    def __truediv__(self, other: TensorLike) -> Tensor:
        return ops.div(self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return ops.div(other, self)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return ops.floor_divide(self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return ops.floor_divide(other, self)

    def __mod__(self, other: TensorLike) -> Tensor:
        return ops.remainder(self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return ops.remainder(other, self)

    def __divmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return ops.floor_divide(self, other), ops.remainder(self, other)

    def __rdivmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return ops.floor_divide(other, self), ops.remainder(other, self)

    def __pow__(self, other: TensorLike) -> Tensor:
        return ops.pow(self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return ops.pow(other, self)

    @written_out(ops.MatMul)
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

    def __and__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_and(self, other)

    def __rand__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_and(other, self)

    def __or__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_or(self, other)

    def __ror__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_or(other, self)

    def __xor__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_xor(self, other)

    def __rxor__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_xor(other, self)

    def __lshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_left_shift(self, other)

    def __rlshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_left_shift(other, self)

    def __rshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_right_shift(self, other)

    def __rrshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_right_shift(other, self)

    def __invert__(self) -> Tensor:
        return ops.bitwise_not(self)

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
