from __future__ import annotations

import math

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.nn import init

BIG = (200, 300)


def drawn(fill, *args, shape=BIG, **options):
    gl.manual_seed(0)
    t = gl.zeros(*shape)
    assert fill(t, *args, **options) is t
    return t.data


def test_uniform_and_normal_have_the_stated_range_mean_and_spread():
    u = drawn(init.uniform_, -1, 3)
    assert -1 <= u.min() < -0.99 and 2.99 < u.max() <= 3 and abs(u.mean() - 1) < 0.02
    n = drawn(init.normal_, 2.0, 0.5)
    assert abs(n.mean() - 2) < 0.01 and abs(n.std() - 0.5) < 0.01


def test_constants():
    assert (drawn(init.ones_) == 1).all() and (drawn(init.zeros_) == 0).all() and (drawn(init.constant_, 0.25) == 0.25).all()


@pytest.mark.parametrize(("fill", "options", "std"), [
    (init.xavier_uniform_, {}, math.sqrt(2 / 500)),
    (init.xavier_normal_, {"gain": 2.0}, 2 * math.sqrt(2 / 500)),
    (init.kaiming_uniform_, {"nonlinearity": "relu"}, math.sqrt(2 / 300)),
    (init.kaiming_normal_, {"mode": "fan_out", "nonlinearity": "relu"}, math.sqrt(2 / 200)),
    (init.kaiming_uniform_, {"a": math.sqrt(5)}, math.sqrt(1 / 3 / 300)),
], ids=["xavier uniform", "xavier normal", "kaiming uniform", "kaiming normal", "leaky"])  # fmt: skip
def test_the_spread_follows_the_formula(fill, options, std):
    w = drawn(fill, **options)
    assert abs(w.std() / std - 1) < 0.01 and abs(w.mean()) < 0.02 * std
    if "uniform" in fill.__name__:
        assert 0.99 < np.abs(w).max() / (math.sqrt(3) * std) <= 1 + 1e-6


def test_kaiming_keeps_the_size_of_activations_through_many_relu_layers():
    gl.manual_seed(0)
    x = gl.randn(64, 256)
    for _ in range(10):
        w = init.kaiming_normal_(gl.zeros(256, 256), nonlinearity="relu")
        x = gl.relu(x @ w.T)
    assert 0.2 < (x.data**2).mean() < 5


def test_a_kernel_counts_into_both_fans():
    assert init.fans(gl.zeros(8, 3, 5, 5)) == (75, 200)


def test_filling_is_a_change_in_place_that_counts_and_needs_no_graph():
    p = nn.Parameter(np.zeros((2, 2), np.float32))
    array, version = p.data, p.version
    init.ones_(p)
    assert p.data is array and p.version > version and p.is_leaf


def test_float64_gets_float64_numbers():
    t = init.normal_(gl.zeros(100, dtype=gl.float64))
    assert (t.data != t.data.astype(np.float32)).any()


def test_the_same_seed_draws_the_same_numbers():
    assert np.array_equal(drawn(init.normal_), drawn(init.normal_))


def test_what_cannot_be_is_refused():
    with pytest.raises(gl.ShapeError, match="fan in and fan out"):
        init.xavier_uniform_(gl.zeros(3))
    with pytest.raises(ValueError, match="fan_in or fan_out"):
        init.kaiming_normal_(gl.zeros(3, 3), mode="fan")
    with pytest.raises(ValueError, match="unknown nonlinearity"):
        init.calculate_gain("swish")
