"""The operands of a call that was refused before any op began: read from the frames of the error, and not kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from .. import Tensor
from ..trace import Where

_PACKAGE = str(Path(__file__).resolve().parent.parent)


def refused(error: BaseException, place: Callable[[CodeType], Where | None]) -> dict[str, Any] | None:
    """Which of gradlab's functions the user's innermost line called that raised, and on what; None where it is no function of gradlab.

    `place` says where a code object of the user's is written.
    """
    user: tuple[Where, FrameType] | None = None
    call: tuple[str, dict[str, Tensor]] | None = None
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        where = place(frame.f_code)
        if where is not None:
            user, call = (where._replace(line=trace.tb_lineno + (where.line or 0)), frame), None
        elif call is None and user is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            call = _call(frame)
        trace = trace.tb_next
    if user is None or call is None:
        return None
    where, frame = user
    operands = [{"name": _name(frame, t) or name, "shape": list(t.shape), "dtype": str(t.dtype)} for name, t in call[1].items()]
    at = {"id": where.cell, "count": where.count, "file": where.file, "line": where.line}
    return {"op": None, "name": call[0], **at, "operands": operands}


def _call(frame: FrameType) -> tuple[str, dict[str, Tensor]] | None:
    """A public function, with its arguments that are tensors."""
    code = frame.f_code
    if code.co_name.startswith(("_", "<")) or code.co_name == "forward":
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    operands = {name: value for name in names if isinstance(value := frame.f_locals.get(name), Tensor)}
    return (code.co_name, operands) if operands else None


def _name(frame: FrameType, tensor: Tensor) -> str | None:
    return next((name for name, value in list(frame.f_locals.items()) if value is tensor and not name.startswith("_")), None)
