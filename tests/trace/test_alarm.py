"""The first op that is not finite is named, forward and backward, in nets of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe
from gradlab.function import Function
from gradlab.nn import functional as F
from gradlab.trace import Recorder, recording

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def mlp() -> gl.Tensor:
    w1, w2, w3 = (gl.randn(a, b, requires_grad=True) * 0.3 for a, b in ((6, 8), (8, 8), (8, 3)))
    h = (gl.randn(5, 6) @ w1).tanh()
    h = h + (h @ w2).relu()
    return F.cross_entropy(h @ w3, gl.tensor([0, 1, 2, 0, 1]))


def cnn() -> gl.Tensor:
    k1, k2, w = gl.randn(4, 1, 3, 3, requires_grad=True), gl.randn(4, 4, 3, 3, requires_grad=True), gl.randn(16, 3, requires_grad=True)
    h = gl.conv2d(gl.randn(2, 1, 8, 8), k1, padding=1).relu()
    h = gl.max_pool2d(h + gl.conv2d(h, k2, padding=1).sigmoid(), 4)
    return F.cross_entropy(h.reshape(2, -1) @ w, gl.tensor([0, 2]))


def lstm() -> gl.Tensor:
    wx, wh = gl.randn(3, 16, requires_grad=True), gl.randn(4, 16, requires_grad=True)
    h, c = gl.zeros(2, 4), gl.zeros(2, 4)
    for _ in range(3):
        gates = gl.randn(2, 3) @ wx + h @ wh
        i, f, o, u = (gates[:, 4 * k : 4 * k + 4] for k in range(4))
        c = f.sigmoid() * c + i.sigmoid() * u.tanh()
        h = o.sigmoid() * c.tanh()
    return (h**2).mean()


def attention() -> gl.Tensor:
    x = gl.randn(2, 4, 6) @ gl.randn(6, 6, requires_grad=True)
    q, k, v = (x @ gl.randn(6, 6, requires_grad=True) for _ in range(3))
    mask = gl.tensor(np.triu(np.full((4, 4), -np.inf, np.float32), 1))
    a = ((q @ k.transpose(-1, -2)) / 6**0.5 + mask).softmax(-1)
    y = F.layer_norm(x + a @ v, (6,))
    return (y * gl.randn(2, 4, 6)).mean()


NETS = [mlp, cnn, lstm, attention]


def poisoned(array: np.ndarray) -> np.ndarray:
    array = np.array(array)
    array.flat[-1] = np.nan
    return array


@contextmanager
def injected(at: int, phase: str) -> Iterator[list[int]]:
    """Put a NaN into what the op of that place makes, forward, or into one gradient that it sends on."""
    number: dict[int, int] = {}
    where: list[int] = []
    run, pull = Function._run, Function.pull_unwatched

    def forward(self: Function) -> gl.Tensor:
        number[self.seq] = len(number)
        out = run(self)
        if phase == "forward" and number[self.seq] == at:
            out._data = poisoned(out._data)
        return out

    def backward(self: Function, g: np.ndarray) -> tuple[np.ndarray | None, ...]:
        grads = pull(self, g)
        if phase == "backward" and number.get(self.seq) == at:
            sent = [k for k, (d, to) in enumerate(zip(grads, self.edges, strict=True)) if d is not None and to is not None]
            where.append(sent[-1])
            return tuple(poisoned(d) if k == sent[-1] else d for k, d in enumerate(grads))  # type: ignore[arg-type]
        return grads

    with patch.object(Function, "_run", forward), patch.object(Function, "pull_unwatched", backward):
        yield where


class ByApply:
    """While it watches, operators on two tensors take the way of all ops, where a NaN can be put in."""

    def before(self, fn: Function) -> None:
        pass


def traced(net: Callable[[], gl.Tensor], at: int, phase: str) -> Recorder:
    recorder, slow = Recorder(), ByApply()
    observe.attach(slow)
    with injected(at, phase):
        recorder.attach()
        try:
            net().backward()
        finally:
            recorder.detach()
            observe.detach(slow)
    return recorder


def _structure(net: Callable[[], gl.Tensor]) -> dict[str, Any]:
    gl.manual_seed(0)
    with recording() as recorder:
        net().backward()
    return recorder.structure()


@pytest.mark.parametrize("phase", ["forward", "backward"])
@pytest.mark.parametrize("net", NETS, ids=lambda net: net.__name__)
def test_the_op_named_is_the_one_where_the_nan_was_put(net: Callable[[], gl.Tensor], phase: str) -> None:
    structure = _structure(net)
    ops = [i for i, op in enumerate(structure["ops"]) if op["grad"]]
    rng = np.random.default_rng(7)
    wrong, tried = [], 0
    for at in rng.permutation(ops):
        gl.manual_seed(0)
        recorder = traced(net, int(at), phase)
        numbers = recorder.numbers()
        known = recorder.steps.alarm.kept or np.isnan(numbers.leaves[:, 1][numbers.leaf_has >= 2]).any()
        if not known and structure["ops"][at]["function"] == "Slice" and phase == "backward":
            continue  # it adds its gradient to the sum in place, so that what was put into it went nowhere
        tried += 1
        bad = [b for b in recorder.steps.alarm.kept if b.phase == phase]
        if [(b.at, b.candidates) for b in bad] != [(at, 1)]:
            wrong.append((int(at), structure["ops"][at]["name"], [(b.at, b.candidates, b.op) for b in bad]))
    assert wrong == []
    assert tried >= min(len(ops) - 8, 20)


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.__name__)
def test_a_finite_step_raises_no_alarm(net: Callable[[], gl.Tensor]) -> None:
    with recording() as recorder:
        net().backward()
    assert recorder.steps.alarm.kept == []
