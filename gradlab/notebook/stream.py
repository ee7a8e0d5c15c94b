"""What the page has got so far, and the messages that bring it up to date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..trace import Recorder
from . import protocol
from .protocol import State

_SMALLEST_SERIES = 4_000  # a frame crowded by optimizer rows still moves the lines on
_STRUCTURES_KEPT = 8  # of as many keys the page surely still has the structure

Send = Callable[[protocol.Message], None]


class Stream:
    """Sends a recorder's structure and numbers, each once, and nothing while no page is visible.

    Everything runs under the recorder's lock, so the training thread and the thread that hears the page take turns.
    """

    def __init__(self, recorder: Recorder, send: Send) -> None:
        self.recorder = recorder
        self.visible = False
        self._send = send
        self.forget()

    def forget(self) -> None:
        """Take it that the page knows nothing: it has just opened or was loaded again."""
        self._structures: dict[str, dict[str, Any]] = {}
        self._columns = -1
        self._run = -1
        self._step = 0
        self._behind = True

    def hello(self, state: State, cell: int | None) -> None:
        """Send a page that has just opened the structure and the whole history, once; more when it says that it is seen."""
        with self.recorder.lock:
            self.forget()
            self._push(state, cell)

    def show(self, visible: bool, state: State, cell: int | None) -> None:
        """Stop sending while no page can be seen; catch up when one can be seen again."""
        with self.recorder.lock:
            self._behind = self._behind or visible > self.visible
            self.visible = visible
            self.push(state, cell)

    def push(self, state: State, cell: int | None) -> None:
        """Send the numbers on show and the steps that the page has not got; nothing where no page is visible."""
        if not self.visible:
            return
        with self.recorder.lock:
            self._push(state, cell)

    def _push(self, state: State, cell: int | None) -> None:
        recorder = self.recorder
        if recorder.run != self._run:
            self._send(protocol.reset(recorder.run))
            self._run, self._step, self._columns, self._behind = recorder.run, 0, -1, True
        key = self._push_structure()
        columns = recorder.timeline.columns()
        numbers = recorder.numbers()
        new_columns = columns if len(columns) != self._columns else None
        small = 4 * (numbers.ops.size + numbers.leaves.size + sum(o["values"].size for o in numbers.optimizers))
        names = sum(map(len, new_columns or ()))
        budget = protocol.HISTORY_BYTES if self._behind else protocol.FRAME_BYTES
        spans = recorder.timeline.since(self._step, max(budget - small - names - 2_000, _SMALLEST_SERIES))
        message = protocol.frame(
            run=recorder.run,
            step=recorder.step,
            key=key,
            open=recorder.open,
            state=state,
            cell=cell,
            on=recorder.on,
            share=recorder.share,
            numbers=numbers,
            spans=spans,
            width=len(columns),
            columns=new_columns,
        )
        self._send(message)
        # Only now: an interrupt that lands inside `_send` leaves the step to be sent again.
        self._columns, self._behind = len(columns), False
        if len(spans.last):
            # The newest row is sent again each time: the update of an open step, or a second optimizer's, may still fill it.
            self._step = min(int(spans.last[-1]), recorder.step - 1)

    def _push_structure(self) -> str:
        tape = self.recorder.structure()
        key: str = tape["key"]
        if self._structures.get(key) is not tape:
            self._send(protocol.structure(tape))
            self._structures.pop(key, None)
            self._structures[key] = tape
            if len(self._structures) > _STRUCTURES_KEPT:
                del self._structures[next(iter(self._structures))]
        return key
