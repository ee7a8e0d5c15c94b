"""What the kernel's websocket brings to the page, taken apart as JupyterLab does."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, NoReturn


@dataclass(frozen=True)
class Received:
    """One message from the kernel; `content` is what a strict JSON parser makes of it."""

    kind: str
    sent: float  # seconds, when the kernel sent it
    content: dict[str, Any]
    size_bytes: int

    @property
    def panel_kind(self) -> str:
        """The kind of a message of gradlab's own, such as `frame`; "" for any other."""
        if self.kind != "comm_msg":
            return ""
        content = self.content["data"].get("content")
        return str(content.get("kind", "")) if isinstance(content, dict) and "v" in content else ""


def received(payload: bytes | str) -> Received:
    """Take a message of the kernel apart.

    Raises: ValueError where any of its JSON is not strict: NaN and Infinity have no place in it.
    """
    if isinstance(payload, str):
        message = _strict(payload)
        return _message(message["header"], message["content"], len(payload))
    (count,) = struct.unpack_from("<Q", payload)
    at = struct.unpack_from(f"<{count}Q", payload, 8)
    # A channel, a header, a parent's header, metadata, content, then the buffers.
    parts = [payload[a:b] for a, b in pairwise(at)]
    header, _, _, content = map(_strict, parts[1:5])
    return _message(header, content, len(payload))


def _message(header: dict[str, Any], content: dict[str, Any], size: int) -> Received:
    return Received(header["msg_type"], datetime.fromisoformat(header["date"]).timestamp(), content, size)


def _strict(text: bytes | str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
