"""The graph of a step with the questions that rules ask of it: who reads, who made, what is in between."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

_MOVES = frozenset({"Reshape", "Flatten", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Contiguous", "Clone", "Cast", "Expand"})
"""Ops that hand on the values as they are."""


class Graph:
    """The ops and leaves of a structure. Ops are told by their place, inputs as `("op", i)`, `("leaf", j)` and so on."""

    def __init__(self, structure: dict[str, Any]) -> None:
        self.ops: list[dict[str, Any]] = structure["ops"]
        self.leaves: list[dict[str, Any]] = structure["leaves"]
        self.modules: list[dict[str, Any]] = structure["modules"]
        self.cells: list[dict[str, Any]] = structure["cells"]

    @cached_property
    def readers(self) -> list[list[int]]:
        """Per op, the ops that read its output."""
        readers: list[list[int]] = [[] for _ in self.ops]
        for i, op in enumerate(self.ops):
            for kind, of in op["inputs"]:
                if kind == "op" and (not readers[of] or readers[of][-1] != i):
                    readers[of].append(i)
        return readers

    def find(self, *functions: str) -> Iterator[int]:
        """The ops of these classes, those that failed left out."""
        for i, op in enumerate(self.ops):
            if op["function"] in functions and not op["error"]:
                yield i

    def input(self, i: int, which: int = 0) -> tuple[str, Any]:
        """Where an input of op `i` comes from; ("none", None) where it has fewer."""
        inputs = self.ops[i]["inputs"]
        return tuple(inputs[which]) if which < len(inputs) else ("none", None)  # type: ignore[return-value]

    def maker(self, source: tuple[str, Any]) -> int | None:
        """The op that made an input, past ops that only move values; None where no op of this step did."""
        kind, of = source
        while kind == "op" and self.ops[of]["function"] in _MOVES:
            kind, of = self.input(of)
        return of if kind == "op" else None

    def leaf(self, source: tuple[str, Any]) -> int | None:
        """The leaf that an input is, past ops that only move values."""
        kind, of = source
        while kind == "op" and self.ops[of]["function"] in _MOVES:
            kind, of = self.input(of)
        return of if kind == "leaf" else None

    def shape(self, source: tuple[str, Any]) -> tuple[int, ...]:
        """The shape of an input; () for a number, and for what an earlier step made."""
        kind, of = source
        if kind == "op":
            return tuple(self.ops[of]["shape"])
        return tuple(self.leaves[of]["shape"]) if kind == "leaf" else ()

    def named(self, source: tuple[str, Any]) -> str:
        """What to call an input: the leaf's name, or the op."""
        kind, of = source
        return self.title(of) if kind == "op" else self.leaves[of]["name"] if kind == "leaf" else str(of)

    def title(self, i: int) -> str:
        """An op with the module it is in: `fc2 / matmul`.

        >>> Graph({"ops": [{"name": "exp", "module": None}], "leaves": [], "modules": [], "cells": []}).title(0)
        'exp'
        """
        op = self.ops[i]
        module = "" if op["module"] is None else self.modules[op["module"]]["path"]
        return f"{module} / {op['name']}" if module else op["name"]

    def where(self, i: int) -> str:
        """The line of an op: `In[3]:9`, `train.py:12`; empty where it is unknown."""
        op = self.ops[i]
        if op["cell"] is None:
            return ""
        cell = self.cells[op["cell"]]
        place = cell["file"] or ("" if cell["count"] is None else f"In[{cell['count']}]")
        return f"{place}:{op['line']}" if place and op["line"] is not None else place

    def at(self, i: int) -> str:
        """The op with its line, for a sentence: `fc2 / matmul in In[3]:9`."""
        place = self.where(i)
        return f"`{self.title(i)}` in {place}" if place else f"`{self.title(i)}`"

    def parameter(self, source: tuple[str, Any]) -> int | None:
        """The leaf of an input that is a parameter, past transposes and the like."""
        j = self.leaf(source)
        return j if j is not None and self.leaves[j]["requires_grad"] else None

    def roots(self) -> list[int]:
        """The ops of the graph that no other op of it reads: the loss, as a rule."""
        return [i for i, op in enumerate(self.ops) if op["grad"] and not any(self.ops[r]["grad"] for r in self.readers[i])]
