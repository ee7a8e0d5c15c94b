"""Tensor's methods: copies in another kind of number, and elsewhere."""

# ruff: noqa: D102 - each method gets the first sentence of its op, see `described`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from ..backend import bool_, float16, float32, float64, int8, int16, int32, int64, uint8
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor

_NAMES = {"float16": "Half", "float32": "Float", "float64": "Double", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int"}
_NAMES |= {"int64": "Long", "bool": "Bool"}


@described
class Copies:
    """Copies: in another kind of number, and elsewhere."""

    __slots__ = ()

    def astype(self, dtype: Any) -> Tensor:
        """The same values in another kind of number; the gradient comes back in the old one."""
        return ops.cast(self, dtype)

    def bool(self) -> Tensor:
        """Whether each value is other than 0."""
        return ops.cast(self, bool_)

    def byte(self) -> Tensor:
        """The same values as uint8."""
        return ops.cast(self, uint8)

    def char(self) -> Tensor:
        """The same values as int8."""
        return ops.cast(self, int8)

    def clone(self) -> Tensor:
        return ops.clone(self)

    def cpu(self) -> Tensor:
        """In main memory: itself where it is there, else a copy that waits for the device."""
        return ops.to(self, "cpu")

    def cuda(self, device: int | None = None, non_blocking: bool = False) -> Tensor:
        """On a GPU: itself where it is there."""
        return ops.to(self, "cuda" if device is None else f"cuda:{device}", non_blocking=non_blocking)

    def double(self) -> Tensor:
        """The same values as float64."""
        return ops.cast(self, float64)

    def float(self) -> Tensor:
        """The same values as float32."""
        return ops.cast(self, float32)

    def half(self) -> Tensor:
        """The same values as float16."""
        return ops.cast(self, float16)

    def int(self) -> Tensor:
        """The same values as int32."""
        return ops.cast(self, int32)

    def long(self) -> Tensor:
        """The same values as int64."""
        return ops.cast(self, int64)

    def short(self) -> Tensor:
        """The same values as int16."""
        return ops.cast(self, int16)

    def to(self, other: Any = None, dtype: Any = None, *, device: Any = None, non_blocking: bool = False, copy: bool = False) -> Tensor:
        return ops.to(self, other, dtype, device=device, non_blocking=non_blocking, copy=copy)

    def type(self, dtype: Any = None) -> Any:
        """The name of this kind of tensor ("gradlab.FloatTensor"), or the same values in another kind of number."""
        if dtype is not None:
            return ops.cast(self, dtype)
        place = "" if self.device.type == "cpu" else f"{self.device.type}."  # type: ignore[attr-defined]
        return f"gradlab.{place}{_NAMES[self.dtype.name]}Tensor"  # type: ignore[attr-defined]

    def type_as(self, other: Tensor) -> Tensor:
        """The same values in the dtype, and on the device, of `other`."""
        return ops.to(self, other)
