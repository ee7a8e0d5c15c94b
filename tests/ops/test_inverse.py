"""Inverses, determinants and equations: what they satisfy, singular matrices, and which shapes are vectors."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DTypeError, ShapeError

RNG = np.random.default_rng(0)
A = RNG.standard_normal((2, 3, 3)) + 3 * np.eye(3)
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def test_an_inverse_undoes():
    np.testing.assert_allclose((gl.inverse(A) @ A).data, np.broadcast_to(np.eye(3), A.shape), atol=1e-14)


def test_powers_count_in_both_directions():
    x = gl.tensor(A, requires_grad=True)
    for n in (-3, -1, 0, 1, 2, 5, 8):
        np.testing.assert_allclose(x.matrix_power(n).data, np.linalg.matrix_power(A, n), rtol=1e-10)
    x.matrix_power(0).sum().backward()
    assert (x.grad.data == 0).all()


def test_what_has_no_inverse_says_so_and_what_to_try():
    with pytest.raises(ArgumentError) as error:
        gl.inverse(SINGULAR)
    assert "inverse: the matrix is singular\n  shape (2, 2)\n" in str(error.value) and "try:  gl.linalg.pinv(x)" in str(error.value)
    with pytest.raises(ArgumentError, match="solve: the matrix is singular"):
        gl.linalg.solve(SINGULAR, np.ones(2))
    with pytest.raises(ArgumentError, match="inverse: the matrix is singular"):
        gl.matrix_power(SINGULAR, -1)


@pytest.mark.parametrize("f", [gl.inverse, gl.det, gl.slogdet, gl.logdet, gl.cholesky, gl.linalg.eigh, lambda x: gl.matrix_power(x, 2)])
def test_only_square_matrices_of_floats_are_taken(f):
    for shape in ((3,), (2, 3), ()):
        with pytest.raises(ShapeError, match="takes square matrices"):
            f(gl.zeros(shape))
    with pytest.raises(DTypeError, match="takes floating numbers"):
        f(gl.tensor([[1, 0], [0, 1]]))


def test_solve_takes_vectors_where_b_lacks_the_last_axis_of_a():
    v, m = RNG.standard_normal((2, 3)), RNG.standard_normal((2, 3, 4))
    np.testing.assert_allclose(gl.linalg.solve(A, v).data, np.linalg.solve(A, v[..., None])[..., 0])
    np.testing.assert_allclose(gl.linalg.solve(A, m).data, np.linalg.solve(A, m))
    np.testing.assert_allclose(gl.linalg.solve(A, v[0]).data, np.linalg.solve(A, v[0]))
    np.testing.assert_allclose((gl.linalg.solve(A, m.mT, left=False) @ A).data, m.mT)
    np.testing.assert_allclose(gl.linalg.solve(A, m[0]).data, np.linalg.solve(A, m[0]))


def test_solve_refuses_what_does_not_fit():
    for b, text in [(np.zeros((2, 2)), "solve: the shapes don't fit"), (np.zeros((5, 3, 1)), "solve: the sizes in front don't broadcast")]:
        with pytest.raises(ShapeError, match=text):
            gl.linalg.solve(A, b)
    with pytest.raises(DTypeError, match="solve: the dtypes differ"):
        gl.linalg.solve(A, np.zeros((3, 1), "float32"))
    with pytest.raises(ShapeError, match="solve_triangular: the shapes don't fit"):
        gl.linalg.solve_triangular(A, np.zeros(3), upper=True)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_a_triangle_is_read_and_the_rest_is_not(upper, unit):
    t = np.triu(A) if upper else np.tril(A)
    if unit:
        t = t - np.eye(3) * t + np.eye(3)
    b = RNG.standard_normal((2, 3, 2))
    x = gl.tensor(A, requires_grad=True)
    y = gl.linalg.solve_triangular(x, b, upper=upper, unitriangular=unit)
    np.testing.assert_allclose(y.data, np.linalg.solve(t, b))
    right = gl.linalg.solve_triangular(A, b.mT, upper=upper, unitriangular=unit, left=False)
    np.testing.assert_allclose(right.data @ t, b.mT, atol=1e-14)
    y.sum().backward()
    outside = np.tril(np.ones((3, 3)), -1 + unit) if upper else np.triu(np.ones((3, 3)), 1 - unit)
    assert (x.grad.data[:, outside > 0] == 0).all() and (x.grad.data[:, outside == 0] != 0).all()


def test_the_determinant_of_a_singular_matrix_still_has_a_slope():
    x = gl.tensor(SINGULAR, requires_grad=True)
    y = gl.det(x)
    y.backward()
    assert abs(y.item()) < 1e-12
    np.testing.assert_allclose(x.grad.data, [[4.0, -2.0], [-2.0, 1.0]])
    zero = gl.zeros(3, 3, requires_grad=True)
    gl.det(zero).backward()
    assert (zero.grad.data == 0).all()


def test_logarithms_of_determinants():
    x = gl.tensor(np.stack([np.eye(3), np.diag([1.0, -2.0, 1.0]), np.zeros((3, 3))]))
    sign, size = gl.slogdet(x)
    assert sign.tolist() == [1.0, -1.0, 0.0] and size.tolist() == [0.0, np.log(2.0), -np.inf]
    np.testing.assert_array_equal(gl.logdet(x).data, [0.0, np.nan, -np.inf])
    flat = gl.tensor(SINGULAR, requires_grad=True)
    with pytest.raises(ArgumentError, match="logabsdet: the matrix is singular, its slope infinite"):
        gl.logdet(flat).backward()
    huge = gl.tensor(1e200 * np.eye(3), requires_grad=True)
    gl.logdet(huge).backward()
    np.testing.assert_allclose(gl.logdet(huge).item(), 3 * 200 * np.log(10))
    np.testing.assert_allclose(np.diag(huge.grad.data), 1e-200)
