"""Alarm: which op made the first number of a step that is not finite, forward and backward, and what it was given.

It costs one subtraction an op: norms are computed anyway, and are NaN or infinite exactly where an entry is. All else happens
at the first op where one is not finite, at which its operands are still there.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from ..backend import to_numpy
from ..function import Constant
from .graph import Node
from .structure import op_name
from .summary import norm
from .tape import Tape
from .where import Where

RING = 16
"""So many ops before the bad one are described."""

_FANS_MOST = 8  # ops that read one result: above, whose gradient was the bad one of the sum is not looked for
_EXCUSED_MOST = 4_096
_LOOKED_AT = 4_096  # steps of a graph
_KEPT = 8  # steps with an alarm

Phase = Literal["forward", "backward"]


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


class Bad(NamedTuple):
    """The first op of a step that made NaN or Inf.

    Attributes:
        kind: `NaN` or `Inf`.
        at, candidates: the op's place in the tape, and how many it may be: more than one where a gradient is the sum of many.
        origin: its operands were finite; else it passed on what `source` had already.
        tape: the id of the tape, which tells steps apart.
        g: norm of the gradient that came to it, backward.
        ring: the ops before it, the newest last.
    """

    phase: Phase
    tape: int
    kind: str
    run: int
    step: int
    at: int
    candidates: int
    op: str
    module: str
    place: Where | None
    operands: tuple[Operand, ...]
    origin: bool
    source: str
    g: float
    ring: tuple[Seen, ...]


class Alarm:
    """Looks at the first bad op of each step, and keeps what it saw of the first steps that had one."""

    def __init__(self) -> None:
        self.kept: list[Bad] = []
        self.fans: dict[int, tuple[tuple[int, int], ...]] = {}  # op -> its inputs that several ops read, with the ops that made them
        self._excused: set[int] = set()
        self._seen: dict[Phase, int] = {}  # phase -> the newest tape that was looked at
        self._leaving: tuple[int, int, int] | None = None  # tape, op whose gradients had a bad one, and how many leaves had one before

    def forget(self, tape: Tape, run: int) -> None:
        """A new run began, of which this tape is the first step."""
        self.kept = [bad._replace(run=run, step=1) for bad in self.kept if bad.tape == tape.id]

    def forward(self, tape: Tape, node: Node, n: int, fn: Any, output: Any, size: float, now: tuple[int, int]) -> None:
        """Op `n` of the tape made something that is not finite."""
        if self._seen.get("forward") == tape.id or (size == size and node.number in self._excused):
            return
        nodes = node.path()
        operands = tuple(_operand(t, ref, nodes) for t, ref in zip(fn.inputs, node.inputs, strict=True))
        if size == size and (any(o.infinities for o in operands) or _has_infinity(fn.params)):
            # Infinity in, infinity out: a mask of attention, as a rule.
            if len(self._excused) < _EXCUSED_MOST:
                self._excused.add(node.number)
            return
        self._seen["forward"] = tape.id
        source = next((o.name for o in operands if o.nans), next((o.name for o in operands if not o.finite), ""))
        kind = "NaN" if size != size else "Inf"
        ring = _ring(tape, nodes, n, fn)
        self._keep(Bad("forward", tape.id, kind, *now, n, 1, *_named(node), operands, not source, source, math.nan, ring))

    def search(self, tape: Tape, root: Any, last: Tape | None, now: tuple[int, int]) -> None:
        """The loss of a step whose ops were not seen is not finite: its graph is still there, so look for the first bad op in it.

        Lines and modules are those of the ops of the last step that was seen, where that made the same ops.
        """
        if self._seen.get("forward") == tape.id:
            return
        self._seen["forward"] = tape.id
        steps = _graph(root.grad_fn)
        seen = [node for node in last.node.path() if node.graph] if last is not None else []
        alike = [node.cls for node in seen] == [fn.__class__ for fn in steps]
        made = {id(t.grad_fn): t for fn in steps for t in fn.inputs if t.grad_fn is not None} | {id(root.grad_fn): root}
        first: Bad | None = None
        for i, fn in enumerate(steps):
            size = norm(made[id(fn)]._data)
            if not size - size:
                continue
            operands = tuple(_operand_of(t) for t in fn.inputs)
            name, module, place = _named(seen[i]) if alike else (op_name(fn.__class__), "", None)
            source = next((o.name for o in operands if o.nans), next((o.name for o in operands if not o.finite), ""))
            at, kind = seen[i].depth - 1 if alike else -1, "NaN" if size != size else "Inf"
            bad = Bad("forward", tape.id, kind, *now, at, 1, name, module, place, operands, not source, source, math.nan, ())
            first = first or bad
            if size != size or not (source or _has_infinity(fn.params)):
                first = bad  # else infinity in, infinity out: a mask, unless nothing else is found
                break
        if first is not None:
            self._keep(first)

    # Backward

    def backward_began(self, tape: Tape) -> None:
        """A pass starts: which ops send a gradient to where others send one too."""
        self._leaving = None
        node = tape.node
        if node.fans is None:
            node.fans = _fans(node)
        self.fans = node.fans

    def leaving(self, tape: Tape, at: int, grads: Any, pending: list[Any]) -> None:
        """Op `at` is one of several that send a gradient to the same result: look at its part before they are one sum."""
        if self._leaving is None or self._leaving[0] != tape.id:
            for which, _ in self.fans[at]:
                d = grads[which] if which < len(grads) else None
                size = 0.0 if d is None else norm(d)
                if size - size:
                    self._leaving = tape.id, at, len(pending)
                    return

    def backward(self, tape: Tape, at: int, fn: Any, size: float, pending: list[Any], now: tuple[int, int]) -> None:
        """The gradient that comes to op `at`, or to a leaf where `at` is negative, is not finite."""
        if self._seen.get("backward") == tape.id:
            return
        self._seen["backward"] = tape.id
        nodes = tape.node.path()
        culprits = self._culprits(tape, nodes, at, pending)
        kind = "NaN" if size != size else "Inf"
        if not culprits:
            root = "the gradient that backward began with"
            self._keep(Bad("backward", tape.id, kind, *now, max(at, 0), 1, "", "", None, (), False, root, math.nan, ()))
            return
        j = culprits[0]
        operands = tuple(_remembered(tape, nodes, ref) for ref in nodes[j].inputs)
        if at >= 0 and at in nodes[j].inputs:
            operands = tuple(_recomputed(fn, nodes, at, o) if ref == at else o for ref, o in zip(nodes[j].inputs, operands, strict=True))
        g = tape.grads[j]
        ring = tuple(_seen_backward(tape, nodes, i) for i in range(j + 1, len(nodes)) if tape.grads[i] is not None)[:RING][::-1]
        g = math.nan if g is None else g
        bad = Bad("backward", tape.id, kind, *now, j, len(culprits), *_named(nodes[j]), operands, True, "", g, ring)
        self._keep(bad)

    def backward_ended(self, tape: Tape, pending: list[Any], now: tuple[int, int]) -> None:
        """A pass is over, in which a leaf got a gradient that is not finite, perhaps as the first."""
        found = next(((t, g) for t, g, _, _ in pending if g is not None and g - g), None)
        if found is not None:
            self.backward(tape, -1, found[0], found[1], pending, now)

    def _culprits(self, tape: Tape, nodes: list[Node], at: int, pending: list[Any]) -> list[int]:
        """The ops of which one made the bad gradient, in most cases the one."""
        first = next((i for i, (_, g, _, _) in enumerate(pending) if g is not None and g - g), len(pending))
        leaving = self._leaving if self._leaving is not None and self._leaving[0] == tape.id else None
        if leaving is not None and leaving[2] <= first:
            return [leaving[1]]
        if first < len(pending) and pending[first][2] is not None:
            source = tape.refs.get(pending[first][2].seq)
            return [] if source is None or source >= len(nodes) else [source]
        readers = [j for j in range(max(at, 0) + 1, len(nodes)) if nodes[j].graph and at in nodes[j].inputs]
        return [j for j in readers if (g := tape.grads[j]) is not None and not g - g]

    def _keep(self, bad: Bad) -> None:
        if len(self.kept) < _KEPT:
            self.kept.append(bad)


def _fans(node: Node) -> dict[int, tuple[tuple[int, int], ...]]:
    nodes = node.path()
    readers: dict[int, list[tuple[int, int]]] = {}
    for j, one in enumerate(nodes):
        if one.graph:
            for which, ref in enumerate(one.inputs):
                if ref.__class__ is int and ref >= 0:
                    readers.setdefault(ref, []).append((j, which))
    fans: dict[int, tuple[tuple[int, int], ...]] = {}
    for at, of in readers.items():
        if nodes[at].graph and len({j for j, _ in of}) > 1 and len(of) <= _FANS_MOST:
            for j, which in of:
                fans[j] = (*fans.get(j, ()), (which, at))
    return fans


def _named(node: Node) -> tuple[str, str, Where | None]:
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
        name, module, _ = _named(nodes[ref])
        return f"{module} / {name}" if module else name, "op"
    leaves = _leaf_names(nodes)
    leaf = leaves[-1 - ref] if -1 - ref < len(leaves) else None
    return ("?", "input") if leaf is None else (leaf.name, leaf.kind)


def _operand(t: Any, ref: Any, nodes: list[Node]) -> Operand:
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


def _operand_of(t: Any) -> Operand:
    """An operand of an op that was not seen: its name is that of the op that made it, or its kind."""
    if t.__class__ is Constant:
        return _operand(t, (t._data,), [])
    kind = "op" if t.grad_fn is not None else "parameter" if t._requires_grad else "input"
    return _ranged(kind if t.grad_fn is None else op_name(t.grad_fn.__class__), kind, t._data)


def _graph(fn: Any) -> list[Any]:
    """The ops that a result was made by, in the order in which they ran; none where the graph is large."""
    found: dict[int, Any] = {}
    todo = [fn]
    while todo:
        one = todo.pop()
        if one is None or id(one) in found or one.inputs is None:
            continue
        found[id(one)] = one
        todo += [t.grad_fn for t in one.inputs]
        if len(found) > _LOOKED_AT:
            return []
    return sorted(found.values(), key=lambda one: one.seq)


def _has_infinity(params: dict[str, Any]) -> bool:
    return any(isinstance(value, (int, float)) and math.isinf(value) for value in params.values())


def _remembered(tape: Tape, nodes: list[Node], ref: Any) -> Operand:
    """An operand that is gone: of a leaf or an op the norm says whether it was finite."""
    name, kind = _name_of(ref, nodes)
    if ref.__class__ is not int:
        return Operand(name, kind, ())
    size = tape.values[ref] if ref >= 0 else tape.leaf_values[-1 - ref]
    shape = nodes[ref].shape if ref >= 0 else _leaf_names(nodes)[-1 - ref].shape
    bad = size is not None and size != size
    return Operand(name, kind, shape, nans=int(bad), infinities=int(size is not None and math.isinf(size)))


def _recomputed(fn: Any, nodes: list[Node], at: int, otherwise: Operand) -> Operand:
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


def _seen_backward(tape: Tape, nodes: list[Node], i: int) -> Seen:
    g = tape.grads[i]
    return Seen(
        _named(nodes[i])[0], nodes[i].place, math.nan if g is None else g, tuple(_remembered(tape, nodes, r) for r in nodes[i].inputs)
    )


def _ring(tape: Tape, nodes: list[Node], n: int, fn: Any) -> tuple[Seen, ...]:
    living = _living(tape, n, fn.inputs)
    ring: list[Seen] = []
    for i in range(max(0, n - RING), n):
        maker = living.get(i)
        if maker is not None:
            operands = tuple(_operand(t, ref, nodes) for t, ref in zip(maker.inputs, nodes[i].inputs, strict=True))
        else:
            operands = tuple(_remembered(tape, nodes, ref) for ref in nodes[i].inputs)
        value = tape.values[i]
        ring.append(Seen(_named(nodes[i])[0], nodes[i].place, math.nan if value is None else value, operands))
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
