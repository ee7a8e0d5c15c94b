"""Probes: what they read is what NumPy reads, in the row of its step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe
from gradlab.trace import Debugger, ProbeError, Recorder
from gradlab.trace.probe import MEASURES, parse

BY_NUMPY = {
    "norm": np.linalg.norm,
    "rms": lambda a: np.sqrt(np.mean(np.square(a, dtype=np.float64))),
    "mean": lambda a: np.mean(a, dtype=np.float64),
    "max": lambda a: np.abs(a).max(),
    "zeros": lambda a: np.mean(a == 0),
}


class Net(gl.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.act, self.fc2 = gl.nn.Linear(6, 5), gl.nn.ReLU(), gl.nn.Linear(5, 2)

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        return self.fc2(self.act(self.fc1(x)))


@pytest.fixture
def debugger() -> Iterator[Debugger]:
    gl.manual_seed(3)
    recorder = Recorder()
    recorder.attach()
    debugger = Debugger(recorder)
    yield debugger
    debugger.close()
    recorder.detach()


def train(model: Net, steps: int, seen: dict[str, list[Any]] | None = None) -> None:
    optimizer = gl.optim.SGD(model.parameters(), lr=0.05)
    x = gl.randn(8, 6)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        if seen is not None:
            output = np.maximum(x.data @ model.fc1.weight.data.T + model.fc1.bias.data, 0)
            g = loss_gradient(model, output)
            for name, array in {
                "act": output,
                "fc1.weight": model.fc1.weight.data,
                "fc1.weight.grad": model.fc1.weight.grad.data,
                "act.grad": g,
            }.items():
                seen.setdefault(name, []).append(array.copy())
        optimizer.step()
        with gl.no_grad():
            model(x * 100.0)  # a test after the update is not of this step


def loss_gradient(model: Net, h: np.ndarray) -> np.ndarray:
    y = h @ model.fc2.weight.data.T + model.fc2.bias.data
    return 2 * y / y.size @ model.fc2.weight.data


def column(debugger: Debugger, name: str) -> np.ndarray:
    timeline = debugger.recorder.timeline
    return timeline.rows(0)[1][:, timeline.columns().index(f"p/{name}")]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("target", ["act", "act.grad", "fc1.weight", "fc1.weight.grad"])
def test_a_probe_reads_what_numpy_reads_in_every_step(debugger: Debugger, target: str, measure: str) -> None:
    probe = debugger.probe(f"{target} {measure}")
    seen: dict[str, list[Any]] = {}
    train(Net(), 4, seen)
    expected = [BY_NUMPY[measure](array) for array in seen[target]]
    assert column(debugger, probe.name) == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_a_probe_added_mid_run_is_missing_before_it_and_goes_when_cleared(debugger: Debugger) -> None:
    model = Net()
    train(model, 3)
    debugger.probe("fc1 rms")
    train(model, 2)
    assert debugger.clear_probes() == 1
    train(model, 2)
    assert np.isnan(column(debugger, "fc1 rms")).tolist() == [True] * 3 + [False] * 2 + [True] * 2
    assert debugger._watch.on is False
    assert debugger.recorder.needs_ops == 0


def test_a_module_s_name_may_begin_with_its_model_s(debugger: Debugger) -> None:
    model = Net()
    debugger.recorder.names = lambda: {id(model): "net"}
    for text in ("net.fc2 norm", "fc2 norm", "net norm", '"net.fc2.bias" max'):
        debugger.probe(text)
    train(model, 2)
    assert column(debugger, "net.fc2 norm") == pytest.approx(column(debugger, "fc2 norm"))
    assert column(debugger, "net norm") == pytest.approx(column(debugger, "fc2 norm"))
    assert np.isfinite(column(debugger, "net.fc2.bias max")).all()


def test_a_probe_of_nothing_reads_nothing(debugger: Debugger) -> None:
    debugger.probe("no.such norm")
    train(Net(), 2)
    assert "p/no.such norm" not in debugger.recorder.timeline.columns()


def test_a_breakpoint_may_ask_for_a_probe(debugger: Debugger) -> None:
    debugger.probe("fc1 rms")
    debugger.add('probe("fc1 rms") > 0 and step == 3', raises=True)
    with pytest.raises(gl.errors.GradlabError, match="at step 3"):
        train(Net(), 5)


def test_probes_keep_no_tensor_alive_and_leave_no_observer(debugger: Debugger) -> None:
    others = len(observe._attached)
    debugger.probe("fc1.grad rms")
    train(Net(), 3)
    assert len(observe._attached) == others + 1
    assert all(isinstance(key, int) for key in debugger.probes._made)
    debugger.clear_probes()
    assert len(observe._attached) == others


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no name and measure"),
        ("fc1", "no name and measure"),
        ("fc1 median", "no measure 'median'"),
        ("fc1 rms norm", "no name and measure"),
    ],
)
def test_what_can_t_be_read_is_told_with_what_may_stand_there(text: str, said: str) -> None:
    with pytest.raises(ProbeError, match=said) as error:
        parse(text)
    assert all(measure in str(error.value) for measure in MEASURES)


def test_there_are_no_more_than_enough(debugger: Debugger) -> None:
    for k in range(32):
        debugger.probe(f"layer{k} norm")
    debugger.probe("layer3 norm")
    with pytest.raises(ProbeError, match="32 already"):
        debugger.probe("another norm")
