"""Which cell a piece of code was compiled from, so that every op knows its cell and line.

IPython compiles each cell under a file name of its own. Nested cells (inside a cell magic) have no id; they are counted
to the cell around them, at the line where their text stands in it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol

from ..trace import Places, Where
from ..trace.where import file_of


class Shell(Protocol):
    """What is read of IPython's InteractiveShell."""

    execution_count: int
    compile: Any


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a cell. `shift` is what to add to a line number of its compiled code to get the line in `source`."""

    id: str | None
    count: int | None
    source: str
    shift: int = 0

    def where(self, shift: int = 0) -> Where:
        """The cell as the recorder wants it; `line` is what to add to a line number."""
        return Where(cell=self.id, count=self.count, line=self.shift + shift)


_MAGIC_NAMES = frozenset({"<timed exec>", "<timed eval>", "<magic-timeit>"})  # %time and %timeit compile under these


class Cells:
    """Knows the cells that ran in a shell. `where()` is the place of the op being made."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.where = Places(self.source)
        self._cells: dict[str, Cell] = {}
        self._running: list[Cell] = []
        # Cells that ran before gradlab was loaded are unknown; their lines go to the cell that calls them.
        folder = str(Path(shell.compile.get_code_name("", "", 0)).parent)
        self._not_known = ("<",) if folder == "." else ("<", folder)

    @property
    def current(self) -> Cell | None:
        """The cell that runs now (the outermost, where magics nest), or None between cells."""
        return self._running[0] if self._running else None

    @property
    def nested(self) -> bool:
        """Whether the newest cell runs inside another one, as under a cell magic."""
        return len(self._running) > 1

    def line(self, place: Where) -> str:
        """The text of a line of the newest cell that ran with that count."""
        cell = next((c for c in reversed(self._cells.values()) if c.count == place.count and c.id == place.cell), None)
        lines = [] if cell is None or place.line is None else cell.source.splitlines()[place.line - 1 : place.line]
        return lines[0].strip() if lines else ""

    def enter(self, info: Any, count: int | None = None) -> Cell:
        """Note the cell that is about to run. `info` is what IPython hands to `pre_run_cell`."""
        source = info.raw_cell
        # Of those that an interrupt kept from leaving, none is on the stack.
        del self._running[max(_depth(sys._getframe(1)) - 1, 0) :]
        if count is None:
            count = _running_count(sys._getframe(1)) or self.shell.execution_count
        code = info.transformed_cell if info.transformed_cell is not None else source
        outer = self._running[-1] if self._running else None
        if outer is None or info.cell_id is not None:
            cell = Cell(info.cell_id, count, source, _blank_lines(source))
        else:
            above = outer.source[: max(outer.source.find(source.rstrip()), 0)].count("\n")
            cell = Cell(outer.id, outer.count, outer.source, above + _blank_lines(source))
        # Identical cells share a file name where ipykernel names it by the text: the last one run is meant.
        self._cells[self.shell.compile.get_code_name(source, code, count)] = cell
        self._running.append(cell)
        self.where.forget()
        return cell

    def leave(self) -> None:
        """Note that the innermost running cell ended."""
        if self._running:
            self._running.pop()

    def adopt_running(self) -> None:
        """Note the cell that runs already, as when `%load_ext gradlab` shares a cell with code that is to be traced."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not self._running:
            info = frame.f_locals.get("info") if _is_run_cell(frame) else None
            if hasattr(info, "raw_cell"):
                self.enter(info, _running_count(frame))
            frame = frame.f_back

    def source(self, code: CodeType) -> Where | None:
        """The cell or file a code object was compiled from; None for code that is not the user's."""
        name = code.co_filename
        if (cell := self._cells.get(name)) is not None:
            return cell.where()
        if name in _MAGIC_NAMES and self._running and self._running[-1].source.lstrip().startswith("%%"):
            body = self._running[-1].source.lstrip().partition("\n")[2]
            return self._running[-1].where(1 + _blank_lines(body))
        if name.startswith(self._not_known):
            return None
        return file_of(code)


def loads_gradlab(source: str) -> bool:
    """Whether a cell has the line `%load_ext gradlab`.

    >>> loads_gradlab("import numpy\\n%load_ext gradlab")
    True
    """
    return re.search(r"^\s*%load_ext\s+gradlab\s*(#.*)?$", source, re.MULTILINE) is not None


def _blank_lines(source: str) -> int:
    # IPython strips blank lines at the top before it compiles, so line numbers begin behind them.
    return source[: len(source) - len(source.lstrip())].count("\n")


def _is_run_cell(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_name == "run_cell_async" and code.co_filename.endswith("interactiveshell.py")


def _depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += _is_run_cell(frame)
        frame = frame.f_back
    return depth


def _running_count(frame: FrameType | None) -> int | None:
    # IPython 9 counts up before pre_run_cell, IPython 8 after it; the result it fills holds the number either way.
    while frame is not None and not _is_run_cell(frame):
        frame = frame.f_back
    return None if frame is None else getattr(frame.f_locals.get("result"), "execution_count", None)
