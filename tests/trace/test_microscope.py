"""The optimizer microscope beside the formulas of every optimizer, written out by hand in float64."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import recording
from gradlab.trace.microscope import look


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


def cosine(a, b):
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def steps(optimizer_of, n=5, scale=1.0):
    """Train one weight in float64; returns the optimizer, the weight, and what it was and its gradient before every update."""
    gl.manual_seed(4)
    w = gl.tensor(gl.randn(6, 4).data.astype(np.float64), requires_grad=True)
    x, y = gl.tensor(gl.randn(8, 6).data.astype(np.float64)), gl.tensor(gl.randn(8, 4).data.astype(np.float64))
    optimizer = optimizer_of([w])
    before, gradients = [], []
    for _ in range(n):
        optimizer.zero_grad()
        (((x @ w - y) ** 2).mean() * scale).backward()
        before.append(np.array(w.data))
        gradients.append(np.array(w.grad.data))
        optimizer.step()
    return optimizer, w, before, gradients


@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize("momentum, nesterov", [(0.0, False), (0.9, False), (0.9, True)])
def test_sgd(momentum, nesterov, decay):
    lr = 0.05
    optimizer, w, before, gradients = steps(lambda ps: optim.SGD(ps, lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=decay))
    b = 0.0
    for t, (p, g) in enumerate(zip(before, gradients, strict=True)):
        d = g + decay * p
        b = d if t == 0 else momentum * b + d
        u = -lr * (d + momentum * b if nesterov else b if momentum else d)
    row = look(optimizer, w)
    assert row["g"] == pytest.approx(rms(gradients[-1])) and row["effective_lr"] == lr
    assert row["update"] == pytest.approx(rms(u)) == pytest.approx(rms(w.data - before[-1]))
    assert row["update:weight"] == pytest.approx(rms(u) / rms(before[-1]))
    assert row["cos"] == pytest.approx(cosine(u, -gradients[-1]))
    assert row["decay:gradient"] == pytest.approx(decay * rms(before[-1]) / rms(gradients[-1]))
    assert np.isnan([row["v_hat"], row["eps"]]).all()
    assert row["m_hat"] == pytest.approx(rms(b)) if momentum else np.isnan(row["m_hat"])


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("decay", [0.0, 0.2])
@pytest.mark.parametrize("scale, eps", [(1.0, 1e-8), (1e-7, 1e-8)])
def test_adam_and_adamw(decoupled, decay, scale, eps):
    lr, (b1, b2) = 0.01, (0.8, 0.95)
    cls = optim.AdamW if decoupled else optim.Adam
    optimizer, w, before, gradients = steps(lambda ps: cls(ps, lr=lr, betas=(b1, b2), eps=eps, weight_decay=decay), scale=scale)
    m = v = 0.0
    for t, (p, g) in enumerate(zip(before, gradients, strict=True), 1):
        d = g if decoupled else g + decay * p
        m, v = b1 * m + (1 - b1) * d, b2 * v + (1 - b2) * d * d
        m_hat, root = m / (1 - b1**t), np.sqrt(v / (1 - b2**t))
        u = -lr * m_hat / (root + eps) - (lr * decay * p if decoupled else 0.0)
    p, g = before[-1], gradients[-1]
    row = look(optimizer, w)
    assert row["m_hat"] == pytest.approx(rms(m_hat)) and row["v_hat"] == pytest.approx(rms(root))
    assert row["effective_lr"] == pytest.approx(lr / (rms(root) + eps))
    assert row["eps"] == pytest.approx((root < eps).mean())
    assert (0 < row["eps"] <= 1) == (scale < 1 and (decoupled or not decay))
    assert row["update"] == pytest.approx(rms(u)) == pytest.approx(rms(w.data - p))
    assert row["update:weight"] == pytest.approx(rms(u) / rms(p))
    assert row["cos"] == pytest.approx(cosine(u, -g))
    expected = lr * decay * rms(p) / rms(u + lr * decay * p) if decoupled else decay * rms(p) / rms(g)
    assert row["decay:gradient"] == pytest.approx(expected)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("momentum", [0.0, 0.8])
@pytest.mark.parametrize("decay, maximize", [(0.0, False), (0.3, True)])
def test_rmsprop(centered, momentum, decay, maximize):
    lr, alpha, eps = 0.01, 0.9, 1e-8
    options = {"momentum": momentum, "centered": centered, "maximize": maximize, "weight_decay": decay, "alpha": alpha}
    optimizer, w, before, gradients = steps(lambda ps: optim.RMSprop(ps, lr=lr, **options))
    v = a = b = 0.0
    for p, g in zip(before, gradients, strict=True):
        d = (-g if maximize else g) + decay * p
        v, a = alpha * v + (1 - alpha) * d * d, alpha * a + (1 - alpha) * d
        root = np.sqrt(v - a * a if centered else v)
        b = momentum * b + d / (root + eps)
    u, g = -lr * b, -gradients[-1] if maximize else gradients[-1]
    row = look(optimizer, w)
    assert row["g"] == pytest.approx(rms(g)) and row["v_hat"] == pytest.approx(rms(root))
    assert row["effective_lr"] == pytest.approx(lr / (rms(root) + eps)) and row["eps"] == 0
    assert row["m_hat"] == pytest.approx(rms(b)) if momentum else np.isnan(row["m_hat"])
    assert row["update"] == pytest.approx(rms(u)) == pytest.approx(rms(w.data - before[-1]))
    assert row["update:weight"] == pytest.approx(rms(u) / rms(before[-1]))
    assert row["cos"] == pytest.approx(cosine(u, -g)) and row["decay:gradient"] == pytest.approx(decay * rms(before[-1]) / rms(g))


@pytest.mark.parametrize("lr_decay, decay", [(0.0, 0.0), (0.5, 0.2)])
@pytest.mark.parametrize("scale", [1.0, 1e-12])
def test_adagrad(lr_decay, decay, scale):
    lr, eps = 0.1, 1e-10
    optimizer, w, before, gradients = steps(lambda ps: optim.Adagrad(ps, lr=lr, lr_decay=lr_decay, weight_decay=decay), scale=scale)
    v = 0.0
    for t, (p, g) in enumerate(zip(before, gradients, strict=True)):
        d = g + decay * p
        v = v + d * d
        rate = lr / (1 + t * lr_decay)
        u = -rate * d / (np.sqrt(v) + eps)
    row = look(optimizer, w)
    assert row["v_hat"] == pytest.approx(rms(np.sqrt(v))) and row["effective_lr"] == pytest.approx(rate / (rms(np.sqrt(v)) + eps))
    assert row["eps"] == pytest.approx((np.sqrt(v) < eps).mean()) and (row["eps"] > 0) == (scale < 1 and not decay)
    assert row["update"] == pytest.approx(rms(u)) == pytest.approx(rms(w.data - before[-1]))
    assert row["cos"] == pytest.approx(cosine(u, -gradients[-1])) and np.isnan(row["m_hat"])
    assert row["decay:gradient"] == pytest.approx(decay * rms(before[-1]) / rms(gradients[-1]))


def test_amsgrad_divides_by_the_largest_so_far_and_maximize_goes_up():
    optimizer, w, before, gradients = steps(lambda ps: optim.Adam(ps, lr=0.01, betas=(0.5, 0.6), amsgrad=True, maximize=True))
    m = v = most = 0.0
    for t, g in enumerate(gradients, 1):
        m, v = 0.5 * m - 0.5 * g, 0.6 * v + 0.4 * g * g
        most = np.maximum(most, v)
        root = np.sqrt(most / (1 - 0.6**t))
        u = -0.01 * m / (1 - 0.5**t) / (root + 1e-8)
    row = look(optimizer, w)
    assert row["v_hat"] == pytest.approx(rms(root)) and row["update"] == pytest.approx(rms(u)) == pytest.approx(rms(w.data - before[-1]))
    assert row["cos"] == pytest.approx(cosine(u, gradients[-1])) and row["cos"] > 0


@pytest.mark.parametrize("cls", [optim.RMSprop, optim.Adagrad])
def test_before_the_first_step_there_is_nothing_to_say(cls):
    w = gl.ones(3, requires_grad=True)
    w.grad = np.ones(3, np.float32)
    row = look(cls([w], lr=0.5), w)
    assert (row["g"], row["effective_lr"]) == (1.0, 0.5) and np.isnan([row[k] for k in ("m_hat", "v_hat", "update", "cos", "eps")]).all()


def test_the_measured_update_goes_before_the_computed_one_also_of_a_users_own_method():
    class SignDescent(optim.Optimizer):
        def step(self):
            for p in self.params():
                p.data -= 0.1 * np.sign(p._grad)

    w = gl.tensor([1.0, -2.0], requires_grad=True)
    optimizer = SignDescent([w], {})
    (w * w).sum().backward()
    optimizer.step()
    assert np.isnan(look(optimizer, w)["update"])
    row = look(optimizer, w, np.array([-0.1, 0.1], np.float32))
    assert row["update"] == pytest.approx(0.1) and row["update:weight"] == pytest.approx(0.1 / rms(np.array([1.0, 2.0])), rel=1e-5)
    assert row["cos"] == pytest.approx(3 / np.sqrt(10), rel=1e-5)


def test_a_parameter_without_gradient_or_state_has_blanks():
    w = gl.ones(3, requires_grad=True)
    row = look(optim.Adam([w]), w)
    assert np.isnan([row[name] for name in row if name != "effective_lr"]).all()


def test_not_a_number_and_zero_are_themselves():
    w = gl.zeros(3, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    w.grad = np.array([1.0, np.nan, 0.0], np.float32)
    optimizer.step()
    assert np.isnan(look(optimizer, w)["g"])
    v = gl.tensor([-0.1] * 3, requires_grad=True)
    assert look(optim.SGD([v], lr=0.1), v, np.array(v.data))["update:weight"] == np.inf, "a weight that was zero"


def test_a_page_that_asks_gets_the_last_full_step_of_every_optimizer_and_after_the_run_too():
    gl.manual_seed(0)
    model, x = nn.Linear(5, 3), gl.randn(7, 5)
    optimizer = optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    with recording() as r:
        r.lens()  # nothing has stepped
        for _ in range(3):
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            old = [np.array(p.data, np.float64) for p in model.parameters()]
            optimizer.step()
        (table,) = r.lens()
    assert (table["label"], table["step"], table["names"]) == ("AdamW", 3, ["weight", "bias"])
    for p, before, row in zip(model.parameters(), old, table["rows"], strict=True):
        u = np.asarray(p.data, np.float64) - before
        assert row["update"] == pytest.approx(rms(u), rel=1e-5) and row["update:weight"] == pytest.approx(rms(u) / rms(before), rel=1e-5)


def test_while_it_trains_the_page_gets_what_was_seen_at_a_step_and_nothing_is_looked_at_unasked():
    model, x = nn.Linear(5, 3), gl.randn(7, 5)
    optimizer = optim.SGD(model.parameters(), lr=0.02)
    with recording() as r:
        r.running = True
        seen = []
        for step in range(6):
            if step >= 3:
                seen.append(r.lens())
                r._steps.lens._next = 0.0
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            optimizer.step()
            assert bool(r._steps.lens.seen) == (step >= 3)
    assert [[table["step"] for table in tables] for tables in seen] == [[], [4], [5]]
