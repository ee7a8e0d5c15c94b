"""The gradient ledger, as the page gets it."""

from __future__ import annotations

from typing import Any

import pytest

SETUP = """
import gradlab as gl
w = gl.tensor([3.0, 4.0], requires_grad=True)
optimizer = gl.optim.SGD([w], lr=0.1)
norms = []
def step(zero):
    if zero:
        optimizer.zero_grad()
    before = gl.zeros(2).data if w.grad is None else w.grad.data.copy()
    ((w * w).sum() + (w.exp() * 0.01).sum()).backward()
    optimizer.step()
"""


@pytest.fixture
def ledger(run: Any, ask: Any) -> Any:
    run(SETUP)
    return lambda: ask("ledgers")[-1].content["ledgers"]


def test_a_gradient_cleared_every_step_has_one_backward_call_and_its_sources(run: Any, ledger: Any) -> None:
    run("for _ in range(4): step(True)")
    (one,) = ledger()
    assert one["name"] == "w" and len({entry[0] for entry in one["entries"]}) == 1
    assert sorted({entry[1] for entry in one["entries"]}) == ["exp", "mul"], "a tensor that is read twice has two sources"


def test_a_forgotten_zero_grad_is_a_stack_that_grows(run: Any, ledger: Any) -> None:
    heights = []
    for _ in range(3):
        run("step(False)")
        (one,) = ledger()
        heights.append(len({entry[0] for entry in one["entries"]}))
    assert heights == [1, 2, 3]
