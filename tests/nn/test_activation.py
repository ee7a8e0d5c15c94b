from __future__ import annotations

import math

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn

X = np.array([[-2.0, -0.5, 0.0, 1.0, 3.0]])
PHI = np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))


@pytest.mark.parametrize(("module", "formula"), [
    (nn.ReLU(), np.maximum(X, 0)),
    (nn.Tanh(), np.tanh(X)),
    (nn.Sigmoid(), 1 / (1 + np.exp(-X))),
    (nn.GELU(), X * PHI(X)),
    (nn.GELU("tanh"), 0.5 * X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)))),
    (nn.Softmax(dim=1), np.exp(X) / np.exp(X).sum()),
    (nn.LogSoftmax(dim=1), X - np.log(np.exp(X).sum())),
], ids=repr)  # fmt: skip
def test_a_module_computes_its_formula(module, formula):
    y = module(gl.tensor(X))
    assert np.allclose(y.data, formula, rtol=1e-6, atol=1e-9)
    assert not list(module.parameters())


def test_softmax_takes_the_axis_it_is_told():
    assert np.allclose(nn.Softmax(dim=0)(gl.randn(3, 4)).data.sum(0), 1, atol=1e-6)


def test_options_are_printed_and_checked():
    assert repr(nn.GELU("tanh")) == "GELU(approximate='tanh')" and repr(nn.Softmax(1)) == "Softmax(dim=1)"
    with pytest.raises(ValueError, match="'none' or 'tanh'"):
        nn.GELU("fast")
