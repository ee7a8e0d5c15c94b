"""Where arrays live: `cpu`, `cuda:0`, `sim`; moving them; and arrays of two places that meet in one step."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..errors import DeviceError, explain
from . import cuda
from .array import Array, on_host, to_numpy, xp_of

_entered: ContextVar[tuple[Device, ...]] = ContextVar("entered")  # `with` blocks around us; the last one counts


class Device:
    """A place for arrays: main memory, a GPU (CuPy), or the simulated device that keeps CuPy's rules without a GPU.

    In a `with` block it is where `gl.zeros`, `gl.tensor` and their like put what they make.

    >>> Device("cuda"), Device("cpu") == "cpu"
    (device('cuda:0'), True)
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, name: str | Device = "cpu", index: int | None = None) -> None:
        kind, _, number = str(name).partition(":")
        if kind not in ("cpu", "cuda", "sim") or (number and not (number.isdecimal() and kind == "cuda")):
            raise DeviceError(explain("device: no such place", got={"device": name}, need="'cpu', 'cuda', 'cuda:1' or 'sim'"))
        self.type = kind
        self.index = None if kind != "cuda" else int(number) if number else index if index is not None else cuda.current_device()

    @property
    def xp(self) -> Any:
        """The module that makes and serves arrays here; CuPy is imported the first time it is asked for.

        Raises:
            DeviceError: this place is not there: it says whether CuPy or a GPU is missing.
        """
        if self.type == "cpu":
            return np
        if self.type == "sim":
            return importlib.import_module("gradlab.sim")
        return cuda.cupy(self.index or 0)

    def scope(self) -> AbstractContextManager[Any]:
        """A block in which CuPy puts new arrays on this GPU; elsewhere it does nothing."""
        return self.xp.cuda.Device(self.index) if self.type == "cuda" else nullcontext()

    def __enter__(self) -> Device:
        scope = self.scope()
        scope.__enter__()
        _entered.set((*_entered.get(()), self))
        return self

    def __exit__(self, *error: Any) -> None:
        _entered.set(_entered.get()[:-1])
        self.scope().__exit__(*error)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return is_place(other) and self == Device(other)
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return Device, (str(self),)


CPU = Device("cpu")
_DEVICES: dict[type, Device] = {np.ndarray: CPU}


def device_of(x: object) -> Device:
    """Where an array lives.

    >>> device_of(np.ones(2))
    device('cpu')
    """
    device = _DEVICES.get(type(x))
    if device is not None:
        return device
    name = getattr(xp_of(x), "__name__", "numpy")
    if name == "cupy":  # one type serves every GPU
        return _gpu(x.device.id)  # type: ignore[attr-defined]
    if name == "numpy":
        return CPU
    return _DEVICES.setdefault(type(x), Device("sim"))


@functools.cache
def _gpu(index: int) -> Device:
    return Device("cuda", index)


def current_device(device: str | Device | None = None) -> Device:
    """The device that was asked for; None means that of the innermost `with gl.device(...)` block, else the CPU."""
    if device is None:
        entered = _entered.get(())
        return entered[-1] if entered else CPU
    return device if isinstance(device, Device) else Device(device)


def moved(array: Array, device: Device, non_blocking: bool = False, copy: bool = False) -> Array:
    """The numbers of `array` on `device`: itself if it is there already and no copy is wanted.

    Raises:
        DeviceError: `device` is not there.
    """
    xp, here = device.xp, device_of(array)
    if here == device:
        return xp.array(array) if copy else array
    if xp is np:
        return xp_of(array).asnumpy(array, blocking=not non_blocking)
    with device.scope():
        return xp.asarray(array if here.type == device.type or on_host(array) else to_numpy(array), blocking=not non_blocking)


def is_place(target: object) -> bool:
    """Whether `target` names where arrays live (and not a dtype).

    Raises:
        DeviceError: a place of PyTorch's that gradlab does not know.

    >>> is_place("cuda:1"), is_place("float64")
    (True, False)
    """
    if isinstance(target, Device):
        return True
    kind = target.partition(":")[0] if isinstance(target, str) else ""
    if kind in ("mps", "gpu", "xpu", "meta"):
        Device(str(target))
    return kind in ("cpu", "cuda", "sim")


def need_one_device(op: str, arrays: Sequence[Any] | Mapping[str, Any]) -> None:
    """Refuse arrays (and lists, which are on the host) that live in different places; numbers go anywhere.

    Raises:
        DeviceError: it names the first two that differ.
    """
    values = arrays.values() if isinstance(arrays, Mapping) else arrays
    if len({id(device_of(x)) for x in values if hasattr(x, "ndim") or x.__class__ is list}) < 2:
        return  # each device is one object: this runs at every step on a device
    named: Mapping[str, Any] = arrays if isinstance(arrays, Mapping) else {f"input {i}": x for i, x in enumerate(arrays)}
    found: list[tuple[str, Any, Device]] = [
        (name, x, device_of(x)) for name, x in named.items() if hasattr(x, "ndim") or x.__class__ is list
    ]
    for name, x, device in found[1:]:
        first, y, its = found[0]
        if device != its:
            wrong, wanted = (first, device) if its == CPU else (name, its)
            raise DeviceError(
                explain(
                    f"{op}: the tensors are on different devices",
                    got={first: f"{np.shape(y)} on {its}", name: f"{np.shape(x)} on {device}"},
                    need="all on one device; nothing is copied in secret",
                    fix=f"{wrong} .to({str(wanted)!r})",
                )
            )
