from __future__ import annotations

import numpy as np
import pytest

from gradlab import nn, optim


def by_hand(p, grads, lr=0.01, lr_decay=0.0, weight_decay=0.0, initial_accumulator_value=0.0, eps=1e-10, maximize=False):
    """Adagrad as PyTorch defines it, one plain line at a time."""
    v = np.full_like(p, initial_accumulator_value)
    for t, g in enumerate(grads, 1):
        g = (-g if maximize else g) + weight_decay * p
        v = v + g**2
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(v) + eps)
    return p, v


@pytest.mark.parametrize("shape", [(3, 4), (), (0, 2), (70_000,)], ids=str)
@pytest.mark.parametrize("options", [
    {}, {"lr_decay": 0.5}, {"eps": 0.1}, {"weight_decay": 0.1}, {"initial_accumulator_value": 0.5}, {"maximize": True},
], ids=lambda o: "-".join(o) or "plain")  # fmt: skip
def test_steps_follow_the_formula(options, shape):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=shape), rng.normal(size=(4, *shape))
    p = nn.Parameter(np.array(start))
    optimizer = optim.Adagrad([p], lr=0.1, **options)
    for g in grads:
        p.grad = g
        optimizer.step()
    want, v = by_hand(start, grads, lr=0.1, **options)
    assert optimizer.state[p]["step"] == 4 and np.allclose(p.data, want, rtol=1e-9)
    assert np.allclose(optimizer.state[p]["sum"], v, rtol=1e-9)


def test_defaults_are_pytorchs():
    assert optim.Adagrad([nn.Parameter([1.0])]).defaults == {
        "lr": 1e-2, "lr_decay": 0.0, "weight_decay": 0.0, "initial_accumulator_value": 0.0, "eps": 1e-10, "maximize": False,
    }  # fmt: skip


def test_entries_without_gradient_stay_and_keep_their_long_steps():
    p = nn.Parameter([0.0, 0.0])
    optimizer = optim.Adagrad([p], lr=1.0)
    for g in ([1.0, 0.0], [1.0, 0.0], [1.0, 1.0]):
        p.grad = g
        optimizer.step()
    assert p.tolist() == pytest.approx([-(1 + 2**-0.5 + 3**-0.5), -1.0])


@pytest.mark.parametrize("option", ["lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"])
def test_options_that_make_no_sense_are_refused(option):
    for wrong, error in ((-1, ValueError), (float("nan"), ValueError), ("a", TypeError), (None, TypeError)):
        with pytest.raises(error, match=f"Adagrad: {option}"):
            optim.Adagrad([nn.Parameter([1.0])], **{option: wrong})


def test_the_summary_has_the_root_of_the_sum_and_the_rate_of_this_step():
    p, q = nn.Parameter(np.zeros(3)), nn.Parameter([1.0])
    optimizer = optim.Adagrad([p, q], lr=0.1, lr_decay=0.5)
    grads = np.random.default_rng(0).normal(size=(3, 3))
    for g in grads:
        p.grad = g
        optimizer.step()
    root = np.sqrt(by_hand(np.zeros(3), grads)[1].mean())
    assert optimizer.columns == tuple(optimizer.summary(p)) == ("v", "effective_lr")
    assert list(optimizer.summary(p).values()) == pytest.approx([root, 0.1 / (1 + 2 * 0.5) / root])
    assert all(np.isnan(x) for x in optimizer.summary(q).values())
