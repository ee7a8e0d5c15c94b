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


@pytest.mark.parametrize("restarts", [True, False])
def test_a_loss_that_rises_where_the_rate_leaps_up_again_is_no_finding_but_where_it_creeps_up_it_is(restarts) -> None:
    rng = np.random.default_rng(0)
    w = gl.tensor(np.ones((5, 4), np.float32), requires_grad=True)
    optimizer = optim.SGD([w], lr=0.5)
    if restarts:
        schedule = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 120)
    else:
        schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda t: 1 - t / 120 if t < 120 else (t - 119) / 80)
    with recording(lambda: {id(w): "w"}) as recorder:
        for _ in range(200):
            optimizer.zero_grad()
            ((w * w).mean() * 10).backward()
            w.grad += gl.tensor(rng.normal(0, 1.5, (5, 4)).astype(np.float32))  # noise, which short steps average out
            optimizer.step()
            schedule.step()
        found = [str(finding) for finding in diagnose(recorder) if finding.rule == "R14"]
    assert len(found) == (not restarts) and all("is up at" in text for text in found)
