"""A run that ends on a step of which no op was read: every number is of the step that it says, computed by hand in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim
from gradlab.trace import is_missing
from gradlab.trace.microscope import COLUMNS

RATE, DECAY = 0.03, 0.1


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


def cosine(a, b):
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


class Kept:
    """A training that notes what every step began with: values and gradients of each parameter, and the learning rate."""

    def __init__(self, make, *first):
        gl.manual_seed(3)
        rng = np.random.default_rng(1)
        self.model = nn.Sequential(*first, nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        self.parameters = dict(self.model.named_parameters())
        self.optimizer = make(list(self.model.parameters()))
        self.batches = [gl.tensor(rng.normal(size=(4, 3)).astype(np.float32)) for _ in range(5)]
        self.target = gl.tensor(rng.normal(size=(4, 2)).astype(np.float32))
        self.values, self.gradients, self.rates, self.losses, self.norms, self.light = [], [], [], [], [], []

    def backward(self):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(self.batches[len(self.losses) % 5]), self.target)
        loss.backward()
        return loss.item()

    def step(self):
        self.losses.append(self.backward())
        self.values.append({name: np.array(p.data, np.float64) for name, p in self.parameters.items()})
        self.gradients.append({name: np.array(p.grad.data, np.float64) for name, p in self.parameters.items()})
        self.norms.append(math.sqrt(sum((g**2).sum() for g in self.gradients[-1].values())))
        self.rates.append(self.optimizer.param_groups[0]["lr"])
        self.light.append(observe.ops is None)
        self.optimizer.step()

    def until_light(self, recorder, least=20):
        """Train until a light step was the last; says which step the last full one was."""
        while len(self.light) < least or not self.light[-1]:
            self.step()
        recorder.running = False
        assert recorder.step == len(self.light)
        return max(i for i, light in enumerate(self.light, 1) if not light)


def adamw(training, name, steps):
    m = v = 0.0
    for t in range(1, steps + 1):
        p, g, lr = training.values[t - 1][name], training.gradients[t - 1][name], training.rates[t - 1]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        m_hat, root = m / (1 - 0.9**t), np.sqrt(v / (1 - 0.999**t))
        step = -lr * m_hat / (root + 1e-8)
        u = step - lr * DECAY * p
    own = {"m_hat": rms(m_hat), "v_hat": rms(root), "effective_lr": lr / (rms(root) + 1e-8), "eps": 0.0}
    return (
        own
        | {"g": rms(g), "update": rms(u), "update:weight": rms(u) / rms(p), "cos": cosine(u, -g)}
        | {"decay:gradient": lr * DECAY * rms(p) / rms(step)}
    )


def sgd(momentum, nesterov):
    def expected(training, name, steps):
        b = None
        for p, g, lr in zip(training.values[:steps], training.gradients[:steps], training.rates[:steps], strict=True):
            p, g = p[name], g[name]
            d = g + DECAY * p
            b = d if b is None else momentum * b + d
            u = -lr * (d + momentum * b if nesterov else b if momentum else d)
        found = {"g": rms(g), "effective_lr": lr, "update": rms(u), "update:weight": rms(u) / rms(p), "cos": cosine(u, -g)}
        return found | {"decay:gradient": DECAY * rms(p) / rms(g)} | ({"m_hat": rms(b), "momentum": rms(b)} if momentum else {})

    return expected


METHODS = {
    "AdamW": (lambda ps: optim.AdamW(ps, lr=RATE, weight_decay=DECAY), adamw),
    "SGD": (lambda ps: optim.SGD(ps, lr=RATE, weight_decay=DECAY), sgd(0.0, False)),
    "momentum": (lambda ps: optim.SGD(ps, lr=RATE, weight_decay=DECAY, momentum=0.9), sgd(0.9, False)),
    "nesterov": (lambda ps: optim.SGD(ps, lr=RATE, weight_decay=DECAY, momentum=0.9, nesterov=True), sgd(0.9, True)),
}
methods = pytest.mark.parametrize(("make", "formula"), METHODS.values(), ids=METHODS)
scheduled = pytest.mark.parametrize("factor", [1.0, 0.9], ids=["constant", "decaying"])


def train(recorder, make, factor):
    """Until a light step, with a schedule that sets the rate of the next step after each."""
    training = Kept(make)
    plain_step = training.step

    def step():
        plain_step()
        training.optimizer.param_groups[0]["lr"] *= factor

    training.step = step
    return training, training.until_light(recorder)


@methods
@scheduled
def test_the_microscope_looks_at_update_and_gradient_of_one_step(thrifty, make, formula, factor):
    training, full = train(thrifty, make, factor)
    (table,) = thrifty.lens()
    assert table["step"] == len(training.light) > full and table["names"] == list(training.parameters)
    for name, row in zip(table["names"], table["rows"], strict=True):
        expected = formula(training, name, table["step"])
        stale = formula(training, name, full)
        assert abs(expected["update"] / stale["update"] - 1) > 0.01, "else the test could not tell the two"
        for column in COLUMNS:
            if column in expected:
                assert row[column] == pytest.approx(expected[column], rel=1e-3, abs=1e-4), (name, column)
            else:
                assert math.isnan(row[column]), (name, column)


@methods
@scheduled
def test_a_row_of_the_optimizers_table_is_of_one_step_and_says_which(thrifty, make, formula, factor):
    training, full = train(thrifty, make, factor)
    (table,) = thrifty.numbers().optimizers
    assert table["of"] == full and table["lr"] == pytest.approx(training.rates[-1])
    for name, values in zip(training.parameters, table["values"], strict=True):
        expected = formula(training, name, full)
        assert not is_missing(values).any()
        for column, value in zip(table["columns"], values, strict=True):
            assert value == pytest.approx(expected["g" if column == "rms g" else column], rel=1e-3), (name, column)


def test_a_row_read_in_full_is_of_the_newest_step_and_that_is_not_said(thrifty):
    training = Kept(METHODS["AdamW"][0])
    while len(training.light) < 20 or training.light[-1]:
        training.step()
    thrifty.running = False
    numbers = thrifty.numbers()
    assert numbers.of is None and "of" not in numbers.optimizers[0]
    for name, values in zip(training.parameters, numbers.optimizers[0]["values"], strict=True):
        expected = adamw(training, name, len(training.light))
        assert values == pytest.approx([expected[c] for c in ("g", "m_hat", "v_hat", "effective_lr", "update:weight")], rel=1e-3)


def test_loss_and_norm_are_those_of_the_newest_step_and_ops_say_of_which_they_are(thrifty):
    training = Kept(METHODS["SGD"][0])
    full = training.until_light(thrifty)
    numbers = thrifty.numbers()
    assert numbers.loss == pytest.approx(training.losses[-1]) != training.losses[full - 1]
    assert numbers.grad_norm == pytest.approx(training.norms[-1]) != training.norms[full - 1]
    assert numbers.of == full and not thrifty.open
    assert numbers.ops[-1, 0] == pytest.approx(training.losses[full - 1])
    names = [leaf["name"] for leaf in thrifty.structure()["leaves"]]
    for name, gradient in training.gradients[full - 1].items():
        assert numbers.leaves[names.index(name), 1] == pytest.approx(np.linalg.norm(gradient), rel=1e-5)


def test_after_a_backward_call_without_an_update_the_gradient_is_not_the_one_of_the_update(thrifty):
    training = Kept(METHODS["AdamW"][0])
    training.until_light(thrifty)
    thrifty.running = True
    training.backward()
    thrifty.running = False
    (table,) = thrifty.lens()
    for name, row in zip(table["names"], table["rows"], strict=True):
        expected = adamw(training, name, len(training.light))
        assert np.isnan([row[c] for c in ("g", "cos", "decay:gradient")]).all()
        assert row["update"] == pytest.approx(expected["update"], rel=1e-3) and row["m_hat"] == pytest.approx(expected["m_hat"], rel=1e-3)


def test_of_two_optimizers_in_turn_each_has_its_own_step_and_gradient():
    with gl.trace.recording() as recorder:
        a, b = Kept(METHODS["AdamW"][0]), Kept(METHODS["momentum"][0], nn.Tanh())
        recorder.names = lambda: {id(a.model): "a", id(b.model): "b"}
        for _ in range(6):
            a.step()
            b.step()
    assert recorder.step == 12
    tables = recorder.lens()
    assert [table["step"] for table in tables] == [11, 12]
    assert [table.get("of") for table in recorder.numbers().optimizers] == [11, None]
    for table, training, formula in zip(tables, (a, b), (adamw, sgd(0.9, False)), strict=True):
        for name, row in zip(training.parameters, table["rows"], strict=True):
            expected = formula(training, name, 6)
            assert row["cos"] == pytest.approx(expected["cos"], abs=1e-4) and row["g"] == pytest.approx(expected["g"], rel=1e-4)


def test_the_table_stays_as_it_was_recorded_when_training_goes_on_unseen():
    with gl.trace.recording() as recorder:
        training = Kept(METHODS["AdamW"][0])
        for _ in range(7):
            training.step()
    for _ in range(5):
        training.step()
    (table,) = recorder.numbers().optimizers
    for name, values in zip(training.parameters, table["values"], strict=True):
        expected = adamw(training, name, 7)
        assert values == pytest.approx([expected[c] for c in ("g", "m_hat", "v_hat", "effective_lr", "update:weight")], rel=1e-3)
