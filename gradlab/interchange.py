"""Memory shared with other libraries: DLPack both ways, and the protocols by which array libraries read a tensor."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .backend import Array, Device, on_host, xp_of
from .errors import DeviceError, DTypeError, GraphError, KeywordError, explain

if TYPE_CHECKING:
    from ._tensor import Tensor

_CPU, _CUDA, _PINNED, _MANAGED = 1, 2, 3, 13  # DLPack's numbers of devices


def exported(t: Tensor, copy: bool | None, protocol: dict[str, Any]) -> Any:
    """The capsule that `t.__dlpack__()` gives: of the tensor's own memory, or of a copy where the other side could do harm.

    A negative stride stops a process that reads it with PyTorch, and PyTorch writes through the read-only mark of a
    mapped file: both are copied.

    Raises:
        BufferError: the tensor requires a gradient, which would be lost; or only a copy would be safe, and `copy=False`.
    """
    if t._requires_grad:
        raise BufferError(
            explain(
                "dlpack: this tensor requires a gradient, which the other library would not see",
                got={"shape": t.shape},
                need="a tensor without history",
                fix="t.detach()",
            )
        )
    array = t._data
    unsafe = on_host(array) and (not array.flags.writeable or any(stride < 0 for stride in array.strides))
    if unsafe and copy is False:
        got = {"strides": array.strides, "writeable": array.flags.writeable}
        raise BufferError(explain("dlpack: this memory can't be shared safely", got=got, need="copy=None or True"))
    return (xp_of(array).array(array, order="C") if unsafe or copy else array).__dlpack__(**protocol)


def imported(data: Any) -> Array:
    """An array on the memory of another library's tensor.

    Raises:
        KeywordError: it speaks no DLPack.
        DeviceError: it lives where gradlab can't reach.
        DTypeError: it holds numbers that NumPy does not have.
        GraphError: it requires a gradient there.
    """
    if not (hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__")):
        got = {"type": type(data).__name__}
        raise KeywordError(explain("from_dlpack: this speaks no DLPack", got=got, need="an array or tensor with __dlpack__"))
    if getattr(data, "requires_grad", False):
        got = {"type": type(data).__name__}
        raise GraphError(explain("from_dlpack: this tensor requires a gradient there", got=got, need="one without", fix="t.detach()"))
    kind, index = data.__dlpack_device__()
    if on_host(data) or kind == _CPU:
        xp: Any = np
    elif kind in (_CUDA, _PINNED, _MANAGED):
        xp = Device("cuda", int(index)).xp
    elif xp_of(data) is not np:
        xp = xp_of(data)
    else:
        got = {"type": type(data).__name__, "DLPack's device": int(kind)}
        raise DeviceError(explain("from_dlpack: gradlab reaches no such device", got=got, need="main memory or a CUDA GPU"))
    try:
        return xp.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError) as error:
        got = {"type": type(data).__name__, "dtype": getattr(data, "dtype", "unknown")}
        need = "numbers that NumPy has; bfloat16 has to become float32 there first"
        raise DTypeError(explain(f"from_dlpack: {error}", got=got, need=need)) from None


def lent(t: Tensor, kind: str, name: str) -> Array:
    """The array, for a library that computes on it.

    Raises:
        AttributeError: it lives elsewhere; or a gradient is wanted: `array * tensor` in the other library would cut the graph.
    """
    if t.device.type != kind or t._requires_grad:
        raise AttributeError(f"{name}: a tensor on {kind} that requires no gradient has it; this one is on {t.device}")
    return t._data


def need_host(t: Tensor, what: str, fix: str) -> None:
    """Refuse to copy from a device in secret.

    Raises:
        DeviceError: the tensor is on one.
    """
    if not on_host(t._data):
        got = {"shape": t.shape, "device": t.device}
        raise DeviceError(explain(what, got=got, need="a tensor on the cpu; nothing is copied in secret", fix=fix))
