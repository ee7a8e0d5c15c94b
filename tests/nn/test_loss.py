from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn

LOGITS = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0], [2.0, 2.0, 2.0]])
CLASSES = np.array([1, 0, 2])


def log_softmax(z):
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def by_hand(weight, ignore_index, reduction, label_smoothing):
    """The definition, row by row."""
    logp, rows, factors = log_softmax(LOGITS), [], []
    weight = np.ones(3) if weight is None else weight
    for row, c in zip(logp, CLASSES, strict=True):
        live = c != ignore_index
        picked, spread = -weight[c] * row[c], -(weight * row).sum() / 3
        rows.append(live * ((1 - label_smoothing) * picked + label_smoothing * spread))
        factors.append(live * weight[c])
    return {"none": np.array(rows), "sum": np.sum(rows), "mean": np.sum(rows) / np.sum(factors)}[reduction]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("options", [{}, {"ignore_index": 0}, {"label_smoothing": 0.1}, {"weight": np.array([1.0, 2.0, 0.5])},
                                     {"weight": np.array([1.0, 2.0, 0.5]), "ignore_index": 2, "label_smoothing": 0.2}],
                         ids=lambda o: "-".join(o) or "plain")  # fmt: skip
def test_cross_entropy_is_its_definition(options, reduction):
    given = {"weight": None, "ignore_index": -100, "label_smoothing": 0.0, **options, "reduction": reduction}
    tensors = {**given, "weight": None if given["weight"] is None else gl.tensor(given["weight"])}
    loss = nn.CrossEntropyLoss(**tensors)(gl.tensor(LOGITS), gl.tensor(CLASSES))
    assert np.allclose(loss.data, by_hand(**given), rtol=1e-12)


def test_cross_entropy_takes_probabilities():
    p = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    loss = nn.CrossEntropyLoss()(gl.tensor(LOGITS), gl.tensor(p))
    assert np.isclose(loss.item(), -(p * log_softmax(LOGITS)).sum(1).mean(), rtol=1e-12)


def test_the_gradient_of_cross_entropy_is_probability_minus_target():
    z = gl.tensor(LOGITS, requires_grad=True)
    nn.CrossEntropyLoss()(z, gl.tensor(CLASSES)).backward()
    assert np.allclose(z.grad.data, (np.exp(log_softmax(LOGITS)) - np.eye(3)[CLASSES]) / 3)


@pytest.mark.parametrize(("reduction", "value"), [("mean", 2.5), ("sum", 5.0), ("none", [1.0, 4.0])])
def test_mse_is_the_squared_difference(reduction, value):
    loss = nn.MSELoss(reduction=reduction)(gl.tensor([1.0, 3.0]), gl.tensor([2.0, 1.0]))
    assert loss.tolist() == value


def test_mse_refuses_shapes_that_would_broadcast():
    with pytest.raises(gl.ShapeError):
        nn.MSELoss()(gl.zeros(4, 1), gl.zeros(4))


def test_options_are_checked_and_printed():
    for loss in (nn.MSELoss, nn.CrossEntropyLoss):
        with pytest.raises(ValueError, match="'mean', 'sum' or 'none'"):
            loss(reduction="average")
    with pytest.raises(ValueError, match="label_smoothing"):
        nn.CrossEntropyLoss(label_smoothing=2)
    assert repr(nn.CrossEntropyLoss(label_smoothing=0.1)) == "CrossEntropyLoss(label_smoothing=0.1)"
    assert repr(nn.MSELoss()) == "MSELoss()" and repr(nn.MSELoss("sum")) == "MSELoss(reduction='sum')"


def test_class_weights_are_saved_with_the_loss():
    assert list(nn.CrossEntropyLoss(weight=gl.ones(3)).state_dict()) == ["weight"]
    assert nn.CrossEntropyLoss().state_dict() == {}
