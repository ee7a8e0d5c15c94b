"""Draws: what can come out, how often, and that a seed decides it."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DTypeError, GraphError, ShapeError


def test_places_are_drawn_in_proportion_to_their_chances():
    gl.manual_seed(0)
    places = gl.multinomial(gl.tensor([1.0, 0.0, 3.0]), 20_000, replacement=True)
    assert places.dtype == "int64" and places.shape == (20_000,)
    np.testing.assert_allclose(np.bincount(places.data, minlength=3) / 20_000, [0.25, 0.0, 0.75], atol=0.02)
    first = np.array([gl.tensor([1.0, 0.0, 3.0]).multinomial(2).tolist() for _ in range(4_000)])
    assert {tuple(row) for row in first.tolist()} == {(0, 2), (2, 0)}
    np.testing.assert_allclose((first[:, 0] == 0).mean(), 0.25, atol=0.03)
    assert gl.multinomial(gl.tensor([[0.0, 1.0], [1.0, 0.0]]), 1).tolist() == [[1], [0]]


def test_what_no_place_can_be_drawn_from_is_refused():
    for x, n, error, text in [
        ([1.0, -1.0], 1, ArgumentError, "these are no chances"), ([1.0, float("nan")], 1, ArgumentError, "these are no chances"),
        ([0.0, 0.0], 1, ArgumentError, "no place has a chance"), ([1.0, 0.0], 2, ArgumentError, "so many are not there"),
        ([1.0], 0, ArgumentError, "how many"), ([[[1.0]]], 1, ShapeError, "one row of chances"), ([1, 2], 1, DTypeError, "takes floating"),
    ]:  # fmt: skip
        with pytest.raises(error, match=f"multinomial: {text}"):
            gl.multinomial(gl.tensor(x), n)


def test_a_seed_decides_every_draw():
    x = gl.tensor(np.full((3, 4), 0.5, "float32"))
    draws = []
    for _ in range(2):
        gl.manual_seed(7)
        draws.append([
            gl.multinomial(x, 2).tolist(), gl.bernoulli(x).tolist(), gl.normal(x, x).tolist(), gl.poisson(x).tolist(),
            gl.zeros(5).normal_().tolist(), gl.zeros(5).uniform_().tolist(), gl.zeros(5).random_(9).tolist(),
            gl.zeros(5).exponential_().tolist(), gl.zeros(5).bernoulli_(0.3).tolist(),
        ])  # fmt: skip
    assert draws[0] == draws[1]


def test_coins_fall_as_often_as_they_should_and_keep_the_dtype():
    gl.manual_seed(1)
    y = gl.bernoulli(gl.tensor(np.full(10_000, 0.3, "float64")))
    assert y.dtype == "float64" and set(y.tolist()) == {0.0, 1.0} and abs(y.mean().item() - 0.3) < 0.02
    assert gl.bernoulli(gl.tensor([1, 0]), p=1.0).tolist() == [1, 1]
    for f in (gl.bernoulli, gl.poisson):
        with pytest.raises(ArgumentError, match=f"{f.__name__}: this is no"):
            f(gl.tensor([-0.5]))
        with pytest.raises(DTypeError, match=f"{f.__name__}: takes floating"):
            f(gl.tensor([1]))


def test_normal_numbers_have_the_mean_and_spread_asked_for():
    gl.manual_seed(2)
    y = gl.normal(gl.tensor([0.0, 5.0]), 2.0, (20_000, 2))
    np.testing.assert_allclose(y.data.mean(0), [0.0, 5.0], atol=0.1)
    np.testing.assert_allclose(y.data.std(0), [2.0, 2.0], atol=0.1)
    assert gl.normal(gl.zeros(2, 1), gl.ones(3)).shape == (2, 3) and gl.normal(0.0, 1.0, (4,)).dtype == "float32"
    with pytest.raises(ArgumentError, match="normal: a standard deviation"):
        gl.normal(0.0, -1.0, (2,))


def test_draws_in_place_keep_the_memory_and_need_no_grad_on_a_leaf():
    x = gl.zeros(1000)
    memory = x.data
    assert x.uniform_(2.0, 3.0) is x and x.data is memory and 2.0 <= x.min().item() <= x.max().item() <= 3.0
    assert x.exponential_(4.0).min().item() >= 0 and abs(x.mean().item() - 0.25) < 0.05
    assert set(gl.tensor(np.zeros(99, int)).random_(2, 4).tolist()) == {2, 3}
    leaf = gl.zeros(3, requires_grad=True)
    with pytest.raises(GraphError):
        leaf.normal_()
    with gl.no_grad():
        leaf.normal_()
    assert leaf.requires_grad and leaf.is_leaf
    assert gl.zeros(2, 3).fill_diagonal_(7.0).tolist() == [[7.0, 0.0, 0.0], [0.0, 7.0, 0.0]]
