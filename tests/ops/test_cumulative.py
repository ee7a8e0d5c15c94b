"""Running sums, products and extrema, differences and areas."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DimError, DTypeError, KeywordError, ShapeError

NAN, INF = float("nan"), float("inf")


def gradient(f, values, g=None):
    x = gl.tensor(values, requires_grad=True)
    y = f(x)
    y.backward(gl.ones(*y.shape) if g is None else gl.tensor(g))
    return x.grad.tolist()


def test_running_sums_and_products_keep_floats_and_make_int64_of_the_rest():
    for f in (gl.cumsum, gl.cumprod):
        assert f(gl.tensor([1.0, 2.0]), 0).dtype == "float32"
        assert f(gl.tensor(np.ones(3, "uint8")), 0).dtype == f(gl.tensor([True]), 0).dtype == "int64"
        assert f(gl.tensor([1.0, 2.0]), 0, dtype="float64").dtype == "float64"
        assert f(gl.tensor(3.0), -1).shape == ()
    assert gl.cumsum(gl.tensor(np.ones(4096, "float16")), 0)[-1].item() == 4096.0


def test_zeros_leave_the_gradient_of_cumprod_exact():
    assert gradient(lambda x: x.cumprod(0), [2.0, 0.0, 4.0, 5.0]) == [1.0, 50.0, 0.0, 0.0]
    assert gradient(lambda x: x.cumprod(0), [0.0, 3.0, 0.0]) == [4.0, 0.0, 0.0]


def test_the_latest_of_several_equal_extrema_gets_the_gradient():
    values, indices = gl.cummax(gl.tensor([1.0, 3.0, 3.0, 2.0]), dim=0)
    assert values.tolist() == [1.0, 3.0, 3.0, 3.0] and indices.tolist() == [0, 1, 2, 2]
    assert gradient(lambda x: x.cummax(0).values, [1.0, 3.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0]) == [1.0, 2.0, 7.0, 0.0]
    assert gl.cummin(gl.tensor([2, 2, 1, 5]), 0).indices.tolist() == [0, 1, 2, 2]


def test_nan_stays_the_extremum():
    values, indices = gl.cummax(gl.tensor([1.0, NAN, 5.0, NAN]), 0)
    np.testing.assert_array_equal(values.data, [1.0, NAN, NAN, NAN])
    assert indices.tolist() == [0, 1, 1, 3]


def test_logcumsumexp_neither_overflows_nor_loses_what_was_minus_infinity():
    x = [-INF, -INF, 1000.0, 1000.0]
    y = gl.logcumsumexp(gl.tensor(x), 0).data
    np.testing.assert_allclose(y, [-INF, -INF, 1000.0, 1000.6931], rtol=1e-6)
    np.testing.assert_allclose(gradient(lambda x: x.logcumsumexp(0)[2:], x), [0.0, 0.0, 1.5, 0.5], rtol=1e-4)
    np.testing.assert_allclose(gradient(lambda x: x.logcumsumexp(0), [0.0, 0.0], [1.0, -2.0]), [0.0, -1.0])
    with pytest.raises(DTypeError, match="logcumsumexp: takes floating numbers"):
        gl.logcumsumexp(gl.tensor([1, 2]), 0)


def test_differences_join_what_comes_before_and_after():
    x = gl.tensor([1.0, 4.0, 9.0], requires_grad=True)
    y = gl.diff(x, prepend=gl.tensor([0.0]), append=gl.tensor([16.0]))
    assert y.tolist() == [1.0, 3.0, 5.0, 7.0]
    y.backward(gl.tensor([1.0, 2.0, 3.0, 4.0]))
    assert x.grad.tolist() == [-1.0, -1.0, -1.0]
    assert gl.diff(x, n=2).tolist() == [2.0] and gl.diff(x, n=9).shape == (0,) and gl.diff(x, n=0).tolist() == [1.0, 4.0, 9.0]
    assert gl.diff(gl.tensor([True, False, False])).tolist() == [True, False]


def test_areas_are_those_of_trapezoids():
    y = gl.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 8.0]])
    assert gl.trapezoid(y).tolist() == [4.0, 9.0] and gl.trapezoid(y, dx=2.0, dim=0).tolist() == [3.0, 6.0, 11.0]
    assert gl.trapezoid(y, gl.tensor([0.0, 1.0, 3.0])).tolist() == [6.5, 15.0]
    assert gl.trapezoid(y, y).tolist() == [4.0, 30.0]
    assert gl.cumulative_trapezoid(y, dim=1).tolist() == [[1.5, 4.0], [3.0, 9.0]]


def test_an_axis_is_asked_for_and_named_when_it_is_wrong():
    x = gl.ones(2, 3)
    for f in (gl.cumsum, gl.cumprod, gl.cummax, gl.cummin, gl.logcumsumexp):
        with pytest.raises(KeywordError, match=f"{f.__name__}: along which axis"):
            f(x)
        with pytest.raises(DimError, match=f"{f.__name__}: there is no axis 2"):
            f(x, 2)
        assert all(np.array_equal(a, b) for a, b in zip(f(x, axis=1), f(x, 1), strict=True))
    with pytest.raises(ShapeError, match="diff: a 0-d tensor has no neighbours"):
        gl.diff(gl.tensor(1.0))
    with pytest.raises(ArgumentError, match="diff: how often"):
        gl.diff(x, n=-1)
