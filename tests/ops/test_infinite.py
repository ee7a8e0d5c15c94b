"""Infinities where they meet a gradient: a branch not taken gets 0 and not NaN, and nothing warns where PyTorch is silent."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


def pulled(f, *values, dtype="float32", g=None):
    """Gradients of f, with RuntimeWarnings as errors."""
    xs = [gl.tensor(np.array(v, dtype), requires_grad=True) for v in values]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = f(*xs)
        (y.sum() if g is None else y).backward(None if g is None else gl.tensor(np.array(g, dtype)))
    assert all(x.grad.dtype == dtype for x in xs)
    return [x.grad.tolist() for x in xs]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("f", "values", "want"),
    [
        (lambda x: gl.sqrt(gl.relu(x)), [-1.0, 0.0, 4.0], [0.0, 0.0, 0.25]),
        (lambda x: gl.sqrt(x.clamp(0.0)), [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: gl.sqrt(x.clamp(max=0.0)), [1.0, 2.0], [0.0, 0.0]),
        (lambda x: gl.sqrt(1 - x.clamp(0.0, 1.0)), [2.0, 0.75], [0.0, -1.0]),
        (lambda x: gl.sqrt(gl.maximum(x, 0.0)), [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: gl.sqrt(gl.minimum(x, 0.0)), [1.0, 2.0], [0.0, 0.0]),
        (lambda x: gl.sqrt(gl.where(x > 0, x, 0.0)), [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: gl.sqrt(gl.where(x <= 0, 0.0, x)), [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: gl.sqrt(x.masked_fill(x <= 0, 0.0)), [-1.0, 4.0], [0.0, 0.25]),
        (lambda x: gl.sqrt(x**0 - 1), [2.0, 0.0], [0.0, 0.0]),
        (lambda x: gl.sqrt(x.amax(0)), [-1.0, 0.0], [0.0, INF]),
        (lambda x: gl.sqrt(x.max(0).values), [-1.0, 0.0], [0.0, INF]),
        (lambda x: gl.sqrt(x.norm()), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: gl.sqrt(x.std(correction=0)), [1.0, 1.0], [0.0, 0.0]),
        (lambda x: gl.sqrt(x[:1]), [0.0, 1.0], [INF, 0.0]),
    ],
)
def test_a_branch_not_taken_gets_zero_from_an_infinite_gradient(f, values, want, dtype):
    assert pulled(f, values, dtype=dtype) == [want]


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
def test_relu_and_clamp_pass_every_gradient_on_or_drop_it(bad):
    for f in (gl.relu, lambda x: x.clamp(0.0, 9.0)):
        passed, dropped = pulled(f, [1.0, -1.0], g=[bad, bad])[0]
        np.testing.assert_equal([passed, dropped], [bad, 0.0])
        assert not np.signbit(dropped)


def test_dropped_gradients_are_dropped_whatever_memory_they_lie_in():
    x = gl.tensor(np.array([[1.0, -1.0, 2.0], [-1.0, 3.0, -2.0]]), requires_grad=True)
    g = np.full((3, 2), INF).T
    np.testing.assert_array_equal(gl.relu(x).grad_fn.pull(g)[0], np.where(x.data > 0, INF, 0))
    np.testing.assert_array_equal(gl.relu(x).grad_fn.pull(np.broadcast_to(np.float64(INF), (2, 3)))[0], np.where(x.data > 0, INF, 0))
    scalar = gl.tensor(-1.0, requires_grad=True)
    gl.sqrt(gl.relu(scalar)).backward()
    assert scalar.grad.item() == 0.0 and scalar.grad.shape == ()


def test_an_ignored_row_of_cross_entropy_adds_nothing_even_where_it_is_nan():
    x = gl.tensor([[0.0, 0.0], [NAN, 0.0]], requires_grad=True)
    assert gl.cross_entropy(x, [0, -100]).item() == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("f", "values", "want"),
    [
        (gl.sqrt, [[0.0, -1.0, 4.0]], [[INF, NAN, 0.25]]),
        (lambda x: x**0.5, [[0.0, -1.0, 4.0]], [[INF, NAN, 0.25]]),
        (lambda x: x**-1, [[0.0, 2.0]], [[-INF, -0.25]]),
        (lambda x: 0.0**x, [[-1.0, 0.0, 2.0]], [[-INF, 0.0, 0.0]]),
        (gl.pow, [[-2.0, -2.0, 0.0, 0.0, 0.0], [3.0, 0.5, 0.0, 2.0, -1.0]], [[12.0, NAN, 0.0, 0.0, -INF], [NAN, NAN, 0.0, 0.0, -INF]]),
        (gl.log, [[0.0, -1.0, 2.0]], [[INF, -1.0, 0.5]]),
        (gl.div, [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]], [[INF, INF, 0.5], [-INF, NAN, -0.0]]),
        (lambda x: 1 / x, [[0.0, 2.0]], [[-INF, -0.25]]),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_at_zero_and_below_the_answer_comes_without_a_warning(f, values, want, dtype):
    np.testing.assert_equal(pulled(f, *values, dtype=dtype), want)


def test_numpys_own_warnings_are_as_the_user_left_them():
    gl.log([0.0])
    gl.sqrt(gl.tensor([0.0], requires_grad=True)).sum().backward()
    with np.errstate(divide="raise"):
        gl.log([0.0])
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))
    assert np.geterr()["divide"] == "warn"


def test_an_exponent_gets_no_gradient_where_base_and_exponent_are_zero_even_an_infinite_one():
    assert pulled(gl.pow, [0.0, 0.0], [0.0, 2.0], g=[INF, INF])[1] == [0.0, 0.0]
    assert pulled(lambda x: x**0, [0.0, 3.0], g=[INF, NAN])[0] == [0.0, 0.0]
