"""What the page has selected: which op or leaf of which step, and what is captured of it; and tables of texts about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..trace import Capture

if TYPE_CHECKING:
    from ..trace import Recorder


def subject(recorder: Recorder, select: str, key: str) -> tuple[dict[str, Any], int, str]:
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


def captured_at(recorder: Recorder, ref: int) -> Capture | None:
    """The captured step, or else the small one seen last, if what it has in that place is the same op or leaf."""
    return next((kept for kept in (recorder.captured, recorder.glimpsed) if kept is not None and _has(kept, recorder.nodes(), ref)), None)


def _has(kept: Capture, ours: list[Any], ref: int) -> bool:
    theirs = [] if kept.node is None else kept.node.path()
    if ref < 0:
        j = -1 - ref
        a, b = ([leaf for node in nodes for leaf in node.leaves] for nodes in (theirs, ours))
        return j < min(len(a), len(b), len(kept.leaves)) and a[j] == b[j] and kept.leaves[j] is not None
    if ref >= min(len(theirs), len(ours), len(kept.ops)) or kept.ops[ref] is None:
        return False
    a, b = theirs[ref], ours[ref]
    return a is b or (a.cls is b.cls and a.inputs == b.inputs and a.shape == b.shape)


def table(title: str, side: str, head: Sequence[str], rows: list[list[str]]) -> dict[str, Any]:
    """A table as the page draws it: text, the first column left, the others right."""
    return {"title": title, "side": side, "head": list(head), "rows": rows}
