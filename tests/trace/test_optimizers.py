from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import recording


def rms(array) -> float:
    return float(np.sqrt((np.asarray(array, np.float64) ** 2).mean()))


def trained(optimizer_of, steps=3, size=4):
    gl.manual_seed(1)
    model = nn.Linear(size, 3)
    optimizer = optimizer_of(model.parameters())
    x = gl.randn(8, size)
    with recording() as r:
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            before = [p.data.copy() for p in model.parameters()]
            optimizer.step()
    return r, model, optimizer, before


def test_the_update_ratio_is_what_really_happened():
    r, model, _, before = trained(lambda ps: optim.AdamW(ps, lr=0.01, weight_decay=0.1))
    (table,) = r.numbers().optimizers
    expected = [rms(p.data - old) / rms(old) for p, old in zip(model.parameters(), before, strict=True)]
    assert table["columns"] == ["rms g", "m_hat", "v_hat", "effective_lr", "update:weight"] and table["rows"] == [0, 1]
    assert table["values"][:, -1] == pytest.approx(expected, rel=1e-4)
    assert table["values"][:, 0] == pytest.approx([rms(p.grad.data) for p in model.parameters()], rel=1e-5)


def test_moments_equal_the_optimizers_state_read_independently():
    r, model, optimizer, _ = trained(lambda ps: optim.Adam(ps, lr=0.01))
    (table,) = r.numbers().optimizers
    weight = next(iter(model.parameters()))
    state, t = optimizer.state[weight], 3
    m = rms(np.asarray(state["exp_avg"])) / (1 - 0.9**t)
    v = np.sqrt(np.asarray(state["exp_avg_sq"], np.float64).mean() / (1 - 0.999**t))
    assert table["values"][0, 1:4] == pytest.approx([m, v, 0.01 / (v + 1e-8)], rel=1e-4) and table["lr"] == pytest.approx(0.01)


@pytest.mark.parametrize("make, columns", [
    (lambda ps: optim.RMSprop(ps, lr=0.01), ["v", "effective_lr"]),
    (lambda ps: optim.RMSprop(ps, lr=0.01, momentum=0.9, centered=True), ["momentum", "v", "effective_lr"]),
    (lambda ps: optim.Adagrad(ps, lr=0.1), ["v", "effective_lr"]),
], ids=["RMSprop", "momentum", "Adagrad"])  # fmt: skip
def test_what_rmsprop_and_adagrad_divide_by_is_shown(make, columns):
    r, model, optimizer, before = trained(make)
    (table,) = r.numbers().optimizers
    assert table["columns"] == ["rms g", *columns, "update:weight"]
    for row, p, old in zip(table["values"], model.parameters(), before, strict=True):
        assert row[1:-1] == pytest.approx([optimizer.summary(p)[name] for name in columns], rel=1e-6)
        assert row[-1] == pytest.approx(rms(p.data - old) / rms(old), rel=1e-4)


def test_a_schedule_is_seen_step_by_step():
    optimizers = []

    def scheduled(ps):
        optimizers.append(optim.SGD(ps, lr=0.1))
        schedule = optim.lr_scheduler.ExponentialLR(optimizers[0], 0.5)
        step = optimizers[0].step
        optimizers[0].step = lambda: (step(), schedule.step())
        return optimizers[0]

    r, *_ = trained(scheduled, steps=4)
    _, rows = r.timeline.rows(0)
    lr = rows[:, r.timeline.columns().index("lr/SGD")]
    assert lr == pytest.approx([0.1, 0.05, 0.025, 0.0125])


def test_the_timeline_has_a_row_for_every_step():
    r, _, _, before = trained(lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9), steps=5)
    spans = r.timeline.since(0, 100_000)
    assert r.timeline.columns() == ["loss", "grad_norm", "lr/SGD", *[f"{letter}/{name}" for name in ("weight", "bias") for letter in "gwu"]]
    assert spans.exact and spans.first.tolist() == [1, 2, 3, 4, 5] and np.isfinite(spans.data).all()
    assert spans.data[-1, 2, 4] == pytest.approx(np.linalg.norm(before[0]), rel=1e-5)
    assert r.numbers().optimizers[0]["columns"] == ["rms g", "momentum", "update:weight"]


def test_a_zero_weight_that_moves_moves_infinitely_much_and_one_that_stays_does_not_count():
    w, v = gl.zeros(2, requires_grad=True), gl.zeros(2, requires_grad=True)
    optimizer = optim.SGD([w, v], lr=0.1)
    with recording(lambda: {id(w): "w", id(v): "v"}) as r:
        (w * 2.0 + v * 0.0).sum().backward()
        optimizer.step()
    assert r.numbers().optimizers[0]["values"][0, -1] == np.inf and np.isnan(r.numbers().optimizers[0]["values"][1, -1])


def test_large_parameters_are_summarised_in_every_tenth_step_and_their_gradients_in_each():
    r, *_ = trained(lambda ps: optim.SGD(ps, lr=1e-5), steps=21, size=30_000)
    _, rows = r.timeline.rows(0)
    at = {name: i for i, name in enumerate(r.timeline.columns())}
    known = [i + 1 for i, ok in enumerate(np.isfinite(rows[:, at["u/weight"]])) if ok]
    assert known == [1, 10, 20] and np.isfinite(rows[:, [at["loss"], at["g/weight"], at["g/bias"], at["grad_norm"]]]).all()
    assert r.numbers().optimizers[0]["rows"] == [0, 1] and r.numbers().leaf_has.tolist() == [1, 2, 2]  # step 21: no values


def test_an_optimizer_over_tensors_of_no_module_works_too():
    w = gl.ones(3, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.5)
    with recording(lambda: {id(w): "w"}) as r:
        w.sum().backward()
        optimizer.step()
    assert r.timeline.columns()[-3:] == ["g/w", "w/w", "u/w"] and r.numbers().optimizers[0]["values"][0].tolist() == [1.0, 0.5]


def test_a_users_own_optimizer_is_seen():
    class SignDescent(optim.Optimizer):
        def step(self):
            for p in self.params():
                p.data -= 0.1 * np.sign(p._grad)

    w = gl.ones(4, requires_grad=True)
    optimizer = SignDescent([w], {})
    with recording(lambda: {id(w): "w"}) as r:
        for _ in range(2):
            w.sum().backward()
            optimizer.step()
    (table,) = r.numbers().optimizers
    assert (r.step, table["label"], table["columns"]) == (2, "SignDescent", ["rms g", "update:weight"]) and np.isnan(table["lr"])
    assert table["values"][0, 1] == pytest.approx(0.1 / 0.9, rel=1e-5)


def test_a_step_that_raises_is_no_step():
    class Broken(optim.Optimizer):
        def step(self):
            raise ZeroDivisionError

    w = gl.ones(4, requires_grad=True)
    with recording() as r:
        w.sum().backward()
        with pytest.raises(ZeroDivisionError):
            Broken([w], {}).step()
    assert r.step == 0 and r.open


def test_gradients_changed_between_backward_and_step_are_shown_as_the_optimizer_used_them():
    w = gl.ones(4, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    with recording() as r:
        w.sum().backward()
        w.grad = np.full(4, 0.25, np.float32)
        optimizer.step()
    assert r.numbers().optimizers[0]["values"][0, 0] == 0.25


def test_an_optimizer_whose_forward_was_not_traced_counts_no_step():
    w = gl.ones(4, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    w.sum().backward()
    with recording() as r:
        optimizer.step()
    assert r.step == 0


def test_an_optimizer_that_moves_nothing_still_has_its_learning_rate():
    forgotten, used = gl.ones(2, requires_grad=True), gl.ones(2, requires_grad=True)
    optimizer = optim.SGD([forgotten], lr=0.25)
    with recording() as r:
        (used * used).sum().backward()
        optimizer.step()
        [table] = r.numbers().optimizers
    assert (table["lr"], table["rows"], table["values"].shape[0]) == (0.25, [], 0)
