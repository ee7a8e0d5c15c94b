"""Glance: what is read of a light step, written out for a loop that goes on as it did."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from .steps import Steps
from .summary import norm_of_all


class Glance:
    """Reads loss, gradients and learning rate of steps that are one backward call for all leaves and one step of a known optimizer.

    What it leaves is what `Steps` would; whatever is different in a step it leaves to those, by False, before it has changed
    anything. In a step of 200 us every call counts: `Steps` alone take twice the time.

    Attributes:
        open: a backward call runs.
    """

    __slots__ = ("_refs", "_steps", "open")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._refs = steps.run.refs()
        self.open = False

    def began(self, root: Any) -> bool:
        """A backward call begins at that tensor."""
        steps = self._steps
        tape, data = steps.tape, root._data
        if not tape.light or tape.n or tape.errors or data.size != 1 or not steps.norms or (tape.passes and not tape.updated):
            return False
        loss = float(data.item())
        if loss - loss:  # NaN or infinite: the op is looked for
            return False
        if tape.updated:
            tape.again()
        tape.loss = loss
        run = steps.run
        steps.symptoms.began(root, run.step)
        run.units.read_light(root, run.step + 1)
        self.open = True
        return True

    def ended(self) -> None:
        """The backward call is over."""
        steps = self._steps
        tape = steps.tape
        self.open = False
        arrays: list[Any] = []
        for ref in self._refs:
            tensor = ref()
            if tensor is not None:
                gradient = tensor._gradient
                if gradient is not None:
                    arrays.append(gradient._data)
        tape.grad_norm = total = norm_of_all(arrays)
        if total - total:
            steps.alarm.glanced(tape, steps.last, steps.run.named(), steps.now)
        steps.passes += 1
        tape.passes += 1
        tape.turns = True

    def stepped(self, optimizer: Any) -> bool:
        """The optimizer moved the parameters."""
        steps = self._steps
        tape, run = steps.tape, steps.run
        series = run.series.get(id(optimizer))
        if series is None or series.ref() is not optimizer or tape.step or not tape.passes or not tape.light or tape.loss is None:
            return False
        series.read_lr(optimizer, ())
        series.tape = tape.id
        step = run.step + 1
        run.timeline.put(step, ((0, tape.loss), (1, tape.grad_norm or 0.0), (series.lr_column, series.lr)))
        tape.step = run.step = step
        tape.updated = tape.turns = True
        return True
