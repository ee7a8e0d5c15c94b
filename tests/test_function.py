"""The two doors of every step, grad modes, versions, and a user's own Function."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab.cases import Case, Draw
from gradlab.errors import ArgumentError, GraphError, ShapeError
from gradlab.function import Constant
from gradlab.testing import check_dtype, check_function


class Cube(gl.Function):
    """y = x^3;  dx = 3 g x^2."""

    cases = (Case(Draw((2, 3))), Case(Draw(())))

    def forward(self, x):
        self.x = x
        return x * x * x

    def backward(self, g):
        return 3.0 * g * self.x * self.x


def test_a_users_own_function_is_one_class():
    x = gl.tensor([2.0, -1.0], requires_grad=True)
    y = Cube.apply(x)
    y.sum().backward()
    assert y.tolist() == [8.0, -1.0] and x.grad.tolist() == [12.0, 3.0]
    for case in Cube.cases:
        check_function(Cube, case)
        check_dtype(Cube, case, np.float32)


def test_check_function_finds_a_wrong_gradient():
    class Wrong(Cube):
        def backward(self, g):
            return -3.0 * g * self.x * self.x

    with pytest.raises(AssertionError, match="Wrong"):
        check_function(Wrong, Cube.cases[0])


@pytest.mark.parametrize(
    "fault, message",
    [
        (lambda self, g: g * 0, "input 0"),
        (lambda self, g: None, "no gradient"),
        (lambda self, g: np.multiply(g, 2.0, out=g), "wrote into the gradient"),
    ],
)
def test_check_function_finds_every_kind_of_fault(fault, message):
    wrong = type("Wrong", (Cube,), {"backward": fault})
    with pytest.raises(AssertionError, match=message):
        check_function(wrong, Cube.cases[0])


def test_check_function_finds_an_input_that_was_written_to():
    class Greedy(Cube):
        def forward(self, x):
            self.x = x.copy()
            x += 1.0
            return self.x**3

    with pytest.raises(AssertionError, match="changed its input"):
        check_function(Greedy, Cube.cases[0])


def test_check_function_finds_a_gradient_that_is_not_fresh():
    class Alias(gl.Function):
        """y = x;  dx = g."""

        fresh = True

        def forward(self, x):
            return x + 0.0

        def backward(self, g):
            return g

    with pytest.raises(AssertionError, match="not fresh"):
        check_function(Alias, Case(Draw((2,))))


def test_the_node_knows_its_inputs_edges_needs_and_params():
    x, c = gl.tensor([1.0], requires_grad=True), gl.tensor([2.0])
    y = x * 2.0
    z = (y * c).grad_fn
    assert z.inputs[0] is y and z.inputs[1] is c and z.edges == (y.grad_fn, None) and z.needs == (True, False)
    assert isinstance(y.grad_fn.inputs[1], Constant) and repr(y.grad_fn.inputs[1]) == "2.0"
    assert z.seq > y.grad_fn.seq and repr(z) == "<Mul>"


def test_forward_and_backward_that_are_not_written_say_so():
    class Nothing(gl.Function):
        pass

    with pytest.raises(NotImplementedError, match="Nothing must define forward"):
        Nothing.apply(1.0)

    class OneWay(gl.Function):
        def forward(self, x):
            return x * 1.0

    with pytest.raises(NotImplementedError, match="OneWay has no gradient"):
        OneWay.apply(gl.ones(2, requires_grad=True)).sum().backward()


def test_one_gradient_per_input_is_asked_for():
    class Short(gl.Function):
        def forward(self, a, b):
            return a + b

        def backward(self, g):
            return (g,)

    with pytest.raises(GraphError, match="one gradient per input"):
        Short.apply(gl.ones(2, requires_grad=True), gl.ones(2)).sum().backward()


def test_a_gradient_that_does_not_fit_names_both_shapes():
    class Odd(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            return np.ones((5, 7))

    with pytest.raises(ShapeError, match=r"\(5, 7\)"):
        Odd.apply(gl.ones(2, 3, requires_grad=True)).sum().backward()


def test_un_broadcasting_and_dtype_are_done_for_every_rule():
    class Wide(gl.Function):
        def forward(self, x):
            return x * np.ones((4, 3), x.dtype)

        def backward(self, g):
            return g.astype(np.float64)

    x = gl.ones(3, requires_grad=True)
    Wide.apply(x).sum().backward()
    assert x.grad.tolist() == [4.0] * 3 and x.grad.dtype == np.float32


def test_a_rule_may_skip_an_input_that_needs_nothing():
    class Lazy(gl.Function):
        def forward(self, a, b):
            self.a = a
            return a * b

        def backward(self, g):
            assert self.needs == (False, True)
            return None, g * self.a

    b = gl.tensor([3.0], requires_grad=True)
    Lazy.apply(gl.tensor([2.0]), b).backward()
    assert b.grad.tolist() == [2.0]


def test_a_rule_may_return_a_number_but_no_list():
    class Number(gl.Function):
        def forward(self, x):
            return x * 2.0

        def backward(self, g):
            return 2.0

    x = gl.tensor(1.0, requires_grad=True)
    Number.apply(x).backward()
    assert x.grad.item() == 2.0

    class List(gl.Function):
        def forward(self, a, b):
            return a + b

        def backward(self, g):
            return [g, g]

    with pytest.raises(GraphError, match=r"list[\s\S]*a tuple of 2"):
        List.apply(gl.ones(2, requires_grad=True), gl.ones(2)).sum().backward()


def test_a_path_that_carries_nothing_is_passed_over():
    class Stop(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            return None

    x = gl.ones(1, requires_grad=True)
    (Stop.apply(x * 2.0) + x).sum().backward()
    assert x.grad.tolist() == [1.0]


# -- grad modes


def test_modes_nest_and_come_back():
    with gl.no_grad():
        with gl.enable_grad():
            assert gl.is_grad_enabled()
        with gl.set_grad_enabled(True):
            assert gl.is_grad_enabled()
        assert not gl.is_grad_enabled()
    assert gl.is_grad_enabled()


def test_one_mode_object_may_be_entered_twice():
    mode = gl.no_grad()
    with mode, mode:
        assert not gl.is_grad_enabled()
    assert gl.is_grad_enabled()


def test_an_exception_restores_the_mode():
    with pytest.raises(KeyError), gl.no_grad():
        raise KeyError
    assert gl.is_grad_enabled()


def test_a_decorated_function_runs_without_a_graph():
    @gl.no_grad()
    def double(x):
        """Twice."""
        return x * 2.0

    assert not double(gl.ones(1, requires_grad=True)).requires_grad
    assert double.__name__ == "double" and gl.is_grad_enabled()


def test_a_decorated_generator_does_not_leak_between_its_yields():
    @gl.no_grad()
    def batches(x):
        got = yield x * 2.0
        assert got == "sent" and not gl.is_grad_enabled()
        yield x * 3.0
        return "done"

    steps = batches(gl.ones(1, requires_grad=True))
    assert not next(steps).requires_grad and gl.is_grad_enabled()
    assert not steps.send("sent").requires_grad and gl.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == "done"


def test_threads_start_with_gradients_on():
    seen = []
    with gl.no_grad():
        thread = threading.Thread(target=lambda: seen.append(gl.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_one_mode_object_serves_several_threads():
    mode, seen = gl.no_grad(), []
    barrier = threading.Barrier(2)

    def work():
        with mode:
            barrier.wait()
            seen.append(gl.is_grad_enabled())
            barrier.wait()
        seen.append(gl.is_grad_enabled())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == [False, False, True, True] and gl.is_grad_enabled()


def test_set_grad_enabled_is_a_statement_a_block_and_a_decorator():
    gl.set_grad_enabled(False)
    assert not gl.is_grad_enabled()
    gl.set_grad_enabled(True)
    with gl.set_grad_enabled(False):
        assert not gl.is_grad_enabled()
    assert gl.is_grad_enabled()

    @gl.set_grad_enabled(False)
    def double(x):
        return x * 2.0

    assert gl.is_grad_enabled() and not double(gl.ones(1, requires_grad=True)).requires_grad


def test_brackets_may_be_left_out_of_a_decorator():
    @gl.no_grad
    def double(x):
        return x * 2.0

    @gl.enable_grad
    def triple(x):
        return x * 3.0

    x = gl.ones(1, requires_grad=True)
    with gl.no_grad():
        assert triple(x).requires_grad
    assert not double(x).requires_grad


def test_a_decorated_generator_is_thrown_into_and_closed_in_its_mode():
    seen = []

    @gl.no_grad()
    def batches():
        try:
            try:
                yield 1
            except KeyError:
                seen.append(gl.is_grad_enabled())
            yield 2
        finally:
            seen.append(gl.is_grad_enabled())

    steps = batches()
    next(steps)
    assert steps.throw(KeyError()) == 2
    steps.close()
    assert seen == [False, False] and gl.is_grad_enabled()


# -- versions


def test_a_changed_input_is_an_error_that_names_op_and_tensor():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data -= 0.5
    with pytest.raises(GraphError, match=r"Mul: input 0, shape \(2,\), was changed in place"):
        y.backward()
    assert x.grad is None


def test_a_changed_input_that_the_rule_does_not_read_is_no_error():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = (x + 1.0).sum()
    x.data -= 0.5
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_changed_output_is_an_error():
    x = gl.tensor([1.0], requires_grad=True)
    y = x.exp()
    y.data -= 1.0
    with pytest.raises(GraphError, match="Exp: its output was changed in place"):
        y.backward()


def test_a_change_through_a_detached_tensor_is_seen():
    x = gl.tensor([2.0], requires_grad=True)
    y = x * x
    x.detach().zero_()
    assert x.version == 1
    with pytest.raises(GraphError, match="changed in place"):
        y.backward()


def test_a_change_through_a_view_is_seen():
    w, x = gl.tensor([[1.0, 2.0]]), gl.tensor([[3.0, 4.0]], requires_grad=True)
    y = (w * x).sum()
    w.reshape(-1)[0] = 9.0
    assert w.data[0, 0] == 9.0 and w.version == 1
    with pytest.raises(GraphError, match="changed in place"):
        y.backward()


def test_a_change_made_before_the_use_is_no_error():
    x = gl.tensor([2.0], requires_grad=True)
    x.data -= 1.0
    (x * x).backward()
    assert x.grad.tolist() == [2.0]


def test_a_freed_node_keeps_no_arrays():
    x = gl.ones(1000, requires_grad=True)
    y = x.exp()
    node = y.grad_fn
    y.sum().backward()
    assert node.inputs is None and not vars(node)


# -- memory


def test_no_cycle_keeps_a_result_alive():
    gc.collect()
    gc.disable()
    try:
        x = gl.ones(3, requires_grad=True)
        y = x * 2.0
        z = y.exp().sum()
        refs = [weakref.ref(t) for t in (y, z)] + [weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)]
        z.backward()
        del y, z
        assert [r() for r in refs] == [None] * 4
    finally:
        gc.enable()


def test_a_step_that_fails_leaves_nothing_behind():
    gc.collect()
    gc.disable()
    try:
        h = gl.ones(2, 3, requires_grad=True) * 2.0
        ref = weakref.ref(h)
        with pytest.raises(ShapeError):
            h @ h
        del h
        assert ref() is None
    finally:
        gc.enable()


def test_pytorchs_way_to_write_a_step_is_told_how_it_is_done_here():
    with pytest.raises(ArgumentError, match=r"Double\.forward: a step is an instance here[\s\S]*def forward\(self, \*arrays\)"):

        class Double(gl.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2.0


@pytest.mark.parametrize(
    "result", [lambda a: (a, a), lambda a: [a], lambda a: None, lambda a: gl.tensor(a)], ids=["tuple", "list", "None", "Tensor"]
)
def test_what_forward_returns_has_to_be_one_array(result):
    class Step(gl.Function):
        def forward(self, a):
            return result(a)

    with pytest.raises(ArgumentError, match=r"Step\.forward: no array"):
        Step.apply(gl.ones(2, requires_grad=True))


def test_a_tensor_given_as_a_parameter_is_no_input_and_does_not_lose_its_graph_in_silence():
    class Scale(gl.Function):
        def forward(self, a, w):
            return a * w

    with pytest.raises(ArgumentError, match=r"Scale\.forward: no array[\s\S]*tensors are inputs of apply"):
        Scale.apply(gl.ones(2), w=gl.ones(2, requires_grad=True))
