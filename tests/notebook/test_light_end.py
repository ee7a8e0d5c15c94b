"""What the page and its picture say where training ended on a step of which no op was read."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim
from gradlab.notebook import current_session
from gradlab.notebook.picture import picture
from gradlab.notebook.reading import plain
from gradlab.notebook.stream import Stream
from gradlab.trace import Recorder, is_missing
from gradlab.trace.microscope import COLUMNS

SVG = "{http://www.w3.org/2000/svg}"


class Ended:
    """A training that ended so, and the losses and norms of its steps as computed beside the recorder."""

    def __init__(self, recorder: Recorder) -> None:
        gl.manual_seed(0)
        self.recorder = recorder
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        x, y = gl.randn(6, 3), gl.randn(6, 2)
        self.losses, self.norms, self.light = [], [], [False]
        while len(self.losses) < 20 or not self.light[-1]:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            self.losses.append(loss.item())
            self.norms.append(math.sqrt(sum(float((p.grad.numpy().astype(np.float64) ** 2).sum()) for p in model.parameters())))
            self.light.append(observe.ops is None)
            optimizer.step()
        recorder.running = False
        self.step = len(self.losses)
        self.full = max(i for i, light in enumerate(self.light) if not light)


@pytest.fixture
def ended() -> Any:
    recorder = Recorder()
    recorder.governor.budget = 0.0
    recorder.governor._period = lambda: 3
    recorder.running = True
    recorder.attach()
    yield Ended(recorder)
    recorder.detach()


def test_a_frame_names_the_step_of_its_ops_where_loss_and_norm_are_of_a_newer_one(ended: Ended) -> None:
    sent: list[Any] = []
    Stream(ended.recorder, sent.append).hello("page", True, "idle", 1)
    (frame,) = [message for message in sent if message.content["kind"] == "frame"]
    assert (frame.content["step"], frame.content["of"]) == (ended.step, ended.full)
    assert frame.content["loss"] == pytest.approx(ended.losses[-1], rel=1e-6) != pytest.approx(ended.losses[ended.full - 1], rel=1e-6)
    assert frame.content["grad_norm"] == pytest.approx(ended.norms[-1], rel=1e-5) != pytest.approx(ended.norms[ended.full - 1], rel=1e-5)
    assert np.frombuffer(frame.buffers[0], "<f4").reshape(-1, 4)[-1, 0] == pytest.approx(ended.losses[ended.full - 1], rel=1e-6)
    assert [table["of"] for table in frame.content["optimizers"]] == [ended.full]


def test_the_picture_has_loss_and_norm_of_the_step_that_it_names(ended: Ended) -> None:
    found = ["".join(t.itertext()).strip() for t in ET.fromstring(picture(ended.recorder, "inspector")).iter(f"{SVG}text")]
    strip = {name: found[found.index(name) + 1] for name in ("step", "loss", "‖grad‖")}
    assert strip["step"] == str(ended.step)
    assert strip["loss"] == plain(float(np.float32(ended.losses[-1]))) != plain(ended.losses[ended.full - 1])
    assert strip["‖grad‖"] == plain(float(np.float32(ended.norms[-1]))) != plain(ended.norms[ended.full - 1])
    assert any(f"in step {ended.full}," in text for text in found) and f"SGD · lr 0.1 · numbers of step {ended.full}" in found


def test_where_every_step_is_read_in_full_nothing_is_said_of_another_step(ask: Any, run: Any) -> None:
    run("import gradlab as gl\nw = gl.ones(2, requires_grad=True)\no = gl.optim.SGD([w], lr=0.1)")
    for _ in range(3):
        run("o.zero_grad()\n(w * w).sum().backward()\no.step()")
    sent: list[Any] = []
    Stream(current_session().recorder, sent.append).hello("page", True, "idle", 1)
    (frame,) = [message.content for message in sent if message.content["kind"] == "frame"]
    assert frame["step"] == 3 and "of" not in frame and "of" not in frame["optimizers"][0]
    (answer,) = ask("microscope")
    numbers = np.frombuffer(answer.buffers[0], "<f4")
    w = 0.8 * 0.8 * np.ones(2)  # before the third step: the gradient is 2 w, the update -0.2 w
    expected = {"g": 2 * w[0], "effective_lr": 0.1, "update": 0.2 * w[0], "update:weight": 0.2, "cos": 1.0, "decay:gradient": 0.0}
    for column, value, missing in zip(COLUMNS, numbers, is_missing(numbers), strict=True):
        assert missing if column not in expected else value == pytest.approx(expected[column], rel=1e-5), column
