"""Debugger: Pause, Step, Step op, Resume and breakpoints for a training that runs in another thread or cell.

Nothing is called per op unless something waits for an op; without a request nothing is called at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import count
from typing import Any

from .. import observe
from ..errors import GradlabError
from .condition import Condition, parse
from .gate import Gate, Spot
from .graph import Node
from .probe import Probe, Probes
from .reading import StepReading
from .recorder import Recorder
from .structure import op_name
from .summary import norm
from .tape import Tape
from .watch import Event, Watch
from .where import Where

_BREAKPOINTS_MOST = 100


class BreakpointError(GradlabError, observe.HaltError, RuntimeError):
    """Raised in the code that trains, by a breakpoint that was set to raise or that nobody could resume from."""


class Breakpoint:
    """A condition, and whether it raises instead of pausing. `hits` counts how often it was true."""

    def __init__(self, number: int, condition: Condition, raises: bool) -> None:
        self.number, self.condition, self.raises = number, condition, raises
        self.hits = 0
        # What is not finite makes all that comes after it so: once a step is enough.
        self.once_a_step = any(word in ("nan", "inf") for word, _ in condition.words)
        self.tape = 0

    def __str__(self) -> str:
        return f"{self.condition.text}{' --raise' * self.raises}"


class Debugger:
    """Holds a traced training, for somebody who looks.

    Attributes:
        changed: called whenever what `state` says is another one.
        hindrance: says why a thread that is held now could never be resumed; None where it could.
        meanwhile: called now and then by a thread that is held.

    >>> from gradlab.trace import recording
    >>> with recording() as recorder:
    ...     debugger = Debugger(recorder)
    ...     debugger.add("loss > 10").condition.words
    ...     debugger.close()
    [('loss', None)]
    """

    def __init__(self, recorder: Recorder, observer: Any = observe, changed: Callable[[], None] = lambda: None) -> None:
        self.recorder, self._changed = recorder, changed
        self.gate = Gate(self._gate_changed)
        self.breakpoints: list[Breakpoint] = []
        self.probes = Probes()
        self.hindrance: Callable[[], str | None] = lambda: None
        self.meanwhile: Callable[[], Any] = lambda: None
        self._watch = Watch(observer, self._told)
        self._numbers = count(1)
        self._seen = (0, 0)  # run and step of the last step that was seen to end
        self._armed = self._ended = False

    # What somebody asks for

    def pause(self) -> None:
        """Hold at the end of the step; where no step ends within a second, at an op."""
        self._begin()
        self.gate.pause()

    def step(self, count: int = 1) -> None:
        """Go on for some steps, then hold."""
        self._begin()
        self.gate.step(count)

    def step_op(self) -> None:
        """Go on to the next op, forward or backward, then hold."""
        self._begin()
        self.gate.step_op()

    def resume(self) -> None:
        """Go on."""
        self.gate.resume()

    def add(self, text: str, *, raises: bool = False) -> Breakpoint:
        """Set a breakpoint.

        Raises: ConditionError where the condition can't be read.
        """
        condition = parse(text)
        if len(self.breakpoints) >= _BREAKPOINTS_MOST:
            raise GradlabError(f"break: {_BREAKPOINTS_MOST} breakpoints are set; clear some")
        self._begin()
        breakpoint = Breakpoint(next(self._numbers), condition, raises)
        self.breakpoints.append(breakpoint)
        self._arm()
        self._tell()
        return breakpoint

    def clear(self, number: int | None = None) -> int:
        """Remove one breakpoint, or all; how many went."""
        kept = [b for b in self.breakpoints if number is not None and b.number != number]
        gone = len(self.breakpoints) - len(kept)
        self.breakpoints = kept
        self._arm()
        self._tell()
        return gone

    def probe(self, text: str) -> Probe:
        """Read one number more in every step, as `fc1 rms`.

        Raises: ProbeError where the text can't be read.
        """
        probe = self.probes.add(text)
        self._arm()
        return probe

    def clear_probes(self) -> int:
        """Remove all probes; how many there were. Their columns stay."""
        gone = self.probes.clear()
        self._arm()
        return gone

    def follow(self) -> None:
        """Stay behind the recorder, which was attached anew."""
        self._watch.behind()

    def release(self) -> None:
        """Let everything go on: tracing is off."""
        self.gate.resume()

    def close(self) -> None:
        """Let everything go on, for good."""
        self._ended = True
        self.breakpoints = []
        self.probes.clear()
        self.gate.resume()

    def reading(self) -> StepReading:
        """The numbers that conditions read, as they are now."""
        steps = self.recorder.steps
        return StepReading(steps, steps.tape, self._probe)

    # What happens

    def _begin(self) -> None:
        if self._ended:
            raise GradlabError("tracing has ended: %load_ext gradlab")
        if not self.recorder.on:
            raise GradlabError("tracing is off, so nothing can be held\n  try:  %gradlab on")
        if self._at_step not in self.recorder.between_steps:
            steps = self.recorder.steps
            # Where the update of the open step is done, it has not ended yet.
            self._seen = (steps.run.number, steps.run.step - steps.tape.updated)

    def _gate_changed(self) -> None:
        self._arm()
        held = self.gate.held
        self.recorder.held = held is not None and held.inside
        self._tell()

    def _arm(self) -> None:
        """Be called at the ends of steps and at ops, as far as somebody waits for them."""
        with self.recorder.lock:
            wanted = self.gate.wanted
            moments = {b.condition.moment for b in self.breakpoints}
            self._watch.switch(wanted in ("pause", "op") or bool(moments & {"op", "pass"}) or bool(self.probes.all))
            armed = wanted != "run" or self.gate.held is not None or bool(self.breakpoints or self.probes.all)
            if armed != self._armed:
                self._armed = armed
                self.recorder.needs_ops += 1 if armed else -1  # no step is read by a glance only
            hooks = self.recorder.between_steps
            if wanted != "run" or "step" in moments or self.gate.held is not None:
                if self._at_step not in hooks:
                    hooks.append(self._at_step)
            elif self._at_step in hooks:
                hooks.remove(self._at_step)

    def _tell(self) -> None:
        try:
            self._changed()
        except Exception as error:
            warnings.warn(f"the inspector was not told: {error!r}", stacklevel=2)

    def _at_step(self) -> None:
        """A step may have ended, and the next one has got its first op."""
        steps = self.recorder.steps
        now = (steps.run.number, steps.run.step)
        if now == self._seen or steps.run.step == 0:
            return
        self._seen = now
        tells = self._watch.on  # this event too, after the recorder's
        tape = steps.last if steps.last is not None and not steps.tape.updated else steps.tape
        held = self._check("step", StepReading(steps, tape, self._probe), Spot(steps.run.step))
        if not held and not tape.light and self.gate.at_step():
            self._hold(Spot(steps.run.step))
        if self.gate.wanted == "op" and not tells and steps.tape.n and not steps.tape.updated:
            self._at_op(steps.tape, steps.tape.n - 1, False, None, None)  # the op that began the new step

    def _told(self, kind: Event, target: Any, output: Any) -> None:
        """An op, a backward pass or a module call ended."""
        steps = self.recorder.steps
        if self.probes.all:
            self._read(kind, target, output)
        if kind == "pass":
            tape = steps.tape
            self._check("pass", StepReading(steps, tape, self._probe), self._spot(tape, tape.n - 1, True, "backward"))
        elif kind != "module":
            tape, at = self._place(kind, target, output)
            self._at_op(tape, at, kind == "backward", target, output)

    def _read(self, kind: Event, target: Any, output: Any) -> None:
        with self.recorder.lock:
            if kind == "module":
                self.probes.called(self.recorder.steps, target, output)
            elif kind == "backward":
                self.probes.pulled(self.recorder.steps, target, output)
            elif kind == "pass":
                self.probes.passed(self.recorder.steps)

    def _at_op(self, tape: Tape, at: int | None, backward: bool, fn: Any, output: Any) -> None:
        waits = any(b.condition.moment == "op" for b in self.breakpoints)
        if not waits and self.gate.wanted == "run":
            return
        name = op_name(type(fn)) if fn is not None else self._name(tape, at)
        held = False
        if waits:
            known = None if at is None else (tape.grads if backward else tape.values)[at]
            size = known if known is not None or output is None else norm(getattr(output, "_data", output))
            spot = self._spot(tape, at, backward, name)
            held = self._check("op", StepReading(self.recorder.steps, tape, self._probe, name, size, backward), spot)
        if not held and self.gate.at_op():
            self._hold(self._spot(tape, at, backward, name))

    def _place(self, kind: Event, fn: Any, output: Any) -> tuple[Tape, int | None]:
        """The tape of an op and its index there; None where it was only counted."""
        steps = self.recorder.steps
        key = fn.seq if kind == "backward" or output.grad_fn is fn else -output.serial
        at = steps.tape.refs.get(key)
        if at is None and steps.last is not None and key in steps.last.refs and kind == "backward":
            return steps.last, steps.last.refs[key]
        return steps.tape, at

    def _spot(self, tape: Tape, at: int | None, backward: bool, name: str) -> Spot:
        node = self._node(tape, at)
        place: Where | None = None if node is None else node.place
        return Spot(tape.step or self.recorder.steps.run.step + 1, name, at, backward, place)

    def _node(self, tape: Tape, at: int | None) -> Node | None:
        return None if at is None or not 0 <= at < tape.node.depth else tape.node.above(at + 1)

    def _name(self, tape: Tape, at: int | None) -> str:
        node = self._node(tape, at)
        return "" if node is None else op_name(node.cls)

    def _check(self, moment: str, reading: StepReading, spot: Spot) -> bool:
        """Hold or raise where a condition is true; whether it held."""
        for breakpoint in tuple(self.breakpoints):
            if breakpoint.condition.moment != moment or (breakpoint.once_a_step and breakpoint.tape == reading.tape.id):
                continue
            if breakpoint.condition.holds(reading):
                breakpoint.tape = reading.tape.id
                breakpoint.hits += 1
                spot = spot._replace(reason=breakpoint.condition.text)
                if breakpoint.raises:
                    raise BreakpointError(f"break: {described(spot)}")
                self._hold(spot)
                return True
        return False

    def _hold(self, spot: Spot) -> None:
        why_not = self.hindrance()
        if why_not is None:
            self.gate.hold(spot, self.meanwhile)
            return
        self.gate.wanted = "run"
        self._arm()
        if spot.reason is not None:
            raise BreakpointError(f"break: {described(spot)}\n  it raises instead of pausing: {why_not}")
        warnings.warn(f"gradlab does not pause: {why_not}", stacklevel=2)

    def _probe(self, name: str) -> float | None:
        read = self.recorder.steps.run.probes.get(f"p/{name}")
        return None if read is None else read[1]


def described(spot: Spot) -> str:
    """A spot in words.

    >>> described(Spot(12, "log", 3, False, Where(count=4, line=7), "nan"))
    'nan at step 12 (op log, In[4]:7)'
    """
    op = [] if spot.op is None else ["after backward" if spot.op == "backward" else f"{'backward of' if spot.backward else 'op'} {spot.op}"]
    inside = ", ".join(op + ([] if spot.where is None else [place_text(spot.where)]))
    return f"{spot.reason + ' ' if spot.reason else ''}at step {spot.step}{f' ({inside})' if inside else ''}"


def place_text(where: Where) -> str:
    """A place as the panels show it.

    >>> place_text(Where(count=4, line=7)), place_text(Where(file="train.py", line=12))
    ('In[4]:7', 'train.py:12')
    """
    return f"{where.file or f'In[{where.count}]'}:{where.line}"
