"""An optimizer as the panels show it: one row of numbers a parameter."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .summary import norm, rms
from .tape import Param
from .timeline import MISSING


class Series:
    """What one optimizer did last: learning rate, and per parameter its own summary and the real update.

    Gradient and update are noted at the step, so the table is of the last step whose ops were seen. The optimizer's own summary is
    read from its state when somebody looks, before a step that is read by a glance, where recording stops, and in every tenth step,
    so that an optimizer that is gone has one too.

    Attributes:
        step: the newest step that it made, `passes` so many backward passes after the recording began.
        of: the step that the table is of.
        rates: the learning rates of its groups in the newest step.
    """

    def __init__(self, optimizer: Any, label: str, lr_column: int) -> None:
        self.ref = weakref.ref(optimizer)
        self.label, self.lr_column = label, lr_column
        self.columns = ("rms g", *getattr(optimizer, "columns", ()), "update:weight")
        self.rows: list[int] = []  # parameter numbers of the timeline
        self.lr = MISSING
        self.rates: tuple[float, ...] = ()
        self.tape = self.step = self.passes = self.of = 0  # `tape`: the newest one that it stepped in
        self.cls = type(optimizer).__name__
        self.groups: tuple[tuple[dict[str, Any], tuple[Param, ...]], ...] = ()  # what it holds, with each group's options
        self._moved: list[tuple[Param, float, float]] = []  # with rms of the gradient and update ratio
        self._own: list[list[float]] = []
        self._is_read = True

    def read_lr(self, optimizer: Any, output: Sequence[tuple[Any, Any]]) -> None:
        """Note the learning rate of the first parameter that moved; where none did, that of the first group."""
        try:
            groups = optimizer.param_groups
            self.lr = rate = float(optimizer.lr_of(output[0][0]) if output else groups[0]["lr"])
            self.rates = (rate,) if len(groups) == 1 else tuple([group["lr"] for group in groups])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            self.lr, self.rates = MISSING, ()  # a user's own optimizer need not have one

    def rates_of(self, optimizer: Any) -> dict[int, float]:
        """The learning rate of its newest step by the id() of a parameter: a schedule may have set another one since."""
        groups: Any = getattr(optimizer, "param_groups", ())
        if len(groups) != len(self.rates):
            return {}
        return {id(p): rate for group, rate in zip(groups, self.rates, strict=True) for p in group["params"]}

    def describe(self, optimizer: Any, param: Callable[[Any], Param]) -> None:
        """Note what the optimizer holds; `param` gives the record of a tensor."""
        groups: Any = getattr(optimizer, "param_groups", ())
        self.groups = tuple(({k: v for k, v in g.items() if k != "params"}, tuple(map(param, g["params"]))) for g in groups)

    def stepped(self, moved: list[tuple[Any, Any, Param, int]], tape: int, full: bool) -> None:
        """Note every (tensor, update, record, number) that moved; the sizes of updates only in `full`, where they were asked for."""
        self.rows, self._moved, self._is_read = [number for _, _, _, number in moved], [], False
        for tensor, update, param, _ in moved:
            g = param.g
            if param.g_tape != tape or id(tensor._grad) != param.array or tensor.grad_was_read:
                g = MISSING if tensor._grad is None else norm(tensor._grad)  # not the one that backward left, or read: perhaps clipped
            if full and update is not None:
                before = param.w if param.w_tape == tape else norm(tensor._data - update)
                param.u, param.u_tape = _ratio(norm(update), before), tape
            self._moved.append((param, rms(g, param.size), param.u if param.u_tape == tape else MISSING))

    def tensors(self) -> list[Any]:
        """The tensors that moved last, those that are still there."""
        found = [param.ref() for param, _, _ in self._moved]
        return [tensor for tensor in found if tensor is not None]

    def read(self) -> None:
        """Read the optimizer's summary of its state, if it is still there and has stepped since."""
        optimizer = self.ref()
        if self._is_read or optimizer is None:
            return
        self._is_read = True
        own = self.columns[1:-1]
        rates = self.rates_of(optimizer) if "effective_lr" in own else {}
        self._own = []
        for param, _, _ in self._moved:
            tensor = param.ref()
            summary = {} if tensor is None or not own else optimizer.summary(tensor)
            if tensor is not None and (rate := rates.get(id(tensor))) is not None:
                now = optimizer.lr_of(tensor)
                if now != rate and now:
                    summary["effective_lr"] *= rate / now
            self._own.append([summary.get(name, MISSING) for name in own])

    def table(self) -> np.ndarray:
        """The numbers as they are shown: a row for each of `rows`, a column for each of `columns`."""
        self.read()
        blank = [MISSING] * (len(self.columns) - 2)
        own = self._own if len(self._own) == len(self._moved) else [blank] * len(self._moved)
        rows = [[g, *numbers, u] for (_, g, u), numbers in zip(self._moved, own, strict=True)]
        with np.errstate(over="ignore"):
            return np.array(rows, np.float32).reshape(len(rows), len(self.columns))


def _ratio(update: float, weight: float) -> float:
    if weight:
        return update / weight
    return MISSING if not update else math.nan if update != update else math.inf
