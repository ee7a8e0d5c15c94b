"""Holding a training: pause, step, step op, resume, breakpoints, and that nothing ever waits for ever."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe
from gradlab.errors import GradlabError
from gradlab.trace import BreakpointError, Debugger, Recorder
from gradlab.trace.debugger import described

PATIENCE_S = 30


def until(holds: Callable[[], Any]) -> Any:
    """Wait for another thread."""
    end = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
    return found


class Training:
    """A training in a thread of its own, until told to stop."""

    def __init__(self, act: Callable[[int], Any] = lambda step: None, by_hand: bool = False) -> None:
        self.steps = 0
        self.error: BaseException | None = None
        self.stop = False
        self.act, self.by_hand = act, by_hand
        self.model = gl.nn.Sequential(gl.nn.Linear(3, 4), gl.nn.Linear(4, 2))
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self) -> Training:
        self.thread.start()
        return self

    def run(self) -> None:
        optimizer = gl.optim.SGD(self.model.parameters(), lr=0.01)
        try:
            while not self.stop:
                for parameter in self.model.parameters():
                    parameter.grad = None
                loss = (self.model(gl.ones(4, 3)).exp() + 1.0).log().mean()
                loss.backward()
                if self.by_hand:
                    for parameter in self.model.parameters():
                        parameter.data -= 0.01 * parameter.grad.data
                else:
                    optimizer.step()
                self.steps += 1
                self.act(self.steps)
        except BaseException as error:
            self.error = error


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    gl.manual_seed(0)
    recorder = Recorder()
    recorder.running = True
    recorder.attach()
    yield recorder
    recorder.detach()


@pytest.fixture
def debugger(recorder: Recorder) -> Iterator[Debugger]:
    debugger = Debugger(recorder)
    yield debugger
    debugger.close()


@pytest.fixture
def training(debugger: Debugger) -> Iterator[Training]:
    training = Training().start()
    yield training
    training.stop = True
    debugger.close()
    training.thread.join(PATIENCE_S)
    assert not training.thread.is_alive()


def held(debugger: Debugger) -> Any:
    return until(lambda: debugger.gate.waiting and debugger.gate.held)


def again(debugger: Debugger, go: Callable[[], None]) -> Any:
    """Go on and wait until it is held elsewhere."""
    before = debugger.gate.held
    go()
    return until(lambda: (spot := debugger.gate.held) is not None and spot is not before and spot)


def test_pause_holds_at_the_end_of_a_step_and_resume_lets_go(debugger: Debugger, training: Training) -> None:
    until(lambda: training.steps > 3)
    debugger.pause()
    spot = held(debugger)
    assert (spot.op, spot.reason) == (None, None)
    assert spot.step == training.steps == debugger.recorder.step
    time.sleep(0.1)
    assert training.steps == spot.step
    debugger.resume()
    until(lambda: training.steps > spot.step + 3)
    assert debugger.gate.held is None


def test_step_goes_on_for_just_so_many_steps(debugger: Debugger, training: Training) -> None:
    debugger.pause()
    first = held(debugger).step
    for count in (1, 1, 1, 5):
        assert again(debugger, lambda count=count: debugger.step(count)).step == first + count
        first += count
        assert training.steps == first


def test_step_op_walks_forward_and_backward_through_every_op(debugger: Debugger, training: Training) -> None:
    debugger.pause()
    held(debugger)
    walked = [again(debugger, debugger.step_op) for _ in range(14)]
    names = ["linear", "linear", "exp", "add", "log", "mean"]
    assert [spot.op for spot in walked[:6]] == names
    assert [spot.at for spot in walked[:6]] == list(range(6))
    backward = [spot for spot in walked if spot.backward]
    assert [spot.op for spot in backward] == names[::-1]
    assert [spot.at for spot in backward] == list(range(6))[::-1]
    assert walked[0].step == walked[11].step
    assert (walked[12].op, walked[12].step) == ("linear", walked[0].step + 1)
    assert [spot.op for spot in walked[12:]] == names[:2]


def test_held_at_an_op_all_that_is_known_of_the_open_step_is_shown(debugger: Debugger, training: Training) -> None:
    recorder = debugger.recorder
    debugger.add('op("exp")')
    spot = held(debugger)
    until(lambda: recorder.held)
    assert [op["name"] for op in recorder.structure()["ops"]] == ["linear", "linear", "exp"]
    assert recorder.open
    weights = [np.asarray(p.data, np.float64) for p in training.model.parameters()]
    h = np.ones((4, 3)) @ weights[0].T + weights[1]
    assert recorder.numbers().ops[2, 0] == pytest.approx(np.linalg.norm(np.exp(h @ weights[2].T + weights[3])), rel=1e-5)
    debugger.clear()
    debugger.step()
    until(lambda: debugger.gate.held is not None and debugger.gate.held.op is None)
    assert [op["name"] for op in recorder.structure()["ops"]][-1] == "mean"
    assert recorder.step == spot.step


def test_nothing_is_called_where_nothing_is_armed(debugger: Debugger, training: Training) -> None:
    recorder = debugger.recorder
    others = len(observe._attached)
    for arm in (debugger.pause, lambda: debugger.add("nan"), lambda: debugger.add("step == 10000000"), debugger.step_op):
        arm()
        assert recorder.between_steps or len(observe._attached) > others
        debugger.clear()
        debugger.resume()
        until(lambda: not debugger.gate.waiting)
        until(lambda: not recorder.between_steps)
        assert len(observe._attached) == others


def test_a_condition_of_steps_alone_watches_no_op(debugger: Debugger, training: Training) -> None:
    others = len(observe._attached)
    debugger.add("step == 10000000 and lr > 0")
    assert len(observe._attached) == others


def test_a_training_by_hand_is_held_at_its_steps_too(debugger: Debugger) -> None:
    training = Training(by_hand=True).start()
    debugger.pause()
    first = held(debugger).step
    assert again(debugger, lambda: debugger.step(2)).step == first + 2
    training.stop = True
    debugger.resume()
    training.thread.join(PATIENCE_S)


def test_where_no_step_ends_a_pause_holds_at_an_op(debugger: Debugger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradlab.trace.gate._PATIENCE_S", 0.05)
    stop = threading.Event()

    def evaluate() -> None:
        x = gl.ones(3)
        while not stop.is_set():
            x.exp()

    thread = threading.Thread(target=evaluate, daemon=True)
    thread.start()
    debugger.pause()
    spot = held(debugger)
    assert (spot.op, spot.backward) == ("exp", False)
    stop.set()
    debugger.resume()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("condition", "op", "said"),
    [
        ("step == 7", None, "step == 7 at step 7"),
        ('op("log") and step > 2', "log", "at step 3 (op log, "),
        ("loss > 0 and step == 5", "backward", "at step 5 (after backward"),
        ('grad_norm("1") > 0 and step == 4', "backward", "at step 4"),
        ('grad_norm("1.weight") > 1e9 or step == 6', "backward", "at step 6"),
        ('weight_norm("*") > 0 and step == 4', "backward", "at step 4"),
        ('update_ratio("0") > 0 and step == 4', None, "at step 4"),
        ("lr == 0.01 and step == 4", None, "at step 4"),
    ],
)
def test_a_breakpoint_holds_where_its_condition_is_first_true(debugger: Debugger, condition: str, op: str | None, said: str) -> None:
    debugger.add(condition)
    training = Training().start()
    spot = held(debugger)
    assert (spot.op, spot.reason) == (op, condition)
    assert said in described(spot)
    assert debugger.breakpoints[0].hits == 1
    debugger.clear()
    training.stop = True
    debugger.resume()
    training.thread.join(PATIENCE_S)
    assert training.error is None


def test_numbers_in_conditions_are_those_of_numpy(debugger: Debugger) -> None:
    training = Training()
    weight = training.model[1].weight
    debugger.add("loss > -1")
    training.start()
    held(debugger)
    reading = debugger.reading()
    assert reading.number("grad_norm", "1.weight") == pytest.approx(np.linalg.norm(weight.grad.data))
    both = [np.linalg.norm(p.grad.data) for p in training.model[1].parameters()]
    assert reading.number("grad_norm", "1") == pytest.approx(np.hypot(*both))
    assert reading.number("weight_norm", "1.weight") == pytest.approx(np.linalg.norm(weight.data))
    assert reading.number("grad_norm", None) == pytest.approx(np.sqrt(sum((p.grad.data**2).sum() for p in training.model.parameters())))
    assert reading.number("grad_norm", "no such") is None
    training.stop = True
    debugger.close()
    training.thread.join(PATIENCE_S)


@pytest.mark.parametrize(("direction", "backward"), [("forward", False), ("backward", True)])
def test_nan_holds_at_the_op_that_made_it_once_a_step(debugger: Debugger, direction: str, backward: bool) -> None:
    class Bad(gl.Function):
        def forward(self, x: Any) -> Any:
            return x * (np.float32("nan") if direction == "forward" and steps[0] >= 3 else np.float32(1))

        def backward(self, g: Any) -> Any:
            return g * (np.float32("nan") if direction == "backward" and steps[0] >= 3 else np.float32(1))

    steps = [0]
    stop = threading.Event()

    def train() -> None:
        w = gl.ones(3, requires_grad=True)
        optimizer = gl.optim.SGD([w], lr=0.0)
        while not stop.is_set():
            w.grad = None
            Bad.apply(w.exp()).sum().backward()
            optimizer.step()
            w.data[:] = 1.0
            steps[0] += 1

    debugger.add("nan")
    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    spot = held(debugger)
    assert (spot.op, spot.backward, spot.step) == (("bad", False, 4) if not backward else ("exp", True, 4))
    following = again(debugger, debugger.resume)
    assert (following.op, following.step) == (spot.op, 5)
    stop.set()
    debugger.close()
    thread.join(PATIENCE_S)


def test_a_breakpoint_that_raises_stops_the_training_and_tracing_goes_on(debugger: Debugger) -> None:
    debugger.add('op("exp") and step == 3', raises=True)
    training = Training()
    training.run()
    assert isinstance(training.error, BreakpointError)
    assert isinstance(training.error, GradlabError)
    assert "at step 3 (op exp, test_debugger.py:" in str(training.error)
    assert training.steps == 2
    assert debugger.recorder.on
    debugger.clear()
    other = Training(act=lambda step: step == 3 and setattr(other, "stop", True))
    other.run()
    assert other.error is None


@pytest.mark.parametrize("condition", ["step == 3", "loss > 0 and step == 3"])
def test_raising_at_a_step_or_a_backward_pass_leaves_tracing_on(debugger: Debugger, condition: str) -> None:
    debugger.add(condition, raises=True)
    training = Training()
    training.run()
    assert isinstance(training.error, BreakpointError)
    assert debugger.recorder.on
    assert observe.current is not None


def test_where_nobody_could_resume_a_breakpoint_raises_and_a_pause_only_warns(debugger: Debugger) -> None:
    debugger.hindrance = lambda: "no panel is open"
    debugger.add("step == 3")
    training = Training()
    training.run()
    assert isinstance(training.error, BreakpointError)
    assert "no panel is open" in str(training.error)
    debugger.clear()
    debugger.pause()
    other = Training(act=lambda step: step == 5 and setattr(other, "stop", True))
    with pytest.warns(UserWarning, match="does not pause: no panel"):
        other.run()
    assert other.error is None


def test_an_interrupt_reaches_a_held_thread_and_frees_all_others(debugger: Debugger) -> None:
    trainings = [Training().start(), Training().start()]
    debugger.pause()
    until(lambda: debugger.gate.waiting >= 1)
    victim = until(lambda: next((t for t in trainings if t.steps), None))
    debugger.step(10**6)  # whoever is held goes on, then both are held at an op
    debugger.add('op("exp")')
    until(lambda: debugger.gate.waiting == 2)
    debugger.clear()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(victim.thread.ident), ctypes.py_object(KeyboardInterrupt))
    until(lambda: isinstance(victim.error, KeyboardInterrupt))
    other = trainings[1 - trainings.index(victim)]
    steps = other.steps
    until(lambda: other.steps > steps + 2)
    assert debugger.gate.held is None
    other.stop = True
    other.thread.join(PATIENCE_S)


def test_two_threads_are_held_together_and_let_go_together(debugger: Debugger) -> None:
    trainings = [Training().start(), Training().start()]
    debugger.add('op("exp")')
    until(lambda: debugger.gate.waiting == 2)
    counts = [t.steps for t in trainings]
    time.sleep(0.1)
    assert counts == [t.steps for t in trainings]
    debugger.clear()
    debugger.resume()
    until(lambda: all(t.steps > n + 2 for t, n in zip(trainings, counts, strict=True)))
    for training in trainings:
        training.stop = True
        training.thread.join(PATIENCE_S)


@pytest.mark.parametrize("end", ["close", "release"])
def test_closing_and_switching_tracing_off_let_a_held_training_go(debugger: Debugger, training: Training, end: str) -> None:
    debugger.pause()
    spot = held(debugger)
    if end == "release":
        debugger.recorder.detach()
    getattr(debugger, end)()
    until(lambda: training.steps > spot.step + 2)
    assert debugger.gate.held is None


def test_what_is_asked_meanwhile_is_done_by_the_held_thread(debugger: Debugger, training: Training) -> None:
    seen: set[int | None] = set()
    debugger.meanwhile = lambda: seen.add(threading.current_thread().ident)
    debugger.pause()
    held(debugger)
    until(lambda: seen)
    assert seen == {training.thread.ident}


def test_pause_is_refused_where_tracing_is_off_or_has_ended(recorder: Recorder) -> None:
    debugger = Debugger(recorder)
    recorder.detach()
    for ask in (debugger.pause, debugger.step, debugger.step_op, lambda: debugger.add("nan")):
        with pytest.raises(GradlabError, match="tracing is off"):
            ask()
    debugger.close()
    with pytest.raises(GradlabError, match="tracing has ended"):
        debugger.pause()


def test_whoever_is_told_may_fail_without_harm(recorder: Recorder) -> None:
    def fail() -> None:
        raise OSError("the page is gone")

    debugger = Debugger(recorder, changed=fail)
    with pytest.warns(UserWarning, match="the page is gone"):
        debugger.pause()
    with pytest.warns(UserWarning, match="the page is gone"):
        debugger.close()
