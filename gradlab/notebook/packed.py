"""A long structure in few bytes: what many ops have in common is written once, the rest travels as columns of integers.

An unrolled recurrent net makes tens of thousands of ops of a few dozen kinds; `js/protocol/unpack.ts` is the other side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..trace.collector import uncollected
from .protocol import VERSION, Message, plain
from .protocol import structure as plain_structure

LONG = 1_000
"""From so many ops on a structure is packed."""

PART_BYTES = 900_000
"""What one message may take; what is longer travels in parts."""

_SOURCES = {"op": 0, "leaf": 1, "scalar": 2, "past": 3}


@uncollected
def messages(structure: Mapping[str, Any]) -> list[Message]:
    """The structure as one message, packed where it is long, or as several where that is still too much."""
    return [plain_structure(structure)] if len(structure["ops"]) < LONG else parts(packed(structure))


def packed(structure: Mapping[str, Any]) -> Message:
    """The structure message with `faces` in place of its three long lists.

    A face is a row without its own numbers. An input is 4 * number + 0 for an op, 1 for a leaf, 2 for a Python number and
    3 for an op of an earlier step; the last two count in `texts`.

    Shapes: buffers are int32: face (ops), module (ops), number of inputs (ops), inputs (all ops' one after the other),
    face (leaves), face (modules), parent (modules), call (modules); -1 stands for none
    """
    ops, modules = structure["ops"], structure["modules"]
    op_faces, op_face = _faces(ops, ("module", "inputs"))
    leaf_faces, leaf_face = _faces(structure["leaves"], ())
    module_faces, module_face = _faces(modules, ("parent", "call"))
    texts: dict[str, int] = {}
    inputs: list[int] = []
    for op in ops:
        for source, what in op["inputs"]:
            number = what if source in ("op", "leaf") else texts.setdefault(what, len(texts))
            inputs.append(4 * number + _SOURCES[source])
    columns = [
        op_face,
        [_or_none(op["module"]) for op in ops],
        [len(op["inputs"]) for op in ops],
        inputs,
        leaf_face,
        module_face,
        [_or_none(module["parent"]) for module in modules],
        [module["call"] for module in modules],
    ]
    content = {name: value for name, value in structure.items() if name not in ("ops", "leaves", "modules")}
    content |= {"faces": {"ops": op_faces, "leaves": leaf_faces, "modules": module_faces}, "texts": list(texts)}
    return Message({"v": VERSION, "kind": "structure", **plain(content)}, [np.array(column, "<i4").tobytes() for column in columns])


def parts(message: Message) -> list[Message]:
    """The message itself, or where it is too long for one its bytes cut into several of kind `part`."""
    whole = [json.dumps(message.content, allow_nan=False, separators=(",", ":")).encode(), *message.buffers]
    sizes = [len(piece) for piece in whole]
    if sum(sizes) <= PART_BYTES:
        return [message]
    blob = b"".join(whole)
    starts = range(0, len(blob), PART_BYTES)
    header = {"v": VERSION, "kind": "part", "parts": len(starts), "sizes": sizes}
    return [Message(header | {"part": i}, [blob[at : at + PART_BYTES]]) for i, at in enumerate(starts)]


def _faces(rows: Sequence[dict[str, Any]], own: tuple[str, ...]) -> tuple[list[dict[str, Any]], list[int]]:
    """The different rows when `own` is left out, and for every row which of them it is."""
    found: dict[tuple[Any, ...], int] = {}
    faces: list[dict[str, Any]] = []
    which: list[int] = []
    for row in rows:
        key = tuple([tuple(value) if value.__class__ is list else value for name, value in row.items() if name not in own])
        at = found.setdefault(key, len(faces))
        if at == len(faces):
            faces.append({name: value for name, value in row.items() if name not in own})
        which.append(at)
    return faces, which


def _or_none(number: int | None) -> int:
    return -1 if number is None else number
