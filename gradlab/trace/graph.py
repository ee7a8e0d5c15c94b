"""The shapes of the graphs that were seen: a tree in which every step of a training loop walks the same path.

A tape adds one op after the other, so what it has recorded so far is a node of this tree, and its past the way up to the
root. A step that does what an earlier one did walks down existing nodes, and builds nothing.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from .names import Leaf
from .where import Where

VARIES = object()
"""Stands for the value of a Python number that is not the same in every step."""

_CHILDREN_KEPT = 64
_numbers = count(1)


class Call:
    """One call of a module inside a step: equal calls of different steps are one object."""

    __slots__ = ("cls", "is_model", "key", "nth", "parent", "path", "root", "text")

    def __init__(self, parent: Call | None, root: str, path: str | None, key: str, cls: str, text: str, nth: int, is_model: bool) -> None:
        self.parent, self.root, self.path, self.key, self.cls, self.text, self.nth = parent, root, path, key, cls, text, nth
        self.is_model = is_model  # whether its root has parameters

    @property
    def chain(self) -> list[Call]:
        """This call and those around it, the outermost first."""
        calls: list[Call] = []
        call: Call | None = self
        while call is not None:
            calls.append(call)
            call = call.parent
        return calls[::-1]


class Node:
    """An op at its place in a step.

    `inputs` has, per input, the index of the op that made it, -1 - j for leaf j, (number,) for a Python number or the
    name of an op of an earlier step. `leaves` are those that this op is the first to read.
    """

    __slots__ = (
        "call",
        "children",
        "cls",
        "depth",
        "dtype",
        "error",
        "fans",
        "graph",
        "graphs",
        "inputs",
        "leaves",
        "leaves_to",
        "next",
        "number",
        "parent",
        "place",
        "shape",
    )
    next: Node | None

    def __init__(
        self,
        parent: Node | None,
        cls: Any,
        inputs: tuple[Any, ...],
        leaves: tuple[Leaf, ...],
        shape: tuple[int, ...],
        dtype: Any,
        place: Where | None,
        call: Call | None,
        graph: bool,
        error: str | None,
    ) -> None:
        self.parent, self.cls, self.inputs, self.leaves = parent, cls, inputs, leaves
        self.shape, self.dtype, self.place, self.call, self.graph, self.error = shape, dtype, place, call, graph, error
        self.depth = 0 if parent is None else parent.depth + 1
        self.graphs = graph + (0 if parent is None else parent.graphs)  # ops with a gradient up to here
        self.leaves_to = len(leaves) + (0 if parent is None else parent.leaves_to)
        self.number = next(_numbers)
        self.fans: dict[int, tuple[tuple[int, int], ...]] | None = None  # filled by the alarm
        self.next = None  # where the newest step went from here
        self.children: list[Node] = []

    def path(self) -> list[Node]:
        """The ops from the first to this one."""
        nodes: list[Node] = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def above(self, depth: int) -> Node:
        """The node `depth` ops after the start, on the way to this one."""
        node = self
        while node.depth > depth:
            assert node.parent is not None
            node = node.parent
        return node


class Tree:
    """All paths seen lately. `epoch` counts changes that make an existing node look different."""

    def __init__(self, nodes_kept: int = 60_000) -> None:
        self.epoch = 0
        self._nodes_kept = nodes_kept
        self._made = 0
        self.root = _start()

    def prune(self) -> None:
        """Start anew where too many paths were collected; the tapes at hand keep their own."""
        if self._made > self._nodes_kept:
            self._made = 0
            self.root = _start()

    def follow(
        self,
        parent: Node,
        cls: Any,
        inputs: tuple[Any, ...],
        leaves: tuple[Leaf, ...],
        shape: tuple[int, ...],
        dtype: Any,
        place: Where | None,
        call: Call | None,
        graph: bool,
        error: str | None = None,
    ) -> Node:
        """The child of `parent` that looks so, made if there is none."""
        near = None
        for node in parent.children:
            if (
                node.cls is cls
                and node.graph is graph
                and node.call is call
                and node.shape == shape
                and node.dtype == dtype
                and node.place == place
                and node.leaves == leaves
                and node.error == error
            ):
                if node.inputs == inputs or _same_but_numbers(node.inputs, inputs, VARIES):
                    parent.next = node
                    return node
                if _same_but_numbers(node.inputs, inputs, None):
                    near = node
        if near is not None:
            # One graph with another number in it, as a schedule makes them: the same node, without the number.
            near.inputs = tuple((VARIES,) if a.__class__ is tuple and a != b else a for a, b in zip(near.inputs, inputs, strict=True))
            self.epoch += 1
            parent.next = near
            return near
        node = Node(parent, cls, inputs, leaves, shape, dtype, place, call, graph, error)
        if len(parent.children) >= _CHILDREN_KEPT:
            del parent.children[0]
        parent.children.append(node)
        parent.next = node
        self._made += 1
        return node


def _start() -> Node:
    return Node(None, None, (), (), (), None, None, None, False, None)


def _same_but_numbers(known: tuple[Any, ...], new: tuple[Any, ...], wildcard: object) -> bool:
    """Whether inputs agree where they are no numbers; with a wildcard, only numbers that are known to vary may differ."""
    if len(known) != len(new):
        return False
    for a, b in zip(known, new, strict=True):
        if a != b and not (a.__class__ is tuple and b.__class__ is tuple and (wildcard is None or a[0] is wildcard)):
            return False
    return True
