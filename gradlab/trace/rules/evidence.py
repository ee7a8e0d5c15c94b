"""Evidence: what a rule may read, as it is at one moment. It is made when somebody looks, never per op."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from ..alarm import Bad
from ..history import numbers_at
from ..numbers import Numbers
from ..recorder import Recorder
from ..run import Epoch, shown_name
from ..steps import Steps
from ..symptoms import InputStats, Stranger, key_of
from ..tape import Param, Tape
from ..timeline import is_missing
from ..units import Unit
from ..where import Where
from .difference import relative_error
from .graph import Graph

Part = Literal["structure", "loss", "gradients", "updates", "optimizer", "validation"]
"""structure: an op was traced; loss: a step had a scalar loss; gradients: a parameter got one; updates: a step was measured;
validation: a trainer measured an epoch, with samples that are not trained on."""

WINDOW = 256
"""The newest steps that are read."""

_NOTHING: dict[str, Any] = {"ops": [], "leaves": [], "modules": [], "cells": []}
_EARLY = 64  # steps of a run that stay known as its beginning
_MOST_UNITS = 0.7
_MEASURED = 32  # newest observations of what only full steps measure


class Held(NamedTuple):
    """A parameter of an optimizer: whether the step on show read it, and whether a step of this run, or that one, gave it a gradient."""

    label: str
    shape: tuple[int, ...]
    read: bool
    trained: bool
    touched: bool
    requires_grad: bool
    model: str | None


class OptimizerFacts(NamedTuple):
    """An optimizer: its class, whether it stepped in the step on show or later, and per group options and parameters."""

    label: str
    cls: str
    stepped: bool
    groups: tuple[tuple[Mapping[str, Any], tuple[Held, ...]], ...]


class Evidence:
    """A read-only view of a recorder for rules; whoever makes one holds the recorder's lock as long as it is read.

    Attributes:
        run, step: where the training stands; `step` counts complete steps.
        open: whether the step on show has not got its update yet.
        structure: the graph of the step on show, as `Recorder.structure` describes it.
        graph: the same with the questions that rules ask of it.

    >>> import gradlab as gl
    >>> from gradlab.trace import recording
    >>> w = gl.tensor([3.0], requires_grad=True)
    >>> with recording() as r:
    ...     (w * w).sum().backward()
    >>> evidence = Evidence(r)
    >>> evidence.step, [op["name"] for op in evidence.structure["ops"]], evidence.has("loss")
    (0, ['mul', 'sum'], True)
    """

    def __init__(self, recorder: Recorder, asked: bool = False) -> None:
        self._recorder = recorder
        self._idle = asked or not recorder.running
        self.structure: dict[str, Any] = recorder.structure()
        self.graph = Graph(self.structure)
        self.run, self.step, self.open = recorder.run, recorder.step, recorder.open

    def has(self, part: Part) -> bool:
        """Whether there is anything of that part to read."""
        if part == "structure":
            return bool(self.structure["ops"])
        if part == "loss":
            return bool(len(self.column("loss")[0])) or self.numbers.loss is not None
        if part == "gradients":
            return bool(len(self.column("grad_norm")[0])) or self.numbers.grad_norm is not None
        if part == "updates":
            return self.step > 0
        if part == "validation":
            return bool(self.validated_names)
        return bool(self.optimizers)

    @cached_property
    def numbers(self) -> Numbers:
        """The numbers of the step on show, in the order of the structure."""
        return self._recorder.numbers()

    # What is not finite

    @property
    def bad(self) -> tuple[Bad, ...]:
        """The first ops that made NaN or Inf, of the first steps of this run that had one."""
        return tuple(bad for bad in self._recorder.steps.alarm.kept if bad.run == self.run)

    @property
    def finite(self) -> bool:
        """Whether loss, gradients and parameters of the step on show are."""
        numbers = self.numbers
        known = [numbers.loss, numbers.grad_norm]
        return all(x is None or math.isfinite(x) for x in known) and not np.isinf(numbers.leaves).any()

    def last_finite(self, before: int) -> int:
        """The newest step before that one in which loss and gradient were finite; 0 where none is known."""
        steps, values = self.column("grad_norm")
        good = steps[np.isfinite(values) & (steps < before)]
        return int(good[-1]) if len(good) else 0

    def place(self, where: Where | None) -> str:
        """A line as text: `In[3]:9`, `train.py:12`."""
        if where is None:
            return ""
        name = where.file or ("" if where.count is None else f"In[{where.count}]")
        return f"{name}:{where.line}" if name and where.line is not None else name

    def is_op(self, at: int, name: str, where: Where | None) -> bool:
        """Whether the structure has that op there."""
        ops = self.graph.ops
        return at < len(ops) and ops[at]["name"] == name and (where is None or ops[at]["line"] == where.line)

    # Over time

    @cached_property
    def parameters(self) -> list[str]:
        """The labels of all parameters that had an update in this run."""
        return [name[2:] for name in self._names if name.startswith("g/")]

    def column(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The steps, of the newest 256, in which a column was measured, and its values there; empty where it never was.

        Columns are `loss`, `grad_norm`, `lr/` and an optimizer's label, and per parameter `g/` (norm of the gradient), `w/`
        (norm of the values) and `u/` (update:weight).
        """
        at = self._places.get(name)
        if at is None:
            return np.empty(0, int), np.empty(0)
        first, rows = self._rows
        return _known(first + np.arange(len(rows)), rows[:, at])

    def measured(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """As `column`, but the newest 32 observations, however far apart: most steps of a loop measure no parameter."""
        at = self._places.get(name)
        steps, rows = self._full_rows
        if at is None or not len(steps):
            return np.empty(0, int), np.empty(0)
        return _known(steps, rows[:, at])

    def early(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """As `column`, but of the first 64 steps of this training."""
        at = self._places.get(name)
        first, rows = self._early_rows
        if at is None or at >= rows.shape[1]:
            return np.empty(0, int), np.empty(0)
        return _known(first + np.arange(len(rows)), rows[:, at])

    @cached_property
    def _full_rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self._recorder.timeline.newest_with([i for i, name in enumerate(self._names) if name[:2] in ("g/", "u/")], _MEASURED)

    @cached_property
    def _early_rows(self) -> tuple[int, np.ndarray]:
        run, since = self._recorder.steps.run, self.since
        if run.beginning is None or run.beginning[0] != since:
            first, rows = self._recorder.timeline.oldest(_EARLY, since - 1)
            if len(rows) < _EARLY:
                return first, rows
            run.beginning = since, first, rows.copy()
        return run.beginning[1:]

    @cached_property
    def since(self) -> int:
        """The first step of the parameters on show: in one run a second model may be trained after a first one."""
        run = self._recorder.steps.run
        columns = [run.labelled(leaf["name"]) for leaf in self.graph.leaves if leaf["requires_grad"]]
        return min((column.since for column in columns if column is not None), default=1)

    @cached_property
    def losses(self) -> tuple[np.ndarray, np.ndarray]:
        """As `column("loss")`, of this training."""
        steps, losses = self.column("loss")
        return steps[steps >= self.since], losses[steps >= self.since]

    @cached_property
    def first(self) -> tuple[Graph, Numbers]:
        """The graph of the training's first step with its numbers: the network as it was made. Where it is lost, an empty one."""
        history = self._recorder.steps.run.history
        kept = history.first if self.since == 1 else history.at(self.since)
        if kept is None or (self.since > 1 and kept.step != self.since):
            fresh = self.step <= self.since
            return (self.graph, self.numbers) if fresh else (Graph(_NOTHING), self.numbers)
        structure = self._recorder._described(kept.node, kept.folded, kept.folded_graph, {})
        return self.graph if structure is self.structure else Graph(structure), numbers_at(kept)

    def unit(self, i: int) -> Unit | None:
        """What was seen of the single units of op `i`, a ReLU, tanh or sigmoid."""
        return self._recorder.steps.run.units.of(i, self.graph.ops[i]["function"])

    @cached_property
    def asleep(self) -> bool:
        """Whether most units of some ReLU were zero on every sample of the newest batches that were read, be they still few."""
        return any((unit := self.unit(i)) is not None and unit.idle_share > _MOST_UNITS for i in self.graph.find("ReLU"))

    def tensor(self, label: str) -> Any:
        """A parameter as it is now; look at little of it, and keep none."""
        return self._recorder.parameter(label)

    @cached_property
    def _names(self) -> list[str]:
        return self._recorder.timeline.columns()

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._names)}

    @cached_property
    def _rows(self) -> tuple[int, np.ndarray]:
        first, rows = self._recorder.timeline.rows(self.step - WINDOW)
        return first, np.ascontiguousarray(rows)

    # Epochs

    @cached_property
    def epochs(self) -> list[Epoch]:
        """What the trainer that worked last measured in its epochs of this run."""
        epochs = list(self._recorder.steps.run.epochs)
        return [epoch for epoch in epochs if epoch.trainer == epochs[-1].trainer]

    @cached_property
    def validated_names(self) -> list[str]:
        """The numbers that were measured in training and in validation: `loss`, `accuracy`."""
        return [name[4:] for name in (self.epochs[-1].numbers if self.epochs else ()) if name.startswith("val_")]

    def validated(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each epoch with validation the step at its end, and the number in training and in validation."""
        rows = [(one.step, one.numbers[name], one.numbers[f"val_{name}"]) for one in self.epochs if f"val_{name}" in one.numbers]
        steps, train, val = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.empty(0),) * 3
        return steps, train, val

    # Optimizers

    @cached_property
    def optimizers(self) -> tuple[OptimizerFacts, ...]:
        """The optimizers that stepped in this run, with what they hold."""
        steps = self._recorder.steps
        tape = self._recorder.tape
        several = len(steps.run.models) > 1
        facts: list[OptimizerFacts] = []
        for series in steps.run.series.values():
            groups = tuple((options, tuple(self._held(p, tape, steps, several) for p in held)) for options, held in series.groups)
            facts.append(OptimizerFacts(series.label, series.cls, series.tape >= tape.id, groups))
        return tuple(facts)

    @cached_property
    def trained_elsewhere(self) -> list[str]:
        """The parameters of modules that got a gradient in the step on show, but that no optimizer of this run holds."""
        steps, tape = self._recorder.steps, self._recorder.tape
        held = {p.serial for series in steps.run.series.values() for _, params in series.groups for p in params}
        several = len(steps.run.models) > 1
        return [
            shown_name(param.leaf.root, param.leaf.name, several)
            for param in tape.moved()
            if param.serial not in held and param.root is not None
        ]

    @cached_property
    def owners(self) -> tuple[list[str], list[str]]:
        """The models that the parameters of this training belong to, by the user's names for them, and the parameters of none."""
        run = self._recorder.steps.run
        columns = [run.labelled(label) for label in self.parameters]
        params = [column.param for column in columns if column is not None and column.param.ref() is not None]
        models = dict.fromkeys(param.root.label for param in params if param.root is not None)
        return list(models), [param.leaf.name for param in params if param.root is None]

    def values(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """The steps that are kept with the graph of the one on show, the newest 256, and the norm of what op `i` made in each."""
        tape, run = self._recorder.tape, self._recorder.steps.run
        steps, values = run.history.of_op(i, tape.node, WINDOW)
        now = tape.values[i]
        if now is not None and (not steps or steps[-1] != tape.step):
            steps.append(tape.step or run.step + 1)
            values.append(now)
        return np.array(steps, int), np.array(values, np.float64)

    def leaf_of(self, label: str) -> int | None:
        """The leaf of the structure with that name."""
        return next((j for j, leaf in enumerate(self.graph.leaves) if leaf["name"] == label), None)

    # Symptoms

    @property
    def unreset(self) -> int:
        """In how many steps in a row the first backward call added to gradients that an update had used already."""
        return self._recorder.steps.symptoms.unreset

    @property
    def in_eval(self) -> dict[str, int]:
        """Per model how many steps in a row it was trained in eval mode, where that matters."""
        return self._recorder.steps.symptoms.in_eval

    def contributions(self, label: str) -> int:
        """How many backward calls have added to a parameter's gradient since it was last None; at most 64 are counted."""
        tensor = self._recorder.parameter(label)
        return 0 if tensor is None else len(self._recorder.ledger(tensor))

    def input_stats(self, leaf: int) -> InputStats | None:
        """What a leaf that is no parameter looked like over the batches that were seen."""
        one = self.graph.leaves[leaf]
        return self._recorder.steps.symptoms.inputs.get(key_of(one["name"], tuple(one["shape"]), one["dtype"]))

    @cached_property
    def _living_roots(self) -> list[Any]:
        roots = self._recorder.steps.symptoms.roots
        return [t for step, tensor in roots if step < self.step - 1 and (t := tensor()) is not None]

    @property
    def kept_roots(self) -> tuple[int, int]:
        """How many losses of finished steps are alive, of the last 64 backward calls, and how many with a graph that was not freed."""
        living = self._living_roots
        whole = sum(t.grad_fn is not None and t.grad_fn.inputs is not None for t in living)
        return len(living), whole

    @property
    def holder_of_roots(self) -> str | None:
        """The user's name for what keeps the oldest of them; None where it has none."""
        names, living = self._recorder.names, self._living_roots
        if names is None or not living or not self._idle:
            return None
        known = names()
        for holder in gc.get_referrers(living[0]):
            if holder is not living and id(holder) in known:
                return known[id(holder)]
        return None

    @cached_property
    def custom_ops(self) -> list[tuple[Stranger, float | None]]:
        """The user's own ops, each with the relative error of its gradient; checked once, and never while a cell trains."""
        symptoms = self._recorder.steps.symptoms
        if self._idle:
            for cls, stranger in symptoms.strangers.items():
                if cls not in symptoms.checked:
                    symptoms.checked[cls] = relative_error(stranger)
        return [(stranger, symptoms.checked[cls]) for cls, stranger in symptoms.strangers.items() if cls in symptoms.checked]

    @staticmethod
    def _held(param: Param, tape: Tape, steps: Steps, several: bool) -> Held:
        leaf, serial = param.leaf, param.serial
        read, trained, touched = -serial in tape.refs, serial in steps.run.bound, serial in tape.touched
        return Held(shown_name(leaf.root, leaf.name, several), leaf.shape, read, trained, touched, leaf.requires_grad, leaf.root)


def _known(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those of the steps in which a number was measured, and the number there."""
    known = ~is_missing(values)
    return steps[known], values[known].astype(np.float64)
