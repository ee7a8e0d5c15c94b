"""The governor: light steps know loss, gradients and update, and cost what the user allows; full ones stay as they are."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim
from gradlab.trace import Recorder, diagnose, glance
from gradlab.trace.governor import Governor
from gradlab.trace.series import Series
from gradlab.trace.summary import norm_of_all
from gradlab.trace.timeline import Timeline

often_full, seldom_full = (pytest.mark.parametrize("thrifty", [period], indirect=True) for period in (3, 9))


class Training:
    """A small net, and what each step's loss and gradients were, computed beside the recorder."""

    def __init__(self, cls=optim.SGD, **options):
        gl.manual_seed(3)
        self.model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        self.optimizer = cls(self.model.parameters(), lr=0.05, **options)
        rng = np.random.default_rng(1)
        self.x, self.y = gl.tensor(rng.normal(size=(7, 3)).astype(np.float32)), gl.tensor(rng.normal(size=(7, 2)).astype(np.float32))
        self.losses, self.norms = [], []

    def backward(self, scale=1.0):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(self.x), self.y) * scale
        loss.backward()
        self.losses.append(loss.item())
        self.norms.append(math.sqrt(sum(float((p.grad.numpy().astype(np.float64) ** 2).sum()) for p in self.model.parameters())))

    def step(self, scale=1.0):
        self.backward(scale)
        self.optimizer.step()

    def steps(self, count):
        for _ in range(count):
            self.step()


def rows(recorder):
    timeline = recorder.timeline
    _, found = timeline.rows(0)
    return {name: found[:, i] for i, name in enumerate(timeline.columns())}


@pytest.mark.parametrize("cls", [optim.SGD, optim.AdamW, optim.RMSprop, optim.Adagrad])
def test_every_step_has_its_loss_gradient_norm_and_learning_rate(thrifty, cls):
    training = Training(cls)
    for _ in range(30):
        training.step()
    found = rows(thrifty)
    assert thrifty.step == 30
    np.testing.assert_allclose(found["loss"], training.losses, rtol=1e-6)
    np.testing.assert_allclose(found["grad_norm"], training.norms, rtol=1e-5)
    np.testing.assert_allclose(found[f"lr/{cls.__name__}"], np.float32(0.05))


@pytest.mark.parametrize("dtype", [gl.float32, gl.float64, gl.float16])
@pytest.mark.parametrize("strange", ["nothing", "no gradient", "from the side"])
def test_of_a_handful_of_weights_every_step_has_its_norm_too(thrifty, dtype, strange):
    arrays = [[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0], [1.0, 2.0, 3.0]
    a, b, c = (gl.tensor(array, dtype=dtype, requires_grad=True) for array in arrays)
    optimizer = optim.SGD([a, b, c], lr=0.01)
    norms = []
    for step in range(30):
        optimizer.zero_grad()
        loss = (a * a).sum() + (b * 3.0).sum()
        if strange != "no gradient" or step % 7:
            loss = loss + (c * c * c).sum()
        if strange == "from the side":
            loss = loss + (a.T @ b).sum() * 0.5
        loss.backward()
        norms.append(math.sqrt(sum(float((p.grad.numpy().astype(np.float64) ** 2).sum()) for p in (a, b, c) if p.grad is not None)))
        optimizer.step()
    assert thrifty.step == 30
    np.testing.assert_allclose(rows(thrifty)["grad_norm"], norms, rtol=2e-3 if dtype == gl.float16 else 1e-6)


@seldom_full
def test_an_error_inside_of_a_glance_detaches_the_recorder_and_training_goes_on(thrifty, monkeypatch):
    training = Training()
    training.steps(10)
    monkeypatch.setattr("gradlab.trace.glance.norm_of_all", lambda arrays: 1 / 0)
    with pytest.warns(UserWarning, match="division by zero.*was detached"):
        training.steps(9)
    assert not thrifty.on and observe.light is None and free(thrifty.lock)
    training.step()


def free(lock):
    """Whether another thread can take it."""
    with ThreadPoolExecutor(1) as other:
        taken = other.submit(lock.acquire, blocking=False).result()
        if taken:
            other.submit(lock.release).result()
    return taken


@seldom_full
@pytest.mark.parametrize("where", ["norm_of_all", "put", "read_lr", "went_by"])
def test_an_interrupt_inside_of_a_glance_reaches_the_user_and_costs_one_step_at_most(thrifty, monkeypatch, where):
    owner = {"norm_of_all": glance, "put": Timeline, "read_lr": Series, "went_by": Governor}[where]
    training, real, calls = Training(), getattr(owner, where), []

    def once(*args):
        calls.append(where)
        if len(calls) == 2 and where != "norm_of_all":
            raise KeyboardInterrupt
        if len(calls) == 1 and where == "norm_of_all":
            raise KeyboardInterrupt
        return real(*args)

    training.steps(9)
    while observe.light is None:
        training.step()
    training.step()
    monkeypatch.setattr(owner, where, once)
    with pytest.raises(KeyboardInterrupt):
        training.steps(40)
    made = len(training.losses)
    assert free(thrifty.lock) and thrifty.on
    before = thrifty.step
    assert made - 2 <= before <= made
    training.steps(20)
    assert thrifty.step == before + 20
    assert np.isfinite(rows(thrifty)["loss"]).all()


def test_who_steps_inside_of_the_pass_is_counted_in_every_step(thrifty):
    training = Training()
    optimizers = {p: optim.SGD([p], lr=0.05) for p in training.model.parameters()}

    def step(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in optimizers:
        p.register_post_accumulate_grad_hook(step)
    losses = []
    for _ in range(40):
        loss = nn.functional.mse_loss(training.model(training.x), training.y)
        loss.backward()
        losses.append(loss.item())
    assert thrifty.on and thrifty.step == 40
    np.testing.assert_allclose(rows(thrifty)["loss"], losses, rtol=1e-6)


@pytest.mark.parametrize("alone", [True, False], ids=["glance", "by begin and end"])
def test_after_the_first_step_of_an_optimizer_comes_a_full_one(thrifty, alone):
    other = Recorder()
    if not alone:
        observe.attach(other)
    for _ in range(4):
        training = Training()
        for _ in range(12):
            training.step()
        second = optim.AdamW(training.model.parameters(), lr=0.01)
        thrifty.governor._period = lambda: 99
        training.steps(12)
        training.optimizer = second
        training.step()
        training.step()
        (table,) = [table for table in thrifty.numbers().optimizers if table["label"].startswith("AdamW")]
        assert len(table["values"]) == 4
        assert [finding for finding in diagnose(thrifty) if finding.rule == "R7"] == []
    observe.detach(other)


@pytest.mark.parametrize("entries", [3, 40])
def test_nan_is_worse_than_inf(entries):
    array = np.ones(entries, np.float32)
    array[:2] = np.nan, np.inf
    assert math.isnan(norm_of_all([array, array])) and math.isnan(norm_of_all([array[:1], array[1:]]))


def test_what_is_called_between_steps_may_halt_a_light_one_and_is_no_part_of_the_share(thrifty):
    training = Training()
    while observe.light is None:
        training.step()
    seen = []
    thrifty.between_steps.append(lambda: seen.append(thrifty.step))
    training.step()
    assert seen == [thrifty.step]

    def halt():
        raise observe.HaltError("enough")

    thrifty.between_steps.append(halt)
    with pytest.raises(observe.HaltError, match="enough"):
        training.step()
    thrifty.between_steps.clear()
    assert thrifty.on
    before = thrifty.step
    training.step()
    assert thrifty.step == before + 1


def test_full_steps_are_those_that_an_ungoverned_recorder_would_show(thrifty):
    training, everything = Training(), Recorder()
    for _ in range(20):
        training.step()
    light = rows(thrifty)
    thrifty.detach()
    again = Training()
    everything.running = True
    everything.attach()
    for _ in range(20):
        again.step()
    everything.detach()
    full = rows(everything)
    known = np.isfinite(light["g/0.weight"])
    assert 4 <= known.sum() <= 11 and known[:3].all()
    for name, values in light.items():
        of_step = np.isfinite(values)
        np.testing.assert_allclose(values[of_step], full[name][of_step], rtol=0.0 if "/" in name else 2e-7, err_msg=name)
    assert [op["name"] for op in thrifty.structure()["ops"]] == [op["name"] for op in everything.structure()["ops"]]


def test_training_is_the_same_to_the_bit(thrifty):
    watched, alone = Training(optim.AdamW), None
    for _ in range(25):
        watched.step()
    thrifty.detach()
    alone = Training(optim.AdamW)
    for _ in range(25):
        alone.step()
    for p, q in zip(watched.model.parameters(), alone.model.parameters(), strict=True):
        assert np.array_equal(p.numpy() if not p.requires_grad else p.detach().numpy(), q.detach().numpy())


@often_full
def test_no_op_of_a_light_step_calls_the_recorder(thrifty):
    training = Training()
    seen = []
    for _ in range(12):
        training.backward()
        seen.append(observe.ops is None)
        training.optimizer.step()
    assert seen[:3] == [False] * 3 and sum(seen) == 6


def test_a_nan_in_a_light_step_makes_the_next_ones_full(thrifty):
    training = Training()
    for _ in range(4):
        training.step()
    thrifty.governor._period = lambda: 99
    for _ in range(6):
        training.step()
    assert observe.ops is None
    training.step(scale=math.nan)
    assert observe.ops is not None
    training.step()
    assert math.isnan(thrifty.numbers().loss) and any(math.isnan(v) for v in thrifty.numbers().ops[:, 0])


def test_the_first_steps_of_a_cell_are_full_and_the_end_of_a_cell_shows_a_whole_step(thrifty):
    training = Training()
    for _ in range(11):
        training.step()
    thrifty.running = False
    assert len(thrifty.structure()["ops"]) == 5 and not thrifty.open
    for _ in range(3):
        thrifty.running = True
        training.step()
        thrifty.running = False
        assert thrifty.numbers().loss == pytest.approx(training.losses[-1])


def test_two_models_that_step_in_turn_are_both_seen(thrifty):
    a, b = Training(), Training(optim.AdamW)
    b.model = nn.Linear(3, 2)
    b.optimizer = optim.AdamW(b.model.parameters(), lr=0.01)
    thrifty.names = lambda: {id(a.model): "a", id(b.model): "b"}
    lengths = set()
    for _ in range(20):
        for training in (a, b):
            training.step()
            lengths.add(len(thrifty.structure()["ops"]))
    assert thrifty.step == 40 and lengths >= {5, 3}
    found = rows(thrifty)
    assert np.isfinite(found["lr/SGD"]).sum() == np.isfinite(found["lr/AdamW"]).sum() == 20
    assert 1 < np.isfinite(found["g/0.weight"]).sum() < 15 and 1 < np.isfinite(found["g/b.weight"]).sum() < 15


def test_updates_by_hand_are_counted_in_light_steps_too(thrifty):
    w = gl.tensor(np.array([1.0, -2.0]), requires_grad=True)
    losses = []
    for _ in range(20):
        w.grad = None
        loss = (w * w).sum()
        loss.backward()
        losses.append(loss.item())
        w.data -= 0.1 * w.grad.data
    thrifty.running = False
    assert thrifty.step == 20
    np.testing.assert_allclose(rows(thrifty)["loss"], losses, rtol=1e-6)
    gradient = next(values for name, values in rows(thrifty).items() if name.startswith("g/"))
    assert 4 <= np.isfinite(gradient).sum() < 14


def test_accumulated_gradients_are_one_step(thrifty):
    training = Training()
    for _ in range(12):
        training.optimizer.zero_grad()
        for _ in range(2):
            nn.functional.mse_loss(training.model(training.x), training.y).backward()
        training.optimizer.step()
    assert thrifty.step == 12


def test_an_interrupt_in_a_light_step_leaves_everything_right(thrifty):
    training = Training()
    for _ in range(4):
        training.step()
    real = training.optimizer._moving if hasattr(training.optimizer, "_moving") else None
    assert real is not None

    def interrupted():
        raise KeyboardInterrupt

    for _ in range(2):
        training.optimizer._moving = interrupted
        with pytest.raises(KeyboardInterrupt):
            training.step()
        del training.optimizer._moving
    thrifty.running = False
    thrifty.running = True
    for _ in range(3):
        training.step()
    thrifty.running = False
    assert thrifty.numbers().loss == pytest.approx(training.losses[-1])


def test_who_needs_every_op_gets_every_op(thrifty):
    training = Training()
    thrifty.needs_ops += 1
    for _ in range(12):
        training.backward()
        assert observe.ops is not None
        training.optimizer.step()
    thrifty.needs_ops -= 1


@often_full
def test_a_loop_that_begins_with_an_op_without_a_graph_has_full_steps_too(thrifty):
    training = Training()
    for _ in range(12):
        batch = training.x[gl.tensor([0, 1, 2])]
        training.optimizer.zero_grad()
        nn.functional.mse_loss(training.model(batch), training.y[:3]).backward()
        training.optimizer.step()
    full = np.flatnonzero(~np.isnan(rows(thrifty)["u/0.weight"])) + 1
    assert full.tolist() == [1, 2, 3, 6, 9, 12]


def test_the_share_that_is_shown_follows_from_the_durations():
    g = Governor(0.1)
    now = 0
    for _ in range(4):
        g.begins(now)
        now += 300
    for _ in range(400):
        while g.went_by(now, 2):
            now += 102
        now += 102
        g.begins(now)
        now += 300
        light = g.begins(now)
        assert light
    # Of n steps one takes 300 and the others 102, where 100 are the training's.
    spent = 200 + (g.every - 1) * 2
    assert g.share == pytest.approx(spent / (spent + g.every * 100))
    assert spent / (g.every * 100) <= 0.1


def test_a_tracer_that_costs_less_than_the_budget_reads_every_step():
    g = Governor(0.5)
    now, light = 0, 0
    for _ in range(100):
        if g.begins(now):
            light += 1
            while g.went_by(now, 1):
                now += 100
            now += 100
            g.begins(now)
        now += 110
    assert light == 1 and g.every == 1


def test_a_model_that_is_made_between_two_full_steps_keeps_its_names():
    gl.manual_seed(0)
    shown = []
    recorder = Recorder()
    recorder.governor.budget = 0.05
    recorder.governor._period = lambda: 9
    recorder.attach()
    try:
        for _ in range(4):
            model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
            optimizer = optim.Adam(model.parameters())
            for _ in range(25):
                loss = model(gl.randn(5, 2)).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            shown.append([leaf["name"] for leaf in recorder.structure()["leaves"] if leaf["kind"] == "parameter"])
    finally:
        recorder.detach()
    assert shown == [["0.weight", "0.bias", "2.weight", "2.bias"]] * 4


@pytest.mark.parametrize(
    ("budget", "share", "much"),
    [(0.05, 0.24, False), (0.05, 0.26, True), (0.01, 0.06, True), (0.0, 0.01, True), (None, 0.9, False), (0.05, None, False)],
)
def test_a_share_is_much_where_it_is_five_times_what_was_allowed(monkeypatch, budget, share, much):
    recorder = Recorder()
    recorder.governor.budget = budget
    monkeypatch.setattr(Recorder, "share", share)
    assert recorder.takes_much is much


def test_what_is_read_at_the_end_of_a_full_step_counts_as_its_cost():
    shares = []
    for also in (0, 100):
        g, now = Governor(0.05), 0
        for _ in range(60):
            if g.begins(now):
                g.also(also)
                now += also
                while g.went_by(now, 1):
                    now += 100
                now += 100
                g.begins(now)
            now += 200
        shares.append((g.every, g.share))
        assert g.share == pytest.approx((101 + also + (g.every - 1)) / (101 + also + (g.every - 1) + 99 * g.every))
    assert shares[0][0] < shares[1][0] and all(share <= 0.05 for _, share in shares)


@often_full
def test_the_updates_of_a_full_step_are_not_said_to_be_those_of_a_light_one(thrifty):
    training = Training()
    seen = []
    for _ in range(12):
        before = [np.array(p.data) for p in training.model.parameters()]
        training.step()
        updates = training.optimizer.last_updates
        seen.append(bool(updates))
        for (p, update), old in zip(updates, before, strict=bool(updates)):
            np.testing.assert_array_equal(update, p.data - old)
    assert seen[:3] == [True] * 3 and 4 < sum(seen) < 9
