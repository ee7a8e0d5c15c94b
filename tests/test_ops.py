"""Every op on its cases: gradients against numbers, dtypes, and what a reader is promised of each op."""

from __future__ import annotations

import ast
import inspect
import warnings
from math import prod
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.function import Function
from gradlab.testing import check_dtype, check_function, check_layouts

OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
NO_GRADIENT = {op.__name__ for op in OPS if "no gradient" in (op.__doc__ or "").partition("\n")[0]}
FILES = sorted(p for p in Path(ops.__file__).parent.glob("*.py") if p.name != "__init__.py")


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_backward_is_the_transpose_of_forwards_derivative(op):
    for case in op.cases:  # one test an op: a failure names the case
        check_function(op, case)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_results_do_not_depend_on_how_arrays_lie_in_memory(op):
    for case in op.cases:
        check_layouts(op, case)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_results_and_gradients_keep_the_dtype_of_the_inputs(op):
    for case in op.cases:
        for dtype in ("float32", "float16"):
            check_dtype(op, case if op is not ops.Cast else type(case)(*case.inputs, dtype=dtype), dtype)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_every_op_says_its_formula_and_its_gradient(op):
    assert op.__doc__ and ";" in op.__doc__.partition("\n")[0], "the first line is: y = ...;  dx = ..."
    assert op.latex and op.latex.count("{") == op.latex.count("}") and op.latex.count(r"\left") == op.latex.count(r"\right")
    assert op.kind in {"matmul", "elementwise", "reduce", "shape", "loss"}
    if op.__name__ in NO_GRADIENT:
        assert op.backward is Function.backward
    else:
        assert "backward" in vars(op) and r"\bar" in op.latex


def shapes(op):
    return [tuple(d.shape for d in case.inputs) for case in op.cases]


def refuses(op, shape):
    """Whether the op refuses inputs of a shape, whatever the parameters of its cases, or makes nothing but NaN of them."""
    for case in op.cases:
        try:
            y = op.apply(*[gl.tensor(np.zeros(shape, d.array(np.random.default_rng(0)).dtype)) for d in case.inputs], **case.params)
        except (ValueError, TypeError, IndexError):
            continue
        if not np.isnan(y.data).all():
            return False
    return True


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_every_op_is_checked_where_ops_go_wrong(op):
    seen = shapes(op)
    assert any(0 in shape for inputs in seen for shape in inputs), "an empty input"
    assert any(len(shape) >= 3 for inputs in seen for shape in inputs) or refuses(op, (2, 2, 2)), "three axes"
    assert any(() in inputs for inputs in seen) or refuses(op, ()), "a 0-d input"
    if op.aligns and op.kind == "elementwise":
        left, right = [inputs[0] for inputs in seen], [inputs[1] for inputs in seen]
        out = [np.broadcast_shapes(*inputs) for inputs in seen]
        assert any(a != y for a, y in zip(left, out, strict=True)), "the left side broadcasts"
        assert any(b != y for b, y in zip(right, out, strict=True)), "the right side broadcasts"
        assert any(a != y and b != y for a, b, y in zip(left, right, out, strict=True)), "both sides broadcast in one call"


@pytest.mark.parametrize("op", [op for op in OPS if "dim" in inspect.signature(op.forward).parameters], ids=lambda op: op.__name__)
def test_every_op_with_a_dim_is_checked_on_a_negative_one(op):
    dims = [case.params.get("dim") for case in op.cases]
    assert any((d if isinstance(d, int) else min(d)) < 0 for d in dims if d is not None)


ALIKE = {"reshape", "T"}  # the same on both, in a fifth of the time of np.reshape and np.transpose


def rules():
    """The functions that compute on arrays: those of a Function, and those that ask for `xp_of`."""
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                for f in node.body:
                    if isinstance(f, ast.FunctionDef):
                        yield pytest.param(f, id=f"{path.stem}.{node.name}.{f.name}")
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("_") and "xp_of" in ast.unparse(node):
                yield pytest.param(node, id=f"{path.stem}.{node.name}")


@pytest.mark.parametrize("rule", list(rules()))
def test_rules_use_functions_and_operators_but_no_array_methods(rule):
    """`x.max()` means different things on arrays and on Tensors; `xp.max(x)` is the same formula for both."""
    methods = {name for name in dir(np.ndarray) if not name.startswith("__")} - {"shape", "ndim", "dtype", *ALIKE}
    for node in ast.walk(rule):
        if isinstance(node, ast.Attribute) and node.attr in methods:
            owner = ast.unparse(node.value)
            assert owner in ("xp", "self") or owner.startswith("xp_of("), f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("shape", [(2, 3), (4,), (), (0, 3)])
def test_what_rules_may_use_means_the_same_on_arrays_and_tensors(shape):
    array = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    tensor = gl.tensor(array)
    assert tensor.T.shape == array.T.shape and np.array_equal(tensor.T.data, array.T)
    for new in (-1, (-1, 1), (1, *shape[::-1])):
        if -1 in np.ravel(new) and not array.size:
            new = (0, 7)
        assert tensor.reshape(new).shape == array.reshape(new).shape
        assert np.array_equal(tensor.reshape(new).data, array.reshape(new))


def test_the_test_of_rules_finds_an_array_method():
    broken = ast.parse("def forward(self, x):\n    return x.max()").body[0]
    with pytest.raises(AssertionError, match=r"x\.max"):
        test_rules_use_functions_and_operators_but_no_array_methods(broken)


# x[i], x[i] = v, x.to(dtype), x.narrow(...), x.trace() since gl.trace is the tracer
WRITTEN_OTHERWISE = {"getitem", "set_index", "cast", "narrow", "trace"}


@pytest.mark.parametrize("name", [n for n, f in vars(ops).items() if inspect.isfunction(f)])
def test_every_public_op_is_reached_as_gl_and_explains_itself(name):
    f = getattr(ops, name)
    assert name in WRITTEN_OTHERWISE or getattr(gl, name) is f
    doc = f.__doc__ or ""
    assert ">>>" in doc and "Shapes:" in doc
    assert "return" in f.__annotations__


@pytest.mark.parametrize("op", [op for op in OPS if op.__name__ not in NO_GRADIENT], ids=lambda op: op.__name__)
def test_no_op_warns_or_keeps_a_gradient_that_nobody_wants(op):
    for case in op.cases:
        xs = [d.array(np.random.default_rng(i)) for i, d in enumerate(case.inputs)]
        for wanted in [i for i, x in enumerate(xs) if x.dtype.kind == "f"]:
            tensors = [gl.tensor(x, requires_grad=i == wanted) for i, x in enumerate(xs)]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                y = op.apply(*tensors, **case.params)
                grads = y.grad_fn.pull(np.ones(y.shape))
            assert [g is not None for g in grads] == [i == wanted for i in range(len(xs))]
            assert grads[wanted].shape == xs[wanted].shape
            with gl.no_grad():
                assert op.apply(*tensors, **case.params).grad_fn is None


@pytest.mark.parametrize("op", [op for op in OPS if op.__name__ not in NO_GRADIENT], ids=lambda op: op.__name__)
def test_a_step_can_be_pulled_twice(op):
    for case in op.cases:
        xs = [d.array(np.random.default_rng(i)) for i, d in enumerate(case.inputs)]
        y = op.apply(*[gl.tensor(x, requires_grad=x.dtype.kind == "f") for x in xs], **case.params)
        g = np.random.default_rng(9).standard_normal(y.shape)
        once = [None if d is None else d.copy() for d in y.grad_fn.pull(g)]
        for d, again in zip(once, y.grad_fn.pull(g), strict=True):
            np.testing.assert_array_equal(d, again)


@pytest.mark.parametrize("op", [op for op in OPS if op.joins], ids=lambda op: op.__name__)
def test_adding_into_a_gradient_is_adding_the_gradient(op):
    for case in op.cases:
        x = case.inputs[0].array(np.random.default_rng(0))
        fn = op.apply(gl.tensor(x, requires_grad=True), **case.params).grad_fn
        g = np.random.default_rng(1).standard_normal(np.shape(fn.forward(x, **case.params)))
        total = np.random.default_rng(2).standard_normal(x.shape)
        want = total + fn.backward(g)
        fn.add_into(total, g)
        np.testing.assert_array_equal(total, want)
