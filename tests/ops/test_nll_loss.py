"""The loss of logarithms of probabilities: what cross-entropy is after log_softmax, and what it is alone."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, LabelError, ShapeError

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kw", [{}, {"reduction": "sum"}, {"reduction": "none"}, {"weight": [1.0, 2.0, 0.5]}, {"ignore_index": 1}], ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (3,), (2, 3, 4), (2, 3, 2, 2)], ids=str)
def test_after_log_softmax_it_is_cross_entropy(shape, kw):
    x = RNG.standard_normal(shape)
    ids = RNG.integers(0, 3, (shape[0], *shape[2:]) if len(shape) > 1 else ())
    a, b = gl.tensor(x, requires_grad=True), gl.tensor(x, requires_grad=True)
    y = F.nll_loss(F.log_softmax(a, min(len(shape) - 1, 1)), ids, **kw)
    z = F.cross_entropy(b, ids, **kw)
    np.testing.assert_allclose(y.data, z.data)
    y.sum().backward()
    z.sum().backward()
    np.testing.assert_allclose(a.grad.data, b.grad.data, atol=1e-15)


def test_only_the_right_class_gets_a_gradient_and_an_ignored_row_none():
    x = gl.tensor([[-1.0, -np.inf], [-2.0, -3.0], [-np.inf, -np.inf]], requires_grad=True)
    y = F.nll_loss(x, [0, 1, -100])
    y.backward()
    assert y.item() == 2.0 and x.grad.tolist() == [[-0.5, 0.0], [0.0, -0.5], [0.0, 0.0]]


def test_the_mean_divides_by_the_weights():
    x = [[-1.0, -2.0], [-3.0, -4.0]]
    assert F.nll_loss(x, [0, 1], weight=[1.0, 3.0]).item() == (1 + 12) / 4
    assert F.nll_loss(x, [0, 1], weight=[1.0, 3.0], reduction="none").tolist() == [1.0, 12.0]
    assert np.isnan(F.nll_loss(x, [-100, -100]).item()) and F.nll_loss(x, [-100, -100], reduction="sum").item() == 0.0


def test_what_does_not_belong_together_is_refused():
    x = np.zeros((2, 3))
    with pytest.raises(ShapeError, match=r"nll_loss: input and target don't belong together\n  input  \(2, 3\)\n  target \(3,\)"):
        F.nll_loss(x, [0, 1, 2])
    with pytest.raises(LabelError, match="nll_loss: a class id is none of the classes"):
        F.nll_loss(x, [0, 3])
    with pytest.raises(DTypeError, match="nll_loss: class ids are integers"):
        F.nll_loss(x, [0.0, 1.0])
    with pytest.raises(DTypeError, match="nll_loss: scores are floating"):
        F.nll_loss([[1, 2]], [0])
    for loss in (F.nll_loss, F.cross_entropy):
        with pytest.raises(ShapeError, match=r"one weight a class\n  weight \(2,\)\n  need:  \(3,\)"):
            loss(x, [0, 1], weight=[1.0, 2.0])


def test_cross_entropy_refuses_a_share_that_is_none_and_a_class_to_ignore_among_probabilities():
    x, p = np.zeros((2, 3)), np.full((2, 3), 1 / 3)
    for share in (1.5, -0.1):
        with pytest.raises(ArgumentError, match="cross_entropy: how much smoothing"):
            F.cross_entropy(x, [0, 1], label_smoothing=share)
    with pytest.raises(ArgumentError, match="probabilities name no class to ignore"):
        F.cross_entropy(x, p, ignore_index=1)
    assert F.cross_entropy(x, p, ignore_index=-1).item() == pytest.approx(np.log(3))


def test_scores_that_lie_otherwise_in_memory_give_the_same():
    x = RNG.standard_normal((3, 4))
    for kw in ({}, {"label_smoothing": 0.1}):
        grads = []
        for scores in (x, np.asfortranarray(x)):
            t = gl.tensor(scores, requires_grad=True)
            F.cross_entropy(t, [2, -100, 1], **kw).backward()
            grads.append(t.grad.data)
        np.testing.assert_allclose(*grads)
