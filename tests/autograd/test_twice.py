"""Second and higher derivatives: the same rules, run on Tensors."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.errors import GraphError
from gradlab.function import Function
from gradlab.nn import functional as F

OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
CASES = [pytest.param(op, case, id=f"{op.__name__}-{case}") for op in OPS for case in op.cases if op.backward is not Function.backward]

# Ops without a second derivative, and why.
NOT_TWICE: dict[str, str] = {}
SINGULAR = {"Std-scalar-correction=0": "the root of a variance that is 0 has no second derivative"}


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


@pytest.mark.parametrize(("op", "case"), CASES)
def test_the_gradient_of_every_op_can_be_differentiated(op, case):
    if f"{op.__name__}-{case}" in SINGULAR:
        return
    xs = [d.array(np.random.default_rng([0, i])) for i, d in enumerate(case.inputs)]
    ts = [gl.tensor(x, requires_grad=x.dtype.kind == "f") for x in xs]
    asked = [t for t in ts if t.requires_grad]

    def step(*inputs):
        return op.apply(*inputs, **case.params)

    y = step(*ts)
    w = np.random.default_rng(5).standard_normal(y.shape)
    if op.__name__ in NOT_TWICE:
        with pytest.raises(GraphError, match=f"{op.__name__}: its gradient can't be differentiated again"):
            gl.autograd.grad(y, asked, gl.tensor(w), create_graph=True)
        return
    once = [d for d in y.grad_fn.pull(w) if d is not None]
    for d, e in zip(gl.autograd.grad(step(*ts), asked, gl.tensor(w), create_graph=True), once, strict=True):
        np.testing.assert_allclose(d.data, e, rtol=1e-7, atol=1e-9)
        assert d.dtype == e.dtype and d.shape == e.shape
    gl.autograd.gradgradcheck(step, ts, eps=1e-5, atol=1e-5, rtol=1e-4)
