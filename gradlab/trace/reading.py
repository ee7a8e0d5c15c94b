"""What breakpoints read of a step: its loss and norms by the words of a condition, and parameters by the beginning of their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from .condition import Reading
from .steps import Steps
from .summary import norm
from .tape import Param, Tape


class StepReading(Reading):
    """The numbers of a step as far as it has come; what it has not got yet is read from the step before.

    `op` and `size` are name and norm of what has just run, `backward` whether it was an op's backward; None at the end of a step.
    """

    def __init__(
        self,
        steps: Steps,
        tape: Tape,
        probe: Callable[[str], float | None],
        op: str | None = None,
        size: float | None = None,
        backward: bool = False,
    ) -> None:
        self.steps, self.tape, self.op, self.size, self.backward = steps, tape, op, size, backward
        self.step = tape.step or steps.run.step + 1
        self._probe = probe

    def number(self, word: str, name: str | None) -> float | None:
        """The number that a word stands for, None where nobody knows it."""
        tape, last = self.tape, self.steps.last
        if word == "step":
            return self.step
        if word == "loss":
            return tape.loss if tape.loss is not None or last is None else last.loss
        if word == "grad_norm" and name is None:
            return tape.grad_norm if tape.grad_norm is not None or last is None else last.grad_norm
        if word == "lr":
            newest = max(self.steps.run.series.values(), key=lambda series: series.tape, default=None)
            return None if newest is None else newest.lr
        if word == "probe":
            return self._probe(name or "")
        params = named(self.steps.params(), name or "")
        if word == "grad_norm":
            return _together(param.g for param in params if param.g_tape)
        if word == "weight_norm":
            return _together(_size(param, tape) for param in params)
        ratios = [param.u for param in params if param.u_tape == tape.id and param.u == param.u]
        return max(ratios, default=None)

    def flag(self, word: str, name: str | None) -> bool:
        """Whether the op that has just run has that name, or made what is not finite."""
        if word in ("op", "backward"):
            return self.op is not None and self.backward == (word == "backward") and fnmatchcase(self.op, name or "")
        if self.size is None:
            return False
        return math.isnan(self.size) if word == "nan" else math.isinf(self.size)


def named(params: Iterable[Param], name: str) -> list[Param]:
    """The parameters of that name, of a module of that name, or whose names a pattern with * matches."""

    def fits(known: str) -> bool:
        return known == name or known.startswith(f"{name}.") or fnmatchcase(known, name)

    return [p for p in params if fits(p.leaf.name) or (p.leaf.root is not None and fits(f"{p.leaf.root}.{p.leaf.name}"))]


def _size(param: Param, tape: Tape) -> float:
    tensor = param.ref()
    return param.w if param.w_tape == tape.id or tensor is None else norm(tensor._data)


def _together(norms: Iterable[float]) -> float | None:
    values = list(norms)
    if any(x != x for x in values):
        return math.nan
    return math.hypot(*values) if values else None
