"""What the page has got so far, and the messages that bring it up to date."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..trace import Recorder
from ..trace.rules import diagnosis_of
from . import packed, protocol
from .protocol import State

_SMALLEST_SERIES = 4_000  # a frame crowded by optimizer rows still moves the lines on
_STRUCTURES_KEPT = 64  # this and the next as in js/panels/store.ts: what the kernel takes for known, the page has
_ITEMS_KEPT = 60_000  # ops, leaves and modules, about 12 MB
_LONG = 1_000  # ops: to look for findings in so many takes longer than to draw them
_BYTES_A_SECOND = 500_000  # of live frames: those of a graph of 20,000 ops are large

Send = Callable[[protocol.Message], None]


class Stream:
    """Sends a recorder's structure and numbers, each once, and nothing while no page is visible.

    Everything runs under the recorder's lock, so the training thread and the thread that hears the page take turns.
    """

    def __init__(self, recorder: Recorder, send: Send) -> None:
        self.recorder = recorder
        self.diagnosis = diagnosis_of(recorder)
        self.gate: Callable[[], dict[str, Any] | None] = lambda: None
        self._send = send
        self._pages: set[str] = set()  # those that can be seen
        self._asked = False
        self._answered_at = 0.0
        self._rests_until = 0.0
        self.forget()

    @property
    def visible(self) -> bool:
        """Whether any page can be seen. One that went without a word counts on: too many frames harm less than none."""
        return bool(self._pages)

    def forget(self) -> None:
        """Take it that the page knows nothing: it has just opened or was loaded again."""
        self._structures: dict[str, int] = {}
        self._columns = -1
        self._run = -1
        self._step = 0
        self._behind = True
        self._said = -1

    def hello(self, page: str, visible: bool, state: State, cell: int | None) -> None:
        """Send a page that has just opened the structure and the whole history, once; more when it says that it is seen.

        Many hellos within a frame interval get one answer: with the next frame, at the end of the cell, or after the interval.
        """
        with self.recorder.lock:
            self._note(page, visible)
            wait = self._answered_at + self.recorder.frame_interval - time.monotonic()
            if wait <= 0:
                self._asked = True
                self._push(state, cell)
            elif not self._asked:
                self._asked = True
                timer = threading.Timer(wait, self._answer, (state, cell))
                timer.daemon = True
                timer.start()

    def show(self, page: str, visible: bool, state: State, cell: int | None) -> None:
        """Stop sending while no page can be seen; catch up when one can be seen again."""
        with self.recorder.lock:
            was_visible = self.visible
            self._note(page, visible)
            if self.visible and not was_visible:
                self._behind = True
                self._push(state, cell)

    def push(self, state: State, cell: int | None) -> None:
        """Send the numbers on show and the steps that the page has not got; nothing where no page is visible or asks."""
        if not (self._pages or self._asked):
            return
        with self.recorder.lock:
            self._push(state, cell)

    def follow(self, state: State, cell: int | None) -> None:
        """Push from inside a running step, large frames less often."""
        if time.monotonic() >= self._rests_until:
            self.push(state, cell)

    def _note(self, page: str, visible: bool) -> None:
        if visible:
            self._pages.add(page)
        else:
            self._pages.discard(page)

    def _answer(self, state: State, cell: int | None) -> None:
        with self.recorder.lock:
            if self._asked and not self.recorder.running:  # a running cell answers with its next frame or its end
                self._push(state, cell)

    def _push(self, state: State, cell: int | None) -> None:
        recorder = self.recorder
        if self._asked:
            self.forget()
            self._answered_at = time.monotonic()
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
            every=recorder.governor.every,
            much=recorder.takes_much,
            numbers=numbers,
            spans=spans,
            width=len(columns),
            columns=new_columns,
            gate=self.gate(),
        )
        long = len(numbers.ops) > _LONG
        if not long:
            self._push_findings()
        self._send(message)
        if long:
            self._push_findings()
        self._rests_until = time.monotonic() + message.size_bytes / _BYTES_A_SECOND
        # Only now: an interrupt that lands inside `_send` leaves all of it to be sent again.
        self._columns, self._behind, self._asked = len(columns), False, False
        if len(spans.last):
            # The newest row is sent again each time: the update of an open step, or a second optimizer's, may still fill it.
            self._step = min(int(spans.last[-1]), recorder.step - 1)

    def _push_findings(self) -> None:
        """Look for findings where it is time to, and send them where they changed."""
        diagnosis, recorder = self.diagnosis, self.recorder
        diagnosis.look(settled=not recorder.running)
        if diagnosis.version == self._said:
            return
        message = protocol.findings(
            run=recorder.run,
            step=recorder.step,
            key=diagnosis.key,
            ran=diagnosis.ran,
            lacking=diagnosis.lacking,
            muted=sorted(diagnosis.muted),
            findings=diagnosis.findings,
        )
        self._send(message)
        self._said = diagnosis.version

    def _push_structure(self) -> str:
        return self.give(self.recorder.structure())

    def give(self, tape: dict[str, Any]) -> str:
        """Send a structure to a page that does not know it, and say its key."""
        key: str = tape["key"]
        if key not in self._structures:
            for message in packed.messages(tape):
                self._send(message)
            self._structures[key] = len(tape["ops"]) + len(tape["leaves"]) + len(tape["modules"])
            while len(self._structures) > 1 and (len(self._structures) > _STRUCTURES_KEPT or sum(self._structures.values()) > _ITEMS_KEPT):
                del self._structures[next(iter(self._structures))]
        return key
