"""The loss of labels without times: against every way to say them, one by one; lengths, blanks, and what cannot be said."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DTypeError, LabelError, ShapeError

RNG = np.random.default_rng(0)
LOGS = F.log_softmax(RNG.standard_normal((4, 3)), 1).data


def by_hand(logs, labels, blank=0):
    """The loss, and the chance of each class at each time, over all ways."""
    whole, said = 0.0, np.zeros_like(logs)
    for way in product(range(logs.shape[1]), repeat=len(logs)):
        if [k for k, _ in groupby(way) if k != blank] == list(labels):
            chance = np.exp(sum(logs[t, k] for t, k in enumerate(way)))
            whole += chance
            said[range(len(way)), way] += chance
    return -np.log(whole), said / whole


@pytest.mark.parametrize("labels", [[1, 2], [1, 1], [2], [2, 1, 2], []], ids=str)
def test_it_is_the_sum_over_all_ways_and_its_gradient_the_chance_of_each_class(labels):
    x = gl.tensor(LOGS, requires_grad=True)
    y = F.ctc_loss(x, np.array(labels, int), 4, len(labels), reduction="sum")
    want, said = by_hand(LOGS, labels)
    assert y.item() == pytest.approx(want)
    y.backward()
    np.testing.assert_allclose(x.grad.data, -said, atol=1e-14)


def test_the_blank_may_be_any_class():
    assert F.ctc_loss(LOGS, np.array([0, 1]), 4, 2, blank=2, reduction="sum").item() == pytest.approx(by_hand(LOGS, [0, 1], 2)[0])


def test_each_sequence_has_its_lengths_and_what_stands_behind_them_counts_for_nothing():
    x = gl.tensor(np.stack([LOGS, LOGS], 1), requires_grad=True)
    y = F.ctc_loss(x, np.array([[1, 2], [2, -7]]), [4, 3], [2, 1], reduction="none")
    want = [by_hand(LOGS, [1, 2])[0], by_hand(LOGS[:3], [2])[0]]
    np.testing.assert_allclose(y.data, want)
    y.sum().backward()
    assert (x.grad.data[3, 1] == 0).all()
    in_one_line = F.ctc_loss(x, np.array([1, 2, 2]), gl.tensor([4, 3]), gl.tensor([2, 1]))
    assert in_one_line.item() == pytest.approx((want[0] / 2 + want[1]) / 2)


def test_what_cannot_be_said_in_time_is_infinite_or_on_request_nothing():
    for zero in (False, True):
        x = gl.tensor(LOGS, requires_grad=True)
        y = F.ctc_loss(x, np.array([1, 1, 1]), 4, 3, zero_infinity=zero)
        y.backward()
        assert y.item() == (0.0 if zero else np.inf) and (x.grad.data == 0).all()


def test_a_class_without_any_chance_is_never_said():
    logs = np.log([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]], out=np.full((2, 3), -np.inf), where=np.array([[1, 1, 0], [1, 1, 0]], bool))
    x = gl.tensor(logs, requires_grad=True)
    y = F.ctc_loss(x, np.array([1]), 2, 1)
    y.backward()
    assert y.item() == pytest.approx(-np.log(1 - 0.125)) and np.isfinite(x.grad.data).all()
    assert F.ctc_loss(x, np.array([2]), 2, 1).item() == np.inf


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"input_lengths": [5]}, ArgumentError, "ctc_loss: a length beyond what there is"),
        ({"input_lengths": [0]}, ArgumentError, "need:          1 to time"),
        ({"target_lengths": [3]}, ArgumentError, "a length beyond what there is"),
        ({"target_lengths": [2, 2]}, ShapeError, "ctc_loss: the shapes don't fit"),
        ({"targets": np.array([[1, 3]])}, LabelError, "ctc_loss: a label is none of the classes"),
        ({"targets": np.array([[1.0, 2.0]])}, DTypeError, "ctc_loss: logarithms and labels"),
        ({"targets": np.array([[1, 2], [1, 2]])}, ShapeError, "ctc_loss: a row of labels each"),
        ({"targets": np.array([1, 2, 1])}, ShapeError, "ctc_loss: how many labels?"),
        ({"blank": 3}, ArgumentError, "ctc_loss: the blank is no class"),
    ],
)
def test_what_does_not_fit_is_refused(change, error, text):
    given = {"log_probs": LOGS[:, None], "targets": np.array([[1, 2]]), "input_lengths": [4], "target_lengths": [2]}
    with pytest.raises(error) as raised:
        F.ctc_loss(**(given | change))
    assert text in str(raised.value)
