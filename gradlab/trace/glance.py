"""Glance: what is read of a light step, written out for a loop that goes on as it did."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from math import hypot
from struct import error as StructError
from time import perf_counter_ns as clock
from typing import TYPE_CHECKING, Any
from weakref import ref

from .. import observe
from .summary import few_as_bytes, norm_of_all

if TYPE_CHECKING:
    from .turning import Turning


class Glance:
    """Reads loss, gradients and learning rate of steps that are one backward call for all leaves and one step of a known optimizer.

    It hears of them in the place of its recorder, see `observe.Light`. What it leaves is what `Steps` would; whatever is different
    in a step it leaves to those, before it has changed anything. In a step of 150 us every call counts, twice as much as by
    itself: between a net's own arrays its code has left the caches. `Steps` alone take three times as long.
    """

    __slots__ = ("_entries", "_frames", "_lock", "_pace", "_recorder", "_refs", "_roots", "_run", "_steps", "_units")

    def __init__(self, recorder: Turning) -> None:
        self._recorder = recorder
        self._steps = steps = recorder._steps
        self._pace, self._frames, self._lock = recorder._pace, recorder._frames, recorder.lock
        self._run = run = steps.run
        self._units, self._roots, self._refs = run.units, steps.symptoms.roots, run.refs()
        tensors = run.tensors()
        self._entries = few_as_bytes([tensor._data for tensor in tensors]) if len(tensors) == len(self._refs) else None

    def began(self, root: Any) -> bool:
        """Note the loss; False where this is no backward call as those before."""
        try:
            entered = clock()
            tape, run, data = self._steps.tape, self._run, root._data
            if tape.n or tape.errors or data.size != 1 or (tape.passes and not tape.updated):
                return False
            if self._steps.run is not run or self._steps.in_light_pass:
                return False
            loss = float(data.item())
            if loss - loss:  # NaN or infinite: the op is looked for
                return False
            if tape.updated:
                tape.again()
            tape.loss = loss
            step = run.step
            self._roots.append((step, ref(root)))
            if step + 1 >= self._units.next_reading:
                self._units.read_light(root, step + 1)
            self._steps.in_light_pass = True
            self._pace.own += clock() - entered
            return True
        except BaseException as error:
            self._failed(error)
            return False

    def ended(self) -> None:
        """Note the norm of all gradients together, which is also their finite test."""
        try:
            now = clock()
            steps = self._steps
            steps.in_light_pass, steps.pending = False, []
            tape = steps.tape
            entries = self._entries
            try:
                total = self._norm() if entries is None else hypot(*entries(b"".join([p()._gradient._data for p in self._refs])))
            except (AttributeError, BufferError, TypeError, StructError):  # a gradient is missing, or another kind of array
                self._entries, total = None, self._norm()
            tape.grad_norm = total
            if total - total:
                tape.grad_norm = self._norm()
                steps.alarm.glanced(tape, steps.last, steps.run.named(), steps.now)
            steps.passes += 1
            tape.passes += 1
            tape.turns = True
            if tape.step:  # a hook made the update already
                self._run.write_light(tape, tape.step)
            if now >= self._frames.due:
                self._recorder._frame_due(now)
            self._pace.own += clock() - now
        except BaseException as error:
            self._failed(error)

    def stepped(self, optimizer: Any) -> None:
        """Count the step and store its row; `Turning` goes on from there where anything but another such step may come."""
        recorder = self._recorder
        try:
            now = clock()
            tape, run, pace = self._steps.tape, self._run, self._pace
            self._lock.acquire()  # this and release: half the time of a with block; where anything raises, _failed releases
            series = run.series.get(id(optimizer))
            if series is None or series.ref() is not optimizer or tape.step or not tape.passes or not tape.light or tape.loss is None:
                self._lock.release()
                recorder._light_stepped(optimizer, now)
                return
            loss, size = tape.loss, tape.grad_norm or 0.0
            series.read_lr(optimizer, ())
            series.tape, series.passes = tape.id, self._steps.passes
            step = run.step + 1
            run.timeline.put(step, (0, 1, series.lr_column), (loss, size, series.lr))  # first: a step that is counted has a row
            tape.step = run.step = series.step = step
            tape.updated = tape.turns = True
            bad = (loss - loss) + (size - size) != 0.0
            if bad or pace.passed + 1 >= pace.together or self._steps.wants_all or recorder.needs_ops or recorder._capture is not None:
                recorder._went_by(now, bad)
            else:
                pace.passed += 1
            self._lock.release()
            if recorder.between_steps:
                pace.own += clock() - now
                recorder._between_steps()
                now = clock()
            if now >= self._frames.due:
                recorder._frame_due(now)
            pace.own += clock() - now
        except BaseException as error:
            self._failed(error)

    def _norm(self) -> float:
        gradients = [tensor._gradient for parameter in self._refs if (tensor := parameter()) is not None]
        return norm_of_all([gradient._data for gradient in gradients if gradient is not None])

    def _failed(self, error: BaseException) -> None:
        self._recorder._repair()
        if not isinstance(error, Exception):
            raise error
        observe.drop(self._recorder, error)
