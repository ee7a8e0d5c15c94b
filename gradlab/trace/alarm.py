"""Alarm: which op made the first number of a step that is not finite, forward and backward, and what it was given.

It costs one subtraction an op: norms are computed anyway, and are NaN or infinite exactly where an entry is. All else happens
at the first op where one is not finite, at which its operands are still there.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

from .graph import Node
from .operand import RING, Operand, Seen, named, operand, operand_of, recomputed, remembered, ring_before, seen_backward
from .structure import op_name
from .summary import norm
from .suspect import suspects, words
from .tape import Tape
from .where import Where

_FANS_MOST = 8  # ops that read one result: above, whose gradient was the bad one of the sum is not looked for
_EXCUSED_MOST = 4_096
_LOOKED_AT = 4_096  # steps of a graph
_KEPT = 8  # steps with an alarm

Phase = Literal["forward", "backward"]


class Bad(NamedTuple):
    """The first op of a step that made NaN or Inf.

    Attributes:
        kind: `NaN` or `Inf`.
        at, candidates: the op's place in the tape, and how many it may be: more than one where a gradient is the sum of many.
        origin: its operands were finite; else it passed on what `source` had already.
        tape: the id of the tape, which tells steps apart.
        g: norm of the gradient that came to it, backward.
        ring: the ops before it, the newest last.
        clue: where its step was only glanced at, what says that it is this op; where `op` is "", what is known without one.
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
    clue: str = ""


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
        operands = tuple(operand(t, ref, nodes) for t, ref in zip(fn.inputs, node.inputs, strict=True))
        if size == size and (any(o.infinities for o in operands) or _has_infinity(fn.params)):
            # Infinity in, infinity out: a mask of attention, as a rule.
            if len(self._excused) < _EXCUSED_MOST:
                self._excused.add(node.number)
            return
        self._seen["forward"] = tape.id
        source = next((o.name for o in operands if o.nans), next((o.name for o in operands if not o.finite), ""))
        kind = "NaN" if size != size else "Inf"
        ring = ring_before(tape, nodes, n, fn)
        self._keep(Bad("forward", tape.id, kind, *now, n, 1, *named(node), operands, not source, source, math.nan, ring))

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
            operands = tuple(operand_of(t) for t in fn.inputs)
            name, module, place = named(seen[i]) if alike else (op_name(fn.__class__), "", None)
            source = next((o.name for o in operands if o.nans), next((o.name for o in operands if not o.finite), ""))
            at, kind = seen[i].depth - 1 if alike else -1, "NaN" if size != size else "Inf"
            bad = Bad("forward", tape.id, kind, *now, at, 1, name, module, place, operands, not source, source, math.nan, ())
            first = first or bad
            if size != size or not (source or _has_infinity(fn.params)):
                first = bad  # else infinity in, infinity out: a mask, unless nothing else is found
                break
        if first is not None:
            self._keep(first)

    def glanced(self, tape: Tape, last: Tape | None, leaves: list[tuple[str, Any]], now: tuple[int, int]) -> None:
        """A gradient of a step whose ops were not seen is not finite: which parameters got it says where it can have come from."""
        if tape.id in (self._seen.get("forward"), self._seen.get("backward")):
            return
        self._seen["backward"] = tape.id
        sizes = {name: (t.serial, norm(t._gradient._data)) for name, t in leaves if t._gradient is not None}
        bad = [name for name, (_, size) in sizes.items() if size - size]
        if not bad:
            return  # each is finite, and their sum of squares overflows
        good = [name for name in sizes if name not in bad]
        kind = "NaN" if any(size != size for _, size in sizes.values()) else "Inf"
        found = Bad("backward", tape.id, kind, *now, -1, 1, "", "", None, (), False, "", math.nan, ())
        if last is None:
            self._keep(found._replace(clue="The ops of that step were only glanced at, and no step before it was read in full."))
            return
        nodes = last.node.path()
        left = suspects(last, nodes, {serial: size - size != 0 for serial, size in sizes.values()})
        found = found._replace(clue=words(good, bad, last.step, nodes, left))
        if left.known:
            at, node = left.ops[0], nodes[left.ops[0]]
            name, module, place = named(node)
            operands = tuple(remembered(last, nodes, ref) for ref in node.inputs)
            found = found._replace(at=at, candidates=len(left.ops), op=name, module=module, place=place, operands=operands, origin=True)
        self._keep(found)

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
        operands = tuple(remembered(tape, nodes, ref) for ref in nodes[j].inputs)
        if at >= 0 and at in nodes[j].inputs:
            operands = tuple(recomputed(fn, nodes, at, o) if ref == at else o for ref, o in zip(nodes[j].inputs, operands, strict=True))
        g = tape.grads[j]
        ring = tuple(seen_backward(tape, nodes, i) for i in range(j + 1, len(nodes)) if tape.grads[i] is not None)[:RING][::-1]
        g = math.nan if g is None else g
        bad = Bad("backward", tape.id, kind, *now, j, len(culprits), *named(nodes[j]), operands, True, "", g, ring)
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
