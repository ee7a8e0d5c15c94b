"""Recorder: the observer that turns events into tapes, runs and numbers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from math import isfinite
from time import perf_counter_ns as clock
from typing import Any
from zlib import crc32

from .. import observe
from ..errors import explain
from . import alive
from .capture import Capture
from .cost import Cost, costs
from .glimpse import GLIMPSE_BYTES, GLIMPSE_OPS, Glimpse
from .governor import Governor
from .graph import Node
from .history import numbers_at
from .holding import Birth, Holding, holdings
from .ledger import Contribution
from .names import Names
from .numbers import Numbers, numbers_of
from .room import CAPTURE_BYTES, CaptureError, estimate, need_room
from .steps import Steps
from .structure import describe
from .summary import norm
from .tape import Tape
from .timeline import Timeline
from .where import Places, Where
from .writer import ModuleCall, said

_SAMPLED_EVERY = 8  # steps, of which one is timed
_NEVER = 1 << 62
_STRUCTURES_KEPT = 8
_DESCRIBED_KEPT = 50_000  # ops of them together, about 30 MB
_SHORT = 256  # ops that are described at once
_PATIENCE_NS = 5_000_000_000  # so long a picture waits for a step that is read in full
_LONGEST_SHARE = 10  # frames take at most a tenth of the time

attached: list[Recorder] = []


class Recorder:
    """Records what every op, gradient and optimizer step did, step by step, as numbers: it keeps no tensor alive.

    Attach it, run code, and read `structure()`, `numbers()` and `timeline`. Readers on other threads hold `lock`.

    Attributes:
        where: says where in the user's code the op being made is written.
        names: gives the user's names for objects, by id(); None where there is no namespace to look into.
        frame_interval: seconds between two calls of `on_frame`.
        running: set it while a cell runs; then a half-finished step of a loop is not shown in place of the last complete one.
            Setting it also forgets module calls that an interrupt left open.
        between_steps: called in the training thread when a step is complete and the next one began, not under the lock.
        held: set it while training waits inside a step for somebody to look: then all that is known of the open step is shown.
        norms: False records the graph only.
        governor: its `budget` says what tracing may cost; None, as here, reads every step in full.
        needs_ops: how many users of this recorder need every op, whatever it costs: while there are any, no step is light.
        diagnosis: what the rules say of it, filled by `gradlab.trace.rules` when somebody asks.

    >>> import gradlab as gl
    >>> recorder = Recorder()
    >>> recorder.attach()
    >>> y = gl.tensor([1.0, 2.0]) * 3.0
    >>> recorder.detach()
    >>> [op["name"] for op in recorder.structure()["ops"]]
    ['mul']
    """

    def __init__(self, observer: Any = observe, *, norms: bool = True) -> None:
        self.lock = threading.RLock()
        self.where: Callable[[], Where | None] = Places().of_op
        self.frame_interval = 0.1
        self.held = False
        self.between_steps: list[Callable[[], None]] = []
        self._running = False
        self.norms = norms
        self._share: float | None = None
        self.governor = Governor()
        self.needs_ops = 0
        self.diagnosis: Any = None
        self._observer = observer
        self._names = Names()
        self._steps = Steps(self._names, norms)
        self._call: ContextVar[ModuleCall | None] = ContextVar("the innermost running module call", default=None)
        self._on = False
        self._on_frame: Callable[[], None] | None = None
        self._frame_at = _NEVER
        self._waits = False  # a picture is due, as soon as a step that is read in full is complete
        self._in_frame = False
        self._structures: dict[str, dict[str, Any]] = {}
        self.objects: Callable[[], Iterable[Any]] | None = None  # the user's variables, where tensors are looked for
        self._capture: Capture | None = None
        self._glimpse: Glimpse | None = None  # the one that waits or is open
        self._glimpsed: Capture | None = None
        self._again = False
        self.on_capture: Callable[[], None] | None = None  # called where a capture begins and where it ends
        self._tape: Tape | None = None  # that of the newest op
        self._timing = False
        self._light = False  # the ops of this step are not seen
        self._own_ns = self._from_ns = self._to_ns = 0

    # Switching

    @property
    def on(self) -> bool:
        """Whether it is attached."""
        return self._on and any(o is self for o in getattr(self._observer, "_attached", (self,)))

    def attach(self) -> None:
        """Begin to record, or go on with the run."""
        with self.lock:
            if not self.on:
                self._on = True
                self._call.set(None)
                self._light = False
                tape = self._steps.tape
                if tape.n or tape.passes:
                    tape.stale = tape.turns = True
                attached.append(self)
                self._observer.attach(self)

    def detach(self) -> None:
        """Stop recording; what was recorded stays readable."""
        with self.lock:
            self._on = False
            for capture in (self._capture, self._glimpse):
                if capture is not None:
                    self._observer.detach(capture)
            self._glimpse = None
            attached[:] = [r for r in attached if r is not self]
            self._observer.detach(self)

    def clear(self) -> None:
        """Forget everything; the next step is the first of a new run."""
        with self.lock:
            run = self._steps.run.number + 1
            self._names = Names(self._names.lookup)
            self._steps = Steps(self._names, self.norms)
            self._steps.run.number = run
            self._structures.clear()
            self.release()
            self._glimpsed = None
            self._see_ops()

    @property
    def names(self) -> Callable[[], dict[int, str]] | None:
        """Gives the user's names for objects, by id(); called when a leaf or model is seen for the first time."""
        return self._names.lookup

    @names.setter
    def names(self, lookup: Callable[[], dict[int, str]] | None) -> None:
        self._names.lookup = lookup

    @property
    def running(self) -> bool:
        """Whether a cell runs."""
        return self._running

    @running.setter
    def running(self, value: bool) -> None:
        self._running = value
        self._call.set(None)
        self.governor.restart()
        self._see_ops()
        if self._waits:
            self._waits, self._frame_at = False, 0

    @property
    def on_frame(self) -> Callable[[], None] | None:
        """Called in the training thread, inside an event, whenever `frame_interval` has passed."""
        return self._on_frame

    @on_frame.setter
    def on_frame(self, call: Callable[[], None] | None) -> None:
        self._on_frame, self._waits = call, False
        self._frame_at = _NEVER if call is None else 0

    # Capture

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

    # Events

    @property
    def wants_ops(self) -> bool:
        """Whether ops are to be told, or this step is a light one."""
        return not self._light

    @property
    def wants_updates(self) -> bool:
        """Whether the update of this step is read: the optimizer copies its parameters only then."""
        return self.norms and self._steps.tape.full

    def begin(self, kind: observe.Kind, target: Any, inputs: tuple[Any, ...], /) -> tuple[Any, ...] | None:
        """Called by the core before something happens; `end` gets back what this returns."""
        try:
            entered = clock() if self._timing else 0
            if kind == "forward":
                call = self._call.get()
                place = self.where() if call is None or not call.library else call.place
                now = clock()
                if entered:
                    self._own_ns += now - entered
                return kind, target, place, call, now
            steps = self._steps
            token: tuple[Any, ...] | None = None
            if kind == "backward":
                tape = steps.tape
                at = tape.refs.get(target.seq)
                if at is None and steps.last is not None:
                    tape = steps.last  # as with a generator: its ops were made before the discriminator's update
                    at = tape.refs.get(target.seq)
                if at is not None:
                    if self.norms:
                        tape.grads[at] = size = norm(inputs[0])
                        if size - size:
                            steps.alarm.backward(tape, at, target, size, steps.pending, steps.now)
                    now = clock()
                    if entered:
                        self._own_ns += now - entered
                    return kind, tape, at, now
            elif kind == "accumulate":
                steps.pending.append((target, norm(inputs[0]) if self.norms else None, inputs[1], target._grad is None))
            elif kind == "module":
                token = (kind, self._module_began(target))
            else:
                if kind == "pass":
                    with self.lock:
                        if not self._light:
                            steps.backward_began(target)
                        elif steps.light_pass_began(target) and not steps.run.series:
                            self._glanced(clock())
                            self._between_steps()
                token = (kind, target)
            if entered:
                self._own_ns += clock() - entered
            return token
        except BaseException:
            self._repair()
            raise

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """Called by the core after it happened, also where it raised."""
        if token is None:
            return
        try:
            now = clock()
            kind = token[0]
            steps = self._steps
            if kind == "forward":
                self.lock.acquire()  # this and release: half the time of a with block; where anything raises, _repair releases
                if error is None:
                    steps.op(token[1], token[2], token[3], now - token[4], output)
                else:
                    steps.failed(token[1], token[2], token[3], now - token[4], error)
                self.lock.release()
                if steps.tape is not self._tape:
                    now = self._turned(now)
            elif kind == "backward":
                token[1].backward_ns[token[2]] = now - token[3]
                if steps.alarm.fans and output is not None and token[2] in steps.alarm.fans and self.norms:
                    steps.alarm.leaving(token[1], token[2], output, steps.pending)
                if error is not None:
                    token[1].errors[token[2]] = said(error)
            elif kind == "module":
                self._call.set(token[1].parent)
                return
            elif kind == "pass":
                with self.lock:
                    (steps.light_pass_ended if steps.tape.light else steps.backward_ended)()
            elif error is None:
                with self.lock:
                    steps.stepped(token[1], output)
                    if self._light:
                        self._glanced(now)
                if steps.tape.light:
                    self._between_steps()
            if now >= self._frame_at:
                self._frame_due(now)
            if self._timing:
                self._to_ns = clock()
                self._own_ns += self._to_ns - now
        except BaseException:
            self._repair()
            raise

    def _repair(self) -> None:
        """An interrupt may hit anywhere, also between two writes that belong together: begin the open step anew."""
        with suppress(RuntimeError):  # raised where this thread holds it no more
            while True:
                self.lock.release()
        with self.lock:
            self._steps.abandon()
            self._see_ops()
        self._in_frame = False
        self._call.set(None)

    def _module_began(self, module: Any) -> ModuleCall:
        parent = self._call.get()
        if parent is not None:
            root, place = parent.root, parent.place if parent.library else self.where()
        else:
            with self.lock:
                root, place = self._names.root(module), self.where()
        call = ModuleCall(module, root, parent, place)
        self._call.set(call)
        return call

    def _turned(self, now: int) -> int:
        """A new step began: take the picture that waited for the end of a full one, and time the recorder in some steps.

        Returns the time from which on this event counts as the recorder's own: what `between_steps` takes does not.
        """
        last = self._steps.last
        if self._waits and last is not None and last.full:
            self._frame()
        if self._timing and self._to_ns > self._from_ns:
            share = self._own_ns / (self._to_ns - self._from_ns)
            self._share = share if self._share is None else 0.5 * (self._share + share)
        self._tape = self._steps.tape
        self._timing = self._steps.run.step % _SAMPLED_EVERY == 1
        if self.between_steps:
            self._between_steps()
            now = clock()
        self._own_ns, self._from_ns, self._to_ns = 0, now, now
        if self.governor.begins(now, self._may_be_light()):
            with self.lock:
                self._steps.lighten()
            self._light, self._timing = True, True
            observe.renew()
        return now

    @property
    def _needs_ops(self) -> bool:
        return self.needs_ops > 0 or (self._capture is not None and self._capture.state in ("armed", "open"))

    def _may_be_light(self) -> bool:
        steps = self._steps
        return not (self._needs_ops or (self._waits and steps.tape.full)) and steps.last is not None and steps.last.step > 0

    def _between_steps(self) -> None:
        for call in tuple(self.between_steps):
            call()

    def _glanced(self, now: int) -> None:
        """A light step is over: go on so, or see the ops of the next."""
        own, self._own_ns = self._own_ns, 0
        tape = self._steps.tape
        alarm = not (isfinite(tape.loss or 0.0) and isfinite(tape.grad_norm or 0.0))
        if not self.governor.went_by(now, own, alarm or self._steps.wants_all or self._needs_ops):
            self._see_ops()

    def _see_ops(self) -> None:
        if self._light:
            self._light = self._timing = False
            self._tape = tape = self._steps.tape  # an op without a graph that comes first, as a batch is cut out, begins no step
            tape.stale = tape.turns = True
            observe.renew()

    def _frame_due(self, now: int) -> None:
        """Take a picture now, or where the step on show was not read in full, at the end of the next one that is."""
        if self._in_frame:
            return
        shown = self._of_loop()
        if shown is self._steps.tape:
            with self.lock:
                self._steps.complete()
        if (shown.full and not self._light) or self._waits:
            self._frame()
        else:
            self._steps.wants_all = self._waits = True
            self._frame_at = now + _PATIENCE_NS

    def _frame(self) -> None:
        """Let the one who watches take a picture; the next is due so late that pictures cost a tenth of the time at most."""
        call = self._on_frame
        if call is None or self._in_frame:
            return
        self._waits = False
        began = clock()
        self._in_frame = True
        try:
            call()
        except Exception as error:
            self.on_frame = None
            warnings.warn(f"the inspector stopped following: {error!r}; training goes on", stacklevel=2)
            return
        finally:
            self._in_frame = False
        ended = clock()
        self._frame_at = ended + max(int(self.frame_interval * 1e9), _LONGEST_SHARE * (ended - began))

    # Reading

    @property
    def share(self) -> float | None:
        """The tracer's share of a step's time, None before it was measured."""
        return self._share if self.governor.share is None else self.governor.share

    @property
    def run(self) -> int:
        """The number of the run, counted up where a model was built anew and by `clear`."""
        return self._settled().run.number

    @property
    def step(self) -> int:
        """How many steps of this run are complete: have got their update."""
        return self._settled().run.step

    @property
    def timeline(self) -> Timeline:
        """Loss, gradients and updates of this run's steps; at the end of a cell also what is known of the open step."""
        return self._settled().run.timeline

    @property
    def open(self) -> bool:
        """Whether the step on show has not got its update yet."""
        with self.lock:
            return not self._shown().updated

    def structure(self) -> dict[str, Any]:
        """The graph of the step on show, in plain lists and dicts; the same object as long as `key` is the same.

        On show is the open step if it has ops with a graph, else the last complete one; inside `on_frame`, and while
        `running`, a loop's half-finished step is not shown.
        """
        with self.lock:
            tape = self._shown()
            node, folded = self._end_shown(tape), tape.folded
            if self._live and folded:
                folded = 1 << folded.bit_length() - 1  # else every frame of an evaluation would be a new structure
            return self._described(node, folded, tape.folded_graph, tape.errors)

    def _described(self, node: Node, folded: int, folded_graph: int, errors: dict[int, str]) -> dict[str, Any]:
        steps = self._steps
        key = f"{node.number:x}.{steps.tree.epoch:x}.{folded:x}.{steps.run.number:x}"
        if errors:
            key += f".{crc32(repr(errors).encode()):x}"
        found = self._structures.get(key)
        if found is None:
            found = describe(node, steps.run, key, folded, folded_graph, errors)
            while self._structures and (len(self._structures) >= _STRUCTURES_KEPT or self._ops_described() > _DESCRIBED_KEPT):
                del self._structures[next(iter(self._structures))]
            self._structures[key] = found
        return found

    def at(self, step: int) -> tuple[int, dict[str, Any], Numbers] | None:
        """An earlier step of this run: its number, structure and numbers; of the newest one before it where its own are gone.

        None where nothing was kept. Durations and optimizers are those of no step: NaN and none.
        """
        with self.lock:
            steps = self._settled()
            tape = steps.tape
            if tape.step and tape.step <= step:
                return tape.step, self._described(tape.node, tape.folded, tape.folded_graph, tape.errors), numbers_of(tape, tape.node, ())
            kept = steps.run.history.at(step)
            if kept is None:
                return None
            return kept.step, self._described(kept.node, kept.folded, kept.folded_graph, {}), numbers_at(kept)

    def _ops_described(self) -> int:
        return sum(len(known["ops"]) for known in self._structures.values())

    def lens(self) -> list[dict[str, Any]]:
        """What each optimizer of this run did to its parameters in its last step; see `microscope.COLUMNS`.

        Where nothing runs it is read now; while a cell runs, steps are looked at for some seconds from now on, and the answer is
        what was seen at the last of them. Dicts with "label", "lr", "step", "names", "numbers" (parameter numbers) and "rows".
        """
        with self.lock:
            steps = self._steps
            steps.lens.ask()
            if not self._live:
                for series in steps.run.series.values():
                    optimizer = series.ref()
                    if optimizer is not None:
                        updates = {id(p): u for p, u in getattr(optimizer, "last_updates", ())}
                        moved = [(p, updates.get(id(p))) for p in series.tensors()]
                        steps.lens.look(optimizer, moved, steps.run.step)
            found: list[dict[str, Any]] = []
            for series in steps.run.series.values():
                optimizer = series.ref()
                step, rows = steps.lens.seen.get(id(optimizer), (0, {}))
                if optimizer is not None and rows:
                    columns = [(serial, steps.run.column(param.identity)) for serial in rows if (param := steps._params.get(serial))]
                    kept = [(serial, column) for serial, column in columns if column is not None]
                    found.append({
                        "label": series.label, "lr": series.lr, "step": step, "names": [column.label for _, column in kept],
                        "numbers": [column.number for _, column in kept], "rows": [rows[serial] for serial, _ in kept],
                    })  # fmt: skip
            return found

    def holdings(self, births: Mapping[int, Birth]) -> list[Holding]:
        """What each optimizer that stepped in this run holds, beside what the step on show read; `births` by serial of a parameter."""
        with self.lock:
            steps = self._steps
            alive = [(series.label, optimizer) for series in steps.run.series.values() if (optimizer := series.ref()) is not None]
            return holdings(alive, self._shown(), steps._params, births)

    def read_zeros(self, seconds: float) -> None:
        """Read the share of zeros in gradients for some seconds, in steps that are read in full; and of the last step, if it was."""
        with self.lock:
            steps = self._steps
            steps.run.zeros.ask(seconds)
            if steps.tape.step and steps.tape.full:
                steps.run.write(steps.tape, steps.tape.step)

    def numbers(self) -> Numbers:
        """The numbers of the same step, copied."""
        with self.lock:
            tape = self._shown()
            return numbers_of(tape, self._end_shown(tape), self._steps.run.series.values())

    def structure_of(self, key: str) -> dict[str, Any] | None:
        """A structure that `structure()` gave lately."""
        with self.lock:
            return self._structures.get(key)

    def nodes(self) -> list[Node]:
        """The ops of the step on show, in tape order."""
        with self.lock:
            return self._end_shown(self._shown()).path()

    def tensor(self, ref: int) -> Any:
        """The tensor that op `ref` made, or that leaf -1 - ref is, in the step on show; None where it is no longer there.

        Nothing is kept for this: leaves that require a gradient are known by weak references, others are found where the user's
        `objects` hold them or a graph that was made with them.
        """
        with self.lock:
            tape = self._shown()
            serial = next((-key for key, at in tape.refs.items() if at == ref and key < 0), 0)
            tensor = self._steps.living(serial) if serial else None
        return alive.find(tape, ref, self.objects()) if tensor is None and self.objects is not None else tensor

    def parameter(self, label: str) -> Any:
        """The tensor that a parameter of the timeline is now, by its label; None where it is no longer there."""
        with self.lock:
            column = self._steps.run.labelled(label)
            return None if column is None else column.param.ref()

    def costs(self) -> list[Cost]:
        """Floating-point operations and bytes of every op of the same step."""
        with self.lock:
            return costs(self.nodes())

    @property
    def tape(self) -> Tape:
        """The tape that `structure()` describes; read it under `lock`."""
        return self._shown()

    def ledger(self, tensor: Any) -> list[Contribution]:
        """Which backward calls added what to `tensor.grad` since it was last None, oldest first."""
        with self.lock:
            return self._steps.ledger.of(tensor.serial)

    @property
    def steps(self) -> Steps:
        """Tapes and run as they are now, also half-way through a step: for other parts of the tracer, under `lock`."""
        return self._steps

    def ledgers(self) -> list[tuple[str, list[Contribution]]]:
        """The same for every parameter of the run, by its name in the timeline."""
        with self.lock:
            return [(label, self._steps.ledger.of(serial)) for label, serial in self._steps.run.shown()]

    @property
    def _live(self) -> bool:
        return self._in_frame or (self.running and not self.held)

    def _settled(self) -> Steps:
        """The steps; where nothing runs, with an update by hand that came after the last op, and all that is known of the open step."""
        if not self._live:
            with self.lock:
                self._steps.settle()
                self._steps.complete()
                self._steps.sketch()
        return self._steps

    def _shown(self) -> Tape:
        steps = self._settled()
        tape, last = steps.tape, steps.last
        if self._live:
            return self._of_loop()
        return tape if (tape.graphs and not tape.light) or last is None else last

    def _end_shown(self, tape: Tape) -> Node:
        """How far a tape is shown: a long one that grows, only to a round length, else each picture would describe all of it anew."""
        growing = self._live and tape is self._steps.tape and not tape.updated and tape.n > _SHORT
        return tape.node.above(1 << tape.n.bit_length() - 1) if growing else tape.node

    def _of_loop(self) -> Tape:
        """The tape on show while something runs."""
        tape, last = self._steps.tape, self._steps.last
        if tape.light and last is not None:
            return last
        if last is None or tape.updated or (tape.graphs and _cell(tape) != _cell(last)):
            return tape
        return last


def _cell(tape: Tape) -> tuple[Any, ...]:
    """The run of a cell that a step's first op is written in."""
    place = tape.node.above(1).place if tape.n else None
    return () if place is None else (place.cell, place.count, place.file)
