"""gl.linalg: norms of vectors and matrices, least squares, and that its names are PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import linalg
from gradlab.errors import ArgumentError, ShapeError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4))


@pytest.mark.parametrize("ord", ["fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf])
def test_the_norms_of_a_matrix_are_numpys(ord):
    batch = RNG.standard_normal((2, 3, 4))
    assert linalg.matrix_norm(X, ord).item() == pytest.approx(np.linalg.norm(X, ord))
    np.testing.assert_allclose(linalg.matrix_norm(batch, ord, keepdim=True).data, np.linalg.norm(batch, ord, (1, 2), keepdims=True))
    np.testing.assert_allclose(linalg.norm(batch, ord, (0, 2)).data, np.linalg.norm(batch, ord, (0, 2)))
    assert linalg.norm(X, ord).item() == pytest.approx(np.linalg.norm(X, ord))


def test_without_ord_all_entries_are_one_vector():
    batch = RNG.standard_normal((2, 3, 4))
    assert linalg.norm(batch).item() == pytest.approx(np.sqrt((batch**2).sum()))
    np.testing.assert_allclose(linalg.norm(batch, dim=(0, 1)).data, np.sqrt((batch**2).sum((0, 1))))
    np.testing.assert_allclose(linalg.vector_norm(batch, 1, (0, 2), keepdim=True).data, np.abs(batch).sum((0, 2), keepdims=True))
    np.testing.assert_allclose(linalg.norm(batch, 3, 1).data, (np.abs(batch) ** 3).sum(1) ** (1 / 3))


def test_a_norm_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match=r"matrix_norm: which norm\?\n  ord   3"):
        linalg.matrix_norm(X, 3)
    with pytest.raises(ShapeError, match="matrix_norm: takes matrices"):
        linalg.matrix_norm(X[0])
    for ord in ("fro", 2):
        with pytest.raises(ArgumentError, match="norm: of a vector or of a matrix"):
            linalg.norm(np.zeros((2, 2, 2)), ord)


def test_least_squares_come_nearest():
    a, b = RNG.standard_normal((5, 2)), RNG.standard_normal((5, 3))
    want, residuals, *_ = np.linalg.lstsq(a, b, rcond=None)
    got = linalg.lstsq(a, b)
    np.testing.assert_allclose(got.solution.data, want)
    np.testing.assert_allclose(got.residuals.data, residuals)
    one = linalg.lstsq(a, b[:, 0])
    np.testing.assert_allclose(one.solution.data, want[:, 0])
    assert one.residuals.item() == pytest.approx(residuals[0])
    with pytest.raises(ShapeError, match="lstsq: the shapes don't fit"):
        linalg.lstsq(a, b[:4])


def test_the_names_of_gl_and_of_gl_linalg_are_the_same_ops():
    assert linalg.matmul is gl.matmul and linalg.svd is gl.linalg_svd
    square = np.array([[2.0, 1.0], [1.0, 3.0]])
    for here, op in [(linalg.inv, gl.inverse), (linalg.det, gl.det)]:
        np.testing.assert_array_equal(here(A=square).data, op(input=square).data)
    assert linalg.slogdet(A=square).logabsdet.item() == gl.slogdet(input=square).logabsdet.item()
    assert linalg.multi_dot([X.T, X, X.T]).shape == (4, 3) and linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_allclose(linalg.pinv(np.diag([1.0, 1e-3]), rtol=1e-2).data, np.diag([1.0, 0.0]))


@pytest.mark.parametrize(
    ("function", "more"),
    [(np.linalg.inv, ()), (np.linalg.det, ()), (np.linalg.slogdet, ()), (np.linalg.eigvalsh, ()), (np.linalg.eigh, ()),
     (np.linalg.cholesky, ()), (np.linalg.matrix_power, (3,)), (np.linalg.pinv, ()),
     (np.linalg.qr, ()), (np.linalg.svd, ()), (np.linalg.solve, (np.ones(3),)),
     (np.linalg.solve, (np.eye(3),)), (np.cross, (np.eye(3),))],
    ids=lambda f: getattr(f, "__name__", ""),
)  # fmt: skip
def test_numpys_names_make_steps(function, more):
    a = X @ X.T + np.stack([np.eye(3), 2 * np.eye(3)])
    x = gl.tensor(a, requires_grad=True)
    got, want = function(x, *more), function(a, *more)
    for y, z in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert y.requires_grad or y.shape == (2,)
        np.testing.assert_allclose(y.data, z, atol=1e-12)


def test_numpys_names_with_their_own_arguments():
    x = gl.tensor(X)
    assert np.linalg.svd(x, full_matrices=False).U.shape == (3, 3) and np.linalg.svd(x, compute_uv=False).shape == (3,)
    np.testing.assert_allclose(np.linalg.multi_dot([x, X.T, X]).data, X @ X.T @ X)
    np.testing.assert_allclose(np.linalg.solve(gl.tensor(np.stack([np.eye(2)] * 2)), np.ones((2, 2))).data, np.ones((2, 2, 2)))
    with pytest.raises(TypeError, match="not on a tensor"):
        np.linalg.multi_dot([x, X.T], out=np.zeros((3, 3)))


def test_rank_condition_powers_and_dots():
    flat = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    assert linalg.matrix_rank(np.stack([flat, np.eye(3)[:, :2], 0 * flat])).tolist() == [1, 2, 0]
    assert linalg.matrix_rank(np.diag([1.0, 1e-3]), rtol=1e-2).item() == 1
    a = X[:, :3]
    for p in (None, 2, -2, "fro", 1, np.inf):
        assert linalg.cond(a, p).item() == pytest.approx(np.linalg.cond(a, p))
    x = gl.tensor([0.0, 2.0], requires_grad=True)
    y = linalg.vander(x, 4)
    assert y.tolist() == [[1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 4.0, 8.0]] and linalg.vander(x).shape == (2, 2)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1 + 4 + 12]
    assert linalg.vecdot(X, X).tolist() == pytest.approx((X * X).sum(1).tolist()) and linalg.vecdot(X, X, dim=0).shape == (4,)
