"""A stretch of work: what a recorder saw between two moments, as from the start of a cell to its end."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from .recorder import Recorder
from .writer import said


class Stretch:
    """Begins when it is made; every reading is of the moment in which it is read.

    >>> import gradlab as gl
    >>> recorder = Recorder()
    >>> recorder.attach()
    >>> stretch = Stretch(recorder)
    >>> y = gl.tensor([1.0, 2.0]) * 3.0
    >>> recorder.detach()
    >>> stretch.ops, stretch.steps, stretch.names({"y": y})
    (1, 0, {0: 'y'})
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._began = perf_counter()
        with recorder.lock:
            # Not `recorder.tape`: the open one, which the next op is added to.
            steps = recorder._steps
            self._tape, self._n, self._run, self._step = steps.tape.id, steps.tape.n, steps.run.number, steps.run.step

    @property
    def ms(self) -> float:
        """How long ago it began, in milliseconds."""
        return (perf_counter() - self._began) * 1e3

    @property
    def steps(self) -> int:
        """The steps that got their update since then."""
        recorder = self.recorder
        return recorder.step - (self._step if recorder.run == self._run else 0)

    @property
    def first(self) -> int:
        """The first op of the step on show that was made since then; the number of all its ops where none was."""
        tape = self.recorder.tape
        if tape.id == self._tape:
            return min(self._n, tape.n)
        return tape.kept if tape.id > self._tape else tape.n

    @property
    def ops(self) -> int:
        """The ops made since then, of the step on show."""
        tape, first = self.recorder.tape, self.first
        return tape.n - first + (tape.folded if first < tape.n else 0)

    def names(self, namespace: Mapping[str, Any]) -> dict[int, str]:
        """By op of the step on show, the variable that holds what it made."""
        refs, found = self.recorder.tape.refs, {}
        for name, value in list(namespace.items()):
            serial = getattr(value, "_serial", None)
            if serial is None or name.startswith("_"):
                continue
            maker = value.grad_fn
            op = refs.get(-serial if maker is None else maker.seq)
            if op is not None and op >= 0:
                found.setdefault(op, name)
        return found

    def moved(self, optimizer: Any) -> int:
        """How many parameters the optimizer's last step moved."""
        series = self.recorder._steps.run.series.get(id(optimizer))
        return len(series.rows) if series is not None and series.ref() is optimizer else 0

    def failed(self, error: BaseException | None) -> int | None:
        """The op of the step on show that raised `error`, also in backward."""
        if error is None:
            return None
        tape, text = self.recorder.tape, said(error)
        if tape.node.error == text:
            return tape.n - 1
        return next((at for at, its_text in tape.errors.items() if its_text == text), None)
