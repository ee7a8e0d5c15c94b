"""Tensor's methods and operators are the ops, and NumPy's functions find them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.surface import Surface

CASTS = {
    "astype",
    "to",
    "type",
    "type_as",
    "cpu",
    "cuda",
    "float",
    "double",
    "half",
    "long",
    "int",
    "short",
    "char",
    "byte",
    "bool",
}  # all of them are `ops.cast`, see test_tensor
PUBLIC = [name for part in Surface.__mro__ for name, f in vars(part).items() if inspect.isfunction(f) and not name.startswith("_")]
# `x.unfold(dim, size, step)` is PyTorch's, and not F.unfold.
METHODS = [name for name in PUBLIC if name not in CASTS | {"bernoulli", "multinomial", "adjoint"} | {"is_contiguous", "where", "unfold"}]
X = np.array([[0.5, 0.75], [1.0, 0.25]])
ARGUMENTS = {
    **dict.fromkeys(["softmax", "log_softmax", "unsqueeze", "split", "chunk"], (1,)),
    "clamp": (1.0, 2.0), "masked_fill": (X > 1, 0.0), "reshape": (4, 1), "transpose": (0, 1), "permute": (1, 0),
    "expand": (3, 2, 2), "narrow": (0, 1, 1),
}  # fmt: skip

ARGUMENTS |= {  # along an axis, and other shapes
    **dict.fromkeys(["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "tensor_split"], (1,)),
    **dict.fromkeys(["movedim", "moveaxis", "select", "swapaxes", "swapdims"], (0, 1)),
    **dict.fromkeys(["view", "broadcast_to", "repeat", "tile"], (2, 2)), **dict.fromkeys(["flip", "roll", "repeat_interleave"], (1,)),
    "unflatten": (1, (2, 1)),
    **dict.fromkeys(["expand_as", "reshape_as", "view_as"], (gl.tensor(X.T),)),
}  # fmt: skip

ARGUMENTS |= {  # entries by place
    **dict.fromkeys(["gather", "scatter_add"], (0, [[0, 1]], X)), "gather": (0, [[0, 1]]), "scatter": (0, [[0, 1]], X),
    "scatter_reduce": (0, [[0, 1]], X, "sum"), **dict.fromkeys(["index_add", "index_copy"], (0, [1], X[:1])), "index_fill": (0, [1], 3.0),
    "index_put": (([0], [1]), 3.0), "index_select": (0, [1]), "masked_select": (X > 0.5,), "masked_scatter": (X > 0.5, X),
    **dict.fromkeys(["kthvalue", "topk"], (1,)), **dict.fromkeys(["quantile", "nanquantile"], (0.5,)),
    "diagonal_scatter": (X[0],), "index_reduce": (0, [1], X[:1], "prod"), "select_scatter": (X[0], 0, 1), "slice_scatter": (X[:1], 0, 1),
    **dict.fromkeys(["hsplit", "vsplit"], (2,)), "dsplit": (1,), "renorm": (2, 0, 1.0),
    "put": ([0], [3.0]), "take": ([0],), "take_along_dim": ([[0, 1]], 1),
}  # fmt: skip

OF_ANOTHER_SHAPE = {
    "dot": X[0],
    "addmv": X[0],
    "outer": X[0],
    "bmm": X[None],
    "baddbmm": X[None],
    "cross": np.eye(3),
    "cholesky": X @ X.T,
}  # ops that take no matrix (2, 2)
ARGUMENTS |= {
    "dot": (X[1],), "outer": (X[1],), "mv": (X[1],), "addmv": (X, X[1]), "bmm": (X[None],), "baddbmm": (X[None], X[None]),
    "cross": (np.ones((3, 3)),), "matrix_power": (3,),
}  # fmt: skip

BITS = np.array([[4, 1], [2, 7]])
OF_ANOTHER_SHAPE["bincount"] = BITS[0]
OF_ANOTHER_SHAPE["dsplit"] = X[None]
OF_ANOTHER_SHAPE["vdot"] = X[0]
ARGUMENTS |= {"vdot": (X[1],), "addr": (X[0], X[1]), "addbmm": (X[None], X[None])}
OF_ANOTHER_SHAPE |= {name: BITS for name in METHODS if name.startswith("bitwise")}
ARGUMENTS |= {
    "clip": (0.6, 0.8),
    "prelu": (np.array([0.5]),),
    **{name: (BITS.T,) for name in OF_ANOTHER_SHAPE if name.startswith("bitwise_")},
}
ARGUMENTS["bitwise_not"] = ()


def arguments(name):
    """What is written above, or one more array for every operand that has to be there."""
    rest = list(inspect.signature(getattr(ops, name)).parameters.values())[1:]
    return ARGUMENTS.get(name, (X.T,) * sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in rest))


def arrays(result):
    return [t.data for t in result] if isinstance(result, tuple) else [getattr(result, "data", result)]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_the_op_of_its_name(name):
    x, rest = gl.tensor(OF_ANOTHER_SHAPE.get(name, X)), arguments(name)
    for got, want in zip(arrays(getattr(x, name)(*rest)), arrays(getattr(ops, name)(x, *rest)), strict=True):
        np.testing.assert_array_equal(got, want)
    assert getattr(Surface, name).__doc__ == getattr(ops, name).__doc__.partition("\n")[0]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_what_its_op_takes(name):
    method, op = inspect.signature(getattr(Surface, name)).parameters, inspect.signature(getattr(ops, name)).parameters
    rest = list(op.values())[1:]
    assert [(p.kind, p.default) for p in list(method.values())[1:]] == [(p.kind, p.default) for p in rest]


@pytest.mark.parametrize(("ufunc", "op"), list(ops.UFUNCS.items()), ids=lambda f: f.__name__)
def test_numpys_functions_become_steps_of_the_graph(ufunc, op):
    bits = ufunc.__name__.startswith(("bitwise", "left", "right", "invert"))
    a = np.array([[4, 1], [2, 7]]) if bits else 1 / X if ufunc is np.arccosh else X / 3
    b, x = a.T, gl.tensor(a, requires_grad=not bits)
    y = ufunc(x) if ufunc.nin == 1 else ufunc(x, b)
    assert isinstance(y, gl.Tensor)
    np.testing.assert_allclose(y.data, ufunc(a) if ufunc.nin == 1 else ufunc(a, b), rtol=1e-15)
    assert bits or y is x or y.grad_fn is not None or y.dtype == "bool"
    if ufunc.nin == 2:
        assert isinstance(ufunc(b, x), gl.Tensor)


def test_operators_work_from_both_sides():
    x = gl.tensor([1.0, 2.0])
    for got, want in [
        (x + 1, [2, 3]), (1 + x, [2, 3]), (x - 1, [0, 1]), (1 - x, [0, -1]), (x * 3, [3, 6]), (3 * x, [3, 6]),
        (x / 2, [0.5, 1]), (2 / x, [2, 1]),
        (x**2, [1, 4]), (2**x, [2, 4]), (-x, [-1, -2]), (+x, [1, 2]), (abs(-x), [1, 2]), (x @ [[1.0], [1.0]], [3]), ([[1.0, 1.0]] @ x, [3]),
    ]:  # fmt: skip
        assert got.tolist() == want


def test_where_as_a_method_keeps_the_tensor_where_the_condition_holds():
    x = gl.tensor([1.0, 2.0])
    assert x.where(x > 1, 0.0).tolist() == [0.0, 2.0]
