"""Anomaly mode names the step and the line of the first NaN, and protects what backward needs."""

from __future__ import annotations

import gc
import linecache

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim
from gradlab.autograd import anomaly
from gradlab.errors import AnomalyError, GraphError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


@pytest.fixture(autouse=True)
def nothing_stays_frozen():
    yield
    gc.collect()
    assert not anomaly._watch.frozen and not anomaly.is_anomaly_enabled()


def test_the_step_that_made_the_first_nan_is_named_with_its_line():
    x = leaf([4.0, 0.0])
    with gl.autograd.detect_anomaly():
        y = x.sqrt()  # this line
        with pytest.raises(AnomalyError) as error:
            (y * 2.0).sum().backward()
    text = str(error.value)
    assert text.startswith("Sqrt: its backward made a gradient that is not finite")
    assert "inf in 1 of 2 entries, first at [1]" in text and "[(2,)]" in text
    assert __file__ in text and "y = x.sqrt()  # this line" in text


def test_a_line_of_a_notebook_cell_is_told_by_the_cells_number():
    source = "x = gl.tensor([0.0], requires_grad=True)\ny = x.sqrt()\n"
    file = "/tmp/ipykernel_1/2.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"gl": gl, "_ih": ["", "import gradlab as gl", "y = 1", source]}
    try:
        with gl.autograd.detect_anomaly():
            exec(compile(source, file, "exec"), space)
            with pytest.raises(AnomalyError, match=r"written in\s+Cell In\[3\], line 2: y = x\.sqrt\(\)"):
                space["y"].sum().backward()
    finally:
        del linecache.cache[file]


def test_nan_is_told_from_infinity():
    x = leaf([0.0])
    with gl.autograd.detect_anomaly(), pytest.raises(AnomalyError, match=r"NaN in 1 of 1"):
        (x.sqrt() * 0.0).sum().backward()


def test_a_gradient_that_came_in_bad_is_blamed_on_nobody_else():
    x = leaf([1.0])
    with gl.autograd.detect_anomaly(), pytest.raises(AnomalyError, match=r"Mul: the gradient that came to its output"):
        (x * 2.0).backward([float("nan")])


def test_finite_gradients_pass_with_the_same_numbers():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x = gl.randn(5, 3)

    def grads():
        model.zero_grad()
        (model(x) ** 2).sum().backward()
        return [p.grad.data.copy() for p in model.parameters()]

    plain = grads()
    with gl.autograd.detect_anomaly():
        for a, b in zip(plain, grads(), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "write", [lambda x, y: x.data.__setitem__(0, 9.0), lambda x, y: y.data.fill(1.0), lambda x, y: x.numpy_before.fill(1.0)]
)
def test_a_raw_write_into_what_backward_needs_raises_at_once(write):
    array = np.array([1.0, 2.0])

    class Holder:
        numpy_before = array
        data = None

    x = gl.from_numpy(array).requires_grad_()
    Holder.data = x.data
    with gl.autograd.detect_anomaly():
        y = (x * x).exp()
        with pytest.raises(ValueError, match="read-only"):
            write(Holder, y)
        y.sum().backward()
        array[0] = 5.0  # the graph was freed
    assert x.tolist() == [5.0, 2.0]


def test_a_view_can_be_written_again_after_its_base():
    x = leaf(np.ones((2, 3)))
    with gl.autograd.detect_anomaly():
        row = (x * 1.0)[0]
        y, z = (row * row).sum(), (row * row).sum()
        array = row.data
        y.backward(retain_graph=True)
        del y
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3.0
        z.backward()
        del z
        array[0] = 3.0


def test_training_goes_on_in_anomaly_mode():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    opt = optim.SGD(model.parameters(), lr=0.1)
    with gl.autograd.detect_anomaly():
        for _ in range(3):
            loss = (model(gl.ones(2, 3)) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()


def test_leaving_the_mode_thaws_what_a_living_graph_holds():
    x = leaf([1.0])
    with gl.autograd.detect_anomaly():
        y = x * x
    x.data[0] = 2.0
    y.backward()


def test_the_mode_is_a_statement_too_and_nests():
    assert not gl.autograd.is_anomaly_enabled()
    gl.autograd.set_detect_anomaly(True)
    with gl.autograd.detect_anomaly():
        pass
    assert gl.autograd.is_anomaly_enabled()
    with gl.autograd.set_detect_anomaly(False):
        assert not gl.autograd.is_anomaly_enabled()
    assert gl.autograd.is_anomaly_enabled()
    gl.autograd.set_detect_anomaly(False)
    assert not gl.autograd.is_anomaly_enabled() and observe.current is None


def test_checks_of_nan_can_be_left_out():
    x = leaf([0.0])
    with gl.autograd.detect_anomaly(check_nan=False):
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf")]


def test_a_changed_value_is_told_with_the_line_of_the_step():
    x = leaf([1.0])
    v = x * 2.0
    with gl.autograd.detect_anomaly():
        y = v.exp()  # here
        z = y * y
        y.data = np.array([3.0])
        with pytest.raises(GraphError, match="changed in place") as error:
            z.sum().backward()
    assert any("Mul was written in" in note or "Exp was written in" in note for note in error.value.__notes__)


def test_an_error_in_a_rule_is_told_with_the_line_of_the_step():
    class Broken(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            raise ValueError("oh")

    x = leaf([1.0])
    with gl.autograd.detect_anomaly():
        y = Broken.apply(x)  # made here
        with pytest.raises(ValueError, match="oh") as error:
            y.backward()
    assert error.value.__notes__[0].startswith("Broken was written in") and "made here" in error.value.__notes__[0]


def test_it_works_for_gradients_with_a_graph():
    x = leaf([0.0])
    with gl.autograd.detect_anomaly(), pytest.raises(AnomalyError, match="Sqrt"):
        gl.autograd.grad(x.sqrt().sum(), x, create_graph=True)


def test_no_cycle_is_made():
    x = leaf(np.ones(3))
    gc.collect()
    gc.disable()
    try:
        with gl.autograd.detect_anomaly():
            y = (x * x).sum()
            y.backward()
            z = (x * x).sum()
            del y, z
            assert gc.collect() == 0 and not anomaly._watch.frozen
    finally:
        gc.enable()
