"""An observer that does not want the updates is spared the copy of the parameters."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe, optim


class Log:
    def __init__(self, wants):
        self.wants_updates = wants
        self.outputs = []

    def begin(self, kind, target, inputs):
        return kind

    def end(self, token, output, error):
        if token == "step":
            self.outputs.append([(p, None if u is None else u.copy()) for p, u in output])


@pytest.mark.parametrize("wants", [True, False])
def test_updates_come_where_they_are_wanted(wants):
    p, log = gl.tensor([1.0, 2.0], requires_grad=True), Log(wants)
    optimizer = optim.SGD([p], lr=0.5)
    p.grad = np.array([1.0, -1.0])
    observe.attach(log)
    optimizer.step()
    observe.detach(log)
    [[(moved, update)]] = log.outputs
    assert moved is p and p.tolist() == [0.5, 2.5]
    assert (update is None) is not wants and (not wants or update.tolist() == [-0.5, 0.5])
    assert (optimizer.scratch_bytes > 0) is wants


def test_updates_come_where_one_of_two_wants_them():
    p, one, other = gl.tensor([1.0], requires_grad=True), Log(True), Log(False)
    p.grad = np.array([1.0])
    observe.attach(one)
    observe.attach(other)
    optim.SGD([p], lr=0.5).step()
    observe.detach(one)
    observe.detach(other)
    assert one.outputs[0][0][1].tolist() == [-0.5]
