"""What a captured step takes, and what it may."""

from __future__ import annotations

from typing import Any

from ..errors import GradlabError, explain
from .tape import Tape

CAPTURE_BYTES = 256 * 2**20
"""What a captured step may take, unless asked otherwise."""


class CaptureError(GradlabError, RuntimeError):
    """A step that cannot be captured: too large, or nobody traces."""


def estimate(tape: Tape) -> int:
    """What a step like this one would take: values, gradients and leaves, without what is saved beside them."""
    size = 0
    for node in tape.node.path():
        once = _size(node.shape, node.dtype)
        size += once * (2 if node.graph else 1)
        size += sum(_size(leaf.shape, leaf.dtype) * (2 if leaf.requires_grad else 1) for leaf in node.leaves)
    return size


def need_room(size: int, limit_bytes: int) -> None:
    """Refuse a step that is larger than the limit.

    >>> need_room(3 * 2**30, 2**30)
    Traceback (most recent call last):
    gradlab.trace.room.CaptureError: capture: the step is larger than the limit
      step  3072 MiB or more
      limit 1024 MiB
      need: a smaller batch, or a higher limit
      try:  %gradlab capture 3840
    """
    if size > limit_bytes:
        got = {"step": f"{size / 2**20:.0f} MiB or more", "limit": f"{limit_bytes / 2**20:.0f} MiB"}
        fix = f"%gradlab capture {max(1, round(size * 1.25 / 2**20))}"
        raise CaptureError(
            explain("capture: the step is larger than the limit", got=got, need="a smaller batch, or a higher limit", fix=fix)
        )


def _size(shape: tuple[int, ...], dtype: Any) -> int:
    size = 0 if dtype is None else dtype.itemsize
    for n in shape:
        size *= n
    return size
