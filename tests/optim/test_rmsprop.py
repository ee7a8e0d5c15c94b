from __future__ import annotations

import numpy as np
import pytest

from gradlab import nn, optim


def by_hand(p, grads, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, maximize=False):
    """RMSprop as PyTorch defines it, one plain line at a time."""
    v = a = b = np.zeros_like(p)
    for g in grads:
        g = (-g if maximize else g) + weight_decay * p
        v = alpha * v + (1 - alpha) * g**2
        a = alpha * a + (1 - alpha) * g
        u = g / (np.sqrt(v - a**2 if centered else v) + eps)
        b = momentum * b + u
        p = p - lr * (b if momentum else u)
    return p, v, a, b


@pytest.mark.parametrize("shape", [(3, 4), (), (0, 2), (70_000,)], ids=str)
@pytest.mark.parametrize("options", [
    {}, {"alpha": 0.5}, {"eps": 0.1}, {"weight_decay": 0.1}, {"momentum": 0.9}, {"centered": True}, {"maximize": True},
    {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "maximize": True},
], ids=lambda o: "-".join(o) or "plain")  # fmt: skip
def test_steps_follow_the_formula(options, shape):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=shape), rng.normal(size=(4, *shape))
    p = nn.Parameter(np.array(start))
    optimizer = optim.RMSprop([p], **options)
    for g in grads:
        p.grad = g
        optimizer.step()
    want, v, a, b = by_hand(start, grads, **options)
    state = optimizer.state[p]
    assert state["step"] == 4 and np.allclose(p.data, want, rtol=1e-9) and np.allclose(state["square_avg"], v, rtol=1e-9)
    assert ("grad_avg" in state) == ("centered" in options) and ("momentum_buffer" in state) == ("momentum" in options)
    assert np.allclose(state.get("grad_avg", a), a, rtol=1e-9) and np.allclose(state.get("momentum_buffer", b), b, rtol=1e-9)


def test_defaults_are_pytorchs():
    assert optim.RMSprop([nn.Parameter([1.0])]).defaults == {
        "lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.0, "centered": False, "maximize": False,
    }  # fmt: skip


def test_moments_of_small_parameters_are_views_of_one_array_each():
    a, b = nn.Parameter([[1.0, 2.0]]), nn.Parameter([3.0])
    optimizer = optim.RMSprop([a, b], momentum=0.5)
    a.grad, b.grad = [[1.0, 1.0]], [1.0]
    optimizer.step()
    for name in ("square_avg", "momentum_buffer"):
        base = optimizer.state[a][name].base
        assert base is optimizer.state[b][name].base and base.shape == (3,)


@pytest.mark.parametrize(("options", "text"), [
    ({"lr": -1}, "lr"), ({"eps": -1e-8}, "eps"), ({"weight_decay": -0.1}, "weight_decay"), ({"momentum": -0.1}, "momentum"),
    ({"alpha": -0.1}, "alpha"), ({"alpha": 1.5}, "alpha says how much of v is kept"), ({"lr": float("nan")}, "lr"),
])  # fmt: skip
def test_options_that_make_no_sense_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        optim.RMSprop([nn.Parameter([1.0])], **options)


def test_the_summary_has_the_root_that_is_divided_by_and_the_momentum_where_there_is_one():
    p, q = nn.Parameter(np.zeros(3)), nn.Parameter([1.0])
    grads = np.random.default_rng(0).normal(size=(3, 3))
    plain, full = optim.RMSprop([p, q], lr=0.02), optim.RMSprop([p], lr=0.02, momentum=0.9, centered=True)
    for g in grads:
        p.grad = g
        plain.step()
        full.step()
    _, v, a, _ = by_hand(np.zeros(3), grads, lr=0.02)
    root, spread = np.sqrt(v.mean()), np.sqrt((v - a**2).mean())
    assert plain.columns == ("v", "effective_lr") and all(np.isnan(x) for x in plain.summary(q).values())
    assert list(plain.summary(p).values()) == pytest.approx([root, 0.02 / (root + 1e-8)])
    assert full.columns == tuple(full.summary(p)) == ("momentum", "v", "effective_lr")
    b = by_hand(np.zeros(3), grads, momentum=0.9, centered=True)[3]
    assert list(full.summary(p).values()) == pytest.approx([np.sqrt((b**2).mean()), spread, 0.02 / (spread + 1e-8)])
