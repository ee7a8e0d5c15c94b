"""What a run of a cell came to: ops, time, one short text per line, and the op that failed. Told when it starts and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..trace import Recorder, Stretch
from ..trace.lines import lines_of, made
from .protocol import VERSION, Message, State, plain

_SOURCE_KEPT = 20_000  # letters; a page can't tell whether a longer cell was edited
_CELLS_KEPT = 100  # whose outcome a page that is loaded again gets

Names = Callable[[], Mapping[str, Any]]


class Outcomes:
    """Tells the pages that ask for it what each run of a cell came to.

    `namespace` gives the user's variables. Everything that is kept is text and numbers.
    """

    def __init__(self, recorder: Recorder, send: Callable[[Message], None], namespace: Names) -> None:
        self.recorder, self.send, self.namespace = recorder, send, namespace
        self._pages: set[str] = set()
        self._kept: dict[str, dict[str, Any]] = {}
        self._stretch: Stretch | None = None

    def want(self, page: str, on: bool) -> None:
        """A page shows hints or footers, or does so no more; a new one gets what is known."""
        new = on and page not in self._pages
        if on:
            self._pages.add(page)
        else:
            self._pages.discard(page)
        if new:
            for content in list(self._kept.values()):
                self._post(content)

    def began(self, cell: str | None, count: int | None, source: str) -> None:
        """A cell starts."""
        self._stretch = Stretch(self.recorder)
        if cell is not None:
            self._keep({"id": cell, "count": count, "state": "running", "source": source if len(source) <= _SOURCE_KEPT else None})

    def ended(self, cell: str | None, state: State, error: BaseException | None) -> None:
        """The cell that began last is over."""
        stretch, self._stretch = self._stretch, None
        if stretch is None or cell is None or cell not in self._kept or not self._pages:
            return
        content = {**self._kept[cell], "state": state}
        with self.recorder.lock:
            content |= {"ops": stretch.ops, "steps": stretch.steps, "ms": stretch.ms, "tracing": self.recorder.on, "findings": 0}
            structure = self.recorder.structure()
            names = stretch.names(self.namespace()) if stretch.ops else {}
            runs = lines_of(structure, stretch.first)
            content["error"] = self._error(structure, stretch.failed(error), names)
        texts = {key: _texts(structure, lines, names) for key, lines in runs.items()}
        content["lines"] = texts.pop((cell, content["count"]), [])
        content["elsewhere"] = [{"id": id, "count": count, "lines": lines} for (id, count), lines in texts.items() if id is not None]
        self._keep(content)

    def _keep(self, content: dict[str, Any]) -> None:
        self._kept.pop(content["id"], None)
        self._kept[content["id"]] = content
        while len(self._kept) > _CELLS_KEPT:
            del self._kept[next(iter(self._kept))]
        self._post(content)

    def _post(self, content: dict[str, Any]) -> None:
        if self._pages:
            self.send(Message({"v": VERSION, "kind": "cell", **plain(content)}, []))

    def _error(self, structure: Mapping[str, Any], at: int | None, names: Mapping[int, str]) -> dict[str, Any] | None:
        """Where an op failed, on what, and what it said."""
        if at is None or at >= len(structure["ops"]):
            return None
        op = structure["ops"][at]
        place = {"id": None, "count": None, "file": None} if op["cell"] is None else structure["cells"][op["cell"]]
        operands = [_operand(structure, source, names) for source in op["inputs"]]
        return {"op": at, "name": op["name"], **place, "line": op["line"], "operands": operands, "text": op["error"]}


def _texts(structure: Mapping[str, Any], lines: Mapping[int, list[int]], names: Mapping[int, str]) -> list[list[Any]]:
    texts = [[line, made(structure, ops, names), ops[-1]] for line, ops in sorted(lines.items())]
    return [entry for entry in texts if entry[1]]


def _operand(structure: Mapping[str, Any], source: list[Any], names: Mapping[int, str]) -> dict[str, Any]:
    """What an op read: a name, and the shape and dtype where it is a tensor."""
    kind, at = source
    if kind not in ("op", "leaf"):
        return {"name": str(at), "shape": None, "dtype": ""}
    made_by = structure["ops" if kind == "op" else "leaves"][at]
    name = names.get(at, made_by["name"]) if kind == "op" else made_by["name"]
    return {"name": name, "shape": made_by["shape"], "dtype": made_by["dtype"]}
