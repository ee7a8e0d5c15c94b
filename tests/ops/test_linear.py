"""A linear map of features: its formula whatever stands in front, and errors that name the sizes."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ShapeError


@pytest.mark.parametrize("lead", [(), (5,), (2, 5), (0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("with_bias", [True, False])
def test_linear_equals_its_formula_whatever_stands_in_front(lead, with_bias):
    rng = np.random.default_rng(0)
    x, w, b = rng.standard_normal((*lead, 4)), rng.standard_normal((3, 4)), rng.standard_normal(3)
    tx, tw, tb = gl.tensor(x, requires_grad=True), gl.tensor(w, requires_grad=True), gl.tensor(b, requires_grad=True)
    y = gl.linear(tx, tw, tb) if with_bias else gl.linear(tx, tw)
    np.testing.assert_allclose(y.data, x @ w.T + (b if with_bias else 0), rtol=1e-12)
    g = rng.standard_normal(y.shape)
    y.backward(gl.tensor(g))
    np.testing.assert_allclose(tx.grad.data, g @ w)
    np.testing.assert_allclose(tw.grad.data, np.einsum("no,ni->oi", g.reshape(-1, 3), x.reshape(-1, 4)), atol=1e-14)
    if with_bias:
        np.testing.assert_allclose(tb.grad.data, g.reshape(-1, 3).sum(0), atol=1e-14)


def test_linear_computes_no_gradient_that_nobody_wants():
    x, w, b = gl.ones(2, 4), gl.ones(3, 4, requires_grad=True), gl.ones(3)
    dx, dw, db = gl.linear(x, w, b).grad_fn.backward(np.ones((2, 3), "float32"))
    assert dx is None and db is None and dw.shape == (3, 4)
    dx, dw = gl.linear(gl.ones(2, 4, requires_grad=True), gl.ones(3, 4)).grad_fn.backward(np.ones((2, 3), "float32"))
    assert dw is None and dx.shape == (2, 4)


def test_linear_leaves_its_inputs_alone():
    x, w, b = gl.ones(2, 4), gl.ones(3, 4), gl.ones(3)
    gl.linear(x, w, b)
    assert (b.data == 1).all() and (x.data == 1).all() and (w.data == 1).all()


def test_linear_says_which_sizes_differ():
    with pytest.raises(ShapeError, match=r"linear: the number of features differs\n  x      \(2, 4\)\n  weight \(3, 5\)") as error:
        gl.linear(gl.ones(2, 4), gl.ones(3, 5))
    assert "try:" not in str(error.value)
    with pytest.raises(ShapeError, match=r"try:   weight\.T"):
        gl.linear(gl.ones(2, 4), gl.ones(4, 3))
    for x, w in [((), (3, 4)), ((4,), (4,))]:
        with pytest.raises(ShapeError, match="linear"):
            gl.linear(gl.ones(x), gl.ones(w))
