"""Gradients: what a backward pass means for the tape of the current step, and what it left in which leaf."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..function import Function
from .ledger import Ledger
from .names import Names
from .run import Run
from .structure import op_name
from .summary import norm
from .symptoms import SAME
from .tape import Param, Tape
from .writer import Writer


class Gradients(Writer):
    """Puts the gradients of ops on the tape, and those of leaves into the ledger.

    Attributes:
        last: the last complete tape.
        passes: how many backward passes there were.
        pending: what the running pass added: tensor, norm, the op it came from, whether the gradient was None before.
        collects: whether the running pass is for all leaves.
    """

    def __init__(self, names: Names, norms: bool) -> None:
        super().__init__(names, norms)
        self.ledger, self.run = Ledger(), Run(1)
        self.last: Tape | None = None
        self.passes = 0
        self.pending: list[tuple[Any, float | None, Any, bool]] = []
        self.collects = True

    @property
    def now(self) -> tuple[int, int]:
        """The run, and the step that is being made."""
        return self.run.number, self.tape.step or self.run.step + 1

    def backward_began(self, root: Any) -> None:
        """Note the loss."""
        data = root._data
        self.tape.errors.clear()
        if not self.tape.light:
            self.alarm.backward_began(self.tape)
        self.symptoms.began(root, self.run.step)
        loss = self.tape.loss = float(data.item()) if data.size == 1 else None
        if self.tape.light and loss is not None and loss - loss:
            self.alarm.search(self.tape, root, self.last, self.now)
        if self.norms and self.tape.light:
            self.run.units.read_light(root, self.run.step + 1)
        elif self.norms:
            self.run.units.read(root, self.tape, self.run.step + 1)

    def pulled(self, fn: Any, g: Any, grads: Sequence[Any], duration_ns: int, error: str = "") -> None:
        """A gradient went through an op, and from there on, also to leaves; or it raised."""
        tape = self.tape
        at = tape.refs.get(fn.seq)
        if at is None and self.last is not None:
            tape = self.last  # as with a generator: its ops were made before the discriminator's update
            at = tape.refs.get(fn.seq)
        if at is not None:
            tape.backward_ns[at] = duration_ns
            if self.norms:
                tape.grads[at] = size = norm(g)
                alarm = self.alarm
                if size - size:
                    alarm.backward(tape, at, fn, size, self.pending, self.now)
                if grads and at in alarm.fans:
                    alarm.leaving(tape, at, grads, self.pending)
            if error:
                tape.errors[at] = error
        if self.collects and grads:  # none, where it raised
            for to, d in zip(fn.edges, grads):  # noqa: B905 - one each
                if d is not None and to is not None and not isinstance(to, Function) and to._requires_grad:
                    self.collect(to, d, fn)

    def collect(self, tensor: Any, d: Any, source: Any) -> None:
        """Note a part of the gradient of a tensor that keeps it."""
        self.pending.append((tensor, norm(d) if self.norms else None, source, tensor._gradient is None))

    def backward_ended(self) -> None:
        """Note every gradient that the call left in a leaf."""
        tape = self.tape
        pending, self.pending = self.pending, []
        self.passes += 1
        reached: set[Any] = set()
        for tensor, g, source, empty in pending:
            first = tensor not in reached
            fresh = empty and first
            reached.add(tensor)
            if g is not None:
                self.ledger.add(tensor.serial, fresh, (self.passes, None if source is None else op_name(source.__class__), g))
            if tensor.grad_fn is None:
                param = self._params.get(tensor.serial) or self.param(tensor)
                gradient = tensor._grad
                part = g
                if not fresh and g is not None and gradient is not None:
                    g = norm(gradient)  # what was added is not all of it
                param.array = id(gradient)
                tape.gradient(param, g)
                reader: Tape | None = tape
                if -param.serial not in tape.refs:
                    reader = self.last  # an op of the step before
                    if reader is not None:
                        reader.note(param.serial, g)
                if first and reader is not None:
                    if not empty and (g is None or part is None or not abs(g - part) <= SAME * part):  # else there were zeros
                        reader.sums.add(param.serial)
                    elif reader.sums:
                        reader.sums.discard(param.serial)
        self.symptoms.passed(tape, pending, self.run.step > 0)
        tape.passes += 1
        tape.check = tape.turns = True
        if self.norms:
            tape.sum_up()
            if tape.grad_norm is not None and tape.grad_norm - tape.grad_norm:
                self.alarm.backward_ended(tape, pending, self.now)
        if tape.step:
            self.run.write(tape, tape.step)

    def param(self, tensor: Any) -> Param:
        """The record of a leaf that requires a gradient, also of one that no traced op read."""
        param = self._params.get(tensor.serial)
        if param is None:
            leaf, root = self.names.leaf(tensor)
            param = self._params[tensor.serial] = Param(tensor, leaf, root, self.names.made)
        return param
