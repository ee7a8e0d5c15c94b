"""The same values in other memory: copies, other kinds of numbers, other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import CPU, Array, Device, as_array, device_of, is_kind, is_place, moved, xp_of
from ..cases import Case, Draw
from ..errors import DTypeError, KeywordError, explain
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))


class Clone(Function):
    """y = a copy of x;  dx = g."""

    latex = r"y = x, \quad \bar x = \bar y"
    kind = "shape"
    cases = tuple(Case(Draw(s)) for s in SHAPES)
    reads = ()

    def forward(self, x: Array) -> Array:
        return xp_of(x).array(x)

    def backward(self, g: Array) -> Array:
        return g


def clone(input: TensorLike) -> Tensor:
    """Copy the values into memory of their own; the gradient passes through.

    Shapes: input: (*), y: (*)

    >>> clone([1.0, 2.0]).data
    array([1., 2.], dtype=float32)
    """
    return Clone.apply(input)


class Cast(Function):
    """y = x as dtype;  dx = g, in the dtype of x."""

    latex = r"y = x, \quad \bar x = \bar y"
    kind = "shape"
    cases = tuple(Case(Draw(s), dtype="float64") for s in SHAPES)
    reads = ()

    def forward(self, x: Array, dtype: Any) -> Array:
        return xp_of(x).asarray(x, dtype=dtype)

    def backward(self, g: Array) -> Array:
        return g  # Function.pull gives it the dtype of x


def cast(x: TensorLike, dtype: Any) -> Tensor:
    """Give the values another dtype; nothing is copied where they have it already.

    Shapes: x: (*), y: (*)

    Raises:
        DTypeError: tensors have no such numbers.

    >>> cast([1.7, -1.7], "int64").data
    array([ 1, -1])
    """
    if not is_kind(dtype):
        raise DTypeError(explain("dtype: no kind of number of a tensor", got={"dtype": dtype}, need="gl.float32, gl.int64, gl.bool ..."))
    return Cast.apply(x, dtype=dtype)


class Transfer(Function):
    """y = x on another device;  dx = g on the device of x."""

    latex = r"y = x, \quad \bar x = \bar y"
    kind = "shape"
    cases = tuple(Case(Draw(s), device=CPU) for s in SHAPES)
    reads = ()

    def forward(self, x: Array, device: Device, non_blocking: bool = False, copy: bool = False) -> Array:
        self.device = device_of(x)
        return moved(x, device, non_blocking, copy)

    def backward(self, g: Array) -> Array:
        return to(g, self.device) if hasattr(g, "grad_fn") else moved(g, self.device)


def to(
    input: TensorLike, other: Any = None, dtype: Any = None, *, device: Any = None, non_blocking: bool = False, copy: bool = False
) -> Tensor:
    """Move to a device, or convert to a dtype, or both; the gradient comes back to where `input` is, in its dtype.

    `other` is a device ("cuda", "cpu", "sim"), a dtype, or a tensor to follow in both. A tensor that is there already is
    returned as it is, unless `copy`. `non_blocking` lets a copy to or from a GPU go on after the call has returned.

    Shapes: input: (*), y: (*)

    Raises:
        DeviceError: the device is not there.
        KeywordError: a device, or a dtype, is given twice, or neither is given.

    >>> to([1.5, 2.5], "int64").data
    array([1, 2])
    """
    if other is not None:
        wanted = (other.device, other.dtype) if hasattr(other, "grad_fn") else (other, None) if is_place(other) else (None, other)
        if any(given is not None and said is not None for given, said in zip((device, dtype), wanted, strict=True)):
            got = {"other": other, "device": device, "dtype": dtype}
            raise KeywordError(explain("to: the same thing is said twice", got=got, need="one device and one dtype at most"))
        device, dtype = wanted[0] if device is None else device, wanted[1] if dtype is None else dtype
    if device is None and dtype is None:
        raise KeywordError(explain("to: where, or to what?", got={"other": other}, need="a device, a dtype or a tensor"))
    y: Any = input if hasattr(input, "grad_fn") else cast(input, as_array(input).dtype)
    place = y.device if device is None else Device(device)
    if place != y.device or copy:
        y = Transfer.apply(y, device=place, non_blocking=non_blocking, copy=copy)
    return y if dtype is None or y.dtype == dtype else cast(y, dtype)
