"""Jacobians, Hessians and their products: against numbers of PyTorch 2.13, and against one another."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.autograd.functional import hessian, hvp, jacobian, jvp, vjp
from gradlab.errors import GraphError, ShapeError
from gradlab.nn import functional as F


def mlp():
    """Weights and a loss whose Hessian PyTorch was asked for too."""
    r = np.random.default_rng(3)
    W1, W2, X = (r.standard_normal(shape) for shape in ((3, 2), (2, 3), (4, 2)))

    def loss(a, b):
        return F.cross_entropy((gl.tensor(X) @ a.T).tanh() @ b.T, gl.tensor([0, 1, 1, 0]))

    return gl.tensor(W1), gl.tensor(W2), loss, r


def test_the_hessian_of_a_small_network_is_pytorchs():
    W1, W2, loss, _ = mlp()
    H = hessian(loss, (W1, W2))
    assert [[h.shape for h in row] for row in H] == [[(3, 2, 3, 2), (3, 2, 2, 3)], [(2, 3, 3, 2), (2, 3, 2, 3)]]
    got = [[h.data.sum(), (h.data**2).sum(), h.data.reshape(-1)[3]] for row in H for h in row]
    want = [[-2.121123482401, 1.38652220867, 0.001418540419], [0.0, 0.553792700777, 0.073611011687],
            [0.0, 0.553792700777, 0.000314233486], [0.0, 0.000253024419, -0.006686185049]]  # fmt: skip
    np.testing.assert_allclose(got, want, atol=1e-11)


def test_the_hessian_of_softmax_cross_entropy_is_pytorchs():
    _, _, _, r = mlp()
    h = hessian(lambda z: F.cross_entropy(z, gl.tensor([2, 0])), gl.tensor(r.standard_normal((2, 3))))
    first = [[0.059364846258, -0.043407527944, -0.015957318314], [-0.043407527944, 0.1164819819, -0.073074453957],
             [-0.015957318314, -0.073074453957, 0.089031772271]]  # fmt: skip
    np.testing.assert_allclose(h.data[0, :, 0, :], first, atol=1e-11)
    np.testing.assert_array_equal(h.data[0, :, 1, :], 0.0)


def test_products_agree_with_the_matrices():
    W1, W2, loss, r = mlp()
    u, v = gl.tensor(r.standard_normal((3, 2))), gl.tensor(r.standard_normal((2, 3)))
    H = hessian(loss, (W1, W2))
    y, (hu, hv) = hvp(loss, (W1, W2), (u, v))
    assert y.item() == loss(W1, W2).item()
    np.testing.assert_allclose(hu.data, np.tensordot(H[0][0].data, u.data, 2) + np.tensordot(H[0][1].data, v.data, 2))
    np.testing.assert_allclose(hv.data, np.tensordot(H[1][0].data, u.data, 2) + np.tensordot(H[1][1].data, v.data, 2))

    def f(x):
        return x.softmax(1) @ W2.T

    x, w = gl.tensor(r.standard_normal((4, 3))), gl.tensor(r.standard_normal((4, 2)))
    J, d = jacobian(f, x), gl.tensor(r.standard_normal((4, 3)))
    assert J.shape == (4, 2, 4, 3)
    np.testing.assert_allclose(vjp(f, x, w)[1].data, np.tensordot(w.data, J.data, 2))
    np.testing.assert_allclose(jvp(f, x, d)[1].data, np.tensordot(J.data, d.data, 2))


def test_what_comes_back_has_the_form_of_what_went_in():
    x, y = gl.tensor([1.0, 2.0]), gl.tensor(3.0)
    J = jacobian(lambda x, y: (x * y, x.sum()), (x, y))
    assert [[t.shape for t in row] for row in J] == [[(2, 2), (2,)], [(2,), ()]]
    assert J[1][1].item() == 0.0  # nothing depends on it
    assert isinstance(vjp(lambda x, y: x * y, (x, y), gl.ones(2))[1], tuple)
    outputs, moves = jvp(lambda x: (x * x, 5.0 * x), x, gl.ones(2))
    assert [t.tolist() for t in outputs] == [[1.0, 4.0], [5.0, 10.0]] and [t.tolist() for t in moves] == [[2.0, 4.0], [5.0, 5.0]]


def test_results_have_a_graph_only_where_asked_for():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    for create_graph in (False, True):
        J = jacobian(lambda x: x**3, x, create_graph=create_graph)
        assert J.requires_grad == create_graph
    J.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    assert not jacobian(lambda x: x**3, x).requires_grad and gl.is_grad_enabled()


def test_it_works_inside_no_grad_and_leaves_the_inputs_alone():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    with gl.no_grad():
        assert jacobian(lambda x: x * x, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert x.grad is None


def test_wrong_forms_are_refused():
    x = gl.tensor([1.0, 2.0])
    with pytest.raises(ShapeError, match="jvp: the vector does not fit"):
        jvp(lambda x: x * x, x, gl.ones(3))
    with pytest.raises(GraphError, match=r"hessian: the function has to give one number[\s\S]*\(2,\)"):
        hessian(lambda x: x * x, x)


def test_an_output_without_entries_has_an_empty_jacobian():
    assert jacobian(lambda x: x[:0], gl.tensor([1.0, 2.0])).shape == (0, 2)
