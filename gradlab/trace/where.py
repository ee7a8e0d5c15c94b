"""Where in the user's code an op was made."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import NamedTuple


class Where(NamedTuple):
    """A line of the user's code: of a notebook cell (id and execution count), or of a file (its name, and where it is).

    >>> Where(file="train.py", line=12)
    Where(cell=None, count=None, file='train.py', line=12, path=None)
    """

    cell: str | None = None
    count: int | None = None  # pyright: ignore[reportIncompatibleMethodOverride]
    file: str | None = None
    line: int | None = None
    path: str | None = None


Source = Callable[[CodeType], Where | None]
"""Says which cell or file a code object was compiled from, and in `line` what to add to its line numbers; None for a library's code."""

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_LIBRARIES = tuple({str(Path(sysconfig.get_path(kind)).resolve()) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")})
_CODES_KEPT = 8_192
_EVENT_FRAMES = 4  # of_op, the recorder's method, the guard's, Function.apply or its like; then comes who made the op


def file_of(code: CodeType) -> Where | None:
    """The file of a code object, None for code of gradlab, of installed packages and of Python itself.

    >>> file_of(compile("1 + 1", "/home/ada/train.py", "eval"))
    Where(cell=None, count=None, file='train.py', line=None, path='/home/ada/train.py')
    """
    name = code.co_filename
    if name.startswith((_PACKAGE, "<frozen", *_LIBRARIES)):
        return None
    return Where(file=Path(name).name, path=str(Path(name).absolute()))


def users_modules() -> list[ModuleType]:
    """The imported modules that are files of the user's, not of a library, of Python or of gradlab."""
    found = [(m, getattr(m, "__file__", None)) for m in list(sys.modules.values()) if isinstance(m, ModuleType)]
    return [m for m, file in found if isinstance(file, str) and not str(Path(file).resolve()).startswith((_PACKAGE, *_LIBRARIES))]


class Places:
    """Says where the op being made is written: the innermost frame of the user's code, walked to once per op.

    What a code object is and the line of an instruction are looked up once, so that a call costs a short walk over frames. One
    place is one object: compare with `is`.

    >>> op = lambda: Places()()
    >>> op() is None or op().line
    1
    """

    def __init__(self, source: Source = file_of) -> None:
        self._source = source
        # By id, since a code object's hash reads all of it; the entry keeps the code, so its id stays its own.
        self._known: dict[int, tuple[CodeType, Where | None, dict[int, Where]]] = {}

    def __call__(self) -> Where | None:
        """The place of the innermost frame that is the user's, None where there is none."""
        return self.of_op(2)

    def of_op(self, depth: int = _EVENT_FRAMES) -> Where | None:
        """The same for a recorder to call in an event: it starts past the frames that carry the event."""
        known, frame = self._known, sys._getframe(depth)
        while frame is not None:
            code = frame.f_code
            entry = known.get(id(code)) or self._learn(code)
            if entry[1] is not None:
                place = entry[2].get(frame.f_lasti)
                return place if place is not None else _new_place(entry, frame)
            frame = frame.f_back
        return None

    def forget(self) -> None:
        """Look every code object up anew, as when the source has learnt about more cells."""
        self._known.clear()

    def _learn(self, code: CodeType) -> tuple[CodeType, Where | None, dict[int, Where]]:
        if len(self._known) > _CODES_KEPT:
            self._known.clear()
        entry = self._known[id(code)] = (code, self._source(code), {})
        return entry


def _new_place(entry: tuple[CodeType, Where | None, dict[int, Where]], frame: FrameType) -> Where:
    _, source, places = entry
    assert source is not None
    line = (frame.f_lineno or 0) + (source.line or 0)
    # Instructions of one line share their place.
    place = next((p for p in places.values() if p.line == line), None) or source._replace(line=line)
    places[frame.f_lasti] = place
    return place
