"""The governor: how many steps may pass with a glance only, so that tracing costs no more than the user allows."""

from __future__ import annotations

from collections import deque
from math import ceil

_FIRST = 3  # steps of a cell that are read in full in any case
_TO_COMPARE = 4  # a period that is long enough to time steps of both kinds
_LONGEST = 99  # steps of a period, of which one is read in full
_ANEW = 256  # full steps in a row, after which it is asked again what a step without tracing takes
_KEPT = 9  # newest durations of a kind


class Governor:
    """Decides which steps are read in full and which are light, from what both kinds of step really took.

    A light step calls the recorder for its loss, its gradients and its update alone; its ops run as if nobody watched. A period
    is one full step and the light ones after it. Its length is odd, so that of two models that step in turn both are seen.

    Attributes:
        budget: the share of a step's time without tracing that tracing may take; None reads every step in full.
        every: one step in so many is read in full.
        left: so many light steps are still to come in this period.

    >>> g = Governor(0.05)
    >>> [g.begins(t) for t in (0, 200, 400, 600)]  # a full step takes 200 ns
    [False, False, False, True]
    >>> [g.went_by(t, 1) for t in (700, 800, 900)]  # a light one 100, of which 1 for the glance
    [True, True, False]
    >>> g.begins(900), g.begins(1100), g.every
    (False, True, 27)
    """

    def __init__(self, budget: float | None = None) -> None:
        self.budget = budget
        self.every = 1
        self.restart()
        self._full: deque[int] = deque(maxlen=_KEPT)
        self._light: deque[int] = deque(maxlen=_KEPT)
        self._glance: deque[int] = deque(maxlen=_KEPT)

    def restart(self) -> None:
        """A cell begins: its first steps are read in full."""
        self._in_row = self.left = 0
        self._from: int | None = None
        self._owed = False

    def begins(self, now: int, light_allowed: bool = True) -> bool:
        """A step begins that the recorder could read in full; whether it is to be light. Times in nanoseconds."""
        if self._from is not None:
            self._full.append(now - self._from)
        self._in_row += 1
        if self._owed or self.budget is None or not light_allowed or self._in_row <= _FIRST:
            self._owed, self._from = False, now
            return False
        self.every = self._period()
        self.left = self.every - 1
        self._from = None if self.left else now
        self._light_from: int | None = None
        return self.left > 0

    def also(self, own: int) -> None:
        """What was read at the end of the full step took the recorder `own` nanoseconds more."""
        if self._full:
            self._full[-1] += own

    def went_by(self, now: int, own: int, wanted: bool = False, steps: int = 1) -> bool:
        """So many light steps are over, the recorder took `own` nanoseconds of them; whether the next is light too.

        It is not where one is `wanted` in full.
        """
        if self._light_from is not None:
            self._light.append((now - self._light_from) // steps)
            self._glance.append(own // steps)
        self._light_from = now
        self.left -= steps
        if self.left > 0 and not wanted:
            return True
        self._owed, self.left = True, 0
        return False

    @property
    def share(self) -> float | None:
        """The tracer's share of the time, over a period; None before steps of both kinds were timed."""
        if not (self._full and self._light):
            return None
        full, light, glance = _median(self._full), _median(self._light), _median(self._glance)
        base = max(light - glance, 1)
        spent = max(full - base, 0) + (self.every - 1) * glance
        return spent / (spent + self.every * base)

    def _period(self) -> int:
        """One full step in so many holds the budget: (full - base) + (n - 1) glance <= budget n base."""
        if not (self._full and self._light):
            return _TO_COMPARE
        full, light, glance = _median(self._full), _median(self._light), _median(self._glance)
        base = max(light - glance, 1)
        allowed = (self.budget or 0.0) * base
        if full - base <= allowed:
            if self._in_row > _ANEW:
                self._in_row = 0
                return _TO_COMPARE
            return 1
        room = allowed - glance
        n = _LONGEST if room <= 0 else min(max(ceil((full - base - glance) / room), 3), _LONGEST)
        return n | 1


def _median(values: deque[int]) -> int:
    return sorted(values)[len(values) // 2]
