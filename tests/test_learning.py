"""check_learning tells a model that learns from one that learns in part, and leaves both as they were."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.errors import ArgumentError
from gradlab.nn import functional as F
from gradlab.testing import check_learning


@pytest.fixture
def model():
    gl.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Tanh(), nn.Linear(8, 3))


@pytest.fixture
def batch():
    gl.manual_seed(1)
    return gl.randn(6, 4), gl.arange(6) % 3


def test_it_names_what_moved_and_the_layer_that_was_held(model, batch):
    x, y = batch
    learned = check_learning(model, lambda: F.cross_entropy(model(x), y), freeze="4")
    assert list(learned.moved) == ["0.weight", "0.bias", "1.weight", "1.bias", "4.weight", "4.bias"]
    assert all(0.5 < share <= 1 for share in learned.moved.values())
    assert (learned.frozen, learned.held) == ((), "4")
    assert str(learned) == "all 6 parameters learn; with 4 frozen, 4 alone stays"


def test_the_model_is_left_as_it_was_with_buffers_gradients_and_random_numbers(model, batch):
    x, y = batch
    F.cross_entropy(model(x), y).backward()
    model[0].bias.requires_grad_(False)
    before = {name: value.data.copy() for name, value in model.state_dict().items()}
    grad = model[4].weight.grad.data.copy()
    state = gl.get_rng_state()
    check_learning(model, lambda: F.cross_entropy(model(x), y))
    assert all((value.data == before[name]).all() for name, value in model.state_dict().items())
    assert (model[4].weight.grad.data == grad).all()
    assert [p.requires_grad for p in model.parameters()] == [True, False, True, True, True, True]
    assert np.array_equal(gl.get_rng_state(), state)


def test_a_layer_that_the_gradient_does_not_reach_is_named(model, batch):
    x, y = batch
    with pytest.raises(AssertionError, match=r"a step does not move 0\.weight, 0\.bias: is the way to the loss cut"):
        check_learning(model, lambda: F.cross_entropy(model[1:](model[0](x).detach()), y))


def test_frozen_parameters_are_told_and_stay(model, batch):
    x, y = batch
    for p in model[0].parameters():
        p.requires_grad_(False)
    learned = check_learning(model, lambda: F.cross_entropy(model(x), y))
    assert (learned.frozen, learned.held) == (("0.weight", "0.bias"), "1")
    assert "all 4 parameters learn, the 2 frozen ones stay" in str(learned)


def test_a_frozen_parameter_that_moves_all_the_same_is_named(model, batch):
    x, y = batch

    def loss():
        model[1].weight.data += 1.0
        return F.cross_entropy(model(x), y)

    model[1].weight.requires_grad_(False)
    with pytest.raises(AssertionError, match=r"a step moves 1\.weight, which should stay"):
        check_learning(model, loss)


def test_a_training_that_moved_too_little_or_too_much_is_told(model, batch):
    x, y = batch
    before = model.state_dict()
    with pytest.raises(AssertionError, match=r"the training does not move 0\.weight, 0\.bias, 1\.weight, 1\.bias, 4\.weight, 4\.bias"):
        check_learning(model, lambda: F.cross_entropy(model(x), y), since=before)
    for p in model.parameters():
        p.data += 1.0
    check_learning(model, lambda: F.cross_entropy(model(x), y), since=before)
    model[0].bias.requires_grad_(False)
    with pytest.raises(AssertionError, match=r"the training moves 0\.bias, which should stay"):
        check_learning(model, lambda: F.cross_entropy(model(x), y), since=before)


def test_embeddings_move_in_the_rows_that_were_used():
    gl.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 3))
    learned = check_learning(model, lambda: F.cross_entropy(model(gl.tensor([1, 2])), gl.tensor([0, 1])))
    assert learned.moved == {"0.weight": pytest.approx(0.2), "1.weight": 1.0, "1.bias": 1.0}


def test_of_a_single_layer_the_first_parameter_is_held():
    layer = nn.Linear(2, 1)
    assert check_learning(layer, lambda: layer(gl.ones(3, 2)).square().sum()).held == "weight"
    block = nn.Sequential(layer)
    assert check_learning(block, lambda: block(gl.ones(3, 2)).square().sum()).held == "0.weight"


def test_what_can_not_be_checked_is_refused_before_anything_is_changed(model, batch):
    x, y = batch

    def loss():
        return F.cross_entropy(model(x), y)

    with pytest.raises(ArgumentError, match=r"freeze names nothing that learns[\s\S]*freeze  *head[\s\S]*0\.weight, 0\.bias"):
        check_learning(model, loss, freeze="head")
    with pytest.raises(ArgumentError, match=r"nothing is left to learn[\s\S]*need:  a parameter beside it"):
        check_learning(nn.Linear(2, 1, bias=False), loss)
    with pytest.raises(ArgumentError, match=r"since has no 0\.weight"):
        check_learning(model, loss, since={})
    for p in model.parameters():
        p.requires_grad_(False)
    with pytest.raises(ArgumentError, match=r"nothing is to learn"):
        check_learning(model, loss)
