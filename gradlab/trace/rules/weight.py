"""The matrices that a network learns: which they are, in which order they are read, and what moves them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from .evidence import Evidence
from .graph import Graph

LAYERS = ("Linear", "MatMul", "AddMM", "Conv", "Einsum")
"""Ops that multiply by a weight."""

_FEWEST = 4  # numbers of which a size says something: the slope and the bias of a line may pass through 0


class Weight(NamedTuple):
    """A parameter of two or more axes that is no table of embeddings: `options` are those of its group, empty where it is moved by hand."""

    label: str
    leaf: int
    shape: tuple[int, ...]
    optimizer: str
    options: Mapping[str, Any]

    @property
    def size(self) -> int:
        """How many entries it has."""
        return prod(self.shape)

    @property
    def scale_free(self) -> bool:
        """Whether its optimizer divides by the size of gradients, so that the size matters little."""
        return any(word in self.optimizer for word in ("Adam", "RMSprop", "Adagrad"))


def weights(e: Evidence) -> list[Weight]:
    """The weights that the step on show reads, in the order in which it reads them."""
    owners = {held.label: (facts.cls, options) for facts in e.optimizers for options, held_ones in facts.groups for held in held_ones}
    tables = {j for i, op in enumerate(e.graph.ops) if op["function"].startswith("Embedding") for j in leaves_of(e.graph, i)}
    found = []
    for j, leaf in enumerate(e.graph.leaves):
        if leaf["requires_grad"] and len(leaf["shape"]) > 1 and prod(leaf["shape"]) >= _FEWEST and j not in tables:
            cls, options = owners.get(leaf["name"], ("", {}))
            found.append(Weight(leaf["name"], j, tuple(leaf["shape"]), cls, options))
    return found


def leaves_of(graph: Graph, i: int) -> list[int]:
    """The leaves that op `i` reads, past transposes and the like."""
    found = [graph.leaf(graph.input(i, k)) for k in range(len(graph.ops[i]["inputs"]))]
    return [j for j in found if j is not None]


def layers(graph: Graph) -> list[tuple[int, int]]:
    """The ops that multiply what varies by a weight, in the order in which they ran, each with the leaf of its weight."""
    found = []
    for i in graph.find(*LAYERS):
        own = [j for j in leaves_of(graph, i) if graph.leaves[j]["requires_grad"] and len(graph.leaves[j]["shape"]) > 1]
        if len(own) == 1:
            found.append((i, own[0]))
    return found


def leads_to(graph: Graph, i: int, functions: tuple[str, ...], *, through: frozenset[str] | None = None, most: int = 24) -> int | None:
    """The first op of these classes that what op `i` makes comes to, other such ops in between left out; None where none is near."""
    seen, todo = {i}, [i]
    while todo and len(seen) <= most:
        for r in graph.readers[todo.pop(0)]:
            if graph.ops[r]["function"] in functions:
                return r
            if r not in seen and (through is None or graph.ops[r]["function"] in through):
                seen.add(r)
                todo.append(r)
    return None
