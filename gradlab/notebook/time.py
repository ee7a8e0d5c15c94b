"""What the page asks of earlier steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError, explain
from .requests import Reply, answers

if TYPE_CHECKING:
    from .session import Session


@answers("past")
def past(session: Session, step: int) -> Reply:
    """The numbers of an earlier step: of its ops and leaves, and its row of the timeline.

    `of` is the step that the ops' numbers are of: this one, or where they are gone the newest one before it that is kept.

    Shapes: buffers are ops float32 (n, 4), op_has uint8 (n), leaves float32 (m, 2), leaf_has uint8 (m), row float32 (columns)
    """
    recorder = session.recorder
    last = recorder.step
    if isinstance(step, bool) or not isinstance(step, int) or not 1 <= step <= max(last, 1):
        raise ArgumentError(explain("step: there is no such step", got={"step": step}, need=f"a whole number from 1 to {last}"))
    found = recorder.at(step)
    if found is None:
        raise ArgumentError(explain("step: nothing is kept of it", got={"step": step}, need="a newer step"))
    of, structure, numbers = found
    session.stream.give(structure)
    first, rows = recorder.timeline.rows(step - 1)
    row = rows[0] if first == step and len(rows) else np.full(recorder.timeline.width, np.nan, np.float32)
    content = {"step": step, "of": of, "key": structure["key"], "loss": numbers.loss, "grad_norm": numbers.grad_norm}
    arrays = [(numbers.ops, "<f4"), (numbers.op_has, "u1"), (numbers.leaves, "<f4"), (numbers.leaf_has, "u1"), (row, "<f4")]
    return content, [np.ascontiguousarray(array, dtype).tobytes() for array, dtype in arrays]
