"""Turning: what is done where a step ends: pictures for the one who watches, and whether the next step is a light one."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from time import perf_counter_ns as clock
from typing import Any

from .. import observe
from .captures import Capturing
from .glance import Glance
from .governor import Governor
from .pace import Pace
from .tape import Tape

_MUCH = 5  # times the budget: a share that is worth a mark


class Turning(Capturing):
    """The part of a recorder that goes from step to step.

    Attributes:
        between_steps: called in the training thread when a step is complete and the next one began, not under the lock.
        governor: its `budget` says what tracing may cost; None, as here, reads every step in full.
        light: hears of light steps while they go on as they did.
        needs_ops: how many users of this recorder need every op, whatever it costs: while there are any, no step is light.
    """

    def __init__(self, observer: Any, norms: bool) -> None:
        super().__init__(observer, norms)
        self.between_steps: list[Callable[[], None]] = []
        self.governor = Governor()
        self.needs_ops = 0
        self._pace = Pace(self.governor)
        self.light: Glance | None = None
        self._tape: Tape | None = None  # that of the newest op

    @property
    def on_frame(self) -> Callable[[], None] | None:
        """Called in the training thread, inside an event, whenever `frame_interval` has passed."""
        return self._frames.call

    @on_frame.setter
    def on_frame(self, call: Callable[[], None] | None) -> None:
        self._frames.follow(call)

    @property
    def frame_interval(self) -> float:
        """Seconds between two calls of `on_frame`."""
        return self._frames.interval

    @frame_interval.setter
    def frame_interval(self, seconds: float) -> None:
        self._frames.interval = seconds

    @property
    def share(self) -> float | None:
        """The tracer's share of a step's time, None before it was measured."""
        return self._pace.share

    @property
    def takes_much(self) -> bool:
        """Whether that share is far more than the budget; never where there is none."""
        budget, share = self.governor.budget, self.share
        return budget is not None and share is not None and share > _MUCH * budget

    @property
    def wants_ops(self) -> bool:
        """Whether ops are to be told, or this step is a light one."""
        return not self._pace.light

    def _told(self, now: int) -> None:
        """An event that came at this time is dealt with, but for a picture of it."""
        if now >= self._frames.due:
            self._frame_due(now)
        pace = self._pace
        if pace.timing:
            pace.until = clock()
            pace.own += pace.until - now

    def _turned(self, now: int) -> int:
        """A new step began: take the picture that waited for the end of a full one, and time the recorder in some steps.

        Returns the time from which on this event counts as the recorder's own: what `between_steps` takes does not.
        """
        pace, last = self._pace, self._steps.last
        if self._frames.waits and last is not None and last.full:
            self._frames.take()
        pace.turned(self._steps.run.step)
        self._tape = self._steps.tape
        if self.between_steps:
            self._between_steps()
            now = clock()
        if pace.begins(now, self._may_be_light()):
            with self.lock:
                self._steps.lighten()
                self._steps.read_series()
                self.light = Glance(self) if self._steps.norms and self._steps.run.series else None
            pace.light = pace.timing = True
            observe.renew()
            self.governor.also(clock() - now)
        return now

    @property
    def _needs_ops(self) -> bool:
        capture = self._capture
        return self.needs_ops > 0 or (capture is not None and capture.state in ("armed", "open"))

    def _may_be_light(self) -> bool:
        steps = self._steps
        return not (self._needs_ops or (self._frames.waits and steps.tape.full)) and steps.last is not None and steps.last.step > 0

    def _between_steps(self) -> None:
        for call in tuple(self.between_steps):
            call()

    def _repair(self) -> None:
        """An event raised somewhere inside: begin the open step anew."""
        raise NotImplementedError

    def _stepped(self, optimizer: Any, output: Any, now: int) -> None:
        """An optimizer moved the parameters, of a light step perhaps."""
        steps = self._steps
        with self.lock:
            steps.wants_all |= self._pace.light and not steps.run.knows(optimizer)  # what it holds and moves is seen in a full step only
            steps.stepped(optimizer, output)
            if self._pace.light:
                self._glanced(now)
        if steps.tape.light:
            self._between_steps()

    def _light_stepped(self, optimizer: Any, now: int) -> None:
        """An optimizer made another step than those before: until ops are seen again all of it is told by `begin` and `end`."""
        self.light = None
        observe.renew()
        self._stepped(optimizer, (), now)
        self._told(now)

    def _glanced(self, now: int) -> None:
        """A light step is over, in which loss or gradients may be NaN: go on so, or see the ops of the next."""
        tape = self._steps.tape
        self._went_by(now, not (isfinite(tape.loss or 0.0) and isfinite(tape.grad_norm or 0.0)))

    def _went_by(self, now: int, alarm: bool) -> None:
        if not self._pace.went_by(now, alarm or self._steps.wants_all or self._needs_ops):
            self._see_ops()

    def _see_ops(self) -> None:
        if self._pace.light:
            self._pace.light = self._pace.timing = False
            self.light = None
            self._tape = tape = self._steps.tape  # an op without a graph that comes first, as a batch is cut out, begins no step
            tape.stale = tape.turns = True
            observe.renew()

    def _frame_due(self, now: int) -> None:
        """Take a picture now, or where the step on show was not read in full, at the end of the next one that is."""
        frames = self._frames
        if frames.open:
            return
        shown = self._of_loop()
        if shown is self._steps.tape:
            with self.lock:
                self._steps.complete()
        if (shown.full and not self._pace.light) or frames.waits:
            frames.take()
        else:
            self._steps.wants_all = True
            frames.wait(now)
