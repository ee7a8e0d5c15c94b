"""What a device would have had to do: launches, copies, and the times the host waits for it."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

_HERE = str(Path(__file__).parent)
_open: list[Stats] = []


class HostSyncError(RuntimeError):
    """The host would wait for the device in a block that `no_sync` forbids it."""


@dataclass
class Stats(AbstractContextManager["Stats"]):
    """Counts of what happened in a `with` block.

    Attributes:
        launches: kernels that a GPU would have run.
        syncs: times that the host would have waited for it.
        where: per sync, what it was and the line that asked for it.
        h2d_bytes: copied from main memory to the device.
        d2h_bytes: copied back.
    """

    launches: int = 0
    syncs: int = 0
    where: list[str] = field(default_factory=list[str])
    h2d_bytes: int = 0
    d2h_bytes: int = 0
    forbids_sync: bool = False

    def __enter__(self) -> Stats:
        _open.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _open.remove(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def stats() -> Stats:
    """Count what happens in a `with` block.

    >>> import gradlab.sim as xp
    >>> with stats() as seen:
    ...     x = xp.asarray([1.0, 2.0]) * 2
    ...     total = float(xp.sum(x))
    >>> seen.launches, seen.syncs, seen.h2d_bytes, seen.d2h_bytes
    (2, 1, 16, 8)
    """
    return Stats()


def no_sync() -> Stats:
    """Count, and raise HostSyncError at the line that would make the host wait."""
    return Stats(forbids_sync=True)


def launched() -> None:
    """Count a kernel."""
    for s in _open:
        s.launches += 1


def uploaded(nbytes: int) -> None:
    """Count a copy to the device."""
    for s in _open:
        s.h2d_bytes += nbytes


def synced(what: str, nbytes: int = 0) -> None:
    """Count that the host waits, for a result of so many bytes."""
    if not _open:
        return
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and (frame.f_code.co_filename.startswith(_HERE) or "numpy" in frame.f_code.co_filename):
        frame = frame.f_back
    place = f"{what} at {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
    for s in _open:
        s.syncs += 1
        s.d2h_bytes += nbytes
        s.where.append(place)
    if any(s.forbids_sync for s in _open):
        raise HostSyncError(f"the host would wait for the device: {place}")
