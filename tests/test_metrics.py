"""Metrics read scores in every form that losses take them in."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ShapeError
from gradlab.metrics import accuracy, binary_accuracy

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("scores", "targets", "axis"),
    [((6, 4), (6,), 1), ((6, 4, 5), (6, 5), 1), ((6, 5, 4), (6, 5), -1), ((2, 4, 3, 5), (2, 3, 5), 1), ((2, 3, 5, 4), (2, 3, 5), -1)],
)
@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_accuracy_is_the_share_of_targets_with_the_highest_score(scores, targets, axis, device):
    x, y = RNG.standard_normal(scores).astype("float32"), RNG.integers(0, 4, targets)
    want = (x.argmax(axis) == y).mean()
    assert accuracy(gl.tensor(x, device=device), gl.tensor(y)) == pytest.approx(want)
    assert accuracy(x, y) == pytest.approx(want)


def test_targets_that_are_ignored_do_not_count():
    x, y = gl.tensor([[2.0, 0.0], [0.0, 2.0], [0.0, 2.0]]), gl.tensor([0, 0, -100])
    assert accuracy(x, y) == 0.5
    assert accuracy(x, gl.tensor([0, 0, 7]), ignore_index=7) == 0.5
    assert accuracy(x, gl.tensor([-100] * 3)) == 0.0, "nothing counts, so nothing is right"


def test_yes_or_no_is_asked_of_scores_or_of_probabilities():
    x, y = gl.tensor([[0.3], [0.7], [-1.0]]), gl.tensor([1.0, 1.0, 1.0])
    assert binary_accuracy(x, y) == pytest.approx(2 / 3)
    assert binary_accuracy(x, y, threshold=0.5) == pytest.approx(1 / 3)
    assert binary_accuracy(gl.tensor([1.0, -1.0], device="sim"), gl.tensor([True, False])) == 1.0


def test_scores_of_other_targets_are_refused():
    for call in (accuracy, binary_accuracy):
        with pytest.raises(ShapeError, match=r"output \(3, 4\)\n  target \(5,\)"):
            call(gl.zeros(3, 4), gl.zeros(5))


def test_nothing_is_recorded_and_nothing_is_changed():
    x = gl.zeros(3, 4, requires_grad=True)
    with gl.trace.recording() as recorder:
        accuracy(x, gl.tensor([0, 1, 0]))
    assert recorder.structure()["ops"] == []
