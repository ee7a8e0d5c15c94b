"""Gate: where the threads that train wait while somebody looks.

Nothing here is locked: an interrupt may hit a waiting thread anywhere, and a lock that it leaves held would stop the one who
wants to resume.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from .where import Where

Wanted = Literal["run", "pause", "step", "op"]
"""What was asked for: to go on, to hold at the next chance, at the end of a step, or at the next op."""

_LOOK_S = 0.01  # how often a waiting thread looks whether it may go on
_PATIENCE_S = 1.0  # a pause waits so long for the end of a step, then for an op


class Spot(NamedTuple):
    """Where training is held: at the end of a step, after a backward pass, or at an op inside of one.

    `at` is the op's place in the structure on show, `reason` the condition that holds it, None where somebody asked.
    """

    step: int
    op: str | None = None
    at: int | None = None
    backward: bool = False
    where: Where | None = None
    reason: str | None = None

    @property
    def inside(self) -> bool:
        """Whether it is inside a step, so that the open step is what there is to see."""
        return self.op is not None


class Gate:
    """Holds training threads, all of them, until somebody lets them go on.

    `changed` is called, in the thread that asks or waits, whenever `held` or `wanted` is another one.

    >>> gate = Gate(lambda: None)
    >>> gate.step(3)
    >>> [gate.at_step() for _ in range(3)]
    [False, False, True]
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.changed = changed
        self.wanted: Wanted = "run"
        self.held: Spot | None = None
        self.waiting = 0  # threads
        self._steps = 0  # that are to end before threads are held
        self._since: float | None = None  # when the first event after a `pause` came
        self._releases = 0

    # What somebody asks for

    def pause(self) -> None:
        """Hold at the end of the step, or where there is none within a second, at an op."""
        if self.held is None:
            self._ask("pause")

    def step(self, count: int = 1) -> None:
        """Go on for some steps."""
        self._steps = max(count, 1)
        self._ask("step")
        self._release()

    def step_op(self) -> None:
        """Go on to the next op, forward or backward."""
        self._ask("op")
        self._release()

    def resume(self) -> None:
        """Go on, and hold no more."""
        self._ask("run")
        self._release()

    def _ask(self, wanted: Wanted) -> None:
        self._since = None
        self.wanted = wanted
        self.changed()

    def _release(self) -> None:
        self._releases += 1

    # What a training thread asks

    def at_step(self) -> bool:
        """Whether to hold at the end of a step."""
        if self.wanted == "step":
            self._steps -= 1
            return self._steps <= 0
        return self.wanted == "pause"

    def at_op(self) -> bool:
        """Whether to hold at an op."""
        if self.wanted == "pause":
            now = time.monotonic()
            if self._since is None:
                self._since = now
            return now - self._since > _PATIENCE_S
        return self.wanted == "op"

    def hold(self, spot: Spot, meanwhile: Callable[[], Any]) -> None:
        """Wait here until somebody asks to go on; `meanwhile` is called now and then. An interrupt ends it, for all threads."""
        releases = self._releases
        self.wanted = "run"
        self.held = spot
        self.waiting += 1
        try:
            self.changed()
            while releases == self._releases:
                meanwhile()
                time.sleep(_LOOK_S)
        except BaseException:
            self.wanted = "run"
            self._release()
            raise
        finally:
            self.waiting -= 1
            if self.waiting == 0:
                self.held = None
        self.changed()
