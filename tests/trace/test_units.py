"""What single units do, read from the graph before gradients are computed."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.trace import Recorder, recording
from gradlab.trace.units import APART, APART_LATER, APART_LIGHT, BATCHES, Unit


def trained(model: nn.Module, x: gl.Tensor, steps: int) -> Recorder:
    optimizer = gl.optim.SGD(model.parameters(), lr=0.0)
    with recording(dict) as recorder:
        for _ in range(steps):
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    return recorder


def units(recorder: Recorder, function: str) -> list[Unit]:
    of = recorder.steps.run.units.of
    found = [of(i, function) for i in range(len(recorder.structure()["ops"]))]
    return [unit for unit in found if unit is not None]


def test_the_counts_of_a_relu_are_those_of_its_zeros() -> None:
    gl.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 40), nn.ReLU(), nn.Linear(40, 1))
    x = gl.randn(3, 5)
    zero = (model[0](x).data <= 0).all(axis=0)
    assert 0 < zero.sum() < 40
    (unit,) = units(trained(model, x, 3 * APART), "ReLU")
    assert unit.idle.tolist() == (3 * zero).tolist()
    assert unit.readings == 3


def test_a_unit_is_dead_after_enough_batches_and_samples() -> None:
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    model[0].bias.data[:] = [-100, 100, 100, 100]
    (unit,) = units(trained(model, gl.ones(64, 2), APART * (BATCHES - 1)), "ReLU")
    assert (unit.needed, unit.dead) == (BATCHES, 0.0)
    (unit,) = units(trained(model, gl.ones(64, 2), APART * BATCHES), "ReLU")
    assert unit.dead == 0.25
    (unit,) = units(trained(model, gl.ones(8, 2), APART * BATCHES), "ReLU")
    assert (unit.needed, unit.dead) == (64, 0.0)


@pytest.mark.parametrize("thrifty", [299], indirect=True)
def test_light_steps_are_read_less_often_after_many_readings_until_a_unit_seems_dead(thrifty: Recorder) -> None:
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    model[0].bias.data[:] = 100
    optimizer = gl.optim.SGD(model.parameters(), lr=0.0)

    def train(steps: int) -> int:
        before = unit.readings if (unit := thrifty.steps.run.units.of(1, "ReLU")) else 0
        for _ in range(steps):
            model(gl.ones(64, 2)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        return thrifty.steps.run.units.of(1, "ReLU").readings - before

    assert 64 <= train(64 * APART_LIGHT) <= 70
    assert 8 <= train(10 * APART_LATER) <= 14  # and a few full steps
    model[0].bias.data[0] = -100
    assert train(APART_LATER * 3 + APART_LIGHT * 10) >= BATCHES
    assert thrifty.steps.run.units.of(1, "ReLU").dead == 0.25


def test_channels_are_the_units_of_a_convolution() -> None:
    x = gl.randn(8, 2, 6, 6)
    w, b = gl.randn(5, 2, 3, 3, requires_grad=True), gl.tensor([0.0, -999.0, 0.0, 0.0, 0.0], requires_grad=True)
    with recording(dict) as recorder:
        gl.conv2d(x, w, b).relu().sum().backward()
    (unit,) = units(recorder, "ReLU")
    assert unit.idle.tolist() == [0, 1, 0, 0, 0]


def test_the_share_at_the_ends_is_counted_entry_by_entry() -> None:
    gl.manual_seed(1)
    for bend, at_ends in ((nn.Tanh, lambda y: np.abs(y) > 0.97), (nn.Sigmoid, lambda y: (y < 0.03) | (y > 0.97))):
        model = nn.Sequential(nn.Linear(3, 50), bend(), nn.Linear(50, 1))
        x = gl.randn(20, 3) * 8  # 1,000 entries: all are read
        (unit,) = units(trained(model, x, 1), bend.__name__)
        assert abs(unit.ends[-1] - at_ends(model[1](model[0](x)).data).mean()) < 1e-9


def test_one_step_in_four_is_read_and_light_ones_are_not() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    (unit,) = units(trained(model, gl.ones(2, 3), 12), "Tanh")
    assert unit.readings == 3


def test_readings_keep_no_array() -> None:
    w = gl.randn(3, 2, requires_grad=True)
    with recording(dict) as recorder:
        y = (gl.ones(4, 3) @ w).relu()
        y.sum().backward()
    assert len(units(recorder, "ReLU")) == 1
    reference = weakref.ref(y)
    del y
    gc.collect()
    assert reference() is None
