"""The messages from kernel to page: a recorder's numbers as strict JSON plus little-endian buffers.

Pure functions: nothing here knows a comm or a widget. `js/protocol/messages.ts` is the other side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..trace import Capture, Numbers, Spans
from ..trace.rules import Finding, Trend
from .reading import size

VERSION = 1
"""The protocol's version; it stands as `v` in every message."""

FRAME_BYTES = 50_000
"""What one frame may take, JSON and buffers together."""

HISTORY_BYTES = 200_000
"""What the whole history may take when a page says hello."""

State = Literal["idle", "running", "interrupted", "error"]
"""What the kernel is doing: the last cell's end, or that a cell runs."""

_LARGEST_EXACT_INT = 2**53  # above it JavaScript's JSON.parse rounds


class Message(NamedTuple):
    """One message: `content` is strict JSON, `buffers` are little-endian arrays."""

    content: dict[str, Any]
    buffers: list[bytes]

    @property
    def size_bytes(self) -> int:
        """Bytes of the buffers together."""
        return sum(map(len, self.buffers))


def plain(value: Any) -> Any:
    """The same value in strict JSON: NaN and Inf as words, NumPy scalars as Python's, integers above 2^53 as text.

    >>> plain({"loss": float("nan"), "shape": (np.int64(3), 2**60)})
    {'loss': 'NaN', 'shape': [3, '1152921504606846976']}
    """
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_EXACT_INT else str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Iterable):
        return [plain(v) for v in value]
    return str(value)


def structure(tape: Mapping[str, Any]) -> Message:
    """The graph of one step: ops, leaves, modules and cells, sent once a key."""
    return Message({"v": VERSION, "kind": "structure", **plain(tape)}, [])


def reset(run: int) -> Message:
    """Tell the page to forget its timeline: a new run began, or `%gradlab clear`."""
    return Message({"v": VERSION, "kind": "reset", "run": run}, [])


def code(text: str) -> Message:
    """The second part of the bundle: a module of JavaScript, for a page that has the first."""
    return Message({"v": VERSION, "kind": "code"}, [text.encode()])


def answer(request: str, content: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> Message:
    """The answer to what the page asked under the id `request`."""
    return Message({**plain(content), "v": VERSION, "kind": "answer", "id": request, "ok": True}, list(buffers))


def refusal(request: str, error: str) -> Message:
    """Why there is no answer."""
    return Message({"v": VERSION, "kind": "answer", "id": request, "ok": False, "error": error}, [])


def pending(request: str) -> Message:
    """Tell the page that the answer comes at the end of the running step."""
    return Message({"v": VERSION, "kind": "answer", "id": request, "pending": True}, [])


def frame(
    *,
    run: int,
    step: int,
    key: str,
    open: bool,
    state: State,
    cell: int | None,
    on: bool,
    share: float | None,
    every: int,
    much: bool,
    numbers: Numbers,
    spans: Spans,
    width: int,
    columns: Sequence[str] | None = None,
    gate: Mapping[str, Any] | None = None,
) -> Message:
    """The numbers of the step on show, and the part of the timeline the page has not got yet.

    `key` names the structure the rows belong to. `width` is the number of timeline columns; their names, `columns`,
    travel only where they changed. `of`, in the frame and in an optimizer, is the step that its numbers of ops and leaves, or its
    table, are of, where that is not `step`; loss and grad_norm are always those of `step`. One step in `every` is read in full;
    `much` says that tracing takes far more than it may. An exact series carries the value itself, one of spans its min, max and
    last. `gate` says whether training is held, where, and what it was asked for.

    Shapes: buffers are ops float32 (n, 4), op_has uint8 (n), leaves float32 (m, 2), leaf_has uint8 (m),
    optimizer values float32 one after the other, first int32 (s), last int32 (s), data float32 (s, width) or (s, 3, width)
    """
    content: dict[str, Any] = {
        "v": VERSION,
        "kind": "frame",
        "run": run,
        "step": step,
        "key": key,
        **({} if numbers.of is None else {"of": numbers.of}),
        "open": open,
        "state": state,
        "cell": cell,
        "tracing": {"on": on, "share": share, "every": every, **({"much": True} if much else {})},
        "loss": numbers.loss,
        "grad_norm": numbers.grad_norm,
        "optimizers": [{k: o[k] for k in ("label", "lr", "of", "columns", "rows") if k in o} for o in numbers.optimizers],
        "series": {"spans": len(spans.first), "width": width, "exact": bool(spans.exact)},
    }
    if columns is not None:
        content["columns"] = list(columns)
    if gate is not None:
        content["gate"] = gate
    data = spans.data[:, 2, :] if spans.exact else spans.data
    return Message(
        plain(content),
        [
            _little(numbers.ops, "<f4"),
            _little(numbers.op_has, "u1"),
            _little(numbers.leaves, "<f4"),
            _little(numbers.leaf_has, "u1"),
            b"".join(_little(o["values"], "<f4") for o in numbers.optimizers),
            _little(spans.first, "<i4"),
            _little(spans.last, "<i4"),
            _little(data, "<f4"),
        ],
    )


def capture(kept: Capture | None) -> Message:
    """How the capture of a step stands: none, "armed", "open", "complete" or "refused", with its step and bytes."""
    content: dict[str, Any] = {"v": VERSION, "kind": "capture", "state": "none"}
    if kept is not None:
        so_far = f"{size(kept.size_bytes)} kept{' so far' * (kept.state == 'open')}"
        text = {"armed": "waiting for the next step", "refused": f"larger than {size(kept.limit_bytes)}: let go"}.get(kept.state, so_far)
        content.update(state=kept.state, text=text, run=kept.run, step=kept.step, bytes=kept.size_bytes, limit=kept.limit_bytes)
    return Message(plain(content), [])


def findings(*, run: int, step: int, key: str, ran: int, lacking: int, muted: Sequence[str], findings: Sequence[Finding]) -> Message:
    """What the rules say now, the worst first; `ops` and `leaves` in it are places in the structure of that `key`.

    Shapes: buffers are, for each finding with a trend, steps int32 (n) and values float32 (n)
    """
    content = {
        "v": VERSION,
        "kind": "findings",
        "run": run,
        "step": step,
        "key": key,
        "ran": ran,
        "lacking": lacking,
        "muted": list(muted),
        "findings": [_finding(one) for one in findings],
    }
    trends = [one.trend for one in findings if one.trend is not None]
    return Message(plain(content), [_little(part, dtype) for t in trends for part, dtype in ((t.steps, "<i4"), (t.values, "<f4"))])


def _finding(one: Finding) -> dict[str, Any]:
    words = ("rule", "severity", "title", "verdict", "why", "next", "code", "learn", "op", "leaf", "parameter", "where", "step", "key")
    return {
        **{word: getattr(one, word) for word in words},
        "numbers": [[n.name, n.value, n.limit] for n in one.numbers],
        "trend": None if one.trend is None else _trend(one.trend),
    }


def _trend(trend: Trend) -> dict[str, Any]:
    return {"label": trend.label, "low": trend.low, "high": trend.high}


def _little(array: Any, dtype: str) -> bytes:
    return np.ascontiguousarray(array, dtype=dtype).tobytes()
