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


def test_functions_without_a_module_are_there_too():
    z, y = gl.tensor([0.0, 2.0]), gl.tensor([0.0, 1.0])
    assert F.leaky_relu(-z, 0.1).data.tolist() == pytest.approx([0, -0.2])
    assert F.softplus(z).data.tolist() == pytest.approx(np.log1p(np.exp([0, 2.0])), rel=1e-6)
    assert np.allclose(F.logsigmoid(z).data, np.log(F.sigmoid(z).data)) and np.allclose(F.silu(z).data, z.data * F.sigmoid(z).data)
    assert F.binary_cross_entropy(F.sigmoid(z), y).item() == pytest.approx(F.binary_cross_entropy_with_logits(z, y).item(), rel=1e-6)


def test_nn_shows_its_two_parts():
    assert nn.functional is F and nn.init.zeros_(gl.ones(1)).tolist() == [0]
