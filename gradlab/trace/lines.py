"""What each line of the user's code made in a step: the ops by the line they are written on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Key = tuple[str | None, int | None]
"""A run of a cell: its id and execution count."""

_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c"}
_TEXTS_SHOWN = 3


def lines_of(structure: Mapping[str, Any], since: int = 0) -> dict[Key, dict[int, list[int]]]:
    """The ops from number `since` on, by run of a cell and line; code in files is left out.

    >>> ops = [{"cell": 0, "line": 2}, {"cell": 0, "line": 3}, {"cell": 0, "line": 3}]
    >>> lines_of({"ops": ops, "cells": [{"id": "a", "count": 1, "file": None}]})
    {('a', 1): {2: [0], 3: [1, 2]}}
    """
    found: dict[Key, dict[int, list[int]]] = {}
    keys = [(cell["id"], cell["count"]) if cell["file"] is None else None for cell in structure["cells"]]
    for i, op in enumerate(structure["ops"][since:], since):
        key = None if op["cell"] is None else keys[op["cell"]]
        if key is not None and op["line"] is not None:
            found.setdefault(key, {}).setdefault(op["line"], []).append(i)
    return found


def made(structure: Mapping[str, Any], ops: list[int]) -> str:
    """One short text for the tensors that these ops of one line left: the last of each run of the line.

    >>> op = {"shape": [3, 2], "dtype": "float32", "grad": True, "error": None}
    >>> made({"ops": [op, op]}, [0, 1])
    '(3, 2) f32'
    """
    all_ops = structure["ops"]
    ops = [i for i in ops if all_ops[i]["error"] is None]
    if not ops:
        return ""
    ends = [i for i, after in zip(ops, [*ops[1:], -1], strict=True) if after != i + 1]
    texts = list(dict.fromkeys(tensor_text(all_ops[i]["shape"], all_ops[i]["dtype"]) for i in ends))
    text = texts[0] if len(texts) == 1 else f"{texts[0]} … {texts[-1]}"
    times = f"{len(ends)} × " if len(ends) > 1 else ""
    aside = ", no grad" if not all_ops[ops[-1]]["grad"] and any(op["grad"] for op in all_ops) else ""
    return f"{times}{text}{aside}"


def tensor_text(shape: Iterable[int], dtype: str) -> str:
    """The shape as Python writes it, and the dtype in few letters.

    >>> tensor_text([3], "float32")
    '(3,) f32'
    """
    return f"{tuple(shape)} {short_dtype(dtype)}"


def few(texts: list[str]) -> str:
    """The first texts in one.

    >>> few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = len(texts) - _TEXTS_SHOWN
    return ", ".join(texts[:_TEXTS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def short_dtype(dtype: str) -> str:
    """A dtype in few letters.

    >>> short_dtype("float32"), short_dtype("bool")
    ('f32', 'bool')
    """
    word = dtype.rstrip("0123456789")
    return _SHORT[word] + dtype[len(word) :] if word in _SHORT else dtype
