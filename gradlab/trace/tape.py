"""The tape of one step: where it is in the tree of graphs, and the numbers of each op and leaf."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

from .graph import Node
from .names import Leaf, Root
from .summary import norm
from .timeline import MISSING
from .where import Where

OPS_KEPT = 32_768
"""How many ops of one step are kept, about 15 MB of graph; further ones are only counted."""

ASIDE_KEPT = 256
"""How many ops without a graph a step keeps; further ones are only counted."""

_COMPARED = 65_536  # entries of a leaf whose values are compared with those that the step read
_ids = count(1)


class Param:
    """A leaf that requires a gradient: what it is called, and its newest numbers, each with the tape that it is from."""

    __slots__ = ("array", "g", "g_tape", "leaf", "models", "ref", "root", "serial", "size", "u", "u_tape", "w", "w_tape")

    def __init__(self, tensor: Any, leaf: Leaf, root: Root | None, models: int) -> None:
        self.serial: int = tensor.serial
        self.ref = weakref.ref(tensor)
        self.leaf, self.root = leaf, root
        self.models = models  # that had been seen when it was looked for in them
        self.size: int = tensor._data.size
        self.g = self.w = self.u = MISSING  # norm of the gradient, of the values, and rms(update) / rms(values)
        self.g_tape = self.w_tape = self.u_tape = 0
        self.array = 0  # id() of the gradient's array when `g` was computed

    @property
    def identity(self) -> tuple[str | None, str]:
        """What stays the same when the tensor is replaced by another one of that name."""
        return self.leaf.root, self.leaf.name


class Tape:
    """One step while it runs and after it. Lists are made once and used again; the first `n` entries count."""

    __slots__ = (
        "aside", "backward_ns", "calls", "cells", "cells_to", "check", "errors", "folded", "folded_graph", "forward_ns", "full",
        "grad_norm", "grads", "id", "kept", "leaf_count", "leaf_grads", "leaf_values", "leaf_versions", "light", "looks", "loss", "n",
        "node", "passes", "refs", "roots", "stale", "start", "step", "sums", "touched", "turns", "updated", "values", "versions",
    )  # fmt: skip
    id: int
    node: Node
    start: Node
    values: list[float | None]
    grads: list[float | None]
    forward_ns: list[int]
    backward_ns: list[int | None]
    loss: float | None
    grad_norm: float | None

    def __init__(self, start: Node) -> None:
        self.values, self.grads, self.forward_ns, self.backward_ns = [], [], [], []
        self.leaf_values: list[float | None] = []
        self.leaf_grads: list[float | None] = []
        self.leaf_versions: list[int] = []
        self.n = self.leaf_count = 0
        self.reset(start)

    def reset(self, start: Node) -> None:
        """Become an empty tape that starts at `start`."""
        self.again()
        self.node = self.start = start
        self.grads[: self.n] = self.backward_ns[: self.n] = self.values[: self.n] = [None] * self.n
        self.leaf_values[: self.leaf_count] = self.leaf_grads[: self.leaf_count] = [None] * self.leaf_count
        self.n = self.leaf_count = self.aside = self.folded = self.folded_graph = self.cells_to = 0
        self.kept = 0  # ops that the last rewind left
        self.refs: dict[int, int] = {}  # sequence number of an op, or minus serial of a tensor without one -> place
        self.roots: dict[Root, None] = {}  # models with parameters
        self.calls: dict[str, int] = {}  # key of a module's spot -> calls so far
        self.cells: dict[str, tuple[int | None, int]] = {}  # cell id -> (count of its run, its first op)
        self.touched: dict[int, Param] = {}  # whose gradient this step added to
        self.sums: set[int] = set()  # serials of leaves whose gradient holds more than the newest backward call added
        self.errors: dict[int, str] = {}  # op whose backward raised -> what it said
        self.stale = False
        self.full = self.looks = True
        self.light = False  # read by a glance: loss, gradients and update, but no ops

    def again(self) -> None:
        """Become the tape of a step that has not begun; after a light one, which writes no more than this, that is all."""
        self.id = next(_ids)
        self.passes = self.step = 0
        self.updated = self.check = False
        self.turns = False  # whether an op with a graph may begin a new step: any of updated, passes, stale
        self.versions: list[tuple[Any, int]] = []  # of a light step: weak references to leaves, and their versions after the backward call
        self.loss = self.grad_norm = None

    @property
    def graphs(self) -> int:
        """How many kept ops have a graph."""
        return self.node.graphs

    def grow(self) -> bool:
        """Make room for more ops; False where enough are kept."""
        more = min(max(64, len(self.values)), OPS_KEPT - len(self.values))
        self.values.extend([None] * more)
        self.grads.extend([None] * more)
        self.forward_ns.extend([0] * more)
        self.backward_ns.extend([None] * more)
        return more > 0

    def grow_leaves(self) -> None:
        """Make room for more leaves."""
        more = max(16, len(self.leaf_values))
        self.leaf_values.extend([None] * more)
        self.leaf_grads.extend([None] * more)
        self.leaf_versions.extend([0] * more)

    def turn_to(self, place: Where | None) -> Node | None:
        """The next op is at `place`: the node that an earlier step had there, None for none.

        A cell that runs again replaces what it did before and what came after, as long as no gradient was computed: from then
        on, running again adds to the gradients.
        """
        here = self.node.place
        if place is not None and (here is None or here.count != place.count) and not (self.passes or self.updated):
            self._note_cells()
            known = None if place.cell is None else self.cells.get(place.cell)
            if known is not None and known[0] != place.count:
                self.rewind(known[1])
            elif known is None and self.n and not self.graphs and self._is_earlier(place.count):
                self.rewind(0)  # ops without a graph, and no step that they could belong to
        expected = self.node.next
        return expected if expected is not None and expected.place == place else None

    def _is_earlier(self, count: int | None) -> bool:
        """Whether all ops are of cells that ran before the cell of that count."""
        return count is not None and all(known is not None and known < count for known, _ in self.cells.values())

    def _note_cells(self) -> None:
        """Note where each cell's ops begin."""
        node, new = self.node, []
        while node.depth > self.cells_to and node.parent is not None:
            new.append(node)
            node = node.parent
        for node in reversed(new):
            if node.place is not None and node.place.cell is not None:
                self.cells.setdefault(node.place.cell, (node.place.count, node.depth - 1))
        self.cells_to = self.n

    def rewind(self, n: int) -> None:
        """Forget op `n` and all after it."""
        self.node = self.node.above(n)
        self.n, self.leaf_count = n, self.node.leaves_to
        self.kept = n
        self.aside = n - self.node.graphs
        self.cells_to = min(self.cells_to, n)
        self.folded = self.folded_graph = 0
        self.errors = {at: text for at, text in self.errors.items() if at < n}
        self.refs = {key: at for key, at in self.refs.items() if -1 - self.leaf_count < at < n}
        self.cells = {cell: run for cell, run in self.cells.items() if run[1] < n}
        self.calls.clear()
        for call in {id(c): c for node in self.node.path() if node.call for c in node.call.chain}.values():
            self.calls[call.key] = max(call.nth, self.calls.get(call.key, 0))
        self.id = next(_ids)  # module calls that are still running count as new ones

    def gradient(self, param: Param, g: float | None) -> None:
        """Note the norm of a leaf's `.grad` after a backward call; None where only the fact is known."""
        param.g_tape = self.id
        param.g = MISSING if g is None else g
        self.touched[param.serial] = param
        self.note(param.serial, g)

    def note(self, serial: int, g: float | None) -> None:
        """Note the gradient's norm where this step read the leaf."""
        at = self.refs.get(-serial)
        if at is not None:
            self.leaf_grads[-1 - at] = g

    def summed(self, leaves: int) -> list[int]:
        """The places, of the first so many leaves, of those whose gradient is the sum of several backward calls."""
        places = [-1 - at for serial in self.sums if (at := self.refs.get(-serial)) is not None]
        return [place for place in places if place < leaves]

    def moved(self) -> list[Param]:
        """The leaves that got a gradient, in the order in which they were read."""
        return sorted(self.touched.values(), key=lambda param: -self.refs.get(-param.serial, -self.leaf_count - 1))

    def sum_up(self) -> None:
        """Compute the norm of all parameters' gradients together."""
        norms = [param.g for param in self.touched.values()]
        if norms:
            self.grad_norm = math.nan if any(g != g for g in norms) else math.hypot(*norms)

    def forgot(self) -> bool:
        """Whether every gradient that this step computed was set to None."""
        for param in self.touched.values():
            tensor = param.ref()
            if tensor is not None and tensor._grad is not None:
                return False
        return bool(self.touched)

    def rewritten(self, lookup: Callable[[], dict[int, str]] | None) -> bool:
        """Whether the leaves got new values since they got a gradient: written to, or all bound anew under their names."""
        if self.light:
            return any(tensor is None or tensor.version != version for tensor, version in [(ref(), v) for ref, v in self.versions])
        gone = 0
        names: dict[int, str] | None = None
        for param in self.touched.values():
            tensor = param.ref()
            at = self.refs.get(-param.serial)
            if tensor is None:
                gone += 1
            elif at is not None and tensor.version != self.leaf_versions[-1 - at]:
                return True
            elif lookup is not None and param.root is None:
                names = lookup() if names is None else names
                gone += names.get(id(tensor)) != param.leaf.name and param.leaf.name in names.values()
        return 0 < gone == len(self.touched) or any(map(self._holds_others, self.touched.values()))

    def _holds_others(self, param: Param) -> bool:
        """Whether a leaf's norm is another one than when this step read it: `w.data[:] = ...` is counted nowhere."""
        tensor = param.ref()
        if tensor is None or param.w_tape != self.id or param.size > _COMPARED:
            return False
        now = norm(tensor._data)
        return now != param.w and (now == now or param.w == param.w)
