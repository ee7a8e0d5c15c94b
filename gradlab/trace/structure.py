"""The graph of a step as plain lists and dicts: what a panel draws, and the hash that says whether it is the same graph."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .collector import uncollected
from .graph import VARIES, Call, Node
from .names import Leaf
from .run import Run, shown_name

_BETWEEN_WORDS = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@uncollected
def describe(node: Node, run: Run, key: str, folded: int, folded_graph: int, errors: dict[int, str]) -> dict[str, Any]:
    """Everything about the step that ends at `node` that does not change while its numbers do; `errors`: of backward, by op."""
    nodes = node.path()
    leaves = [leaf for one in nodes for leaf in one.leaves]
    calls = _calls(nodes)
    several = len(run.models | {c.root for c in calls if c.is_model} | {leaf.root for leaf in leaves if leaf.root is not None}) > 1
    modules = [_module(call, calls, several) for call in calls]
    owners: dict[tuple[str, str | None], int] = {(c.root, c.path): i for c, i in reversed(calls.items()) if c.path is not None}
    cells: dict[tuple[str | None, int | None, str | None, str | None], int] = {}
    faces: dict[Any, dict[str, Any]] = {}
    ops = [_op(one, calls, cells, faces, errors.get(i)) for i, one in enumerate(nodes)]
    return {
        "key": key,
        "hash": structural_hash(nodes, folded_graph),
        "ops": ops,
        "leaves": [_leaf(leaf, run, owners, several) for leaf in leaves],
        "modules": modules,
        "cells": [_cell(*key) for key in cells],
        "folded": folded,
    }


def structural_hash(nodes: list[Node], folded_graph: int) -> str:
    """A short text that is equal for equal graphs: op classes, wiring, shapes and dtypes of the ops that have a gradient."""
    digest = blake2b(digest_size=8)
    leaves = [leaf for node in nodes for leaf in node.leaves]
    place: dict[Any, str] = {}  # number of an op or leaf in the tape -> its name among those that count
    graphs = outside = 0
    for i, node in enumerate(nodes):
        if not node.graph:
            continue
        reads = []
        for ref in node.inputs:
            if ref.__class__ is tuple:
                reads.append("number")
            elif ref.__class__ is str:
                reads.append("past")
            elif ref in place:
                reads.append(place[ref])
            else:
                # From outside the graph: a leaf, or what an op without a gradient made of one.
                source: Leaf | Node = leaves[-1 - ref] if ref < 0 else nodes[ref]
                place[ref] = f"leaf {outside}"
                outside += 1
                reads.append(f"{place[ref]} {source.shape} {dtype_name(source.dtype)} {isinstance(source, Leaf) and source.requires_grad}")
        digest.update(f"{node.cls.__name__}({', '.join(reads)}) {node.shape} {dtype_name(node.dtype)}\n".encode())
        place[i] = f"op {graphs}"
        graphs += 1
    if folded_graph:
        digest.update(f"and {folded_graph} more".encode())
    return digest.hexdigest()


@lru_cache(maxsize=1_024)
def op_name(cls: type) -> str:
    """The name of the public function that applies a Function: the class's own, in lower case.

    >>> from gradlab.ops.softmax import LogSoftmax
    >>> from gradlab.ops.conv import Conv
    >>> from gradlab.ops.gelu import GELUTanh
    >>> op_name(LogSoftmax), op_name(Conv), op_name(GELUTanh)
    ('log_softmax', 'conv', 'gelu_tanh')
    """
    plain = cls.__name__.lower()
    for name, value in vars(sys.modules.get(cls.__module__, object)).items():
        if name[0] != "_" and name.replace("_", "") == plain and callable(value) and not isinstance(value, type) and name == name.lower():
            return name
    return _BETWEEN_WORDS.sub("_", cls.__name__).lower()


@lru_cache(maxsize=256)
def dtype_name(dtype: Any) -> str:
    """The name of a dtype; NumPy takes 10 us to find it.

    >>> import numpy as np
    >>> dtype_name(np.dtype("float32"))
    'float32'
    """
    return str(dtype)


def _calls(nodes: list[Node]) -> dict[Call, int]:
    calls: dict[Call, int] = {}
    last: Call | None = None
    for node in nodes:
        if node.call is not None and node.call is not last:
            last = node.call
            for call in last.chain:
                calls.setdefault(call, len(calls))
    return calls


def _module(call: Call, calls: dict[Call, int], several: bool) -> dict[str, Any]:
    parent = call.parent
    within = "" if parent is None or parent.path is None else parent.path
    path = call.path
    name = call.root if not path else path[len(within) + 1 :] if within and path.startswith(within + ".") else path
    if path is None:
        name = call.cls
    shown = shown_name(call.root, path or "", several or not call.is_model) if path is not None else call.cls
    return {
        "path": shown,
        "name": name,
        "cls": call.cls,
        "repr": call.text,
        "parent": None if parent is None else calls[parent],
        "call": call.nth,
    }


def _op(node: Node, calls: dict[Call, int], cells: dict[Any, int], faces: dict[Any, dict[str, Any]], error: str | None) -> dict[str, Any]:
    # A net that is unrolled over time has tens of thousands of ops of a few dozen kinds.
    key = (node.cls, node.shape, node.dtype, node.place, node.graph, node.error or error)
    face = faces.get(key)
    if face is None:
        face = faces[key] = _face(node, cells, error)
    return face | {"module": None if node.call is None else calls[node.call], "inputs": [_input(ref) for ref in node.inputs]}


def _face(node: Node, cells: dict[Any, int], error: str | None) -> dict[str, Any]:
    """What an op has in common with others: all but its place in the graph."""
    place = node.place
    cell = None if place is None else cells.setdefault((place.cell, place.count, place.file, place.path), len(cells))
    size = _size(node.shape, node.dtype)
    return {
        "name": op_name(node.cls),
        "function": node.cls.__name__,
        "kind": getattr(node.cls, "kind", "elementwise"),
        "module": None,
        "inputs": [],
        "shape": list(node.shape),
        "dtype": "" if node.dtype is None else dtype_name(node.dtype),
        "bytes": size,
        "grad": node.graph,
        "cell": cell,
        "line": None if place is None else place.line,
        "error": node.error or error,
    }


def _cell(cell: str | None, count: int | None, file: str | None, path: str | None) -> dict[str, Any]:
    place = {"id": cell, "count": count, "file": file}
    # A server may say `~` for the home directory.
    return place if path is None else {**place, "path": path, "home": str(Path.home())}


def _input(ref: Any) -> list[Any]:
    if ref.__class__ is tuple:
        return ["scalar", _number(ref[0])]
    if ref.__class__ is str:
        return ["past", ref]
    return ["op", ref] if ref >= 0 else ["leaf", -1 - ref]


def _number(value: Any) -> str:
    text = "varies" if value is VARIES else repr(value)
    return text if len(text) <= 8 or not isinstance(value, float) else f"{value:.6g}"


def _leaf(leaf: Leaf, run: Run, owners: dict[tuple[str, str | None], int], several: bool) -> dict[str, Any]:
    column = run.column((leaf.root, leaf.name)) if leaf.requires_grad else None
    owner, _, short = leaf.name.rpartition(".") if leaf.root is not None else ("", "", leaf.name)
    module = None
    if leaf.root is not None:
        while (module := owners.get((leaf.root, owner))) is None and owner:
            owner = owner.rpartition(".")[0]
    return {
        "name": column.label if column is not None else shown_name(leaf.root, leaf.name, several),
        "short": short,
        "kind": leaf.kind,
        "shape": list(leaf.shape),
        "dtype": dtype_name(leaf.dtype),
        "bytes": _size(leaf.shape, leaf.dtype),
        "requires_grad": leaf.requires_grad,
        "module": module,
        "column": None if column is None else column.number,
    }


def _size(shape: tuple[int, ...], dtype: Any) -> int:
    size = 0 if dtype is None else dtype.itemsize
    for n in shape:
        size *= n
    return int(size)
