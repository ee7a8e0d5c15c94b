"""What a run of a cell came to: ops, time, one short text per line, and the op that failed. Told when it starts and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..trace import Recorder, Stretch
from ..trace.rules import diagnosis_of
from ..trace.rules.finding import ORDER
from ..trace.writer import said
from .failure import refused
from .hints import Hints, Source
from .protocol import VERSION, Message, State, plain

_SOURCE_KEPT = 20_000  # letters; a page can't tell whether a longer cell was edited
_CELLS_KEPT = 100  # whose outcome a page that is loaded again gets

Names = Callable[[], Mapping[str, Any]]


class Outcomes:
    """Tells the pages that ask for it what each run of a cell came to.

    `namespace` gives the user's variables, `place` says which cell a code object is of. Everything that is kept is text and numbers.
    """

    def __init__(self, recorder: Recorder, send: Callable[[Message], None], namespace: Names, place: Source) -> None:
        self.recorder, self.send, self.namespace, self.place = recorder, send, namespace, place
        self._pages: set[str] = set()
        self._kept: dict[str, dict[str, Any]] = {}
        self._stretch: Stretch | None = None
        self._hints: Hints | None = None
        self._cell: str | None = None
        self._told = ""  # key of the structure whose lines were told last

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
        self._stretch, self._cell, self._told = Stretch(self.recorder), cell, ""
        self._hints = Hints(source, self.namespace(), self._stretch, self.place) if self._pages else None
        if cell is not None:
            self._keep({"id": cell, "count": count, "state": "running", "source": source if len(source) <= _SOURCE_KEPT else None})

    def grew(self) -> None:
        """A picture of the running cell was taken: tell its lines, where they are other ones than those told last."""
        stretch, cell = self._stretch, self._cell
        if stretch is None or cell is None or not self._pages:
            return
        with self.recorder.lock:
            key = self.recorder.structure()["key"]
            if key == self._told:
                return
            self._told = key
            lines = self._lines(cell, stretch)
        self._post({**self._kept[cell], **lines})

    def ended(self, cell: str | None, state: State, error: BaseException | None) -> None:
        """The cell that began last is over."""
        stretch = self._stretch
        if stretch is None or cell is None or cell != self._cell:
            return
        content = {**self._kept[cell], "state": state}
        if not self._pages:
            self._kept[cell] = content  # a page that comes later knows what ran, and that it is over
            self._stretch = None
            return
        with self.recorder.lock:
            content |= {"ops": stretch.ops, "steps": stretch.steps, "ms": stretch.ms, "tracing": self.recorder.on}
            content["findings"] = self._findings(content["count"])
            content |= self._lines(cell, stretch)
            content["error"] = None if error is None else self._error(stretch, error)
            self._count_findings(content, stretch)
        self._keep(content)
        self._stretch = self._hints = None

    def _lines(self, cell: str, stretch: Stretch) -> dict[str, Any]:
        """One text per line: of this cell, and of the cells whose functions it called."""
        if self._hints is None:  # nobody asked when the cell began
            self._hints = Hints("", self.namespace(), stretch, self.place)
        own, others = self._hints.read(self.recorder.structure(), cell, self._kept[cell]["count"])
        return {"lines": own, "elsewhere": others}

    def _findings(self, count: int | None) -> int:
        """How many findings the rules have in that run of a cell."""
        diagnosis = self.recorder.diagnosis
        return 0 if diagnosis is None else sum(one.where.startswith(f"In[{count}]:") for one in diagnosis.findings)

    def _keep(self, content: dict[str, Any]) -> None:
        others = [(id, other) for id, other in self._kept.items() if id != content["id"]]
        self._kept = dict([*others[1 - _CELLS_KEPT :], (content["id"], content)])  # at once: an interrupt loses no cell
        self._post(content)

    def _post(self, content: dict[str, Any]) -> None:
        if self._pages:
            self.send(Message({"v": VERSION, "kind": "cell", **plain(content)}, []))

    def _error(self, stretch: Stretch, error: BaseException) -> dict[str, Any] | None:
        """Where an op failed, on what, and what it said."""
        at, structure = stretch.failed(error), self.recorder.structure()
        if at is None or at >= len(structure["ops"]):
            found = refused(error, self.place)
            return None if found is None else {**found, "text": said(error)}
        op, names = structure["ops"][at], stretch.names(self.namespace())
        place = {"id": None, "count": None, "file": None} if op["cell"] is None else structure["cells"][op["cell"]]
        operands = [_operand(structure, source, names) for source in op["inputs"]]
        return {"op": at, "name": op["name"], **place, "line": op["line"], "operands": operands, "text": op["error"]}

    def _count_findings(self, content: dict[str, Any], stretch: Stretch) -> None:
        """Count what the rules find in what the cell did, and which of it points to lines of other cells."""
        counts, elsewhere = dict.fromkeys(ORDER, 0), {(other["id"], other["count"]): other for other in content["elsewhere"]}
        if stretch.ops and self.recorder.on:
            diagnosis, structure, first = diagnosis_of(self.recorder), self.recorder.structure(), stretch.first
            if diagnosis.key != structure["key"]:
                diagnosis.look()
            for finding in diagnosis.findings:
                if finding.op is not None and not first <= finding.op < len(structure["ops"]):
                    continue
                counts[finding.severity or "warning"] += 1
                cell = None if finding.op is None else structure["ops"][finding.op]["cell"]
                place = None if cell is None else structure["cells"][cell]
                other = None if place is None else elsewhere.get((place["id"], place["count"]))
                if other is not None:
                    other["findings"] = other.get("findings", 0) + 1
        content["findings"], content["severities"] = sum(counts.values()), counts


def _operand(structure: Mapping[str, Any], source: list[Any], names: Mapping[int, str]) -> dict[str, Any]:
    """What an op read: a name, and the shape and dtype where it is a tensor."""
    kind, at = source
    if kind not in ("op", "leaf"):
        return {"name": str(at), "shape": None, "dtype": ""}
    made_by = structure["ops" if kind == "op" else "leaves"][at]
    name = names.get(at, made_by["name"]) if kind == "op" else made_by["name"]
    return {"name": name, "shape": made_by["shape"], "dtype": made_by["dtype"]}
