from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.nn import functional as F


@pytest.mark.parametrize(("module", "function"), [
    (nn.ReLU(), F.relu), (nn.Tanh(), F.tanh), (nn.Sigmoid(), F.sigmoid), (nn.GELU(), F.gelu),
    (nn.Softmax(1), lambda x: F.softmax(x, dim=1)), (nn.LogSoftmax(1), lambda x: F.log_softmax(x, dim=1)),
])  # fmt: skip
def test_a_function_and_its_module_agree(module, function):
    x = gl.randn(3, 4)
    assert np.array_equal(module(x).data, function(x).data)


def test_linear_and_losses_agree_with_their_modules():
    m, x, target = nn.Linear(4, 3), gl.randn(5, 4), gl.tensor([0, 1, 2, 1, 0])
    logits = F.linear(x, m.weight, m.bias)
    assert np.array_equal(logits.data, m(x).data)
    assert F.cross_entropy(logits, target).item() == nn.CrossEntropyLoss()(logits, target).item()
    assert F.mse_loss(logits, gl.zeros(5, 3)).item() == nn.MSELoss()(logits, gl.zeros(5, 3)).item()


def test_dropout_drops_only_in_training():
    x = gl.ones(100)
    assert (F.dropout(x, p=0.5, training=True).data == 0).any()
    assert (F.dropout(x, p=0.5, training=False).data == 1).all()


def test_nn_shows_its_two_parts():
    assert nn.functional is F and nn.init.zeros_(gl.ones(1)).tolist() == [0]
