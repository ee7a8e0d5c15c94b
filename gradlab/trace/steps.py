"""Steps: what updates mean for the tape of the current step, and when one step ends and the next begins."""

from __future__ import annotations

import weakref
from typing import Any

from .gradients import Gradients
from .microscope import Lens
from .names import Leaf, Names
from .run import EVERY, Run
from .series import Series
from .summary import norm, norm_of_all
from .symptoms import LOOKS
from .tape import Param, Tape

_DESCRIBED_EVERY = 100  # steps


class Steps(Gradients):
    """The open tape, the last complete one, and the run they belong to.

    A step closes at the first op with a graph after an update. An update is an optimizer's step, or new values in leaves that
    got a gradient.

    Attributes:
        in_light_pass: a backward call runs in a light step.
    """

    def __init__(self, names: Names, norms: bool) -> None:
        super().__init__(names, norms)
        self.lens = Lens()
        self.wants_all = False  # the next step is to be read in full
        self.in_light_pass = False
        self.lightened = -1  # so many backward passes there were before the newest light step
        self._spare = Tape(self.tree.root)
        self._purge_at = 256
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()

    # Light steps, of which the ops are not seen

    def lighten(self) -> None:
        """The open tape, which has just begun, is read by a glance only."""
        tape = self.tape
        tape.light, tape.full = True, False
        self.lightened = self.passes

    def read_series(self) -> None:
        """Read the state of every optimizer as its last step left it: further ones go by unseen."""
        if self.norms:
            for series in self.run.series.values():
                series.read()

    def is_of(self, series: Series, tensor: Any) -> bool:
        """Whether the gradient of a tensor is still the one that the last step of an optimizer used, as far as that is known."""
        if self.passes == series.passes:
            return True
        param = self._params.get(tensor.serial)
        seen = series.passes > self.lightened and series.tape != self.tape.id  # every pass since: by this step's tape, or a later one
        return seen and param is not None and param.g_tape == series.tape

    def light_pass_began(self, root: Any) -> bool:
        """Note the loss; whether a new step began with it."""
        tape = self.tape
        if tape.passes and not tape.updated and tape.rewritten(None):
            self._count()
        new = tape.updated
        if new and tape.light and not tape.n:
            tape.again()
        elif new:
            wanted = self.wants_all
            self.close(False)
            self.lighten()
            self.wants_all = wanted
        self.backward_began(root)
        self.in_light_pass = True
        return new

    def light_pass_ended(self) -> None:
        """Note the norm of all gradients together, which is also their finite test."""
        tape = self.tape
        tensors = self.run.tensors()
        if self.norms:
            tape.grad_norm = total = norm_of_all([t._gradient._data for t in tensors if t._gradient is not None])
            if total - total:
                self.alarm.glanced(tape, self.last, self.run.named(), self.now)
        self.in_light_pass, self.pending = False, []  # where a hook made an update, the rest of the pass was seen
        self.passes += 1
        tape.passes += 1
        tape.turns = True
        if not self.run.series:
            tape.versions = [(weakref.ref(t), t.version) for t in tensors]
        if tape.step:
            self.run.write_light(tape, tape.step)

    def living(self, serial: int) -> Any:
        """The leaf of that serial that requires a gradient, None where it is gone or not known."""
        param = self._params.get(serial)
        return None if param is None else param.ref()

    def params(self) -> list[Param]:
        """The records of all leaves that require a gradient and are still there."""
        return [param for param in list(self._params.values()) if param.ref() is not None]

    def leaf_of(self, tensor: Any) -> Leaf:
        """What a leaf is called, also one that no traced op read."""
        param = self._params.get(tensor.serial)
        return self.names.leaf(tensor)[0] if param is None else param.leaf

    # Steps and runs

    def stepped(self, optimizer: Any, output: list[tuple[Any, Any]]) -> None:
        """An optimizer moved these parameters by these amounts."""
        tape = self.tape
        if not (tape.graphs or tape.passes or self.in_light_pass):
            return  # nothing that it could be the update of was traced
        if tape.light and self.run.knows(optimizer):
            series = self.run.series_of(optimizer)
            series.read_lr(optimizer, output)
            series.tape, series.passes = tape.id, self.passes
            self._count()
            series.step = tape.step
            return
        moved = [self.param(tensor) for tensor, _ in output]
        if (
            not self.run.knows(optimizer)
            or not self.run.bound.issuperset([p.serial for p in moved])
            or not self.run.bound.issuperset(tape.touched)
        ):
            self._begin_run_if_rebuilt(moved, optimizer not in self._optimizers)
            self._optimizers.add(optimizer)
            self.run.series_of(optimizer)
            self._enroll(moved)
        series = self.run.series_of(optimizer)
        series.read_lr(optimizer, output)
        if not series.groups or self.run.step % _DESCRIBED_EVERY == 0:
            series.describe(optimizer, self.param)
        if self.norms:
            columns = [self.run.column(param.identity) for param in moved]
            rows = [(t, u, p, c.number) for (t, u), p, c in zip(output, moved, columns, strict=True) if c is not None]
            series.stepped(rows, tape.id, tape.full)
            if tape.full and self.lens.wanted:
                self.lens.look(optimizer, output, tape.step or self.run.step + 1)
            if tape.light or self.run.step % EVERY == 0:
                series.read()
        series.tape, series.passes = tape.id, self.passes
        self._count()
        series.step = series.of = tape.step

    def settle(self) -> None:
        """Count a hand-written update that came after the last op."""
        tape = self.tape
        if tape.passes and not tape.updated and tape.rewritten(self.names.lookup):
            self._updated_by_hand()

    def complete(self) -> None:
        """Read what a step in a loop left out, as far as the values are still those that it read."""
        tape = self.tape
        if tape.full or tape.light or tape.updated or not self.norms:
            return
        tape.full = True  # and its update is read too
        for key, at in tape.refs.items():
            param = self._params.get(-key) if at < 0 else None
            tensor = None if param is None else param.ref()
            if param is not None and tensor is not None and tensor.version == tape.leaf_versions[-1 - at]:
                tape.leaf_values[-1 - at] = param.w = norm(tensor._data)
                param.w_tape = tape.id

    def sketch(self) -> None:
        """Give the open step, as soon as it has gradients, a row of the timeline; its update writes the row again."""
        tape = self.tape
        if self.norms and tape.passes and not tape.step and tape.touched:
            self._begin_run_if_rebuilt([], False)
            self._enroll([])
            self.run.write(tape, self.run.step + 1)

    def _turn(self, fn: Any) -> Tape:
        """The tape that an op with a graph belongs to."""
        tape = self.tape
        if tape.updated:
            return self.close(True)
        if tape.passes:
            forgot = tape.forgot()
            tape.check |= forgot
            if self._rewritten(tape, fn):
                self._updated_by_hand()
                return self.close(True)
            if forgot:
                return self.close(False)  # zero_grad, and the same once more
        if tape.stale:
            tape.stale = False
            tape.turns = tape.passes > 0
            if tape.light or not any(t.grad_fn is not None and t.grad_fn.seq in tape.refs for t in fn.inputs):
                return self.close(False)  # tracing was off in between
        return tape

    def _rewritten(self, tape: Tape, fn: Any) -> bool:
        if tape.check:  # all leaves once after each backward call
            tape.check = False
            if tape.rewritten(self.names.lookup):
                return True
        for t in fn.inputs:
            if t.grad_fn is None and t.requires_grad:
                at = tape.refs.get(-t._serial)
                if at is None:
                    if t._serial not in tape.touched:  # a new leaf, perhaps in the place of one that got a gradient
                        return tape.rewritten(self.names.lookup)
                elif t._serial in tape.touched and t.version != tape.leaf_versions[-1 - at]:
                    return True
        return False

    def _updated_by_hand(self) -> None:
        if self.tape.light:
            self._count()
            return
        moved = self.tape.moved()
        self._begin_run_if_rebuilt(moved, False)
        self._enroll(moved)
        self._count()

    def _begin_run_if_rebuilt(self, moved: list[Param], optimizer_is_new: bool) -> None:
        if not self.tape.step and self.run.is_rebuilt([*moved, *self.tape.touched.values()], optimizer_is_new):
            self.begin_run()

    def begin_run(self) -> None:
        """Forget the timeline; the open tape becomes the first step of a new run."""
        probes = self.run.probes
        self.run = Run(self.run.number + 1, self.run.zeros)
        self.run.probes = probes
        self.last = None
        self.alarm.forget(self.tape, self.run.number)
        self.symptoms.forget()
        self.tree.epoch += 1

    def _enroll(self, moved: list[Param]) -> None:
        params = list(dict.fromkeys([*moved, *self.tape.moved()]))
        for param in params:
            if param.root is not None:
                param.root.counted = True
        new_model = self.run.meet(root.label for root in self.tape.roots)
        if self.run.enroll(params) or new_model:
            self.tree.epoch += 1

    def _count(self) -> None:
        tape = self.tape
        step = tape.step or self.run.step + 1
        write = self.run.write_light if tape.light else self.run.write
        write(tape, step)  # first: an interrupt after it leaves a row that is written again
        self.symptoms.updated(tape)
        tape.step = self.run.step = step
        tape.updated = tape.turns = True

    def close(self, complete: bool) -> Tape:
        """End the tape and begin an empty one; only a complete one is kept to be shown."""
        done, self.tape = self.tape, self._spare
        if complete and not done.light:
            if self.norms:
                self.run.history.add(done)
            self._spare, self.last = self.last or Tape(self.tree.root), done
        else:
            self._spare = done
        self.tree.prune()
        self.tape.reset(self.tree.root)
        self.tape.full = self.run.is_full(self.wants_all)
        self.tape.looks = self.run.step < LOOKS or self.wants_all
        self.wants_all = False
        if len(self._params) > self._purge_at:
            self._params = {serial: param for serial, param in self._params.items() if param.ref() is not None}
            self._purge_at = 2 * len(self._params) + 256
        return self.tape

    def abandon(self) -> None:
        """Leave the open tape as it is, whatever state it is in, and begin an empty one."""
        self.tape, self._spare = Tape(self.tree.root), Tape(self.tree.root)
        self.pending, self.collects, self.in_light_pass = [], True, False
