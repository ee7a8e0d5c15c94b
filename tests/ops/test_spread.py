"""Norm, variance and standard deviation against NumPy, and at the points where their slopes have no limit."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DTypeError, KeywordError, ShapeError

X = np.arange(24.0).reshape(2, 3, 4) % 7 - 2


@pytest.mark.parametrize("dim", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_they_equal_numpys(dim, keepdim):
    x = gl.tensor(X)
    for got, want in [
        (x.var(dim, keepdim=keepdim), np.var(X, axis=dim, keepdims=keepdim, ddof=1)),
        (x.var(dim, 0, keepdim), np.var(X, axis=dim, keepdims=keepdim)),
        (x.std(dim, keepdim=keepdim), np.std(X, axis=dim, keepdims=keepdim, ddof=1)),
        (gl.std(x, axis=dim, keepdims=keepdim, correction=0), np.std(X, axis=dim, keepdims=keepdim)),
        (x.norm(dim=dim, keepdim=keepdim), np.sqrt((X * X).sum(axis=dim, keepdims=keepdim))),
        (gl.norm(x, 1, axis=dim, keepdims=keepdim), np.abs(X).sum(axis=dim, keepdims=keepdim)),
        (x.norm(3, dim, keepdim), (np.abs(X) ** 3).sum(axis=dim, keepdims=keepdim) ** (1 / 3)),
    ]:
        assert got.shape == want.shape
        np.testing.assert_allclose(got.data, want)


def gradient(values, f):
    x = gl.tensor(values, dtype="float64", requires_grad=True)
    f(x).sum().backward()
    return x.grad.tolist()


def test_a_vector_of_length_zero_has_gradient_zero_and_spoils_no_other_row():
    assert gradient([0.0, 0.0], lambda x: x.norm()) == [0.0, 0.0]
    assert gradient([0.0, 0.0], lambda x: x.norm() ** 2) == [0.0, 0.0]
    assert gradient([0.0, 0.0], lambda x: x.norm(3)) == [0.0, 0.0]
    np.testing.assert_allclose(gradient([[0.0, 0.0], [3.0, 4.0]], lambda x: x.norm(dim=1)), [[0.0, 0.0], [0.6, 0.8]])
    assert gradient([0.0, -2.0], lambda x: x.norm(1)) == [0.0, -1.0]


def test_entries_that_are_all_equal_have_no_slope():
    np.testing.assert_allclose(gradient([[5.0, 5.0], [1.0, 3.0]], lambda x: x.std(1, correction=0)), [[0.0, 0.0], [-0.5, 0.5]])
    assert gradient([5.0, 5.0], lambda x: x.var()) == [0.0, 0.0]


def test_the_spread_of_one_entry_is_not_known():
    x = gl.tensor([3.0], requires_grad=True)
    assert np.isnan(x.var().item()) and np.isnan(x.std().item()) and np.isnan(gl.zeros(0).var().item())
    x.var().backward()
    assert np.isnan(x.grad.data).all()
    x.std().backward()


def test_what_has_no_norm_or_spread_is_refused():
    for f in (gl.var, gl.std, gl.norm):
        with pytest.raises(DTypeError, match="takes floating numbers"):
            f(gl.tensor([1, 2]))
    for p in ("nuc", None, float("nan")):
        with pytest.raises(ArgumentError, match="norm: which p"):
            gl.norm([1.0], p)
    for p in (float("inf"), -1):
        with pytest.raises(ShapeError, match="norm: nothing to choose from"):
            gl.norm(gl.zeros(0, 2), p, dim=0)
    assert gl.norm(gl.zeros(0, 2), float("inf"), dim=1).shape == (0,)


@pytest.mark.parametrize(
    ("p", "x", "y", "dx"),
    [
        (0, [3.0, -4.0, 0.0], 2.0, [0.0, 0.0, 0.0]),
        (0.5, [3.0, -4.0, 0.0], 13.928203, [2.1547005, -1.8660254, 0.0]),
        (-1, [3.0, -4.0, 0.0], 0.0, [0.0, 0.0, 0.0]),
        (-1, [3.0, -3.0, 2.0], 0.85714287, [0.08163265, -0.08163265, 0.18367347]),
        (float("inf"), [3.0, -3.0, 2.0], 3.0, [0.5, -0.5, 0.0]),
        (float("inf"), [0.0, 0.0, 0.0], 0.0, [0.0, 0.0, 0.0]),
        (-float("inf"), [2.0, -2.0, -2.0], 2.0, [1 / 3, -1 / 3, -1 / 3]),
        ("fro", [3.0, -4.0, 0.0], 5.0, [0.6, -0.8, 0.0]),
    ],
)
def test_every_p_has_its_norm_and_the_entries_that_tie_share_evenly(p, x, y, dx):
    t = gl.tensor(x, requires_grad=True)
    length = gl.norm(t, p)
    length.backward()
    np.testing.assert_allclose([length.item(), *t.grad.tolist()], [y, *dx], rtol=1e-6)


def test_var_mean_and_std_mean_give_both_and_gradients_of_both_add_up():
    x = gl.tensor([1.0, 2.0, 6.0], requires_grad=True)
    var, mean = gl.var_mean(x)
    (var + 3 * mean).backward()
    assert (var.item(), mean.item()) == (7.0, 3.0) and x.grad.tolist() == [-1.0, 0.0, 4.0]
    pair = gl.std_mean(x, dim=0, correction=0, keepdim=True)
    assert pair.std.shape == pair.mean.shape == (1,)


def test_the_older_unbiased_is_a_correction_of_0_or_1():
    x = gl.tensor([1.0, 2.0, 6.0])
    assert x.var(unbiased=False).item() == pytest.approx(14 / 3) and x.var(unbiased=True).item() == 7.0
    with pytest.raises(KeywordError, match="dim: this is no whole number"):
        x.var(False)


def test_normalize_leaves_a_zero_row_at_zero():
    x = gl.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    y = gl.nn.functional.normalize(x)
    np.testing.assert_allclose(y.data, [[0.0, 0.0], [0.6, 0.8]], rtol=1e-6)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.data[1], [0.032, -0.024], atol=1e-6)


def test_rows_vary_together_as_numpy_says():
    x = np.random.default_rng(0).standard_normal((3, 5))
    np.testing.assert_allclose(gl.cov(gl.tensor(x)).data, np.cov(x))
    np.testing.assert_allclose(gl.cov(gl.tensor(x), correction=0).data, np.cov(x, ddof=0))
    np.testing.assert_allclose(gl.corrcoef(gl.tensor(x)).data, np.corrcoef(x))
    np.testing.assert_allclose(gl.cov(gl.tensor(x[0])).item(), np.var(x[0], ddof=1))
    with pytest.raises(ShapeError, match="cov: one row a variable"):
        gl.cov(gl.ones(1, 1, 1))


def test_distances_and_rows_of_bounded_length():
    x = gl.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    np.testing.assert_allclose([gl.dist(x, x + 1).item(), gl.dist(x, x + 1, 1).item()], [6**0.5, 6.0], rtol=1e-6)
    want = [[0.8017837, 0.26726124, 0.5345225], [0.7071068, 0.7071068, 0.0]]
    np.testing.assert_allclose(gl.renorm(x, 2, 0, 1.0).data, want, rtol=1e-5)
    assert gl.renorm(x, 2, 0, 9.0).tolist() == x.tolist()
