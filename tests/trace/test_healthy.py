"""On healthy runs every rule is silent."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.nn import functional as F
from gradlab.trace import diagnose, recording

from .planted import NETS, OPTIMIZERS, train

NEW = ["rmsprop", "rmsprop centered", "adagrad"]


@pytest.mark.parametrize(
    ("net", "optimizer"),
    [*((net, optimizer) for optimizer in ("sgd", "adamw") for net in NETS), *((net, o) for o in NEW for net in ("mlp", "attention"))],
)
def test_a_healthy_run_has_no_finding(net: str, optimizer: str) -> None:
    model, draw = NETS[net]()
    with recording() as recorder:
        train((model, draw), OPTIMIZERS[optimizer](model.parameters()), 120)
        with gl.no_grad():
            x, y = draw()
            F.cross_entropy(model(x), y)
        found = diagnose(recorder)
    assert [str(finding) for finding in found] == []


SCHEDULES = {
    "steps": lambda s, o: s.StepLR(o, 30, 0.1),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 150),
    "warm up": lambda s, o: s.LinearLR(o, 1e-5, total_iters=1000),
    "one cycle": lambda s, o: s.OneCycleLR(o, 2e-3, total_steps=150),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 50),
}


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_short_steps_that_a_schedule_asks_for_are_no_finding(schedule) -> None:
    gl.manual_seed(5)
    model, x = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3)), gl.randn(400, 6)
    y = gl.tensor(np.random.default_rng(0).integers(0, 3, 400))  # nothing to learn: the loss stays
    optimizer = optim.AdamW(model.parameters(), lr=2e-3)
    on = schedule(optim.lr_scheduler, optimizer)
    with recording() as recorder:
        for i in range(150):
            part = slice(i % 25 * 16, i % 25 * 16 + 16)
            optimizer.zero_grad()
            F.cross_entropy(model(x[part]), y[part]).backward()
            optimizer.step()
            on.step()
        found = diagnose(recorder)
    assert not {finding.rule for finding in found} & {"R6", "R14", "R15"}


def test_a_rate_that_is_low_without_a_schedule_is_still_found() -> None:
    gl.manual_seed(5)
    model, x = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3)), gl.randn(64, 6)
    y = gl.tensor(np.random.default_rng(0).integers(0, 3, 64))
    optimizer = optim.RMSprop(model.parameters(), lr=1e-8)
    with recording() as recorder:
        for _ in range(120):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        found = {finding.rule: finding for finding in diagnose(recorder)}
    assert {"R6", "R15"} <= {*found} and "RMSprop" in found["R15"].code and "lr=" in found["R15"].code
