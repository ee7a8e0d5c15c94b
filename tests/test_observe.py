"""The slot: who is called, in which order, and what happens when an observer fails."""

from __future__ import annotations

from time import perf_counter_ns as clock

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe
from gradlab.errors import ShapeError


class Log:
    def __init__(self):
        self.events = []

    def forward(self, fn, output, began):
        self.note("forward", fn, output, began)

    def backward(self, fn, g, grads, began):
        self.note("backward", fn, g, grads, began)

    def accumulate(self, tensor, d, fn):
        self.note("accumulate", tensor, d, fn)

    def failed(self, fn, g, error, began):
        self.note("failed", fn, g, error, began)

    def begin(self, kind, target, inputs):
        self.note(f"begin {kind}", target, inputs)
        return kind, target

    def end(self, token, output, error):
        kind, target = token
        self.note(f"end {kind}", target, output, error)

    def note(self, event, target, *rest):
        self.events.append((event, type(target).__name__))
        self.last = target, *rest


@pytest.fixture
def log():
    log = Log()
    observe.attach(log)
    yield log
    observe.detach(log)


def test_forward_and_backward_are_seen_in_order_inside_the_pass(log):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert log.events == [
        ("forward", "Mul"),
        ("forward", "Sum"),
        ("begin pass", "Tensor"),
        ("backward", "Sum"),
        ("backward", "Mul"),
        ("end pass", "Tensor"),
    ]


def test_what_comes_to_a_result_that_keeps_its_gradient_is_told_before_it_is_added(log):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    came = []
    log.accumulate = lambda tensor, d, fn: came.append((tensor is y, d.tolist(), fn is y.grad_fn, y.grad))
    observe.detach(log)
    observe.attach(log)  # a method is looked up once
    y.sum().backward()
    assert came == [(True, [1.0, 1.0], True, None)] and y.grad.tolist() == [1.0, 1.0]


def test_a_pass_says_what_it_is_for(log):
    passes, x = [], gl.tensor([1.0, 2.0], requires_grad=True)
    log.begin = lambda kind, target, inputs: passes.append(inputs)
    log.end = lambda *event: None
    observe.detach(log)
    observe.attach(log)
    (x * x).sum().backward(retain_graph=True)
    gl.autograd.grad((x * x).sum(), x)
    (x * x).sum().backward(inputs=[x])
    assert passes == [(True, None), (False, [x]), (False, [x])]


@pytest.mark.parametrize("op", [lambda x: x * 3.0, lambda x: x * gl.tensor([3.0, 3.0]), gl.exp], ids=["number", "operator", "function"])
def test_forward_events_carry_the_op_and_its_output(log, op):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    began = clock()
    y = op(x)
    fn, output, at = log.last
    assert fn is y.grad_fn and fn.inputs[0] is x and output is y and began <= at <= clock()


def test_backward_events_carry_the_gradient_and_the_gradients(log):
    a, b = gl.tensor([2.0], requires_grad=True), gl.tensor([5.0], requires_grad=True)
    seen = []
    log.backward = lambda fn, g, grads, began: seen.append((fn, g.tolist(), [d.tolist() for d in grads]))
    observe.detach(log)
    observe.attach(log)
    y = a * b
    y.backward(np.float32([10.0]))
    assert seen == [(y.grad_fn, [10.0], [[50.0], [20.0]])]


def test_gradients_that_are_added_in_place_are_told_in_full(log):
    seen, x = [], gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    log.backward = lambda fn, g, grads, began: seen.append((type(fn).__name__, grads[0].tolist()))
    observe.detach(log)
    observe.attach(log)
    (x[:1] * 2.0 + x[1:2]).sum().backward()
    assert sorted(d for name, d in seen if "Slice" in name) == [[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]] and x.grad.tolist() == [2.0, 1.0, 0.0]


def test_ops_under_no_grad_are_seen_too(log):
    with gl.no_grad():
        gl.tensor([1.0], requires_grad=True) * 2.0
    assert log.events == [("forward", "Mul")]


@pytest.mark.parametrize("op", [gl.matmul, lambda a, b: a @ b, lambda a, b: a + b], ids=["function", "operator", "broadcast"])
def test_an_op_that_raises_is_told_with_the_error_that_the_user_gets(log, op):
    with pytest.raises(ShapeError) as caught:
        op(gl.ones(2, 3), gl.ones(2, 2))
    fn, g, error, _ = log.last
    assert log.events == [("failed", type(fn).__name__)] and g is None and error is caught.value


def test_a_rule_that_raises_is_told_with_the_gradient_that_came(log):
    class Fails(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            raise RuntimeError("no")

    y = Fails.apply(gl.ones(1, requires_grad=True))
    told = []
    log.failed = lambda fn, g, error, began: told.append((fn, g.tolist(), str(error)))
    observe.detach(log)
    observe.attach(log)
    with pytest.raises(RuntimeError, match="no"):
        y.backward()
    assert told == [(y.grad_fn, [1.0], "no")]


@pytest.mark.parametrize("where", ["result", "leaf", "after"])
def test_a_hook_that_raises_is_told_with_the_op_whose_gradient_it_stopped(log, where):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    loss = (y * 3.0).sum()
    told = []
    log.failed = lambda fn, g, error, began: told.append((fn, g.tolist(), str(error)))
    observe.detach(log)
    observe.attach(log)

    def refuse(_):
        raise ValueError("not this one")

    register = {"result": y.register_hook, "leaf": x.register_hook, "after": x.register_post_accumulate_grad_hook}[where]
    with register(refuse), pytest.raises(ValueError, match="not this one"):
        loss.backward()
    assert told == [(y.grad_fn, [3.0, 3.0], "not this one")]


def test_who_wants_to_is_called_before_each_op():
    class Before(Log):
        def before(self, fn):
            self.note("before", fn)

    log = Before()
    observe.attach(log)
    gl.ones(1) + gl.ones(1)
    observe.detach(log)
    assert log.events == [("before", "Add"), ("forward", "Add")]


def test_observers_leave_in_any_order():
    a, b = Log(), Log()
    observe.attach(a)
    observe.attach(b)
    observe.detach(a)
    gl.ones(1) + 1.0
    observe.detach(b)
    assert (len(a.events), len(b.events)) == (0, 1) and observe.current is None


def test_attaching_twice_calls_once():
    log = Log()
    observe.attach(log)
    observe.attach(log)
    gl.ones(1) + 1.0
    observe.detach(log)
    observe.detach(log)
    assert len(log.events) == 1


def test_two_observers_see_the_same_events():
    a, b = Log(), Log()
    observe.attach(a)
    observe.attach(b)
    gl.ones(1) + 1.0
    observe.detach(b)
    observe.detach(a)
    assert a.events == b.events == [("forward", "Add")]


@pytest.mark.parametrize("event", ["before", "forward", "backward", "begin", "end"])
def test_a_failing_observer_is_detached_with_a_warning_and_training_goes_on(event):
    class Broken(Log):
        pass

    def fail(*event):
        raise RuntimeError("disk full")

    setattr(Broken, event, fail)
    observe.attach(Broken())
    x = gl.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="disk full"):
        (x * 2.0).backward()
    assert x.grad.tolist() == [2.0] and observe.current is None


@pytest.mark.parametrize("event", ["before", "forward", "backward", "begin", "end"])
def test_an_observer_may_halt_what_it_watches(event):
    class Halts(Log):
        pass

    def halt(*event):
        raise observe.HaltError("enough")

    setattr(Halts, event, halt)
    halts = Halts()
    observe.attach(halts)
    with pytest.raises(observe.HaltError, match="enough"):
        (gl.ones(1, requires_grad=True) * 2.0).backward()
    assert observe.current is not None
    observe.detach(halts)


def test_a_failing_observer_leaves_the_other_attached():
    class Broken(Log):
        def forward(self, *event):
            raise RuntimeError("no")

    good = Log()
    observe.attach(Broken())
    observe.attach(good)
    with pytest.warns(UserWarning, match="detached"):
        gl.ones(1) + 2.0
    gl.ones(1) + 2.0
    observe.detach(good)
    assert len(good.events) == 2


def test_an_observer_leaves_out_what_it_need_not_hear_of():
    class Ops:
        def forward(self, fn, output, began):
            seen.append(type(fn).__name__)

    seen, ops, x = [], Ops(), gl.ones(1, requires_grad=True)
    observe.attach(ops)
    (x * 2.0).backward()
    observe.detach(ops)
    assert seen == ["Mul"]


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
    assert watched == plain and len(log.events) > 50


class Lit(Log):
    """Wants no ops; its light notes what it hears."""

    wants_ops = False

    def __init__(self, plain=True):
        super().__init__()
        self.plain, self.light = plain, self

    def began(self, root):
        self.note("began", root)
        return self.plain

    def ended(self):
        self.note("ended", None)

    def stepped(self, optimizer):
        self.note("stepped", optimizer)


def small_step(**backward):
    w = gl.ones(1, requires_grad=True)
    optimizer = gl.optim.SGD([w], lr=0.5)
    (w * 2.0).backward(**backward)
    optimizer.step()
    return w.item()


@pytest.fixture
def lit():
    lit = Lit()
    observe.attach(lit)
    yield lit
    observe.detach(lit)


def test_who_left_meanwhile_may_halt_too(lit):
    observe.detach(lit)
    with pytest.raises(observe.HaltError):
        observe.drop(lit, observe.HaltError("enough"))
    with pytest.warns(UserWarning, match="disk full"):
        observe.drop(lit, RuntimeError("disk full"))


def heard(log):
    found, log.events = [event for event, _ in log.events], []
    return found


def test_the_light_of_one_who_wants_no_ops_hears_of_passes_and_steps_in_its_place(lit):
    assert small_step() == 0.0
    assert lit.events == [("began", "Tensor"), ("ended", "NoneType"), ("stepped", "SGD")]


def test_a_pass_that_a_light_does_not_take_is_told_as_to_others(lit):
    lit.plain = False
    small_step()
    assert heard(lit) == ["began", "begin pass", "end pass", "stepped"]


def test_a_pass_that_is_not_for_all_leaves_is_told_as_to_others(lit):
    w = gl.ones(1, requires_grad=True)
    (w * 2.0).backward(inputs=[w])
    gl.autograd.grad(w * 2.0, w)
    assert heard(lit) == ["begin pass", "end pass"] * 2


def test_a_light_that_is_not_alone_and_one_who_wants_ops_hear_of_all(lit):
    other = Log()
    observe.attach(other)
    small_step()
    observe.detach(other)
    assert heard(lit) == ["begin pass", "end pass", "begin step", "end step"]
    lit.wants_ops = True
    observe.renew()
    small_step()
    assert {"forward", "begin pass", "end step"} <= set(heard(lit))


def test_a_pause_is_one_for_a_light_too_and_a_pass_that_raises_ends(lit):
    with observe.paused():
        small_step()
    assert heard(lit) == []

    class Raises(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            return 1 / 0

    with pytest.raises(ZeroDivisionError):
        Raises.apply(gl.ones(1, requires_grad=True)).backward()
    assert heard(lit) == ["began", "ended"]


def test_a_step_inside_a_step_is_told_to_a_light_once(lit):
    class Twice(gl.optim.SGD):
        def step(self):
            super().step()
            super().step()

    w = gl.ones(1, requires_grad=True)
    optimizer = Twice([w], lr=0.5)
    (w * 1.0).backward()
    optimizer.step()
    assert w.item() == 0.0 and heard(lit) == ["began", "ended", "stepped"]


def test_who_drops_out_is_detached_with_a_warning_unless_it_halts(lit):
    with pytest.raises(observe.HaltError):
        observe.drop(lit, observe.HaltError("enough"))
    assert observe.light is lit
    with pytest.warns(UserWarning, match="disk full"):
        observe.drop(lit, RuntimeError("disk full"))
    assert observe.light is None and observe.current is None
    small_step()
    assert heard(lit) == []
