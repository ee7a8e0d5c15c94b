"""Capturing: the arrays of single steps, kept where somebody asks for them, or at a glimpse where a step is small."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..errors import explain
from .capture import Capture
from .glimpse import GLIMPSE_BYTES, GLIMPSE_OPS, Glimpse
from .reader import Reader
from .room import CAPTURE_BYTES, CaptureError, estimate, need_room


class Capturing(Reader, ABC):
    """A reader that can have steps captured. `on_capture` is called where a capture begins and where it ends."""

    def __init__(self, observer: Any, norms: bool) -> None:
        super().__init__(norms)
        self.on_capture: Callable[[], None] | None = None
        self._observer = observer
        self._capture: Capture | None = None
        self._glimpse: Glimpse | None = None  # the one that waits or is open
        self._glimpsed: Capture | None = None
        self._again = False

    @property
    @abstractmethod
    def on(self) -> bool:
        """Whether something is recorded now."""

    @property
    @abstractmethod
    def wants_ops(self) -> bool:
        """Whether ops are to be told, or this step is a light one."""

    def capture_next(self, limit_bytes: int = CAPTURE_BYTES) -> int:
        """Keep every array of the next step, until `release`; what a step like the last one takes in bytes is returned.

        Where no cell runs, the next op with a graph begins that step.

        Raises:
            CaptureError: nothing is recorded now, or the last step was larger than the limit. One that turns out larger is let go.
        """
        with self.lock:
            if not self.on:
                raise CaptureError(explain("capture: tracing is off", got={"recorder": "detached"}, need="%gradlab on"))
            size = estimate(self._shown())
            need_room(size, limit_bytes)
            self.release()
            tape = self._steps.tape
            if not self._live and (tape.n or tape.passes):
                tape.stale = tape.turns = True
            self._capture = Capture(lambda: self._steps, limit_bytes, self._capture_changed)
            self._observer.attach(self._capture)
        return size

    @property
    def capture(self) -> Capture | None:
        """The capture that was asked for, also one that still waits for its step or was refused."""
        return self._capture

    @property
    def captured(self) -> Capture | None:
        """The arrays of a captured step, as far as it has come; None before its first op and after `release`."""
        capture = self._capture
        return capture if capture is not None and capture.state in ("open", "complete") else None

    def release(self) -> None:
        """Let go of a captured step, or no longer wait for one."""
        with self.lock:
            capture, self._capture = self._capture, None
            if capture is not None:
                self._observer.detach(capture)
                capture.forget()

    def glimpse(self, again: bool = False) -> None:
        """Keep the arrays of the next step if it is a small one like the last; while one waits or is open, nothing happens.

        Args:
            again: after that step do so once more: the first step of a cell may go on with what an earlier cell did.
        """
        with self.lock:
            self._again = again
            tape, known = self._shown(), self._glimpse
            if self.on and known is None and self._capture is None and tape.n <= GLIMPSE_OPS and estimate(tape) <= GLIMPSE_BYTES:
                self._glimpse = Glimpse(lambda: self._steps, lambda: self.wants_ops, self._glimpse_changed)
                self._observer.attach(self._glimpse)

    @property
    def glimpsed(self) -> Capture | None:
        """The newest small step that `glimpse` has seen, as far as it has come."""
        return self._glimpsed

    def _glimpse_changed(self) -> None:
        glimpse = self._glimpse
        if glimpse is None:
            return
        if glimpse.state == "open":
            self._glimpsed = glimpse
            return
        self._glimpse = None
        self._observer.detach(glimpse)
        if glimpse.state == "refused" and self._glimpsed is glimpse:
            self._glimpsed = None
        elif self._again:
            self.glimpse()

    def _capture_changed(self) -> None:
        capture = self._capture
        if capture is not None and capture.state in ("complete", "refused"):
            self._observer.detach(capture)
        if self.on_capture is not None:
            self.on_capture()

    def _stop_capturing(self) -> None:
        """Nothing is recorded any more."""
        for capture in (self._capture, self._glimpse):
            if capture is not None:
                self._observer.detach(capture)
        self._glimpse = None
