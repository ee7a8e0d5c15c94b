"""What an op was given, for the text that names the first bad one: names, shapes, and ranges as far as arrays are still there."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..backend import to_numpy
from ..function import Constant
from .graph import Node
from .structure import op_name
from .tape import Tape
from .where import Where

RING = 16
"""So many ops before the bad one are described."""

_LOOKED_AT = 4_096  # steps of a graph


class Operand(NamedTuple):
    """What an op was given: its name, what it is, its shape, and the range of its finite entries; NaN where that is gone."""

    name: str
    kind: str  # op, parameter, input, constant, number, past
    shape: tuple[int, ...]
    low: float = math.nan
    high: float = math.nan
    nans: int = 0
    infinities: int = 0

    @property
    def finite(self) -> bool:
        """Whether all entries are."""
        return not (self.nans or self.infinities)


class Seen(NamedTuple):
    """An op of the ring: what it is, where it is written, the norm of its value, and its operands as far as they were still there."""

    op: str
    place: Where | None
    value: float
    operands: tuple[Operand, ...]


def named(node: Node) -> tuple[str, str, Where | None]:
    """The name of an op, of the module call it is in, and its place in the code."""
    module = "" if node.call is None else node.call.path or node.call.cls
    return op_name(node.cls), module, node.place


def _leaf_names(nodes: list[Node]) -> list[Any]:
    return [leaf for one in nodes for leaf in one.leaves]


def _name_of(ref: Any, nodes: list[Node]) -> tuple[str, str]:
    if ref.__class__ is tuple:
        return str(ref[0]), "number"
    if ref.__class__ is str:
        return ref, "past"
    if ref >= 0:
        name, module, _ = named(nodes[ref])
        return f"{module} / {name}" if module else name, "op"
    leaves = _leaf_names(nodes)
    leaf = leaves[-1 - ref] if -1 - ref < len(leaves) else None
    return ("?", "input") if leaf is None else (leaf.name, leaf.kind)


def operand(t: Any, ref: Any, nodes: list[Node]) -> Operand:
    """An operand that is still there, with its range; `ref` is how the node refers to it."""
    name, kind = _name_of(ref, nodes)
    if t.__class__ is Constant:
        value = float(t._data)
        return Operand(str(t._data), "number", (), value, value, int(math.isnan(value)), int(math.isinf(value)))
    return _ranged(name, kind, t._data)


def _ranged(name: str, kind: str, array: Any) -> Operand:
    flat = np.asarray(to_numpy(array)).ravel()
    if flat.dtype.kind not in "fc":
        low, high = (float(flat.min()), float(flat.max())) if flat.size else (math.nan, math.nan)
        return Operand(name, kind, array.shape, low, high)
    nans, finite = int(np.isnan(flat).sum()), flat[np.isfinite(flat)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)
    return Operand(name, kind, array.shape, low, high, nans, flat.size - finite.size - nans)


def operand_of(t: Any) -> Operand:
    """An operand of an op that was not seen: its name is that of the op that made it, or its kind."""
    if t.__class__ is Constant:
        return operand(t, (t._data,), [])
    kind = "op" if t.grad_fn is not None else "parameter" if t._requires_grad else "input"
    return _ranged(kind if t.grad_fn is None else op_name(t.grad_fn.__class__), kind, t._data)


def remembered(tape: Tape, nodes: list[Node], ref: Any) -> Operand:
    """An operand that is gone: of a leaf or an op the norm says whether it was finite."""
    name, kind = _name_of(ref, nodes)
    if ref.__class__ is not int:
        return Operand(name, kind, ())
    size = tape.values[ref] if ref >= 0 else tape.leaf_values[-1 - ref]
    shape = nodes[ref].shape if ref >= 0 else _leaf_names(nodes)[-1 - ref].shape
    bad = size is not None and size != size
    return Operand(name, kind, shape, nans=int(bad), infinities=int(size is not None and math.isinf(size)))


def recomputed(fn: Any, nodes: list[Node], at: int, otherwise: Operand) -> Operand:
    """The range of what op `at` made: its own inputs are still there, so it can be made again."""
    try:
        with np.errstate(all="ignore"):
            again = fn.__class__.__new__(fn.__class__)
            again.inputs, again.params = fn.inputs, fn.params
            if fn.params.get("training") or "dropout" in fn.__class__.__name__.lower():
                return otherwise
            made = again.forward(*(t._data for t in fn.inputs), **fn.params)
        return _ranged(*_name_of(at, nodes), np.asarray(to_numpy(made)))
    except Exception:  # it is for the text only
        return otherwise


def seen_backward(tape: Tape, nodes: list[Node], i: int) -> Seen:
    """Op `i` of a backward pass: what the tape remembers of it."""
    g = tape.grads[i]
    return Seen(
        named(nodes[i])[0], nodes[i].place, math.nan if g is None else g, tuple(remembered(tape, nodes, r) for r in nodes[i].inputs)
    )


def ring_before(tape: Tape, nodes: list[Node], n: int, fn: Any) -> tuple[Seen, ...]:
    """The ops before op `n`, the newest last, with ranges where the graph still leads to their operands."""
    living = _living(tape, n, fn.inputs)
    ring: list[Seen] = []
    for i in range(max(0, n - RING), n):
        maker = living.get(i)
        if maker is not None:
            operands = tuple(operand(t, ref, nodes) for t, ref in zip(maker.inputs, nodes[i].inputs, strict=True))
        else:
            operands = tuple(remembered(tape, nodes, ref) for ref in nodes[i].inputs)
        value = tape.values[i]
        ring.append(Seen(named(nodes[i])[0], nodes[i].place, math.nan if value is None else value, operands))
    return tuple(ring)


def _living(tape: Tape, n: int, inputs: Iterable[Any]) -> dict[int, Any]:
    """The ops of the ring whose graph is still there, by their place."""
    found: dict[int, Any] = {}
    todo, looked_at = [t.grad_fn for t in inputs if t.grad_fn is not None], 0
    while todo and looked_at < _LOOKED_AT:
        fn = todo.pop()
        looked_at += 1
        at = tape.refs.get(fn.seq)
        if at is None or at in found or at < n - RING or fn.inputs is None:
            continue
        found[at] = fn
        todo += [t.grad_fn for t in fn.inputs if t.grad_fn is not None]
    return found
