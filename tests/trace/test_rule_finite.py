"""R1 says which op made the first NaN or Inf, what it was given, and stays silent while all is finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.trace import Recorder, diagnose, recording
from gradlab.trace.rules import Finding

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def found(train: Callable[[], Any]) -> list[Finding]:
    with recording() as recorder:
        train()
    return [finding for finding in diagnose(recorder) if finding.rule == "R1"]


def root() -> None:
    w = gl.randn(4, requires_grad=True)
    (w * gl.tensor([0.0, 1.0, 2.0, 3.0])).abs().sqrt().sum().backward()


def logarithm() -> None:
    w = gl.randn(4, requires_grad=True)
    (w * gl.tensor([0.0, 1.0, 2.0, 3.0]).log()).sum().backward()


def quotient() -> None:
    w = gl.randn(3, requires_grad=True)
    (w / gl.tensor([1.0, 0.0, 2.0])).sum().backward()


def exponential() -> None:
    w = gl.tensor([1.0, 100.0], requires_grad=True)
    w.exp().sum().backward()


@pytest.mark.parametrize(
    ("train", "op", "kind", "phase", "words"),
    [
        (root, "sqrt", "Inf", "backward", "goes to 0, where the derivative is infinite"),
        (logarithm, "log", "Inf", "forward", "goes to 0, where log is infinite"),
        (quotient, "div", "Inf", "forward", "goes to 0, where div is infinite"),
        (exponential, "exp", "Inf", "forward", "goes up to 100"),
    ],
)
def test_an_op_outside_of_where_it_is_defined(train: Callable[[], None], op: str, kind: str, phase: str, words: str) -> None:
    (finding,) = found(train)
    assert finding.title == f"{op} made the first {kind}"
    assert phase in finding.verdict
    assert words in finding.why
    assert finding.where.startswith("test_rule_finite.py:")
    assert finding.code


def test_data_with_a_nan_is_told_from_an_op_that_makes_one() -> None:
    x = np.ones((3, 4), np.float32)
    x[1, 2] = np.nan
    w = gl.randn(4, 4, requires_grad=True)
    (finding,) = found(lambda: (gl.tensor(x) @ w).tanh().mean().backward())
    assert finding.title == "NaN came into matmul"
    assert "1 of its entries): the data had it" in finding.why


def test_a_training_that_diverges_names_the_step_and_the_last_finite_one() -> None:
    w = gl.randn(4, 4, requires_grad=True)
    optimizer = gl.optim.SGD([w], lr=1e5)

    def train() -> None:
        for _ in range(40):
            optimizer.zero_grad()
            ((gl.ones(2, 4) @ w) ** 2).mean().backward()
            optimizer.step()

    findings = found(train)
    first = min(findings, key=lambda finding: finding.step or 0)
    assert first.step is not None
    assert f"the last finite step is {first.step - 1}" in first.verdict


def test_an_op_of_a_step_that_was_only_glanced_at_is_named_too() -> None:
    recorder = Recorder()
    recorder.governor.budget = 0.0
    recorder.governor._period = lambda: 5
    recorder.running = True
    recorder.attach()
    w = gl.randn(4, requires_grad=True)
    optimizer = gl.optim.SGD([w], lr=0.01)
    try:
        for step in range(1, 20):
            x = gl.tensor([1.0, 2.0, 3.0, 0.0 if step == 6 else 4.0])
            loss = (w**2 * x).log().mean()
            optimizer.zero_grad()
            loss.backward()
            if step != 6:
                optimizer.step()
            else:
                assert recorder.steps.tape.light
                break
    finally:
        recorder.detach()
    (finding,) = [one for one in diagnose(recorder) if one.rule == "R1"]
    assert finding.title == "log made the first Inf"
    assert "the last finite step is 5" in finding.verdict
    assert "where log is infinite" in finding.why


def test_a_mask_of_minus_infinity_is_no_finding() -> None:
    q, k = gl.randn(2, 4, 8, requires_grad=True), gl.randn(2, 4, 8, requires_grad=True)
    causal = np.triu(np.ones((4, 4), bool), 1)

    def attend() -> None:
        scores = q @ k.transpose(-1, -2)
        scores.masked_fill(gl.tensor(causal), -np.inf).softmax(-1).sum().backward()
        (scores.detach() + gl.tensor(np.where(causal, -np.inf, 0).astype(np.float32))).softmax(-1)
        gl.where(gl.tensor(causal), gl.tensor(-np.inf), scores.detach()).softmax(-1)

    assert found(attend) == []


def test_no_tensor_is_kept_by_an_alarm() -> None:
    import gc
    import weakref

    w = gl.randn(4, requires_grad=True)
    with recording() as recorder:
        x = gl.tensor([0.0, 1.0, 2.0, 3.0])
        y = (w * x.log()).sum()
    assert recorder.steps.alarm.kept
    references = [weakref.ref(t) for t in (x, y)]
    del x, y
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def glanced_at(loss: Callable[[int], gl.Tensor], weights: list[gl.Tensor], bad: int, after: int = 0) -> list[Finding]:
    """The findings where a gradient is bad in a step of which only loss and gradients were read, and in so many steps after it."""
    recorder = Recorder()
    recorder.governor.budget = 0.0
    recorder.governor._period = lambda: 5
    recorder.running = True
    recorder.attach()
    optimizer = gl.optim.SGD(weights, lr=0.01)
    try:
        for step in range(1, bad + 1 + after):
            value = loss(step)
            optimizer.zero_grad()
            value.backward()
            if step == bad:
                assert recorder.steps.tape.light
                assert np.isfinite(value.item())
            if step < bad or after:
                optimizer.step()
    finally:
        recorder.detach()
    return [one for one in diagnose(recorder) if one.rule == "R1"]


@pytest.mark.parametrize("after", [0, 2])
def test_a_bad_gradient_of_a_step_that_was_only_glanced_at_names_the_op_between_good_and_bad_parameters(after: int) -> None:
    gl.manual_seed(0)
    first, second = gl.randn(4, 4, requires_grad=True), gl.randn(4, 1, requires_grad=True)

    def loss(step: int) -> gl.Tensor:
        h = (gl.ones(2, 4) * (0.0 if step == 6 else 1.0)) @ first
        return (((h * h).sum(1, keepdim=True).sqrt() + h.relu()) @ second).sigmoid().log().mean()

    (finding,) = glanced_at(loss, [first, second], 6, after)
    assert finding.title == "sqrt probably made the first NaN"
    assert "backward; the last finite step is 5" in finding.verdict
    assert "`tensor#1` got it, `tensor#2` did not: of the 7 ops that leaves `sqrt` has a derivative that can be infinite" in finding.why
    assert "This is so if it did the same as step 3, the last that was read in full" in finding.why
    assert finding.op is not None and finding.where.startswith("test_rule_finite.py:")


def test_where_several_ops_can_have_made_it_all_are_counted() -> None:
    w = gl.ones(3, requires_grad=True)
    inputs = [1.0, 2.0, 3.0]
    (finding,) = glanced_at(lambda step: ((w * gl.tensor([0.0 if step == 6 else x for x in inputs])).sqrt() ** 0.5).sum(), [w], 6)
    assert "or another op probably made" in finding.verdict
    assert "no parameter got a finite gradient" in finding.why


def test_where_no_op_is_known_for_it_the_finding_says_why() -> None:
    w = gl.ones(3, requires_grad=True)

    class Breaks(gl.Function):
        bad = False

        def forward(self, x: np.ndarray) -> np.ndarray:
            return x * 1.0

        def backward(self, g: np.ndarray) -> np.ndarray:
            return g * (np.nan if Breaks.bad else 1.0)

    def loss(step: int) -> gl.Tensor:
        Breaks.bad = step == 6
        return (Breaks.apply(w) + 1.0).sum()

    (finding,) = glanced_at(loss, [w], 6)
    assert finding.title == "A gradient is NaN"
    assert "that leaves 3 ops, of which none has a derivative that can be infinite" in finding.why
    assert finding.op is None and finding.code == "%gradlab budget off"
