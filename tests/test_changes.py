"""Methods and operators that change a tensor in place: the op of their name, in the tensor's own memory, or as a step of the graph."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.changes import Changes
from gradlab.errors import DTypeError, GraphError, ShapeError

X = np.array([[0.5, 0.75], [0.9, 0.25]])
DRAWS = {"bernoulli_", "normal_", "exponential_", "random_"}  # in tests/ops/test_chance.py
SHAPES = {"squeeze_", "unsqueeze_", "transpose_", "swapaxes_", "swapdims_", "t_"}  # in tests/test_kinds.py
METHODS = [name for name in vars(Changes) if name[0] != "_" and name[-1] == "_" and hasattr(ops, name[:-1]) and name not in DRAWS | SHAPES]
ARGUMENTS = {"clamp_": (0.3, 0.8), "clip_": (0.3, 0.8), "masked_fill_": (X > 0.6, 2.0), "acosh_": ()}
ARGUMENTS |= {
    **dict.fromkeys(["scatter_", "scatter_add_"], (0, [[0, 1]], X)), "scatter_reduce_": (0, [[0, 1]], X, "prod"), "put_": ([0], [3.0]),
    **dict.fromkeys(["index_add_", "index_copy_"], (0, [1], X[:1])), "index_fill_": (0, [1], 3.0), "index_put_": (([0], [1]), 3.0),
    "masked_scatter_": (X > 0.6, X), "cumsum_": (0,), "cumprod_": (0,),
}  # fmt: skip
OPERATORS = ["//=", "%=", "**="]


def arguments(name):
    rest = list(inspect.signature(getattr(ops, name[:-1])).parameters.values())[1:]
    return ARGUMENTS.get(name, (X.T,) * sum(p.default is p.empty for p in rest))


def start(name):
    return 1 / X if name == "acosh_" else X


@pytest.mark.parametrize("name", METHODS)
def test_without_a_graph_the_change_is_written_and_counted(name):
    x = gl.tensor(start(name).copy())
    memory, want = x.data, getattr(ops, name[:-1])(gl.tensor(start(name)), *arguments(name)).data
    assert getattr(x, name)(*arguments(name)) is x
    assert x.data is memory and x.version == 1 and x.grad_fn is None
    np.testing.assert_array_equal(memory, want)


@pytest.mark.parametrize("name", METHODS)
def test_in_a_graph_the_change_is_a_step(name):
    grads = []
    for changed in (True, False):
        leaf = gl.tensor(start(name), requires_grad=True)
        x = leaf * 1.0
        seen = x * x
        y = getattr(x, name)(*arguments(name)) if changed else getattr(ops, name[:-1])(x, *arguments(name))
        (y * y + seen).sum().backward()
        grads.append((y.data, leaf.grad.data))
    np.testing.assert_array_equal(grads[0][0], grads[1][0])
    np.testing.assert_array_equal(grads[0][1], grads[1][1])


@pytest.mark.parametrize("name", METHODS)
def test_every_change_takes_what_its_op_takes_and_says_what_it_does(name):
    method, op = inspect.signature(getattr(Changes, name)).parameters, inspect.signature(getattr(ops, name[:-1])).parameters
    rest = [p for p in list(op.values())[1:] if p.name != "inplace"]
    assert [(p.kind, p.default) for p in list(method.values())[1:]] == [(p.kind, p.default) for p in rest]
    assert getattr(Changes, name).__doc__.endswith(", in place.")


def test_operators_with_an_equals_sign_change_their_left_side():
    for change, values, want in [
        (lambda x: x.__ifloordiv__(2), [7, -7], [3, -4]),
        (lambda x: x.__imod__(3), [7, -7], [1, 2]),
        (lambda x: x.__ipow__(2), [3, -4], [9, 16]),
        (lambda x: x.__iand__(6), [7, 9], [6, 0]),
        (lambda x: x.__ior__(1), [2, 3], [3, 3]),
        (lambda x: x.__ixor__(1), [2, 3], [3, 2]),
        (lambda x: x.__ilshift__(1), [2, 3], [4, 6]),
        (lambda x: x.__irshift__(1), [2, 3], [1, 1]),
    ]:
        x = gl.tensor(values)
        memory = x.data
        assert change(x) is x and x.tolist() == want and x.data is memory and x.version == 1
    mask = gl.tensor([True, True])
    mask &= gl.tensor([True, False])
    assert mask.tolist() == [True, False] and mask.dtype == "bool"


def test_a_power_in_place_differentiates():
    leaf = gl.tensor([2.0, 3.0], requires_grad=True)
    x = leaf * 1.0
    x **= 3
    x.sum().backward()
    assert x.tolist() == [8.0, 27.0] and leaf.grad.tolist() == [12.0, 27.0]


def test_a_matrix_product_has_a_shape_of_its_own_so_that_it_is_a_new_tensor():
    x = gl.ones(2, 3)
    before = x
    x @= gl.ones(3, 4)
    assert x.shape == (2, 4) and before.shape == (2, 3) and before.version == 0


def test_alpha_and_rounding_work_in_place():
    x = gl.tensor([5.0, 7.0])
    assert x.add_(1.0, alpha=2).tolist() == [7.0, 9.0] and x.sub_([1.0, 2.0], alpha=3).tolist() == [4.0, 3.0]
    assert x.div_(2.0, rounding_mode="floor").tolist() == [2.0, 1.0] and x.version == 3


@pytest.mark.parametrize("change", [lambda x: x.sqrt_(), lambda x: x.clamp_(0.5), lambda x: x.__ipow__(0.5), lambda x: x.sigmoid_()])
def test_integers_do_not_become_fractions_in_place(change):
    x = gl.tensor([4, 9])
    with pytest.raises(DTypeError, match=r"x[\s\S]*integers can't hold the result"):
        change(x)
    assert x.tolist() == [4, 9] and x.version == 0


def test_a_result_of_another_shape_is_refused_before_anything_changes():
    for x in (gl.ones(2), gl.ones(2, requires_grad=True) * 1.0):
        with pytest.raises(ShapeError, match=r"x \*\*= y: the result doesn't fit x\n  x      \(2,\)\n  result \(3, 2\)"):
            x.__ipow__(gl.ones(3, 2))
        assert x.shape == (2,) and x.version == 0


def test_a_leaf_that_requires_a_gradient_is_changed_under_no_grad_alone():
    x = gl.tensor([4.0], requires_grad=True)
    with pytest.raises(GraphError, match=r"x\.sqrt_\(\): a leaf that requires a gradient"):
        x.sqrt_()
    with gl.no_grad():
        x.sqrt_()
    assert x.tolist() == [2.0] and x.is_leaf and x.requires_grad


def test_a_change_of_what_backward_needs_is_an_error():
    x, w = gl.tensor([4.0]), gl.tensor([1.0], requires_grad=True)
    y = x * w
    x.sqrt_()
    with pytest.raises(GraphError, match="changed in place"):
        y.backward()


def test_a_bound_that_requires_a_gradient_gets_it():
    low, x = gl.tensor([1.0, 1.0], requires_grad=True), gl.tensor([0.0, 2.0])
    x.clamp_(low)
    x.sum().backward()
    assert x.tolist() == [1.0, 2.0] and low.grad.tolist() == [1.0, 0.0]


def test_what_is_asked_to_be_written_over_its_input_is_refused_by_activations():
    for f in (
        gl.relu,
        gl.leaky_relu,
        gl.elu,
        gl.selu,
        gl.celu,
        gl.silu,
        gl.mish,
        gl.hardtanh,
        gl.relu6,
        gl.hardsigmoid,
        gl.hardswish,
        gl.rrelu,
    ):
        with pytest.raises(TypeError, match=rf"{f.__name__}: the result is always a new tensor"):
            f([1.0], inplace=True)
