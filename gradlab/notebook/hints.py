"""The short texts that stand at the ends of a cell's lines: shapes, parameters, what a backward call and an update did."""

from __future__ import annotations

import dis
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

from .. import Tensor
from ..data import DataLoader, TensorDataset
from ..nn import Module
from ..optim import Optimizer
from ..trace import Stretch, Where
from ..trace.lines import few, lines_of, made, tensor_text
from .binding import Binding, bindings

Hint = list[Any]
"""Line, text, number of the op in the step on show or None."""

Source = Callable[[CodeType], Where | None]

_TOLD = (Tensor, Module, Optimizer, DataLoader)


class Hints:
    """The texts for one run of a cell. It knows which of the cell's variables were bound anew, and keeps none of them alive."""

    def __init__(self, source: str, namespace: Mapping[str, Any], stretch: Stretch, place: Source) -> None:
        self._binding: Binding = bindings(source)
        self._namespace, self._stretch, self._place = namespace, stretch, place
        kept = {name: namespace.get(name) for name in self._binding.names}
        self._before = {name: weakref.ref(value) for name, value in kept.items() if isinstance(value, _TOLD)}

    def read(self, structure: Mapping[str, Any], cell: str, count: int | None) -> tuple[list[Hint], list[dict[str, Any]]]:
        """The texts for the cell that runs, and those for cells whose functions it called or whose classes it used."""
        bound = self._bound()
        shown = len(structure["ops"])  # of a long step that grows, not yet all
        ops = {name: op for op, name in self._stretch.names(bound).items() if op < shown}
        found: dict[tuple[str | None, int | None], dict[int, Hint]] = {
            key: _of_ops(structure, lines) for key, lines in lines_of(structure, self._stretch.first).items()
        }
        own = found.setdefault((cell, count), {})
        for line, names in _by_line(self._binding.names, bound).items():
            last = own[line][2] if line in own else None  # the line's last op made what it binds, where the variable doesn't tell
            texts = [
                text + _aside(structure, ops.get(name, last)) for name in names if (text := self._value(name, bound[name], len(names) > 1))
            ]
            if texts:
                own[line] = [line, few(texts), next((ops[name] for name in reversed(names) if name in ops), last)]
        for line, name, method in self._binding.calls:
            if text := self._call(self._namespace.get(name), method):
                own[line] = [line, text, None]
        for value in bound.values():
            if isinstance(value, Module):
                for where, text in _parts(value, self._place):
                    if where.cell is not None and where.line is not None:
                        found.setdefault((where.cell, where.count), {}).setdefault(where.line, [where.line, text, None])
        lists = {key: [lines[n] for n in sorted(lines)] for key, lines in found.items()}
        mine = lists.pop((cell, count))
        return mine, [{"id": id, "count": n, "lines": lines} for (id, n), lines in lists.items() if id is not None and lines]

    def _bound(self) -> dict[str, Any]:
        """The cell's variables that hold something of ours, and another one than when the cell began."""
        found: dict[str, Any] = {}
        for name in self._binding.names:
            value, before = self._namespace.get(name), self._before.get(name)
            if isinstance(value, _TOLD) and (before is None or before() is not value):
                found[name] = value
        return found

    def _value(self, name: str, value: Any, several: bool) -> str:
        if isinstance(value, Tensor):
            return f"{name} {tensor_text(value.shape, str(value.dtype))}"
        if isinstance(value, DataLoader):
            text = _batches(value)
        else:
            text = _parameters_of(value) if isinstance(value, Module) else self._held(value)
        return f"{name} {text}" if several and text else text

    def _held(self, optimizer: Optimizer) -> str:
        """How many parameters an optimizer holds, and whether these are all of the models that they belong to."""
        held = {id(p): p.numel() for group in optimizer.param_groups for p in group["params"]}
        text = _parameters(held.values())
        for value in list(self._namespace.values()):
            if isinstance(value, Module):
                own = {id(p) for _, p in value.named_parameters()}
                if own & held.keys():
                    return f"{text}, {'all held' if own <= held.keys() else f'{len(own & held.keys())} of {len(own)} tensors held'}"
        return text

    def _call(self, value: Any, method: str) -> str:
        stretch = self._stretch
        if method == "backward" and isinstance(value, Tensor) and stretch.ops:
            norm = stretch.recorder.numbers().grad_norm
            at = f" at step {stretch.recorder.step}" if stretch.steps else ""
            return "" if norm is None else f"‖g‖ {norm:.3g}{at}"
        if method == "step" and isinstance(value, Optimizer) and stretch.steps:
            moved = stretch.moved(value)
            return "" if not moved else f"{moved} parameter{'s' if moved > 1 else ''} moved"
        return ""


def _aside(structure: Mapping[str, Any], op: int | None) -> str:
    ops = structure["ops"]
    return ", no grad" if op is not None and not ops[op]["grad"] and any(other["grad"] for other in ops) else ""


def _of_ops(structure: Mapping[str, Any], lines: Mapping[int, list[int]]) -> dict[int, Hint]:
    return {line: [line, text, ops[-1]] for line, ops in lines.items() if (text := made(structure, ops))}


def _by_line(lines: Mapping[str, int], bound: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name in bound:
        found.setdefault(lines[name], []).append(name)
    return found


def _batches(loader: DataLoader) -> str:
    """How many batches there are, and of what where the dataset is made of arrays: an item of another one is not read for this."""
    try:
        number = len(loader)
    except TypeError:  # a sampler without a length
        return ""
    size, dataset = loader.batch_size, loader.dataset  # without a size a batch_sampler says it
    if size is None or type(dataset) is not TensorDataset or loader.collate_fn is not None or not number:
        return f"{number:,} batch{'es' if number != 1 else ''}" + ("" if size is None else f" of {size:,}")
    rows = min(size, len(dataset))
    return f"{number:,} × " + ", ".join(tensor_text((rows, *t.shape[1:]), str(t.dtype)) for t in dataset.tensors)


def _parameters_of(module: Module) -> str:
    return _parameters(p.numel() for _, p in module.named_parameters())


def _parameters(sizes: Iterable[int]) -> str:
    total = sum(sizes)
    return f"{total:,} parameter{'s' if total != 1 else ''}" if total else ""


def _parts(module: Module, place: Source) -> list[tuple[Where, str]]:
    """For each line of a user's `__init__` that makes a layer: where it is, and how many parameters the layer has."""
    found: list[tuple[Where, str]] = []
    seen: set[type] = set()
    for one in module.modules():
        cls = type(one)
        code = getattr(cls.__init__, "__code__", None)
        if cls in seen or code is None:
            continue
        seen.add(cls)
        where = place(code)
        if where is None or where.cell is None:
            continue
        for step in dis.get_instructions(code):
            line = None if step.positions is None else step.positions.end_lineno
            part = getattr(one, step.argval, None) if step.opname == "STORE_ATTR" else None
            text = _parameters_of(part) if isinstance(part, Module) else ""
            if text and line is not None:
                found.append((where._replace(line=line + (where.line or 0)), text))
    return found
