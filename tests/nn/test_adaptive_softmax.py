from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


def test_an_adaptive_softmax_gives_the_probability_of_its_classes():
    gl.manual_seed(0)
    layer, x = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], div_value=2.0), gl.randn(6, 8)
    every = layer.log_prob(x)
    assert every.shape == (6, 10) and np.allclose(np.exp(every.data).sum(1), 1, atol=1e-5)
    target = gl.tensor([0, 1, 2, 4, 5, 9])
    output, loss = layer(x, target)
    np.testing.assert_allclose(output.data, every.data[np.arange(6), target.data], rtol=1e-5)
    assert loss.item() == pytest.approx(-output.data.mean(), rel=1e-6)
    assert layer.predict(x).tolist() == every.data.argmax(1).tolist()
    assert layer(x[0], gl.tensor(3)).output.shape == ()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, []), "these cutoffs make no clusters"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [3, 2]), "these cutoffs make no clusters"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [6]), "rising numbers from 1 to n_classes - 1"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [3])(gl.zeros(2, 4), gl.tensor([0, 6])), "(?s)no such class.*6.*0 to 5"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [3])(gl.zeros(2, 4), gl.tensor([0])), "the shapes don't fit"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 6, [3])(gl.zeros(1, 4), gl.tensor([0.0])), "class ids are integers"),
    ],
)
def test_cutoffs_and_classes_that_mean_nothing_are_refused(call, text):
    with pytest.raises(gl.GradlabError, match=text):
        call()
