from __future__ import annotations

import copy

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim


class Steps:
    """Keeps copies of what each step event carried."""

    def __init__(self):
        self.seen, self.errors = [], []

    def begin(self, kind, target, inputs):
        return (kind, target, inputs)

    def end(self, token, output, error):
        if token[0] == "step" and error is not None:
            self.errors.append(error)
        elif token[0] == "step":
            self.seen.append((token[1], token[2], [(p, update.copy()) for p, update in output]))


@pytest.fixture
def steps():
    observer = Steps()
    observe.attach(observer)
    yield observer
    observe.detach(observer)


def trained(make, observer=None, turns=5):
    gl.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3))
    optimizer, x = make(model.parameters()), gl.randn(16, 4)
    if observer is not None:
        observe.attach(observer)
    for _ in range(turns):
        optimizer.zero_grad()
        (model(x) ** 2).mean().backward()
        optimizer.step()
    if observer is not None:
        observe.detach(observer)
    return model.state_dict(), optimizer


@pytest.mark.parametrize("make", [
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True), lambda p: optim.Adam(p, lr=0.01),
    lambda p: optim.AdamW(p, lr=0.01, weight_decay=0.1), lambda p: optim.RMSprop(p, momentum=0.9), lambda p: optim.Adagrad(p),
], ids=["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])  # fmt: skip
def test_an_observed_run_equals_an_unobserved_one_bit_for_bit(make):
    observer = Steps()
    plain, _ = trained(make)
    watched, _ = trained(make, observer)
    assert len(observer.seen) == 5
    for name, tensor in plain.items():
        assert tensor.data.tobytes() == watched[name].data.tobytes()


def test_the_event_carries_the_real_update_of_each_parameter(steps):
    a, b, frozen = nn.Parameter(np.array([1.0, 2.0])), nn.Parameter(np.array(3.0)), nn.Parameter([5.0])
    optimizer = optim.SGD([a, b, frozen], lr=0.1, weight_decay=0.5)
    a.grad, b.grad = np.array([1.0, -1.0]), np.array(2.0)
    before = a.data.copy(), b.data.copy()
    result = optimizer.step()
    ((target, inputs, updates),) = steps.seen
    assert target is optimizer and inputs == () and result is None
    assert len(updates) == 2 and updates[0][0] is a and updates[1][0] is b
    for (p, update), old in zip(updates, before, strict=True):
        assert update.shape == p.shape and np.array_equal(update, p.data - old)


def test_the_copies_live_in_one_buffer_that_is_used_again_and_given_back(steps):
    p, q = nn.Parameter(np.zeros(100, np.float32)), nn.Parameter(np.zeros(3))
    optimizer = optim.SGD([p, q], lr=0.1)
    assert optimizer.scratch_bytes == 0
    p.grad, q.grad = np.ones(100), np.ones(3)
    optimizer.step()
    assert p.data.nbytes + q.data.nbytes <= optimizer.scratch_bytes <= p.data.nbytes + q.data.nbytes + 32
    held = optimizer.scratch_bytes
    q.grad = None
    optimizer.step()
    assert optimizer.scratch_bytes == held
    observe.detach(steps)
    optimizer.step()
    assert optimizer.scratch_bytes == 0


def test_a_step_of_your_own_is_observed_once_also_when_it_calls_super(steps):
    class Twice(optim.SGD):
        def step(self):
            super().step()
            super().step()
            return "done"

    p = nn.Parameter([1.0])
    p.grad = [1.0]
    assert Twice([p], lr=0.25).step() == "done"
    ((_, _, updates),) = steps.seen
    assert updates[0][1].tolist() == [-0.5]


def test_a_step_that_rebinds_data_is_observed_rightly(steps):
    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.5})

        def step(self):
            for p in self.params():
                p.data = p.data - self.lr_of(p) * p.grad.data
                p.grad = None

    p = nn.Parameter([1.0])
    p.grad = [1.0]
    Own([p]).step()
    assert steps.seen[0][2][0][1].tolist() == [-0.5]


def test_an_optimizer_without_groups_still_steps(steps):
    class Bare(optim.Optimizer):
        def __init__(self, p):
            self.p = p

        def step(self):
            self.p.data -= 1

    p = nn.Parameter([1.0])
    Bare(p).step()
    assert p.tolist() == [0] and steps.seen[0][2] == []


def test_a_closure_runs_inside_the_observed_step(steps):
    p = nn.Parameter([1.0])
    optimizer = optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0
    assert steps.seen[0][2][0][1].tolist() == [-1.0]


def test_an_error_in_a_step_reaches_both_and_the_next_step_is_seen(steps):
    class Breaks(optim.SGD):
        broken = True

        def step(self):
            if self.broken:
                raise RuntimeError("no")
            return super().step()

    p = nn.Parameter([1.0])
    optimizer = Breaks([p], lr=0.1)
    with pytest.raises(RuntimeError, match="no"):
        optimizer.step()
    optimizer.broken = False
    optimizer.step()
    assert len(steps.errors) == 1 and len(steps.seen) == 1


def test_a_diverged_parameter_gives_nan_without_a_warning(steps):
    p = nn.Parameter([np.inf])
    p.grad = [1.0]
    optim.SGD([p], lr=0.1).step()
    assert np.isnan(steps.seen[0][2][0][1]).all()


def test_an_optimizer_can_be_copied_while_it_is_watched(steps):
    p = nn.Parameter([1.0])
    p.grad = [1.0]
    optimizer = optim.SGD([p], lr=0.1)
    optimizer.step()
    copy.deepcopy(optimizer).step()
    assert len(steps.seen) == 2 and p.tolist() == pytest.approx([0.9])
