"""Glance: what is read of a light step, written out for a loop that goes on as it did."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any
from weakref import ref

from .steps import Steps
from .summary import norm_of_all


class Glance:
    """Reads loss, gradients and learning rate of steps that are one backward call for all leaves and one step of a known optimizer.

    What it leaves is what `Steps` would; whatever is different in a step it leaves to those, by False, before it has changed
    anything. In a step of 150 us every call counts, twice as much as by itself: between a net's own arrays its code has left the
    caches. `Steps` alone take three times as long.

    Attributes:
        open: a backward call runs.
        alarmed: loss or gradients of the last step were not finite.
    """

    __slots__ = ("_refs", "_roots", "_run", "_steps", "_units", "alarmed", "open")

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._run = run = steps.run
        self._units, self._roots, self._refs = run.units, steps.symptoms.roots, run.refs()
        self.open = self.alarmed = False

    def began(self, root: Any) -> bool:
        """A backward call begins at that tensor."""
        tape, run, data = self._steps.tape, self._run, root._data
        if tape.n or tape.errors or data.size != 1 or (tape.passes and not tape.updated) or self._steps.run is not run:
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
        self.open = True
        return True

    def ended(self) -> None:
        """The backward call is over."""
        steps = self._steps
        tape = steps.tape
        self.open = False
        arrays: list[Any] = []
        for parameter in self._refs:
            tensor = parameter()
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
        tape, run = self._steps.tape, self._run
        series = run.series.get(id(optimizer))
        if series is None or series.ref() is not optimizer or tape.step or not tape.passes or not tape.light or tape.loss is None:
            return False
        loss, size = tape.loss, tape.grad_norm or 0.0
        self.alarmed = (loss - loss) + (size - size) != 0.0
        series.read_lr(optimizer, ())
        series.tape, series.passes = tape.id, self._steps.passes
        tape.step = run.step = series.step = step = run.step + 1
        run.timeline.put(step, ((0, loss), (1, size), (series.lr_column, series.lr)))
        tape.updated = tape.turns = True
        return True
