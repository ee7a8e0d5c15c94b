"""A long structure travels in few bytes, and comes back as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.notebook import packed
from gradlab.notebook.protocol import Message, plain
from gradlab.trace import recording


def unrolled(steps: int) -> dict[str, Any]:
    """The structure of a recurrent net of one layer, with a number that changes and an op of an earlier step."""
    layer, h = gl.nn.Linear(4, 4), gl.zeros(2, 4)
    earlier = gl.ones(1, requires_grad=True) * 2.0
    with recording() as recorder:
        for t in range(steps):
            h = gl.tanh(layer(h) + t / 8)
        (h.mean() * earlier).backward(gl.ones(1))
        return recorder.structure()


def unpacked(message: Message) -> dict[str, Any]:
    """The structure again, by the words of the docstring alone."""
    content = json.loads(json.dumps(message.content, allow_nan=False))
    op_face, op_module, counts, inputs, leaf_face, module_face, parents, calls = (np.frombuffer(b, "<i4").tolist() for b in message.buffers)
    faces, texts = content.pop("faces"), content.pop("texts")
    refs: Iterator[int] = iter(inputs)
    kinds = ("op", "leaf", "scalar", "past")

    def read(code: int) -> list[Any]:
        kind, number = kinds[code % 4], code // 4
        return [kind, number if code % 4 < 2 else texts[number]]

    none = lambda n: None if n < 0 else n  # noqa: E731
    return content | {
        "ops": [
            faces["ops"][f] | {"module": none(m), "inputs": [read(next(refs)) for _ in range(n)]}
            for f, m, n in zip(op_face, op_module, counts, strict=True)
        ],
        "leaves": [faces["leaves"][f] for f in leaf_face],
        "modules": [faces["modules"][f] | {"parent": none(p), "call": c} for f, p, c in zip(module_face, parents, calls, strict=True)],
    }


def size(message: Message) -> int:
    return len(json.dumps(message.content)) + message.size_bytes


def test_a_long_structure_comes_back_as_it_was_in_few_bytes():
    structure = unrolled(700)
    (message,) = packed.messages(structure)
    assert unpacked(message) == {"v": 1, "kind": "structure", **plain(structure)}
    assert size(message) < len(json.dumps(plain(structure))) / 8


def test_a_short_structure_is_sent_as_it_is():
    structure = unrolled(3)
    assert [m.content for m in packed.messages(structure)] == [{"v": 1, "kind": "structure", **plain(structure)}]


def test_what_is_too_long_for_one_message_travels_in_parts_below_a_megabyte():
    structure = unrolled(400)
    for i, op in enumerate(structure["ops"]):
        op["name"] = f"{i} " + "x" * 2_000
    parts = packed.messages(structure)
    assert len(parts) > 1 and all(size(m) < 1_000_000 for m in parts)
    assert [m.content["kind"] for m in parts] == ["part"] * len(parts)
    assert [(m.content["part"], m.content["parts"]) for m in parts] == [(i, len(parts)) for i in range(len(parts))]
    blob, sizes = b"".join(m.buffers[0] for m in parts), parts[0].content["sizes"]
    ends = np.cumsum(sizes)
    pieces = [blob[end - n : end] for end, n in zip(ends, sizes, strict=True)]
    assert unpacked(Message(json.loads(pieces[0]), pieces[1:]))["ops"] == plain(structure)["ops"]
