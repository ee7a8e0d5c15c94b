"""How long a block took where it ran: a GPU goes on after the call has returned, so that it has to be asked."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from .device import Device, current_device


class Timer:
    """Seconds that a block took on a device, with CUDA's events on a GPU; reading `seconds` waits for the GPU.

    >>> with Timer() as timer:
    ...     pass
    >>> 0 <= timer.seconds < 1
    True
    """

    def __init__(self, device: str | Device | None = None) -> None:
        self.device = current_device(device)
        self._ends: list[Any] = []

    def _now(self) -> Any:
        if self.device.type != "cuda":
            return perf_counter()
        with self.device.scope():
            event = self.device.xp.cuda.Event()
            event.record()
            return event

    def __enter__(self) -> Timer:
        self._ends = [self._now()]
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.append(self._now())

    @property
    def seconds(self) -> float:
        """From the start of the block to its end."""
        start, end = self._ends
        if self.device.type != "cuda":
            return end - start
        end.synchronize()
        return self.device.xp.cuda.get_elapsed_time(start, end) / 1000
