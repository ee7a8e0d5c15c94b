"""Interrupts: Ctrl-C and Stop wait while a step is being finished, so that no model is moved by half."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .. import observe
from ..grad_mode import recording


class Around:
    """Whether graphs are built and tracers told, as it is now: an interrupt that comes when a block ends can leave both switched.

    >>> import gradlab as gl
    >>> around = Around()
    >>> gl.no_grad().__enter__()
    >>> around.back()
    >>> gl.is_grad_enabled()
    True
    """

    def __init__(self) -> None:
        self._recording, self._pauses = recording.get(), observe.open_pauses()

    def back(self) -> None:
        """Switch them back."""
        recording.set(self._recording)
        observe.set_open_pauses(self._pauses)


class Interrupts:
    """While one is entered, an interrupt that comes in a `held` block is raised at the end of the block.

    Only the main thread hears of interrupts; elsewhere this does nothing.

    >>> with Interrupts() as interrupts:
    ...     try:
    ...         with interrupts.held():
    ...             signal.raise_signal(signal.SIGINT)
    ...             print("done")
    ...     except KeyboardInterrupt:
    ...         print("interrupted")
    done
    interrupted
    """

    def __init__(self) -> None:
        self._holding = self._came = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        self._listen()
        return self

    def __exit__(self, *error: object) -> None:
        self._leave()

    def _listen(self) -> None:
        if threading.current_thread() is threading.main_thread() and self._before is None:
            before = signal.getsignal(signal.SIGINT)
            if callable(before):  # else somebody has it ignored
                self._before = before
                signal.signal(signal.SIGINT, self._answer)

    def _leave(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """A block that is not broken off."""
        outer, self._holding = self._holding, True
        try:
            yield
        finally:
            self._holding = outer
        if self._came and not outer:
            self._came = False
            raise KeyboardInterrupt

    @contextmanager
    def ignored(self) -> Iterator[None]:
        """A block of which interrupts are forgotten: one led here already."""
        outer, self._holding = self._holding, True
        self._listen()
        try:
            yield
        finally:
            self._holding = outer
            if not outer:
                self._came = False

    def _answer(self, number: int, frame: FrameType | None) -> None:
        if self._holding:
            self._came = True
            return
        before = self._before
        self._leave()  # it may have come as a block begins or ends, which then never does
        before(number, frame)
