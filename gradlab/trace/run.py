"""A run: the steps of one training, from its first update on, as columns over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from .history import History
from .series import Series
from .tape import Param, Tape
from .timeline import MISSING, Timeline, is_missing
from .units import Units
from .zeros import Zeros

_SMALL_ENTRIES = 65_536  # parameters that fit the caches are summarised in every step
EVERY = 10
"""Larger parameters are summarised in every tenth step, and where a frame is due."""

_PARAMETERS_KEPT = 4_096
_EPOCHS_KEPT = 1_024


class Epoch(NamedTuple):
    """What a trainer measured in an epoch: its id(), the step at which it ended, and numbers by name."""

    trainer: int
    step: int
    numbers: dict[str, float]


class Column:
    """The three columns of a parameter, `g/`, `w/` and `u/`, from step `since` on; the tensor behind a name may change."""

    __slots__ = ("label", "number", "param", "since", "start")

    def __init__(self, label: str, number: int, start: int, param: Param, since: int) -> None:
        self.label, self.number, self.start, self.param, self.since = label, number, start, param, since


class Run:
    """Counts steps, gives parameters and optimizers their columns and writes the rows."""

    def __init__(self, number: int, zeros: Zeros | None = None) -> None:
        self.number = number
        self.step = 0
        self.timeline = Timeline()
        self.history = History()
        self.zeros = zeros or Zeros()
        self.units = Units()
        self.probes: dict[str, tuple[int, float]] = {}  # column -> (tape, what its probe read there)
        # First rows of a training, and the step from which on; noted by whoever reads them, for when the timeline has lost them.
        self.beginning: tuple[int, int, Any] | None = None
        self.timeline.add("loss")
        self.timeline.add("grad_norm")
        self.models: set[str] = set()  # labels of those with parameters
        self.entries = 0
        self.bound: set[int] = set()  # serials of the tensors that the columns show now
        self._columns: dict[tuple[str | None, str], Column] = {}
        self._by_label: dict[str, Column] = {}
        self.series: dict[int, Series] = {}
        self.epochs: deque[Epoch] = deque(maxlen=_EPOCHS_KEPT)

    def column(self, identity: tuple[str | None, str]) -> Column | None:
        """The columns of a parameter, None before its first update."""
        return self._columns.get(identity)

    def labelled(self, label: str) -> Column | None:
        """The columns of the parameter that is shown by that label."""
        return self._by_label.get(label)

    def is_full(self, wanted: bool) -> bool:
        """Whether the next step reads everything."""
        return wanted or self.entries <= _SMALL_ENTRIES or (self.step + 1) % EVERY == 0

    def knows(self, optimizer: Any) -> bool:
        """Whether this optimizer stepped in this run."""
        series = self.series.get(id(optimizer))
        return series is not None and series.ref() is optimizer

    def series_of(self, optimizer: Any) -> Series:
        """The record of an optimizer; one made anew takes the place of one of its kind that is gone."""
        known = self.series.get(id(optimizer))
        if known is not None and known.ref() is optimizer:
            return known
        cls = type(optimizer).__name__
        gone = next((key for key, s in self.series.items() if s.ref() is None and s.label.partition("#")[0] == cls), None)
        if gone is not None:
            old = self.series.pop(gone)
            made = Series(optimizer, old.label, old.lr_column)
        else:
            n = sum(s.label.partition("#")[0] == cls for s in self.series.values())
            label = cls if not n else f"{cls}#{n + 1}"
            made = Series(optimizer, label, self.timeline.add(f"lr/{label}"))
        self.series[id(optimizer)] = made
        return made

    def is_rebuilt(self, params: Iterable[Param], optimizer_is_new: bool) -> bool:
        """Whether names of this run now belong to other tensors, of a model or for an optimizer that is new."""
        for param in params:
            if optimizer_is_new or (param.root is not None and not param.root.counted):
                column = self._columns.get(param.identity) or self._by_label.get(param.leaf.name)
                if column is not None and column.param.serial != param.serial:
                    return True
        return False

    def meet(self, models: Iterable[str]) -> bool:
        """Note which models are in use, and say whether any is new."""
        known = len(self.models)
        self.models.update(models)
        return len(self.models) > known

    def enroll(self, params: Iterable[Param]) -> bool:
        """Give each parameter its columns, and say whether any is new."""
        new, several = False, len(self.models) > 1
        for param in params:
            column = self._columns.get(param.identity)
            if column is not None:
                self.bound.discard(column.param.serial)
                self.bound.add(param.serial)
                column.param = param
            elif len(self._columns) < _PARAMETERS_KEPT:
                new = True
                label = shown_name(param.leaf.root, param.leaf.name, several)
                if label in self._by_label:
                    label = shown_name(param.leaf.root, param.leaf.name, True)
                start = self.timeline.add(*[f"{letter}/{label}" for letter in "gwu"])
                column = Column(label, len(self._columns), start, param, self.step + 1)
                self._columns[param.identity] = self._by_label[label] = column
                self.bound.add(param.serial)
                self.entries += param.size
        return new

    def write(self, tape: Tape, step: int) -> None:
        """Store what the tape knows as the row of `step`."""
        zeros = self.zeros
        if zeros.tape != tape.id and zeros.wanted and tape.full:
            zeros.read([column.param for column in self._columns.values() if column.param.g_tape == tape.id], tape.id)
            for column in self._columns.values():
                self.timeline.add(f"z/{column.label}")
        for name in self.probes:
            self.timeline.add(name)
        row = [MISSING] * self.timeline.width
        if tape.loss is not None:
            row[0] = tape.loss
        if tape.grad_norm is not None:
            row[1] = tape.grad_norm
        at = tape.id
        for name, (read_at, value) in self.probes.items():
            if read_at == at:
                row[self.timeline.place(name)] = value
        for series in self.series.values():
            if series.tape == at:
                row[series.lr_column] = series.lr
        for column in self._columns.values():
            param, start = column.param, column.start
            if param.g_tape == at:
                row[start] = param.g
            if param.w_tape == at:
                row[start + 1] = param.w
            if param.u_tape == at:
                row[start + 2] = param.u
        if zeros.tape == at:
            for column in self._columns.values():
                share = zeros.shares.get(column.param.serial)
                if share is not None:
                    row[self.timeline.place(f"z/{column.label}")] = share
        self.timeline.write(step, row)

    def totals(self, step: int) -> tuple[float | None, float | None]:
        """Loss and norm of all gradients of a step that the timeline still has; None for what was not measured."""
        first, rows = self.timeline.rows(step - 1)
        if first != step or not len(rows):
            return None, None
        loss, norm = (None if unknown else value for value, unknown in zip(rows[0, :2].tolist(), is_missing(rows[0, :2]), strict=True))
        return loss, norm

    def shown(self) -> list[tuple[str, int]]:
        """The names of the columns, and the serials of the tensors behind them now."""
        return [(column.label, column.param.serial) for column in self._columns.values()]

    def refs(self) -> list[Any]:
        """Weak references to the tensors behind the columns."""
        return [column.param.ref for column in self._columns.values()]

    def tensors(self) -> list[Any]:
        """The living tensors behind the columns."""
        found = [ref() for ref in self.refs()]
        return [tensor for tensor in found if tensor is not None]

    def named(self) -> list[tuple[str, Any]]:
        """The same with the names of the columns."""
        found = [(column.label, column.param.ref()) for column in self._columns.values()]
        return [(name, tensor) for name, tensor in found if tensor is not None]

    def write_light(self, tape: Tape, step: int) -> None:
        """Store what is known of a light step: loss, gradient norm and learning rates."""
        values: list[tuple[int, float]] = []
        if tape.loss is not None:
            values.append((0, tape.loss))
        if tape.grad_norm is not None:
            values.append((1, tape.grad_norm))
        for series in self.series.values():
            if series.tape == tape.id:
                values.append((series.lr_column, series.lr))
        self.timeline.put(step, tuple([column for column, _ in values]), tuple([value for _, value in values]))


def shown_name(root: str | None, name: str, several: bool) -> str:
    """A path as it is shown: with the model's name where there are several models.

    >>> shown_name("model", "fc1.weight", False), shown_name("model", "fc1.weight", True)
    ('fc1.weight', 'model.fc1.weight')
    """
    return f"{root}.{name}" if root is not None and several and name else root if root is not None and several else name
