from __future__ import annotations

import copy

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.optim.flat import CHUNK, SMALL

SHAPES = {"small": (3, 4), "scalar": (), "empty": (0, 2), "long": (2 * CHUNK + 5,), "wide": (130, 130)}


def by_hand(p, grads, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    """Adam as PyTorch defines it, one plain line at a time."""
    m = v = np.zeros_like(p)
    for t, g in enumerate(grads, start=1):
        if decoupled:
            p = p * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        p = p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)
    return p, m, v


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(
    "options",
    [{}, {"eps": 1.0}, {"betas": (0.5, 0.75)}, {"betas": (0.0, 0.0)}, {"weight_decay": 0.1}],
    ids=lambda o: "-".join(o) or "plain",
)
@pytest.mark.parametrize("cls", [optim.Adam, optim.AdamW])
def test_steps_follow_the_formula(cls, options, shape):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=shape), rng.normal(size=(4, *shape))
    p = nn.Parameter(np.array(start))
    optimizer = cls([p], lr=0.1, **{"weight_decay": 0.0, **options})
    for g in grads:
        p.grad = g
        optimizer.step()
    want, m, v = by_hand(start, grads, lr=0.1, decoupled=cls is optim.AdamW, **options)
    state = optimizer.state[p]
    assert state["step"] == 4
    for got, wanted in ((p.data, want), (state["exp_avg"], m), (state["exp_avg_sq"], v)):
        assert got.shape == shape and np.allclose(got, wanted, rtol=1e-11)


def test_defaults_are_pytorchs():
    p = nn.Parameter([1.0])
    switches = {"amsgrad": False, "maximize": False, "decoupled_weight_decay": False}
    assert optim.Adam([p]).defaults == {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, **switches}
    assert optim.AdamW([p]).defaults["weight_decay"] == 0.01


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cls", [optim.Adam, optim.AdamW])
def test_small_ones_together_and_large_ones_in_chunks_equal_the_printed_formula(cls, dtype):
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=s).astype(dtype) for s in ((64, 128), (128,), (), (128, 64), (200, 200), (10, 64))]
    parameters = [nn.Parameter(a.copy()) for a in arrays]
    options = {"lr": 0.01, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.05}
    optimizer = cls(parameters, **options)
    m = v = [np.zeros_like(a) for a in arrays]
    for t in range(1, 6):
        grads = [rng.normal(size=a.shape).astype(dtype) for a in arrays]
        for p, g in zip(parameters, grads, strict=True):
            p.grad = g
        optimizer.step()
        decoupled = {"decoupled_weight_decay": cls is optim.AdamW}
        made = [cls.reference(a, g, m_, v_, t, **options, **decoupled) for a, g, m_, v_ in zip(arrays, grads, m, v, strict=True)]
        arrays, m, v = map(list, zip(*made, strict=True))
    tolerance = 50 * np.finfo(dtype).eps
    for p, a, m_, v_ in zip(parameters, arrays, m, v, strict=True):
        assert p.data.dtype == dtype
        assert np.allclose(p.data, a, rtol=tolerance, atol=tolerance)
        assert np.allclose(optimizer.state[p]["exp_avg"], m_, rtol=tolerance, atol=tolerance)
        assert np.allclose(optimizer.state[p]["exp_avg_sq"], v_, rtol=tolerance, atol=tolerance)


def test_the_first_step_has_the_size_of_the_learning_rate_whatever_the_gradient():
    p = nn.Parameter(np.zeros(2))
    p.grad = np.array([1e-3, -1e5])
    optim.Adam([p], lr=0.1).step()
    assert np.allclose(p.data, [-0.1, 0.1], rtol=1e-4)


def test_each_parameter_counts_its_own_steps():
    a, b, c = (nn.Parameter(np.zeros(1)) for _ in range(3))
    optimizer = optim.Adam([a, b, c], lr=0.1)
    for turn in range(6):
        for p, has in ((a, True), (b, turn % 2 == 1), (c, turn == 5)):
            p.grad = np.array([1.0 + turn]) if has else None
        optimizer.step()
    for p, turns in ((a, range(6)), (b, (1, 3, 5)), (c, (5,))):
        want, _, _ = by_hand(np.zeros(1), [np.array([1.0 + t]) for t in turns], lr=0.1)
        assert optimizer.state[p]["step"] == len(turns) and np.allclose(p.data, want, rtol=1e-12)


def test_zero_gradients_move_nothing_and_give_no_nan():
    p = nn.Parameter(np.ones(2))
    p.grad = np.zeros(2)
    optim.Adam([p]).step()
    assert p.tolist() == [1, 1]


def test_nan_and_inf_in_a_gradient_are_data_not_warnings():
    p = nn.Parameter([1.0, 1.0, 1.0])
    p.grad = [np.inf, np.nan, 1.0]
    optim.Adam([p], lr=0.1).step()
    assert np.isnan(p.data[:2]).all() and p.data[2] == pytest.approx(0.9)


@pytest.mark.parametrize("shape", [(2, 3), (200, 100)], ids=["small", "large"])
def test_arrays_of_any_layout_move_in_place(shape):
    rng = np.random.default_rng(0)
    start, g = rng.normal(size=shape), rng.normal(size=shape)
    p = nn.Parameter(start.T.copy().T)
    array = p.data
    p.grad = g.T.copy().T
    optim.Adam([p], lr=0.1).step()
    assert p.data is array and np.allclose(array, by_hand(start, [g], lr=0.1)[0], rtol=1e-12)


@pytest.mark.parametrize("size", [3, SMALL + 1], ids=["small", "large"])
def test_a_replaced_array_is_the_one_that_moves(size):
    p, q = nn.Parameter(np.ones(size)), nn.Parameter(np.ones(2))
    optimizer = optim.Adam([p, q], lr=0.1)
    for _ in range(2):
        p.data = np.full(size, 5.0)
        p.grad, q.grad = np.ones(size), np.ones(2)
        optimizer.step()
        assert np.allclose(p.data, 4.9)
    assert np.allclose(q.data, 0.8)


def test_another_shape_is_an_error_and_another_dtype_is_followed():
    p, q = nn.Parameter([1.0, 1.0]), nn.Parameter([1.0])
    optimizer = optim.Adam([p, q], lr=0.1)
    p.grad, q.grad = [1.0, 1.0], [1.0]
    optimizer.step()
    p.data = p.data.astype(np.float64)
    p.grad = np.ones(2)
    optimizer.step()
    assert p.dtype == np.float64 and optimizer.state[p]["exp_avg"].dtype == np.float64 and np.allclose(p.data, 0.8)
    p.grad = None
    p.data = np.ones(3)
    p.grad = np.ones(3)
    with pytest.raises(gl.ShapeError, match="another shape than at its last step"):
        optimizer.step()


def test_moments_can_be_cleared_replaced_or_written_between_steps():
    def run(change):
        p, q = nn.Parameter(np.zeros(2)), nn.Parameter(np.zeros(3))
        optimizer = optim.Adam([p, q], lr=0.1)
        for turn in range(3):
            p.grad, q.grad = np.full(2, 1.0 - turn), np.full(3, turn + 1.0)
            optimizer.step()
            if turn == 1:
                change(optimizer, p)
        return p.data

    def clear(optimizer, p):
        optimizer.state.clear()

    def replace(optimizer, p):
        optimizer.state[p]["exp_avg"] = np.zeros(2)

    def write(optimizer, p):
        optimizer.state[p]["exp_avg"][...] = 0

    untouched = run(lambda optimizer, p: None)
    assert np.array_equal(run(replace), run(write))
    assert not np.array_equal(run(replace), untouched) and not np.array_equal(run(clear), untouched)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda pair: pair], ids=["deepcopy", "itself"])
def test_a_copied_optimizer_goes_on_with_state_of_its_own(again):
    a, b = nn.Parameter([1.0, 2.0]), nn.Parameter([3.0])
    optimizer = optim.Adam([a, b], lr=0.1)
    for _ in range(2):
        a.grad, b.grad = [1.0, -1.0], [2.0]
        optimizer.step()
    (p, q), other = again(((a, b), optimizer))
    p.grad, q.grad = [1.0, 1.0], [0.0]
    other.step()
    assert other.state[p]["exp_avg"].tolist() == pytest.approx([0.9 * 0.19 + 0.1, -0.9 * 0.19 + 0.1])
    assert other.state[q]["step"] == 3


@pytest.mark.parametrize(("options", "text"), [
    ({"lr": -1}, "lr"), ({"eps": -1e-8}, "eps"), ({"weight_decay": -0.1}, "weight_decay"), ({"betas": (1.0, 0.999)}, "betas"),
    ({"betas": (0.9,)}, "betas"),
])  # fmt: skip
def test_options_that_make_no_sense_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        optim.AdamW([nn.Parameter([1.0])], **options)


@pytest.mark.parametrize("shape", [(3, 4), (200, 100)], ids=["small", "large"])
def test_the_summary_is_computed_from_the_corrected_moments(shape):
    rng = np.random.default_rng(0)
    p, grads = nn.Parameter(np.zeros(shape)), rng.normal(size=(3, *shape))
    optimizer = optim.AdamW([p], lr=0.02)
    assert all(np.isnan(x) for x in optimizer.summary(p).values())
    for g in grads:
        p.grad = g
        optimizer.step()
    _, m, v = by_hand(np.zeros(shape), grads)
    m_hat, v_hat = np.sqrt(np.mean((m / (1 - 0.9**3)) ** 2)), np.sqrt(np.mean(v / (1 - 0.999**3)))
    summary = optimizer.summary(p)
    assert tuple(summary) == optimizer.columns == ("m_hat", "v_hat", "effective_lr")
    assert list(summary.values()) == pytest.approx([m_hat, v_hat, 0.02 / (v_hat + 1e-8)])


def test_groups_have_their_own_rates():
    a, b = nn.Parameter(np.zeros(1)), nn.Parameter(np.zeros(1))
    optimizer = optim.Adam([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    a.grad, b.grad = np.ones(1), np.ones(1)
    optimizer.step()
    assert np.allclose([a.item(), b.item()], [-0.1, -0.5])
    assert optimizer.lr_of(a) == 0.1 and optimizer.lr_of(b) == 0.5
