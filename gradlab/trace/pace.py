"""Pace: what the recorder's own work costs, and which steps it therefore lets go by with a glance."""

from __future__ import annotations

from .governor import Governor

_SAMPLED_EVERY = 8  # steps, of which one is timed
_TOGETHER = 8  # light steps that are timed as one


class Pace:
    """Times the recorder in some steps, and asks the governor what comes next. Times in nanoseconds.

    Attributes:
        timing: this step's events add to `own` what they take.
        light: the ops of this step are not seen.
        own, until: what events took so far, and when the newest of them ended.
        passed, together: so many light steps were not told to the governor yet; it is told of so many at a time.
    """

    def __init__(self, governor: Governor) -> None:
        self.governor = governor
        self.timing = self.light = False
        self.own = self.until = self._since = 0
        self.passed, self.together = 0, 1
        self._share: float | None = None

    @property
    def share(self) -> float | None:
        """The tracer's share of a step's time, None before it was measured."""
        share = self.governor.share
        return self._share if share is None else share

    def turned(self, step: int) -> None:
        """A step is over, `step` of the run are."""
        if self.timing and self.until > self._since:
            share = self.own / (self.until - self._since)
            self._share = share if self._share is None else 0.5 * (self._share + share)
        self.timing = step % _SAMPLED_EVERY == 1

    def begins(self, now: int, light_allowed: bool) -> bool:
        """The next step begins now; whether it is a light one."""
        self.own, self._since, self.until = 0, now, now
        self.passed, self.together = 0, 1
        return self.governor.begins(now, light_allowed)

    def went_by(self, now: int, wanted: bool) -> bool:
        """A light step is over; whether the next is light too, if none is `wanted` in full."""
        self.passed += 1
        if self.passed < self.together and not wanted:
            return True
        go_on = self.governor.went_by(now, self.own, wanted, self.passed)
        self.own, self.passed, self.together = 0, 0, min(_TOGETHER, self.governor.left)
        return go_on
