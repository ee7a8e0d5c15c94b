"""Frames: when somebody who watches a training takes a picture of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter_ns as clock

_NEVER = 1 << 62
_PATIENCE_NS = 5_000_000_000  # so long a picture waits for a step that is read in full
_LONGEST_SHARE = 10  # frames take at most a tenth of the time


class Frames:
    """Calls the one who watches, in the training thread, now and then.

    Attributes:
        interval: seconds between two calls; more where a tenth of the time would not be enough for them.
        call: who is called, None for nobody.
        due: when, by the clock of events.
        waits: a picture is due, as soon as a step that is read in full is complete.
        open: one is taken now.
    """

    def __init__(self) -> None:
        self.interval = 0.1
        self.call: Callable[[], None] | None = None
        self.due = _NEVER
        self.waits = self.open = False

    def follow(self, call: Callable[[], None] | None) -> None:
        """Call somebody else, from now on."""
        self.call, self.waits = call, False
        self.due = _NEVER if call is None else 0

    def restart(self) -> None:
        """A cell begins or ends: what waited for the end of a step is due now."""
        if self.waits:
            self.waits, self.due = False, 0

    def wait(self, now: int) -> None:
        """Take the picture at the end of a step, or when that takes too long."""
        self.waits, self.due = True, now + _PATIENCE_NS

    def take(self) -> None:
        """Call now. One who fails is called no more."""
        call = self.call
        if call is None or self.open:
            return
        self.waits = False
        began = clock()
        self.open = True
        try:
            call()
        except Exception as error:
            self.follow(None)
            warnings.warn(f"the inspector stopped following: {error!r}; training goes on", stacklevel=2)
            return
        finally:
            self.open = False
        ended = clock()
        self.due = ended + max(int(self.interval * 1e9), _LONGEST_SHARE * (ended - began))
