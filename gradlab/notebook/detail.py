"""The detail panel as a widget of its own, and what it asks: one op or leaf, its values, and the capture of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..trace import CAPTURE_BYTES, Capture
from ..trace.capture import CapturedOp
from ..trace.source import formulas, written
from ..trace.window import Summary, Window, summary, window
from . import mathml
from .panel import Panel
from .requests import Reply, answers

if TYPE_CHECKING:
    from ..trace import Recorder
    from .session import Session


class DetailPanel(Panel):
    """One op or tensor: formula, source, values, gradient, histogram, ledger and cost."""

    view = "detail"
    text = "gradlab: the detail panel"


@answers("detail")
def detail(session: Session, select: str, key: str) -> Reply:
    """What is known of an op or leaf without its values."""
    recorder = session.recorder
    structure, ref, label = _subject(recorder, select, key)
    found: dict[str, Any] = {"ledger": None, "saved": None, "params": [], "formula": [], "sources": [], "doc": "", "text": ""}
    kept = _captured(recorder, ref)
    if ref >= 0:
        node, op = recorder.nodes()[ref], structure["ops"][ref]
        found["formula"] = [mathml.of(part) for part in formulas(node.cls)]
        found["doc"] = (node.cls.__doc__ or "").strip().partition("\n")[0]
        found["sources"] = written(node.cls)
        found["cost"], found["modules"] = _costs(recorder, structure, ref)
        found["text"] = session.line_of(node.place)
        if kept is not None and (mine := kept.ops[ref]) is not None:
            found["params"] = [[name, _short(value)] for name, value in mine.params.items()]
            found["saved"] = [list(entry) for entry in kept.saved_bytes(ref)]
        leaves = [j for kind, j in op["inputs"] if kind == "leaf" and structure["leaves"][j]["requires_grad"]]
        ref = -1 - leaves[0] if len(leaves) else ref
    if ref < 0:
        tensor = _living(recorder, ref, label)
        if tensor is not None and tensor.requires_grad:
            name = label or structure["leaves"][-1 - ref]["name"]
            found["ledger"] = {"name": name, "entries": [list(entry) for entry in recorder.ledger(tensor)]}
    found["captured"] = kept is not None
    return found


@answers("values", evaluates=True)
def values(session: Session, select: str, key: str, lead: Sequence[int] = (), row: int = 0, column: int = 0) -> Reply:
    """A window into the value and the gradient that a tensor has now, where it is still there; with a summary of all entries."""
    recorder = session.recorder
    _, ref, label = _subject(recorder, select, key)
    tensor = _living(recorder, ref, label)
    if tensor is None:
        raise ArgumentError("these values are gone: capture the next step to see them")
    grad = tensor.grad
    arrays = tensor.data, None if grad is None else grad.data
    return _seen(arrays, lead, row, column, "now", recorder.step)


@answers("captured")
def captured(session: Session, select: str, key: str, lead: Sequence[int] = (), row: int = 0, column: int = 0) -> Reply:
    """The same of the captured step."""
    recorder = session.recorder
    _, ref, _ = _subject(recorder, select, key)
    kept = _captured(recorder, ref)
    entry = None if kept is None else kept.ops[ref] if ref >= 0 else kept.leaves[-1 - ref]
    if kept is None or entry is None:
        raise ArgumentError("no step with this op is captured")
    value = entry.output if isinstance(entry, CapturedOp) else entry.value
    return _seen((value, entry.gradient), lead, row, column, "captured", kept.step)


@answers("capture")
def capture(session: Session, limit_mib: float = CAPTURE_BYTES / 2**20) -> Reply:
    """Keep the next step."""
    size = session.recorder.capture_next(int(limit_mib * 2**20))
    session.tell_capture()
    return {"estimate": size}


@answers("release")
def release(session: Session) -> Reply:
    """Let go of a captured step, or no longer wait for one."""
    session.recorder.release()
    session.tell_capture()
    return {}


def _subject(recorder: Recorder, select: str, key: str) -> tuple[dict[str, Any], int, str]:
    """The structure that the page sees, which op or leaf of it is meant (-1 - j for leaf j), and a parameter's label.

    Raises: ArgumentError where the step on show has something else there.
    """
    known, shown = recorder.structure_of(key), recorder.structure()
    kind, _, rest = str(select).partition(":")
    if kind == "param":
        at = next((j for j, leaf in enumerate(shown["leaves"]) if leaf["name"] == rest), None)
        if at is None and recorder.parameter(rest) is None:
            raise ArgumentError(f"no parameter is called {rest[:200]!r}")
        return shown, -1 - (at or 0), rest
    what = {"op": "ops", "leaf": "leaves"}.get(kind)
    if what is None or not rest.isdecimal():
        raise ArgumentError(f"nothing can be selected by {str(select)[:200]!r}; known: op:3, leaf:2, param:name")
    i = int(rest)
    same = known is not None and i < len(known[what]) and i < len(shown[what]) and _looks(known[what][i]) == _looks(shown[what][i])
    if not same:
        raise ArgumentError("the graph has changed since; select again")
    return shown, i if kind == "op" else -1 - i, ""


def _looks(item: dict[str, Any]) -> tuple[Any, ...]:
    return item["name"], item["shape"], item.get("line"), item.get("inputs")


def _living(recorder: Recorder, ref: int, label: str) -> Any:
    tensor = recorder.parameter(label) if label else None
    return recorder.tensor(ref) if tensor is None else tensor


def _captured(recorder: Recorder, ref: int) -> Capture | None:
    """The captured step, if what it has in that place is the same op or leaf."""
    kept = recorder.captured
    if kept is None or kept.node is None:
        return None
    theirs, ours = kept.node.path(), recorder.nodes()
    if ref < 0:
        j = -1 - ref
        a, b = ([leaf for node in nodes for leaf in node.leaves] for nodes in (theirs, ours))
        same = j < min(len(a), len(b), len(kept.leaves)) and a[j] == b[j]
        return kept if same and kept.leaves[j] is not None else None
    if ref >= min(len(theirs), len(ours), len(kept.ops)) or kept.ops[ref] is None:
        return None
    a, b = theirs[ref], ours[ref]
    return kept if a is b or (a.cls is b.cls and a.inputs == b.inputs and a.shape == b.shape) else None


def _seen(arrays: Sequence[Any], lead: Sequence[int], row: int, column: int, when: str, step: int) -> Reply:
    """Windows and summaries of value and gradient; buffers are values float64 and counts int32 of each that is there."""
    content: dict[str, Any] = {"when": when, "step": step, "value": None, "gradient": None}
    buffers: list[bytes] = []
    for name, array in zip(("value", "gradient"), arrays, strict=True):
        if array is not None:
            seen, whole = window(array, [int(i) for i in lead], int(row), int(column)), summary(array)
            content[name] = _header(seen, whole, str(array.dtype))
            buffers += [seen.values.astype("<f8").tobytes(), whole.counts.astype("<i4").tobytes()]
    return content, buffers


def _header(seen: Window, whole: Summary, dtype: str) -> dict[str, Any]:
    counted = {name: value for name, value in whole._asdict().items() if name != "counts"}
    return {**seen._asdict(), "values": list(seen.values.shape), "dtype": dtype, **counted}


def _costs(recorder: Recorder, structure: dict[str, Any], at: int) -> tuple[list[Any], list[list[Any]]]:
    """The cost of op `at`, and of each module with all that is inside it, the whole step first: name, ops, then as a Cost."""
    costs, ops, modules = recorder.costs(), structure["ops"], structure["modules"]
    sums: dict[int | None, list[float]] = {}
    for cost, op in zip(costs, ops, strict=False):
        inside: int | None = op["module"]
        while True:
            total = sums.setdefault(inside, [0, 0, 0, 0, 0])
            for k, number in enumerate((1, *cost)):
                total[k] += number or 0
            if inside is None:
                break
            inside = modules[inside]["parent"]
    rows = [["step" if i is None else modules[i]["path"], *sums[i]] for i in sorted(sums, key=lambda i: -1 if i is None else i)]
    return list(costs[at]), rows


def _short(value: Any) -> str:
    return f"array {value.shape}" if hasattr(value, "shape") else repr(value)[:80]
