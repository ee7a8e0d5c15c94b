"""An optimizer as the panels show it: one row of numbers a parameter."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

from .summary import norm, rms
from .tape import Param
from .timeline import MISSING


class Series:
    """What one optimizer did last: learning rate, and per parameter its own summary and the real update.

    `rows` are parameter numbers of the timeline; `values` has a row for each and a column for each of `columns`.
    """

    def __init__(self, optimizer: Any, label: str, lr_column: int) -> None:
        self.ref = weakref.ref(optimizer)
        self.label, self.lr_column = label, lr_column
        self.own = tuple(getattr(optimizer, "columns", ()))
        self.columns = ("rms g", *self.own, "update:weight")
        self.rows: list[int] = []
        self.values = np.empty((0, len(self.columns)), np.float32)
        self.lr = MISSING
        self.tape = 0  # the newest tape that it stepped in
        self.step = 0

    def read_lr(self, optimizer: Any, output: list[tuple[Any, Any]]) -> None:
        """Note the learning rate of the first parameter that moved."""
        try:
            self.lr = float(optimizer.lr_of(output[0][0]))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            self.lr = MISSING  # a user's own optimizer need not have one

    def read(self, optimizer: Any, moved: list[tuple[Any, Any, Param, int]], tape: int) -> None:
        """Summarise every (tensor, update, record, number) that moved, and note the update ratios in the records."""
        table = []
        for tensor, update, param, _ in moved:
            gradient = tensor._grad
            is_another = param.g_tape != tape or id(gradient) != param.array  # than the one that backward left
            g = norm(gradient) if is_another and gradient is not None else param.g
            before = param.w if param.w_tape == tape else norm(tensor._data - update)
            param.u, param.u_tape = _ratio(norm(update), before), tape
            summary = optimizer.summary(tensor) if self.own else {}
            table.append([rms(g, param.size), *[summary.get(name, MISSING) for name in self.own], param.u])
        self.rows = [number for _, _, _, number in moved]
        with np.errstate(over="ignore"):
            self.values = np.array(table, np.float32).reshape(len(table), len(self.columns))


def _ratio(update: float, weight: float) -> float:
    if weight:
        return update / weight
    return MISSING if not update else math.nan if update != update else math.inf
