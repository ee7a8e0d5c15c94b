"""What each op of a recorded step costs, from its name and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..cost import Cost, Shape, Shapes, cost
from .graph import Node


def costs(nodes: Sequence[Node]) -> list[Cost]:
    """The cost of every op of a step."""
    leaves = [leaf for node in nodes for leaf in node.leaves]
    return [_of(node, nodes, leaves) for node in nodes]


def _of(node: Node, nodes: Sequence[Node], leaves: Sequence[Any]) -> Cost:
    inputs: list[Shape] = []
    wants: list[bool] = []
    bytes_: list[int] = []
    for ref in node.inputs:
        source = None if not isinstance(ref, int) else nodes[ref] if ref >= 0 else leaves[-1 - ref]
        inputs.append(() if source is None else source.shape)
        wants.append(source is not None and (source.graph if isinstance(source, Node) else source.requires_grad))
        bytes_.append(0 if source is None or source.dtype is None else prod(source.shape) * source.dtype.itemsize)
    out = 0 if node.dtype is None else prod(node.shape) * node.dtype.itemsize
    return cost(node.cls, Shapes(inputs, wants, node.shape), (bytes_, out), node.graph)
