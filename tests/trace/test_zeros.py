from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import recording


def train(r, steps, at=lambda step: None):
    gl.manual_seed(3)
    model, x = nn.Sequential(nn.Linear(6, 50), nn.ReLU(), nn.Linear(50, 1)), gl.randn(2, 6)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    shares = []
    for step in range(steps):
        at(step)
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        shares.append({name: float((np.asarray(p.grad.data) == 0).mean()) for name, p in model.named_parameters()})
        optimizer.step()
    return shares, model


def columns(r):
    _, rows = r.timeline.rows(0)
    return {name: rows[:, i] for i, name in enumerate(r.timeline.columns())}


def test_nothing_is_counted_unless_somebody_looks():
    with recording() as r:
        train(r, 3)
    assert not [name for name in columns(r) if name.startswith("z/")]


def test_the_share_of_zeros_is_that_of_numpy_from_the_look_on_and_of_the_last_step():
    with recording() as r:
        before, _model = train(r, 3)
        r.read_zeros(60.0)
        assert columns(r)["z/0.weight"][:2].tolist() == pytest.approx([np.nan] * 2, nan_ok=True)
        assert columns(r)["z/0.weight"][2] == pytest.approx(before[-1]["0.weight"])
        assert 0.1 < before[-1]["0.weight"] < 0.9, "a dead unit's row is zero"
    with recording() as r:
        r.read_zeros(60.0)
        shares, _ = train(r, 4)
    for name in shares[0]:
        assert columns(r)[f"z/{name}"].tolist() == pytest.approx([share[name] for share in shares])


def test_the_look_ends():
    with recording() as r:
        train(r, 6, lambda step: r.read_zeros(60.0) if step == 1 else r.read_zeros(-1.0) if step == 4 else None)
    found = columns(r)["z/2.weight"]
    assert np.isfinite(found).tolist() == [True] * 4 + [False] * 2, "the step before the look is read too"
