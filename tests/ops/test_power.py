"""Powers, exponentials, logarithms: values, and the places where textbook rules break."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


def t(values, **kw):
    return gl.tensor(np.array(values, "float64"), requires_grad=True, **kw)


@pytest.mark.parametrize(
    ("exponent", "base", "value", "gradient"),
    [
        (2, [0.0, -3.0], [0.0, 9.0], [0.0, -6.0]),
        (0, [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]),
        (0.0, [0.0, INF], [1.0, 1.0], [0.0, 0.0]),
        (1, [0.0, -2.0], [0.0, -2.0], [1.0, 1.0]),
        (3, [-2.0, 0.0], [-8.0, 0.0], [12.0, 0.0]),
        (-1, [2.0, -4.0], [0.5, -0.25], [-0.25, -0.0625]),
        (-2.0, [2.0, -4.0], [0.25, 0.0625], [-0.25, 0.03125]),
        (1.5, [0.0, 4.0], [0.0, 8.0], [0.0, 3.0]),
    ],
)
def test_a_number_as_exponent_needs_no_logarithm(exponent, base, value, gradient):
    x = t(base)
    y = x**exponent
    y.sum().backward()
    assert y.tolist() == value and x.grad.tolist() == gradient


def test_the_square_root_as_a_power_has_an_infinite_slope_at_zero():
    x = t([0.0, 4.0])
    y = x**0.5
    y.sum().backward()
    assert x.grad.tolist() == [INF, 0.25]


def test_an_exponent_has_no_gradient_where_the_base_is_zero():
    a, b = t([0.0, 0.0, 2.0]), t([2.0, 0.0, 3.0])
    y = a**b
    y.sum().backward()
    assert y.tolist() == [0.0, 1.0, 8.0] and a.grad.tolist() == [0.0, 0.0, 12.0]
    np.testing.assert_allclose(b.grad.data, [0.0, 0.0, 8 * np.log(2)])


def test_an_exponent_of_a_negative_base_has_gradient_nan():
    a, b = t([-2.0, -2.0]), t([3.0, 2.0])
    y = a**b
    y.sum().backward()
    assert y.tolist() == [-8.0, 4.0] and a.grad.tolist() == [12.0, -4.0] and np.isnan(b.grad.data).all()


def test_a_negative_base_is_fine_where_the_exponent_needs_no_gradient():
    a = t([-2.0, 3.0])
    (a ** gl.tensor([3.0, 2.0])).sum().backward()
    assert a.grad.tolist() == [12.0, 6.0]


def test_zero_to_a_negative_exponent_is_infinite():
    b = t([-1.0])
    (0.0**b).sum().backward()
    assert b.grad.tolist() == [-INF]


def test_a_number_raised_to_a_tensor():
    x = t([0.0, 3.0])
    y = 2.0**x
    y.sum().backward()
    assert y.tolist() == [1.0, 8.0]
    np.testing.assert_allclose(x.grad.data, [np.log(2), 8 * np.log(2)])
    y = 0.0 ** gl.tensor([0.0, 2.0], requires_grad=True)
    y.sum().backward()
    assert y.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_keep_the_dtype(dtype):
    x = gl.tensor(np.array([1.0, 2.0], dtype), requires_grad=True)
    for y in (x**2, x**0.5, 2**x, 2.0**x, np.float64(2) ** x, x ** np.float64(2)):
        assert y.dtype == dtype
        x.grad = None
        y.sum().backward()
        assert x.grad.dtype == dtype


def test_integers_to_an_integer_power_stay_integers():
    y = gl.tensor([2, 3]) ** 2
    assert y.dtype == "int64" and y.tolist() == [4, 9]
    assert (gl.tensor([2, 3]) ** 2.0).dtype == "float32"


@pytest.mark.parametrize(("op", "formula"), [(gl.exp, np.exp), (gl.log, np.log), (gl.sqrt, np.sqrt), (gl.sin, np.sin), (gl.cos, np.cos)])
def test_functions_of_one_number_equal_numpys(op, formula):
    x = np.array([0.1, 1.0, 2.5])
    np.testing.assert_array_equal(op(gl.tensor(x)).data, formula(x))
    assert op(gl.tensor([1, 2])).dtype == op(gl.tensor([True])).dtype == op(1).dtype == op(2.0).dtype == "float32"
    np.testing.assert_allclose(op(2).item(), formula(2), rtol=1e-6)


def test_gradients_at_hand_computed_points():
    for op, at, want in [(gl.exp, 1.0, np.e), (gl.log, 4.0, 0.25), (gl.sqrt, 4.0, 0.25), (gl.sin, np.pi, -1.0), (gl.cos, np.pi / 2, -1.0)]:
        x = t(at)
        op(x).backward()
        np.testing.assert_allclose(x.grad.item(), want)


def test_the_slope_of_the_root_at_zero_is_infinite():
    x = t([0.0, 4.0])
    y = x.sqrt()
    y.sum().backward()
    assert x.grad.tolist() == [INF, 0.25]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, -1, -2, 0.5, 2.5, -0.5])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_number_as_exponent_scales_what_comes_in(exponent, dtype):
    values, g = np.array([0.5, 1.25, 3.0]), np.array([2.0, -3.0, 0.5])
    x = gl.tensor(values.astype(dtype), requires_grad=True)
    y = gl.pow(x, exponent)
    y.backward(gl.tensor(g.astype(dtype)))
    rtol = {"float16": 3e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    np.testing.assert_allclose(y.data, values**exponent, rtol=rtol)
    np.testing.assert_allclose(x.grad.data, g * exponent * values ** (exponent - 1.0), rtol=rtol)
