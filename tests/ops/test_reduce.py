"""Reductions and extrema: axes, spellings, ties, zeros, dtypes, empty tensors."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, ShapeError

X = np.arange(24.0).reshape(2, 3, 4) % 7 - 2


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1, (0, 2), (-1, 0), [1, 2], (0, 1, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_equal_numpys_over_every_axis(name, dim, keepdim):
    axis = tuple(dim) if isinstance(dim, list) else dim
    want = getattr(np, name)(X, axis=axis, keepdims=keepdim)
    x = gl.tensor(X)
    for got in (
        getattr(gl, name)(x, dim, keepdim),
        getattr(x, name)(dim=dim, keepdim=keepdim),
        getattr(x, name)(axis=axis, keepdims=keepdim),
        getattr(np, name)(x, axis=axis, keepdims=keepdim),
    ):
        assert isinstance(got, gl.Tensor) and got.shape == want.shape
        np.testing.assert_allclose(got.data, want)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, -2, 2])
def test_places_of_extrema_are_integers_without_a_gradient(name, dim):
    x = gl.tensor(X, requires_grad=True)
    for keepdim in (False, True):
        got, want = getattr(x, name)(dim, keepdim), getattr(np, name)(X, axis=dim, keepdims=keepdim)
        assert got.dtype == "int64" and not got.requires_grad and got.shape == want.shape
        np.testing.assert_array_equal(got.data, want)


@pytest.mark.parametrize(("name", "best", "place"), [("max", np.max, np.argmax), ("min", np.min, np.argmin)])
def test_max_along_an_axis_gives_values_and_places(name, best, place):
    for dim, keepdim in [(0, False), (-1, True), (1, False)]:
        result = getattr(gl.tensor(X), name)(dim, keepdim)
        values, indices = result
        assert values is result.values and indices is result.indices
        np.testing.assert_array_equal(values.data, best(X, axis=dim, keepdims=keepdim))
        np.testing.assert_array_equal(indices.data, place(X, axis=dim, keepdims=keepdim))
    assert getattr(gl.tensor(X), name)().item() == best(X)
    assert getattr(gl.tensor(X), name)(keepdim=True).shape == (1, 1, 1)
    assert getattr(gl.tensor(X), name)(axis=0).values.shape == (3, 4)


def test_max_over_several_axes_is_refused_with_the_op_that_can():
    for op, name in [(gl.max, "amax"), (gl.min, "amin")]:
        with pytest.raises(ShapeError, match=rf"try:  x\.{name}\(\(0, 1\)\)"):
            op(gl.tensor(X), (0, 1))


def gradient(values, f):
    x = gl.tensor(values, dtype="float64", requires_grad=True)
    f(x).backward()
    return x.grad.tolist()


def test_ties_share_evenly_without_dim_and_go_to_the_first_with_it():
    third = 1 / 3
    assert gradient([3.0, 1.0, 3.0, 3.0], lambda x: x.max()) == [third, 0.0, third, third]
    assert gradient([1.0, 1.0, 2.0], lambda x: x.min()) == [0.5, 0.5, 0.0]
    rows = [[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]]
    assert gradient(rows, lambda x: x.amax(1).sum()) == [[0.5, 0.0, 0.5], [third] * 3]
    assert gradient(rows, lambda x: x.amin((0, 1), keepdim=True).sum()) == [[0.0, 1.0, 0.0], [0.0] * 3]
    assert gradient(rows, lambda x: x.max(dim=1).values.sum()) == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert gradient(rows, lambda x: x.min(dim=0, keepdim=True)[0].sum()) == [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]


def test_nan_is_the_extremum_and_gets_the_gradient():
    for f in (lambda x: x.max(), lambda x: x.min(), lambda x: x.max(0).values, lambda x: x.min(0).values):
        assert gradient([1.0, np.nan, 2.0], f) == [0.0, 1.0, 0.0]
        assert np.isnan(f(gl.tensor([1.0, np.nan, 2.0])).item())


@pytest.mark.parametrize("op", [gl.max, gl.min, gl.amax, gl.amin, gl.argmax, gl.argmin])
def test_nothing_has_no_extremum(op):
    with pytest.raises(ShapeError, match="nothing to choose from"):
        op(gl.zeros(0, 3))
    with pytest.raises(ShapeError, match="at least one entry along dim"):
        op(gl.zeros(0, 3), 0)
    assert op(gl.zeros(0, 3), 1) is not None


def test_prod_has_exact_gradients_around_zeros():
    assert gradient([0.0, 2.0, 3.0], lambda x: x.prod()) == [6.0, 0.0, 0.0]
    assert gradient([0.0, 2.0, 0.0], lambda x: x.prod()) == [0.0, 0.0, 0.0]
    assert gradient([0.0], lambda x: x.prod()) == [1.0]
    assert gradient([-1.0, 2.0, 4.0], lambda x: x.prod()) == [8.0, -4.0, -2.0]
    rows = [[2.0, 0.0, 4.0], [1.0, 2.0, 3.0], [0.0, 0.0, 5.0]]
    assert gradient(rows, lambda x: x.prod(1).sum()) == [[0.0, 8.0, 0.0], [6.0, 3.0, 2.0], [0.0, 0.0, 0.0]]
    assert gradient([[2.0, 0.0], [3.0, 4.0]], lambda x: x.prod(0, keepdim=True).sum()) == [[3.0, 4.0], [2.0, 0.0]]
    assert gradient([[2.0, 0.0], [3.0, 4.0]], lambda x: x.prod((0, 1))) == [[0.0, 24.0], [0.0, 0.0]]


def test_sums_and_means_spread_the_gradient():
    assert gradient([[1.0, 2.0], [3.0, 4.0]], lambda x: (x.sum(0) * gl.tensor([1.0, 10.0])).sum()) == [[1.0, 10.0], [1.0, 10.0]]
    assert gradient([[1.0, 2.0], [3.0, 4.0]], lambda x: (x.mean(1) * gl.tensor([1.0, 10.0])).sum()) == [[0.5, 0.5], [5.0, 5.0]]
    assert gradient([1.0, 2.0, 3.0, 4.0], lambda x: x.mean()) == [0.25] * 4


def test_booleans_are_counted_and_integers_stay_integers():
    count = gl.tensor([True, True, False]).sum()
    assert count.dtype == "int64" and count.item() == 2
    assert gl.tensor([1, 2, 3]).sum().dtype == gl.tensor([2, 3]).prod().dtype == gl.tensor([2, 3]).max().dtype == "int64"


@pytest.mark.parametrize("values", [[1, 2], [True, False]])
def test_the_mean_of_integers_is_refused(values):
    with pytest.raises(DTypeError, match="mean: takes floating numbers") as error:
        gl.tensor(values).mean()
    assert "try:  x.float()" in str(error.value)
    assert gl.tensor(values).float().mean().dtype == "float32"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_means_keep_their_dtype_and_float16_does_not_overflow(dtype):
    y = gl.tensor(np.full(1000, 100.0, dtype)).mean()
    assert y.dtype == dtype and y.item() == 100.0
    assert gl.tensor(np.full((1000, 2), 100.0, dtype)).mean(0, keepdim=True).tolist() == [[100.0, 100.0]]


def test_the_mean_of_nothing_is_nan_and_its_sum_is_zero():
    x = gl.zeros(0, 3, requires_grad=True)
    assert np.isnan(x.mean().item()) and np.isnan(x.mean(0).data).all() and x.sum().item() == 0.0 and x.prod().item() == 1.0
    x.mean().backward()
    assert x.grad.shape == (0, 3)
    assert x.mean(1).shape == (0,)


def test_a_keyword_that_no_reduction_has_is_refused():
    for op in (gl.sum, gl.mean, gl.amax, gl.max, gl.argmax):
        with pytest.raises(TypeError, match="no such keyword as where"):
            op([1.0, 2.0], where=[True, False])


def test_an_axis_that_is_not_there_is_refused():
    for op in (gl.sum, gl.mean, gl.prod, gl.amax, gl.max, gl.argmax):
        with pytest.raises(IndexError, match="axis 3"):
            op(gl.zeros(2, 3), 3)


def test_integers_are_added_up_and_multiplied_as_int64():
    for dtype in ("bool", "uint8", "int16", "int32"):
        for f in (gl.sum, gl.prod, gl.nansum):
            assert f(gl.tensor(np.ones(3, dtype))).dtype == "int64"
    assert gl.sum(gl.tensor(np.full(2, 200, "uint8"))).item() == 400


def test_a_dtype_asked_for_is_the_one_computed_in():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    for f in (gl.sum, gl.mean, gl.prod, gl.nansum, gl.nanmean):
        y = f(x, dtype="float64")
        assert y.dtype == "float64"
        assert y.grad_fn.pull(np.ones(()))[0].dtype == "float32"
    assert gl.mean(gl.tensor([1, 2]), dtype="float32").item() == 1.5
    assert gl.sum(x, 0, dtype="int64").grad_fn is None


def test_nan_is_a_gap_for_nansum_and_nanmean_and_gets_no_gradient():
    x = gl.tensor([[float("nan"), 2.0, 4.0], [float("nan")] * 3], requires_grad=True)
    y = gl.nansum(x, 1)
    y.sum().backward()
    assert y.tolist() == [6.0, 0.0] and x.grad.tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    x.grad = None
    y = gl.nanmean(x, 1)
    y[0].backward()
    assert y[0].item() == 3.0 and np.isnan(y[1].item()) and x.grad[0].tolist() == [0.0, 0.5, 0.5]


def test_any_all_and_count_nonzero_of_nothing_are_false_true_and_0():
    x = gl.zeros(0)
    assert (x.any().item(), x.all().item(), x.count_nonzero().item()) == (False, True, 0)
    assert gl.tensor(float("nan")).any().item() is True
    assert gl.any(gl.tensor([[0, 1], [0, 0]]), dim=1, keepdim=True).tolist() == [[True], [False]]


def test_aminmax_shares_ties_evenly_and_max_of_two_tensors_is_maximum():
    x = gl.tensor([1.0, 1.0, 2.0], requires_grad=True)
    low, high = gl.aminmax(x)
    (low + high).backward()
    assert x.grad.tolist() == [0.5, 0.5, 1.0]
    assert gl.max(x, gl.tensor([1.5, 0.0, 2.5])).tolist() == [1.5, 1.0, 2.5] and x.min(x + 1).tolist() == [1.0, 1.0, 2.0]


def test_two_gradients_of_one_number_add_up():
    for f in (lambda x: gl.amin(x, 0) + gl.amax(x, 0), lambda x: x.max(0).values + x.amax(0), lambda x: x.sum(0) + x.mean(0)):
        x = gl.tensor(2.0, requires_grad=True)
        f(x).backward()
        assert x.grad.item() == 2.0 and isinstance(x.grad.data, np.ndarray)


def test_uint8_answers_in_uint8_as_it_did_when_it_was_pytorchs_bool():
    x = gl.tensor(np.array([2, 0], "uint8"))
    assert x.any().dtype == x.all().dtype == "uint8" and x.any().item() == 1
