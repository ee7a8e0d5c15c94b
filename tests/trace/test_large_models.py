"""Above 65,536 parameters only some steps are read in full; what is shown is that step's own number, or unknown."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import Recorder, recording


class Training:
    """A model of 70,000 parameters, and what every step really did."""

    def __init__(self):
        gl.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(300, 230), nn.Tanh(), nn.Linear(230, 10))
        self.optimizer = optim.SGD(self.model.parameters(), lr=0.5)
        self.x = gl.randn(8, 300)
        self.weights: list[float] = []
        self.ratios: list[float] = []

    def step(self):
        self.optimizer.zero_grad()
        (self.model(self.x) ** 2).mean().backward()
        before = self.model[0].weight.data.copy()
        self.optimizer.step()
        self.weights.append(float(np.linalg.norm(before)))
        self.ratios.append(float(np.linalg.norm(self.model[0].weight.data - before) / self.weights[-1]))


def weight_of(recorder):
    """What is shown of the first layer's weight: its norm and update:weight, None where unknown."""
    structure, numbers = recorder.structure(), recorder.numbers()
    at = next(i for i, leaf in enumerate(structure["leaves"]) if leaf["name"] == "0.weight")
    value, ratio = numbers.leaves[at, 0], numbers.optimizers[0]["values"][0, -1] if numbers.optimizers else np.nan
    return float(value) if numbers.leaf_has[at] & 1 else None, None if np.isnan(ratio) else float(ratio)


def test_every_number_on_show_is_of_the_step_on_show_or_unknown():
    training, known = Training(), 0
    with recording() as r:
        for step in range(25):
            training.step()
            value, ratio = weight_of(r)
            assert value is None or value == pytest.approx(training.weights[step], rel=1e-5)
            assert ratio is None or ratio == pytest.approx(training.ratios[step], rel=1e-3)
            known += value is not None and ratio is not None
    assert 0 < known < 25


def test_pictures_are_of_complete_steps_that_were_read_in_full():
    training, recorder, seen = Training(), Recorder(), []
    recorder.frame_interval = 0.0
    recorder.on_frame = lambda: seen.append((recorder.step, *weight_of(recorder)))
    recorder.running = True
    recorder.attach()
    for _ in range(200):
        training.step()
    recorder.detach()
    later = [frame for frame in seen if frame[0] > 1]
    assert later
    for step, value, ratio in later:
        assert value == pytest.approx(training.weights[step - 1], rel=1e-5) and ratio == pytest.approx(training.ratios[step - 1], rel=1e-3)


def test_the_end_of_a_cell_knows_the_open_step_in_full(notebook):
    training = notebook.namespace["t"] = Training()
    notebook.run("for _ in range(4): t.step()")
    notebook.run("loss = (t.model(t.x) ** 2).mean()")
    norm = pytest.approx(float(np.linalg.norm(training.model[0].weight.data)), rel=1e-5)
    assert weight_of(notebook.recorder)[0] == norm
    notebook.run("t.optimizer.zero_grad(); loss.backward()")
    assert notebook.row()["w/0.weight"] == norm
    before = training.model[0].weight.data.copy()
    notebook.run("t.optimizer.step()")
    moved = float(np.linalg.norm(training.model[0].weight.data - before))
    assert weight_of(notebook.recorder) == (norm, pytest.approx(moved / np.linalg.norm(before), rel=1e-3))


@pytest.mark.parametrize("clip", [
    "p.grad *= 0.01", "p.grad.data *= 0.01", "p.grad.data[...] *= 0.01", "p.grad.data = p.grad.data * 0.01", "p.grad = p.grad.data * 0.01",
])  # fmt: skip
def test_the_rms_of_a_gradient_is_that_of_the_one_the_optimizer_used(clip):
    model = nn.Linear(3, 2)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with recording() as r:
        for _ in range(2):
            optimizer.zero_grad()
            (model(gl.randn(4, 3)) ** 2).sum().backward()
            for p in model.parameters():
                exec(clip, {"p": p})
            used = [float(np.sqrt((p.grad.data.astype(np.float64) ** 2).mean())) for p in model.parameters()]
            optimizer.step()
            assert r.numbers().optimizers[0]["values"][:, 0].tolist() == pytest.approx(used, rel=1e-5)
