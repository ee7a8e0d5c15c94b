"""Whole training runs on real digits: what is built here must learn, and must stop learning when frozen."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data, nn, optim

TRAIN, HELD_OUT = data.digits().split(test=0.2, seed=0)


def mlp():
    gl.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 10))


def train(model, optimizer, epochs=5, rows=1438):
    loader = data.DataLoader((TRAIN.images.data[:rows], TRAIN.labels.data[:rows]), batch_size=32, shuffle=True, seed=0)
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return accuracy(model)


def accuracy(model):
    with gl.no_grad():
        guess = model.eval()(HELD_OUT.images).data.argmax(1)
    return float((guess == HELD_OUT.labels.data).mean())


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.3, momentum=0.9, nesterov=True), lambda p: optim.Adam(p, lr=0.01), lambda p: optim.AdamW(p, lr=0.01),
    lambda p: optim.RMSprop(p, lr=0.003, momentum=0.5, centered=True, eps=1e-4), lambda p: optim.Adagrad(p, lr=0.05),
], ids=["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])  # fmt: skip
def test_a_small_network_reads_real_digits(make):
    model = mlp()
    assert accuracy(model) < 0.3
    before = [p.data.copy() for p in model.parameters()]
    assert train(model, make(model.parameters())) > 0.93
    assert all((p.data != old).any() for p, old in zip(model.parameters(), before, strict=True))


def test_a_schedule_of_one_cycle_trains_and_ends_slowly():
    model = mlp()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.3, total_steps=5 * 45)
    step, rates = optimizer.step, []

    def both():
        rates.append(optimizer.param_groups[0]["lr"])
        step()
        schedule.step()

    optimizer.step = both
    assert train(model, optimizer) > 0.93
    assert len(rates) == 225 and max(rates) == pytest.approx(0.3, rel=1e-3) and rates[-1] == pytest.approx(0.3 / 25 / 1e4)


def test_freezing_the_first_layer_makes_it_worse():
    free, frozen = mlp(), mlp()
    init = frozen[0].weight.data.copy()
    frozen[0].requires_grad_(False)
    a = train(free, optim.AdamW(free.parameters(), lr=0.01), epochs=2)
    b = train(frozen, optim.AdamW(frozen.parameters(), lr=0.01), epochs=2)
    assert np.array_equal(frozen[0].weight.data, init)
    assert b < a - 0.05


def test_a_step_written_by_hand_equals_plain_sgd():
    by_hand, model = mlp().eval(), mlp().eval()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    x, y = TRAIN.images.data[:64], TRAIN.labels.data[:64]
    for _ in range(3):
        for net in (by_hand, model):
            net.zero_grad()
            nn.functional.cross_entropy(net(gl.tensor(x)), gl.tensor(y)).backward()
        for p in by_hand.parameters():
            p.data -= 0.1 * p.grad
        optimizer.step()
    for p, q in zip(by_hand.parameters(), model.parameters(), strict=True):
        assert np.array_equal(p.data, q.data)


def test_the_same_seed_trains_the_same_model_bit_for_bit():
    runs = []
    for _ in range(2):
        model = mlp()
        train(model, optim.AdamW(model.parameters(), lr=0.01), epochs=1, rows=200)
        runs.append([p.data.tobytes() for p in model.parameters()])
    assert runs[0] == runs[1]
