"""The slot: who is called, in which order, and what happens when an observer fails."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe
from gradlab.errors import ShapeError


class Log:
    def __init__(self):
        self.events = []

    def begin(self, kind, target, inputs):
        self.events.append(("begin", kind, type(target).__name__))
        return kind, target, inputs

    def end(self, token, output, error):
        self.events.append(("end", token[0], type(token[1]).__name__, output, error))
        self.last = token, output, error


@pytest.fixture
def log():
    log = Log()
    observe.attach(log)
    yield log
    observe.detach(log)


def kinds(log, phase="begin"):
    return [event[1:3] for event in log.events if event[0] == phase]


def test_forward_backward_and_accumulate_are_seen_in_order(log):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert kinds(log) == [
        ("forward", "Mul"),
        ("forward", "Sum"),
        ("pass", "Tensor"),
        ("backward", "Sum"),
        ("backward", "Mul"),
        ("accumulate", "Tensor"),
        ("accumulate", "Tensor"),
    ]


def test_the_pass_encloses_its_events(log):
    x = gl.tensor(2.0, requires_grad=True)
    (x * x).backward()
    phases = [event[:2] for event in log.events]
    start, stop = phases.index(("begin", "pass")), phases.index(("end", "pass"))
    assert all(start < i < stop for i, event in enumerate(phases) if event[1] in ("backward", "accumulate"))
    assert stop == len(phases) - 1


def test_forward_events_carry_inputs_and_the_output(log):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    (kind, fn, inputs), output, error = log.last
    assert kind == "forward" and fn is y.grad_fn and inputs[0] is x and inputs[1].data == 3.0
    assert output is y and error is None


def test_backward_events_carry_the_gradient_and_the_gradients(log):
    a, b = gl.tensor([2.0], requires_grad=True), gl.tensor([5.0], requires_grad=True)
    (a * b).backward(np.float32([10.0]))
    ends = [event for event in log.events if event[0] == "end" and event[1] == "backward"]
    (da, db) = ends[0][3]
    assert da.tolist() == [50.0] and db.tolist() == [20.0]


def test_ops_under_no_grad_are_seen_too(log):
    with gl.no_grad():
        gl.tensor([1.0], requires_grad=True) * 2.0
    assert kinds(log) == [("forward", "Mul")]


def test_an_op_that_raises_ends_with_its_error(log):
    with pytest.raises(ShapeError):
        gl.matmul(gl.ones(2, 3), gl.ones(2, 3))
    token, output, error = log.last
    assert token[0] == "forward" and output is None and isinstance(error, ShapeError)


def test_observers_leave_in_any_order():
    a, b = Log(), Log()
    observe.attach(a)
    observe.attach(b)
    observe.detach(a)
    gl.ones(1) + 1.0
    observe.detach(b)
    assert (len(a.events), len(b.events)) == (0, 2) and observe.current is None


def test_attaching_twice_calls_once():
    log = Log()
    observe.attach(log)
    observe.attach(log)
    gl.ones(1) + 1.0
    observe.detach(log)
    observe.detach(log)
    assert len(log.events) == 2


def test_two_observers_see_the_same_events():
    a, b = Log(), Log()
    observe.attach(a)
    observe.attach(b)
    gl.ones(1) + 1.0
    observe.detach(b)
    observe.detach(a)
    assert kinds(a) == kinds(b) == [("forward", "Add")]


@pytest.mark.parametrize("phase", ["begin", "end"])
def test_a_failing_observer_is_detached_with_a_warning_and_training_goes_on(phase):
    class Broken(Log):
        pass

    def fail(*event):
        raise RuntimeError("disk full")

    setattr(Broken, phase, fail)
    observe.attach(Broken())
    with pytest.warns(UserWarning, match="disk full"):
        y = gl.ones(1) + 2.0
    assert y.tolist() == [3.0] and observe.current is None


def test_a_failing_observer_leaves_the_other_attached():
    class Broken(Log):
        def begin(self, *event):
            raise RuntimeError("no")

    good = Log()
    observe.attach(Broken())
    observe.attach(good)
    with pytest.warns(UserWarning, match="detached"):
        gl.ones(1) + 2.0
    gl.ones(1) + 2.0
    observe.detach(good)
    assert len(good.events) == 4


def test_numbers_are_bit_identical_with_and_without_an_observer():
    def train():
        gl.manual_seed(7)
        x, w, b = gl.randn(16, 8), gl.randn(8, 4, requires_grad=True), gl.zeros(4, requires_grad=True)
        for _ in range(5):
            loss = gl.cross_entropy((x @ w + b).tanh(), gl.arange(16).data % 4)
            w.grad = b.grad = None
            loss.backward()
            w.data -= 0.1 * w.grad
            b.data -= 0.1 * b.grad
        return w.data.tobytes() + b.data.tobytes() + loss.data.tobytes()

    plain = train()
    log = Log()
    observe.attach(log)
    watched = train()
    observe.detach(log)
    assert watched == plain and len(log.events) > 100
