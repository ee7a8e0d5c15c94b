"""What a step did: the parameters are copied before it, and the copy becomes the difference after it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import observe
from .._tensor import Tensor
from ..backend import Array, Device, quiet, uint8, xp_of

_ALIGN = 16  # bytes: every dtype may start there


class Scratch:
    """One buffer a device, as large as the parameters there, that serves every observed step."""

    def __init__(self) -> None:
        self._bytes: dict[Device, Array] = {}
        self.updates: list[tuple[Tensor, Array]] = []  # of the last observed step; views into the buffers

    @property
    def nbytes(self) -> int:
        """Bytes held now; 0 until a step was observed, and again after one that was not."""
        return sum(int(buffer.nbytes) for buffer in self._bytes.values())

    def copies(self, parameters: Sequence[Tensor]) -> list[Array]:
        """The values of `parameters` now, in arrays that are valid until the next call."""
        starts: list[int] = []
        needed: dict[Device, int] = {}
        for p in parameters:
            end = needed.get(p.device, 0)
            starts.append(end)
            needed[p.device] = end + -(-p._data.nbytes // _ALIGN) * _ALIGN
        self._bytes = {device: self._buffer(device, size) for device, size in needed.items()}
        made: list[Array] = []
        for p, start in zip(parameters, starts, strict=True):
            data = p._data
            copy = self._bytes[p.device][start : start + data.nbytes].view(data.dtype).reshape(data.shape)
            copy[...] = data
            made.append(copy)
        return made

    def _buffer(self, device: Device, size: int) -> Array:
        buffer = self._bytes.get(device)
        if buffer is not None and buffer.nbytes >= size:
            return buffer
        with device.scope():
            return device.xp.empty(size, uint8)


def differences(parameters: Sequence[Tensor], before: Sequence[Array]) -> list[tuple[Tensor, Array]]:
    """(parameter, value now - value before) for each; the result is written over `before`."""
    with quiet():  # inf - inf: a diverged model is to be seen, not warned about
        return [
            (p, xp_of(old).subtract(p._data, old, out=old)) for p, old in zip(parameters, before, strict=True) if p._data.shape == old.shape
        ]


def observed(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step`, and around it the `step` event where somebody watches; the numbers are the same either way."""

    @functools.wraps(step)
    def seen(self: Any, *args: Any, **kwargs: Any) -> Any:
        observer = observe.current
        if observer is None or self._stepping:  # the latter: super().step() inside an observed step
            if observer is None:
                self._scratch = None
            done = step(self, *args, **kwargs)
            self.has_stepped = True
            return done
        light = observe.light
        if light is not None:
            if self._scratch is not None:
                self._scratch.updates = []  # those of the step before
            self._stepping = True
            try:
                done = step(self, *args, **kwargs)
            finally:
                self._stepping = False
            self.has_stepped = True
            light.stepped(self)
            return done
        result: list[Any] = []

        def run() -> list[tuple[Tensor, Any]]:
            if self._scratch is not None:
                self._scratch.updates = []  # those of the step before
            if observe.ops is None:  # only that it stepped is wanted
                result.append(step(self, *args, **kwargs))
                return []
            moving = [p for group in getattr(self, "param_groups", ()) for p in group["params"] if args or kwargs or p._grad is not None]
            if not observe.wants_updates():
                result.append(step(self, *args, **kwargs))
                return [(p, None) for p in moving]
            if self._scratch is None:
                self._scratch = Scratch()
            before = self._scratch.copies(moving)
            result.append(step(self, *args, **kwargs))
            self._scratch.updates = differences(moving, before)
            return self._scratch.updates

        self._stepping = True
        try:
            observe.watched(observer, "step", self, (), run)
        finally:
            self._stepping = False
        self.has_stepped = True
        return result[0]

    return seen
