"""The detail panel as a widget of its own, and what it asks: one op or leaf, its values, and the capture of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..trace import CAPTURE_BYTES, Capture
from ..trace.capture import CapturedOp
from ..trace.glimpse import GLIMPSE_OPS
from ..trace.ledger import ENTRIES_A_LEAF
from ..trace.source import formulas, written
from ..trace.window import Summary, Window, summary, window
from . import mathml
from .panel import Panel
from .reading import isolated, operations, plain, size
from .requests import Reply, answers
from .subject import captured_at, subject, table

if TYPE_CHECKING:
    from ..trace import Recorder
    from .session import Session


_ROWS = 24
_SMALL = 16


class DetailPanel(Panel):
    """One op or tensor: formula, source, values, gradient, histogram, ledger and cost."""

    view = "detail"
    text = "gradlab: the detail panel"


@answers("detail")
def detail(session: Session, select: str, key: str) -> Reply:
    """What is known of an op or leaf without its values."""
    recorder = session.recorder
    structure, ref, label = subject(recorder, select, key)
    found: dict[str, Any] = {"params": "", "formula": [], "sources": [], "text": ""}
    tables: list[dict[str, Any]] = []
    kept = captured_at(recorder, ref)
    leaf, captured = ref, kept is not None
    if ref >= 0:
        node, op = recorder.nodes()[ref], structure["ops"][ref]
        found["formula"] = [mathml.of(part) for part in formulas(node.cls)] or [_first_line(node.cls)]
        found["sources"] = written(node.cls)
        found["text"] = session.line_of(node.place)
        if kept is not None and (mine := kept.ops[ref]) is not None:
            found["params"] = ", ".join(f"{name}={_short(value)}" for name, value in mine.params.items())
            tables += _saved(kept, ref)
        tables.append(_costs(recorder, structure, ref))
        leaf = next((-1 - j for kind, j in op["inputs"] if kind == "leaf" and structure["leaves"][j]["requires_grad"]), 0)
    if leaf < 0:
        tensor = _living(recorder, leaf, label)
        captured &= ref >= 0 or tensor is None  # a leaf that is there is shown as it is now
        if tensor is not None and tensor.requires_grad:
            tables.insert(0, _ledger(recorder, tensor, label or structure["leaves"][-1 - leaf]["name"]))
    return {**found, "tables": tables, "captured": captured, "replays": kept is not None and kept is recorder.captured}


@answers("values", evaluates=True)
def values(session: Session, select: str, key: str, at: Sequence[int] = ()) -> Reply:
    """A window into the value and the gradient that a tensor has now, where it is still there; with a summary of all entries."""
    recorder = session.recorder
    _, ref, label = subject(recorder, select, key)
    tensor = _living(recorder, ref, label)
    if tensor is None:
        raise ArgumentError("these values are gone: capture the next step to see them")
    grad = tensor.grad
    arrays = tensor.data, None if grad is None else grad.data
    return _seen(arrays, at, f"as it is now, after step {recorder.step}", recorder.step, True)


@answers("captured")
def captured(session: Session, select: str, key: str, at: Sequence[int] = ()) -> Reply:
    """The same of the captured step."""
    recorder = session.recorder
    _, ref, _ = subject(recorder, select, key)
    kept = captured_at(recorder, ref)
    entry = None if kept is None else kept.ops[ref] if ref >= 0 else kept.leaves[-1 - ref]
    if kept is None or entry is None:
        raise ArgumentError("no step with this op is captured")
    value = entry.output if isinstance(entry, CapturedOp) else entry.value
    by_user = kept is recorder.captured
    return _seen((value, entry.gradient), at, f"{'captured at' if by_user else 'as in'} step {kept.step}", kept.step, not by_user)


@answers("small")
def small(session: Session, key: str) -> Reply:
    """The formulas of all ops, and values and gradients of what has up to 4 x 4 entries, as far as a step is kept: for a graph with its
    numbers.

    `formulas` are MathML, "" where an op has none.
    `items` are ["op" or "leaf", number, shape, whether a gradient follows]; the buffer has their numbers, float64, one after the other.
    """
    recorder = session.recorder
    shown = recorder.structure()
    if shown["key"] != key:
        raise ArgumentError("the graph has changed since")
    items: list[list[Any]] = []
    numbers: list[bytes] = []
    step = 0
    for ref in (*range(len(shown["ops"])), *range(-1, -1 - len(shown["leaves"]), -1)) if len(shown["ops"]) <= GLIMPSE_OPS else ():
        kept = captured_at(recorder, ref)
        entry = None if kept is None else kept.ops[ref] if ref >= 0 else kept.leaves[-1 - ref]
        if kept is None or entry is None:
            continue
        value = entry.output if isinstance(entry, CapturedOp) else entry.value
        if value.size <= _SMALL and len(value.shape) <= 2:
            step = kept.step
            items.append(["op" if ref >= 0 else "leaf", max(ref, -1 - ref), value.shape, entry.gradient is not None])
            numbers += [window(a).values.astype("<f8").tobytes() for a in (value, entry.gradient) if a is not None]
    latex = [formulas(node.cls) for node in recorder.nodes()[:GLIMPSE_OPS]]
    return {"step": step, "items": items, "formulas": [mathml.of(parts[0]) if parts else "" for parts in latex]}, [b"".join(numbers)]


@answers("capture")
def capture(session: Session, limit_mib: float = CAPTURE_BYTES / 2**20) -> Reply:
    """Keep the next step."""
    estimate = session.recorder.capture_next(int(limit_mib * 2**20))
    session.tell_capture()
    return {"estimate": estimate}


@answers("release")
def release(session: Session) -> Reply:
    """Let go of a captured step, or no longer wait for one."""
    session.recorder.release()
    session.tell_capture()
    return {}


def _living(recorder: Recorder, ref: int, label: str) -> Any:
    tensor = recorder.parameter(label) if label else None
    return recorder.tensor(ref) if tensor is None else tensor


def _seen(arrays: Sequence[Any], at: Sequence[int], when: str, step: int, moves: bool) -> Reply:
    """Windows and summaries of value and gradient; buffers are values float64 and counts int32 of each that is there."""
    content: dict[str, Any] = {"when": when, "step": step, "moves": moves, "value": None, "gradient": None}
    buffers: list[bytes] = []
    for name, array in zip(("value", "gradient"), arrays, strict=True):
        if array is not None:
            seen, whole = window(array, [int(i) for i in at]), summary(array)
            content[name] = {
                "shape": seen.shape,
                "at": seen.at,
                "values": seen.values.shape,
                "axes": [[axis, n] for axis, n in zip(_axes(seen.shape), seen.most, strict=True)],
                "seen": f"{_seen_text(seen)} \u00b7 {array.dtype}",
                "counted": _counted_text(whole),
                "size": whole.size,
                "low": whole.low,
                "high": whole.high,
                "norm": whole.norm,
            }
            buffers += [seen.values.astype("<f8").tobytes(), whole.counts.astype("<i4").tobytes()]
    return content, buffers


def _axes(shape: tuple[int, ...]) -> list[str]:
    return [*(f"axis {i}" for i in range(len(shape) - 2)), *("row", "column")[-min(len(shape), 2) :]] if shape else []


def _seen_text(seen: Window) -> str:
    """What part of the array is seen."""
    rows, columns = seen.values.shape
    shape, at = seen.shape, list(seen.at)
    if 0 in shape:
        return "an empty array"
    if len(shape) < 2:
        return f"showing {columns:,} of {shape[0]:,} from {at}" if shape and columns < shape[0] else "the whole array"
    lead = f"{at[:-2]} of {shape}, " if len(shape) > 2 else ""
    if (rows, columns) == shape[-2:]:
        return f"{lead}the whole {'matrix' if lead else 'array'}"
    return f"{lead}showing {rows} \u00d7 {columns} of {shape[-2]} \u00d7 {shape[-1]} from {at[-2:]}"


def _counted_text(whole: Summary) -> str:
    """How many entries are no ordinary numbers."""
    kinds = {"exact zero": whole.zeros, "NaN": whole.nan, "Inf": whole.inf, "\u2212Inf": whole.minus_inf}
    said = [f"{n:,} {word}{'s' * (n > 1 and word == 'exact zero')}" for word, n in kinds.items() if n]
    text = " \u00b7 ".join(said) or f"{whole.sampled:,} value{'s' * (whole.sampled != 1)}"
    return text if whole.sampled == whole.size else f"{text} in every {-(-whole.size // whole.sampled)}th"


def _ledger(recorder: Recorder, tensor: Any, name: str) -> dict[str, Any]:
    """Who added what to a `.grad` since it was last None."""
    entries = recorder.ledger(tensor)
    passes = len({entry.backward for entry in entries})
    side = f"sum of {'at least ' * (len(entries) == ENTRIES_A_LEAF)}{passes} calls" if passes > 1 else "since it was last None"
    if len(entries) > _ROWS:
        side += f" \u00b7 the last {_ROWS}{' parts' * (len(entries) > passes)}"
    rows = [[f"backward {e.backward}", e.op or "given", "" if e.norm is None else plain(e.norm)] for e in entries[-_ROWS:]]
    return table(f"ledger of {name[:80]}.grad", side, ("call", "added by", "\u2016added\u2016"), rows)


def _saved(kept: Capture, ref: int) -> list[dict[str, Any]]:
    """What an op keeps for backward; no table where that is no array."""
    entries = kept.saved_bytes(ref)
    own = sum(nbytes for _, _, _, nbytes, shared in entries if not shared)
    rows = [[name, f"{shape} {dtype}", f"is {shared}" if shared else size(nbytes)] for name, shape, dtype, nbytes, shared in entries]
    saved = table("saved for backward", f"{size(own)} of its own" if own else "nothing of its own", ("name", "what", "bytes"), rows)
    return [saved] if rows else []


def _costs(recorder: Recorder, structure: dict[str, Any], at: int) -> dict[str, Any]:
    """The cost of op `at`, of the whole step, and of each module with all that is inside it, all its calls together."""
    costs, modules = recorder.costs(), structure["modules"]
    sums: dict[str, list[float]] = {name: [0.0] * 5 for name in ("step", *map(_path, modules))}
    for cost, op in zip(costs, structure["ops"], strict=False):
        around, inside = {"step"}, op["module"]
        while inside is not None:
            around.add(_path(modules[inside]))
            inside = modules[inside]["parent"]
        for name in around:
            for k, number in enumerate((1, *cost)):
                sums[name][k] += number or 0
    rows = [_cost_row("this op", *costs[at])]
    for name, (n, *total) in list(sums.items())[:_ROWS]:
        rows.append(_cost_row(f"{isolated(name)} \u00b7 {n:,.0f} op{'s' * (n != 1)}", *total))
    further = len(sums) - _ROWS
    side = f"{further:,} more modules" if further > 0 else "a multiply-add is 2"
    return table("operations and bytes", side, ("", "forward", "backward", "moved"), rows)


def _path(module: dict[str, Any]) -> str:
    return module["path"] or module["name"]


def _cost_row(name: str, forward: float | None, backward: float | None, moved: float, moved_back: float) -> list[str]:
    return [name, operations(forward), operations(backward), size(moved + moved_back)]


def _first_line(cls: Any) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]


def _short(value: Any) -> str:
    return f"array {value.shape}" if hasattr(value, "shape") else repr(value)[:80]
