"""Make the example messages that the Python and the JavaScript tests decode: `python tests/protocol/make.py [NAME]`.

Each file holds a list of {"content", "buffers" in base64}: what a page gets when it says hello after a real trace, or the
messages of one further kind. Durations differ from run to run; everything else stays.
"""

from __future__ import annotations

import base64
import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import gradlab as gl
from gradlab.data import DataLoader, digits
from gradlab.nn import functional as F
from gradlab.notebook import detail, packed, protocol
from gradlab.notebook.outcome import Outcomes
from gradlab.notebook.protocol import Message
from gradlab.notebook.session import Session
from gradlab.notebook.stream import Stream
from gradlab.trace import Places, Where, recording

FOLDER = Path(__file__).parent


def empty() -> None:
    """Nothing ran yet."""


def forward() -> None:
    """A forward-only cell on bare tensors."""
    x = gl.randn(32, 64)
    w, b = gl.randn(64, 10, requires_grad=True), gl.zeros(10, requires_grad=True)
    gl.tanh(x @ w + b).sum()


class Reader(gl.nn.Module):
    """The digits network."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.fc3 = gl.nn.Linear(64, 128), gl.nn.Linear(128, 64), gl.nn.Linear(64, 10)
        self.gelu = gl.nn.GELU()

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        """64 pixels to 10 scores."""
        return self.fc3(self.gelu(self.fc2(self.gelu(self.fc1(x)))))


def digits_steps() -> None:
    """The first 45 steps on the digits, and a test under no_grad."""
    train, test = digits().split(test=0.2, seed=0)
    model = Reader()
    optimizer = gl.optim.AdamW(model.parameters(), lr=3e-3)
    for x, y in DataLoader(train, batch_size=32, shuffle=True, seed=0):
        loss = gl.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with gl.no_grad():
        (model(test.images).argmax(dim=1) == test.labels).sum()


def nan() -> None:
    """Zero divided by zero, and one by zero."""
    model = gl.nn.Sequential(gl.nn.Linear(2, 2))
    optimizer = gl.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = gl.tensor([[0.0, 1.0]])
    for _ in range(3):
        (model(x) / (x * 0.0)).sum().backward()
        optimizer.step()


def spans() -> None:
    """Five hundred steps in a message too small for them all."""
    w = gl.tensor([3.0, -2.0], requires_grad=True)
    optimizer = gl.optim.Adam([w], lr=0.01)
    for _ in range(500):
        (w * w).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def unrolled() -> None:
    """A recurrent net over four steps; its structure is packed as that of a long one."""
    layer, h = gl.nn.Linear(4, 4), gl.zeros(2, 4)
    earlier = gl.ones(1, requires_grad=True) * 2.0
    for t in range(4):
        h = gl.tanh(layer(h) + t / 8)
    (h.mean() * earlier).sum().backward()


class Twice(gl.nn.Module):
    """Two layers in a row, and a softmax before a loss that has one."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = gl.nn.Linear(64, 80), gl.nn.Linear(80, 10)
        self.scale = gl.nn.Parameter(gl.randn(32, 1))

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        """64 pixels to 10 probabilities."""
        return self.two(self.one(x)).softmax(1)


def findings() -> None:
    """Thirty steps in which much is wrong."""
    model = Twice()
    optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
    x, y, t = gl.randn(32, 64), gl.zeros(32, dtype=int), gl.randn(32)
    for _ in range(30):
        loss = gl.nn.functional.cross_entropy(model(x), y)
        loss = loss + ((model.scale - t) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def cell(code: CodeType) -> Where | None:
    """As if this file were a notebook: each function a cell, run one after the other."""
    return Where(cell=f"cell-{code.co_name}", count=3) if code.co_filename == __file__ else None


def messages(scene: Callable[[], None]) -> list[Message]:
    """What a page gets after the scene."""
    gl.manual_seed(0)
    found: list[Message] = []
    with recording() as recorder, np.errstate(all="ignore"):
        recorder.where = Places(cell)
        scene()
    long = 1 if scene is unrolled else packed.LONG
    with patch.object(protocol, "HISTORY_BYTES", 6_000 if scene is spans else protocol.HISTORY_BYTES), patch.object(packed, "LONG", long):
        Stream(recorder, found.append).hello("page", False, "idle", 3)
    return found


def answers() -> list[Message]:
    """What comes back for a question: that it has to wait, its answer, and a refusal."""
    values = np.array([1.5, np.nan, -np.inf], "<f4").tobytes()
    return [
        protocol.pending("page.1"),
        protocol.answer("page.1", {"shape": (3,), "norm": float("nan")}, [values]),
        protocol.refusal("page.2", "source: unknown colour\n  takes: op"),
    ]


def product(x: gl.Tensor, w: gl.Tensor) -> gl.Tensor:
    """A cell that defines what another one calls."""
    return gl.tanh(x @ w)


def fails(x: gl.Tensor, w: gl.Tensor) -> None:
    """A cell whose last line does not fit."""
    y = product(x, w)
    y @ w


def cells() -> list[Message]:
    """What a page that shows hints hears of a cell that calls another one's function and fails."""
    gl.manual_seed(0)
    found: list[Message] = []
    x, w = gl.randn(32, 64), gl.randn(64, 10, requires_grad=True)
    with recording(lambda: {id(x): "x", id(w): "w"}) as recorder:
        recorder.where = Places(cell)
        outcomes = Outcomes(recorder, found.append, lambda: {"x": x, "w": w}, cell)
        outcomes.want("page", True)
        outcomes.began("cell-fails", 3, inspect.getsource(fails))
        try:
            fails(x, w)
        except gl.errors.ShapeError as error:
            Stream(recorder, found.append).hello("page", False, "error", 3)
            outcomes.ended("cell-fails", "error", error)
    return found[1:] + found[:1]  # the files begin with what a page hears first


def capture() -> list[Message]:
    """A step is captured, and its second op asked about: how the capture stands, and the answers to `detail`, `captured`, `values`."""
    gl.manual_seed(0)
    found: list[Message] = []
    with recording() as recorder:
        recorder.where = Places(cell)
        recorder.capture_next()
        armed = protocol.capture(recorder.capture)
        w = gl.tensor([[1.0, 0.0, -2.0], [0.5, float("nan"), 4.0]], requires_grad=True)
        (gl.tanh(w) * 3.0).sum().backward()
        Stream(recorder, found.append).hello("page", True, "idle", 3)
        found += [armed, protocol.capture(recorder.capture)]
        session = SimpleNamespace(recorder=recorder, line_of=lambda place: "gl.tanh(w) * 3.0")
        key = recorder.structure()["key"]
        for what, select in (("detail", "op:0"), ("captured", "op:0"), ("values", "leaf:0"), ("detail", "leaf:0")):
            reply = getattr(detail, what)(session, select, key)
            content, buffers = reply if isinstance(reply, tuple) else (reply, [])
            found.append(protocol.answer(f"{what} {select}", content, buffers))
        recorder.release()
        found.append(protocol.capture(recorder.capture))
    return found


def asked() -> list[Message]:
    """Two optimizers train; then every question that panels have is asked once, and answered. `id` says what was asked."""
    gl.manual_seed(0)
    found: list[Message] = []
    session = Session()
    try:
        session.recorder.governor.budget, session.recorder.where = None, Places(cell)
        first, second = gl.nn.Linear(3, 4), gl.nn.Linear(4, 2)
        moves = [gl.optim.AdamW(first.parameters(), lr=0.01), gl.optim.SGD(second.parameters(), lr=0.1, momentum=0.9)]
        x, target = gl.randn(8, 3), gl.tensor([0, 1] * 4)
        kept = []
        for i in range(4):
            if i == 3:
                session.recorder.capture_next()
            loss = F.cross_entropy(second(first(x).tanh()), target)
            kept.append(loss)
            for optimizer in moves:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in moves:
                optimizer.step()
        session.post = found.append  # type: ignore[method-assign]
        session.stream._send = found.append
        session.stream.hello("page", True, "idle", 3)
        key = session.recorder.structure()["key"]
        captured = {"select": "op:0", "key": key}
        questions: list[tuple[str, dict[str, Any]]] = [
            ("past", {"step": 2}), ("microscope", {}), ("ledgers", {}), ("alive", {}), ("gate", {}), ("breaks", {}),
            ("small", {"key": key}), ("check", captured), ("terms", {**captured, "at": [1, 2]}),
            ("nudge", {"select": "leaf:1", "key": key, "at": [0, 1]}), ("counterfactual", {"lr_times": 2.0}), ("past", {"step": 99}),
        ]  # fmt: skip
        for what, args in questions:
            session.requests.hear({"kind": "ask", "id": what, "what": what, "args": args})
    finally:
        session.close()
    return found


def main() -> None:
    """Write all files anew, or those that are named."""
    scenes = {"empty": empty, "forward": forward, "digits": digits_steps, "nan": nan, "spans": spans}
    scenes |= {"unrolled": unrolled, "findings": findings}
    makers = {**{name: partial(messages, scene) for name, scene in scenes.items()}, "answers": answers, "cells": cells}
    makers |= {"capture": capture, "asked": asked}
    for name in sys.argv[1:] or makers:
        rows = [{"content": m.content, "buffers": [base64.b64encode(b).decode() for b in m.buffers]} for m in makers[name]()]
        (FOLDER / f"{name}.json").write_text(json.dumps(rows, allow_nan=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
