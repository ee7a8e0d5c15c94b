"""Earlier steps, as the page asks for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.notebook import current_session

TRAIN = """
import gradlab as gl
gl.manual_seed(0)
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.1)
norms, losses = [], []
for _ in range(20):
    optimizer.zero_grad()
    loss = layer(gl.ones(4, 3)).pow(2).mean()
    loss.backward()
    norms.append(float((layer.weight.grad.data ** 2).sum() ** 0.5))
    losses.append(loss.item())
    optimizer.step()
"""


def test_the_answer_holds_the_numbers_of_that_step_and_its_row(run: Any, ask: Any) -> None:
    run(TRAIN)
    shell = current_session().shell
    columns = current_session().recorder.timeline.columns()
    for step in (1, 7, 20):
        structure, answer = ask("past", step=step) if step == 1 else (None, ask("past", step=step)[-1])
        ops, op_has, leaves, leaf_has, row = answer.buffers
        loss, norm = shell.user_ns["losses"][step - 1], shell.user_ns["norms"][step - 1]
        assert (answer.content["step"], answer.content["of"]) == (step, step)
        assert answer.content["loss"] == pytest.approx(loss, rel=1e-6)
        rows = np.frombuffer(row, "<f4")
        assert dict(zip(columns, rows.tolist(), strict=True))["g/weight"] == pytest.approx(norm, rel=1e-5)
        assert np.frombuffer(ops, "<f4").reshape(-1, 4)[-1, 0] == pytest.approx(loss, rel=1e-6)
        assert len(op_has) == 3 and len(leaf_has) == len(leaves) // 8
        if structure is not None:
            assert structure.content["kind"] == "structure" and structure.content["key"] == answer.content["key"]


@pytest.mark.parametrize("step", [0, 21, -1, 1.5, "7", True, None])
def test_a_step_that_is_none_is_refused_in_words(run: Any, ask: Any, step: Any) -> None:
    run(TRAIN)
    (answer,) = ask("past", step=step)
    assert not answer.content["ok"] and "whole number from 1 to 20" in answer.content["error"]
