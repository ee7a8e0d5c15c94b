"""Decompositions: what their parts are, that they give the matrix back, and what has a gradient where parts are not unique."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, ShapeError

RNG = np.random.default_rng(0)
ANY = [RNG.standard_normal(s) for s in [(3, 3), (4, 3), (3, 4), (2, 5, 3), (1, 3)]]


def test_cholesky_gives_a_triangle_that_squares_to_the_matrix():
    x = A = ANY[0] @ ANY[0].T + np.eye(3)
    y = gl.cholesky(x).data
    np.testing.assert_allclose(y @ y.T, A)
    assert (np.triu(y, 1) == 0).all() and (np.diag(y) > 0).all()
    np.testing.assert_array_equal(gl.tensor(x).cholesky(upper=True).data, y.T)
    with pytest.raises(ArgumentError, match="cholesky: the matrix is not positive definite"):
        gl.cholesky(-np.eye(2))


def test_eigenvectors_are_only_stretched():
    A = ANY[0] + ANY[0].T
    w, v = gl.linalg.eigh(A)
    np.testing.assert_allclose(A @ v.data, v.data * w.data)
    np.testing.assert_allclose(v.data.T @ v.data, np.eye(3), atol=1e-14)
    assert (np.diff(w.data) > 0).all() and gl.linalg.eigvalsh(A).tolist() == w.tolist()


def test_equal_eigenvalues_have_a_gradient_and_so_has_what_does_not_depend_on_their_vectors():
    x = gl.tensor(np.eye(3), requires_grad=True)
    gl.linalg.eigvalsh(x).sum().backward()
    np.testing.assert_allclose(x.grad.data, np.eye(3), atol=1e-14)
    x.grad = None
    w, v = gl.linalg.eigh(x)
    ((v * w.reshape(1, 3)) @ v.mT).sum().backward()
    assert np.isfinite(x.grad.data).all()
    x.grad = None
    gl.linalg.svdvals(x).sum().backward()
    np.testing.assert_allclose(x.grad.data, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("x", ANY, ids=lambda x: str(x.shape))
@pytest.mark.parametrize("full", [True, False])
def test_the_parts_of_an_svd_give_the_matrix_back_and_its_gradient_goes_through(x, full):
    t = gl.tensor(x, requires_grad=True)
    u, s, vh = gl.linalg.svd(t, full_matrices=full)
    k = min(x.shape[-2:])
    assert u.shape == (*x.shape[:-1], x.shape[-2] if full else k) and vh.shape == (*x.shape[:-2], x.shape[-1] if full else k, x.shape[-1])
    back = (u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :]
    np.testing.assert_allclose(back.data, x)
    np.testing.assert_allclose(s.data, gl.linalg.svdvals(x).data)
    for q in (u.data.mT @ u.data, vh.data @ vh.data.mT):
        np.testing.assert_allclose(q, np.broadcast_to(np.eye(q.shape[-1]), q.shape), atol=1e-13)
    g = RNG.standard_normal(x.shape)
    back.backward(gl.tensor(g))
    np.testing.assert_allclose(t.grad.data, g, atol=1e-10)  # taken apart and put together is nothing at all


@pytest.mark.parametrize("x", ANY, ids=lambda x: str(x.shape))
def test_the_parts_of_a_qr_give_the_matrix_back_and_its_gradient_goes_through(x):
    t = gl.tensor(x, requires_grad=True)
    q, r = gl.linalg.qr(t)
    np.testing.assert_allclose((q @ r).data, x)
    assert (np.tril(r.data, -1) == 0).all()
    g = RNG.standard_normal(x.shape)
    (q @ r).backward(gl.tensor(g))
    np.testing.assert_allclose(t.grad.data, g, atol=1e-10)


def test_other_modes_and_shapes_are_refused():
    with pytest.raises(ArgumentError, match=r"qr: which mode\?\n  mode  'complete'"):
        gl.linalg.qr(ANY[0], mode="complete")
    for f in (gl.linalg.svd, gl.linalg.svdvals, gl.linalg.qr, gl.linalg.pinv):
        with pytest.raises(ShapeError, match="takes matrices"):
            f(gl.zeros(3))


@pytest.mark.parametrize("x", ANY, ids=lambda x: str(x.shape))
def test_a_pseudoinverse_has_the_four_properties_that_name_it(x):
    y = gl.pinverse(x).data
    np.testing.assert_allclose(x @ y @ x, x)
    np.testing.assert_allclose(y @ x @ y, y)
    np.testing.assert_allclose(x @ y, (x @ y).mT, atol=1e-13)
    np.testing.assert_allclose(y @ x, (y @ x).mT, atol=1e-13)


def test_a_pseudoinverse_leaves_out_directions_that_are_noise():
    x = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(gl.tensor(x).pinverse().data, x / 25)
    np.testing.assert_allclose(gl.pinverse(np.diag([1.0, 1e-3]), rcond=1e-2).data, np.diag([1.0, 0.0]))
    noisy = (x + 1e-8 * ANY[0][:2, :2]).astype("float32")
    assert np.abs(gl.pinverse(noisy).data).max() < 1.0
