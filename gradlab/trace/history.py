"""The norms of every op in the newest steps, for a reader who goes back in time."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np

from .graph import Node
from .numbers import SUM, Numbers
from .tape import Tape

HISTORY_BYTES = 16 << 20
"""What the history of a run may take."""

_STEPS_KEPT = 10_000
_OVERHEAD = 400  # bytes of an entry beside its numbers
_NODE_BYTES = 250  # of a node of the tree that only this history keeps


class Kept(NamedTuple):
    """One step: where its graph ends in the tree, and value and gradient norms of its ops, then of its leaves, in float32.

    `blank`: the places of numbers that were never measured; None where all that are no numbers are. `summed`: the leaves whose
    gradient is the sum of several backward calls.

    Shapes: numbers: (2 ops + 2 leaves,)
    """

    step: int
    node: Node
    folded: int
    folded_graph: int
    loss: float | None
    grad_norm: float | None
    numbers: np.ndarray
    blank: tuple[int, ...] | None
    summed: tuple[int, ...]


class History:
    """A ring of steps, the oldest leaves first; it keeps numbers and no array of the user's.

    Attributes:
        first: the first step of the run, which stays.

    >>> History().size_bytes
    0
    """

    def __init__(self, limit_bytes: int = HISTORY_BYTES) -> None:
        self.limit_bytes = limit_bytes
        self.size_bytes = 0
        self.first: Kept | None = None
        self._steps: deque[Kept] = deque()
        self._nodes: Counter[Node] = Counter()

    def add(self, tape: Tape) -> None:
        """Keep the numbers of a complete step: one copy of what its tape measured."""
        n, m = tape.n, tape.leaf_count
        values: list[Any] = [*tape.values[:n], *tape.grads[:n], *tape.leaf_values[:m], *tape.leaf_grads[:m]]
        with np.errstate(over="ignore"):
            numbers = np.array(values, np.float32)
        blank = None
        if int((numbers != numbers).sum()) != values.count(None):
            blank = tuple(i for i, value in enumerate(values) if value is None)
        node = tape.node
        kept = Kept(tape.step, node, tape.folded, tape.folded_graph, tape.loss, tape.grad_norm, numbers, blank, tuple(tape.summed(m)))
        self._steps.append(kept)
        self.first = self.first or kept
        self._nodes[node] += 1
        self.size_bytes += numbers.nbytes + _OVERHEAD + (node.depth * _NODE_BYTES if self._nodes[node] == 1 else 0)
        while self.size_bytes > self.limit_bytes or len(self._steps) > _STEPS_KEPT:
            self._drop(self._steps.popleft())

    def _drop(self, old: Kept) -> None:
        self.size_bytes -= old.numbers.nbytes + _OVERHEAD
        self._nodes[old.node] -= 1
        if not self._nodes[old.node]:
            del self._nodes[old.node]
            self.size_bytes -= old.node.depth * _NODE_BYTES

    @property
    def steps(self) -> list[int]:
        """The steps that it holds, oldest first."""
        return [kept.step for kept in self._steps]

    def at(self, step: int) -> Kept | None:
        """The numbers of a step; of the newest one before it where it is not held, None where nothing is."""
        found = None
        for kept in self._steps:
            if kept.step > step:
                break
            found = kept
        return found

    def of_op(self, i: int, node: Node, most: int) -> tuple[list[int], list[float]]:
        """The newest steps whose graph ends in `node`, up to so many, and the norm of what op `i` made in each."""
        kept = [one for one in self._steps if one.node is node][-most:]
        known = [one for one in kept if not np.isnan(one.numbers[i]) or (one.blank is not None and i not in one.blank)]
        return [one.step for one in known], [float(one.numbers[i]) for one in known]


def numbers_at(kept: Kept) -> Numbers:
    """What was kept of a step, as a frame shows it; durations and optimizers are not kept."""
    n, m = kept.node.depth, kept.node.leaves_to
    known = np.ones(len(kept.numbers), np.uint8)
    if kept.blank is None:
        known[np.isnan(kept.numbers)] = 0
    else:
        known[list(kept.blank)] = 0
    ops, leaves = np.full((n, 4), np.nan, np.float32), np.empty((m, 2), np.float32)
    ops[:, 0], ops[:, 1] = kept.numbers[:n], kept.numbers[n : 2 * n]
    leaves[:, 0], leaves[:, 1] = kept.numbers[2 * n : 2 * n + m], kept.numbers[2 * n + m :]
    op_has = known[:n] + 2 * known[n : 2 * n]
    leaf_has = known[2 * n : 2 * n + m] + 2 * known[2 * n + m :]
    leaf_has[list(kept.summed)] |= SUM
    return Numbers(ops, op_has, leaves, leaf_has, kept.loss, kept.grad_norm, [])
