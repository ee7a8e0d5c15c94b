"""Arithmetic and comparisons: values, ties, broadcasting, dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

X = [[1.0, -2.0, 0.5], [3.0, 4.0, -0.25]]
Y = [2.0, 0.5, -4.0]


@pytest.mark.parametrize(
    ("op", "formula"),
    [
        (gl.add, np.add),
        (gl.sub, np.subtract),
        (gl.mul, np.multiply),
        (gl.div, np.divide),
        (gl.maximum, np.maximum),
        (gl.minimum, np.minimum),
    ],
)
def test_two_operands_broadcast_as_in_numpy(op, formula):
    np.testing.assert_array_equal(op(gl.tensor(X), gl.tensor(Y)).data, formula(np.float32(X), np.float32(Y)))
    np.testing.assert_array_equal(op(gl.tensor(Y), 2.0).data, formula(np.float32(Y), np.float32(2)))
    np.testing.assert_array_equal(op(2.0, gl.tensor(Y)).data, formula(np.float32(2), np.float32(Y)))


def test_gradients_come_back_in_the_shape_of_each_operand():
    a, b = gl.tensor([[1.0], [2.0], [3.0]], requires_grad=True), gl.tensor([[10.0, 20.0]], requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.tolist() == [[30.0], [30.0], [30.0]] and b.grad.tolist() == [[6.0, 6.0]]
    a.grad = b.grad = None
    (a / b).sum().backward()
    np.testing.assert_allclose(a.grad.data, [[0.15]] * 3, rtol=1e-6)
    np.testing.assert_allclose(b.grad.data, [[-0.06, -0.015]], rtol=1e-6)
    a.grad = b.grad = None
    (a - b).sum().backward()
    assert a.grad.tolist() == [[2.0]] * 3 and b.grad.tolist() == [[-3.0, -3.0]]


def test_one_tensor_on_both_sides_gets_both_gradients():
    for f, want in [
        (lambda x: x + x, 2.0),
        (lambda x: x - x, 0.0),
        (lambda x: x * x, 6.0),
        (lambda x: x / x, 0.0),
        (lambda x: gl.maximum(x, x), 1.0),
    ]:
        x = gl.tensor(3.0, requires_grad=True)
        f(x).backward()
        assert x.grad.item() == want


def test_a_tie_gives_half_to_each_side():
    a, b = gl.tensor([1.0, 2.0, 3.0], requires_grad=True), gl.tensor([1.0, 3.0, 2.0], requires_grad=True)
    gl.maximum(a, b).sum().backward()
    assert a.grad.tolist() == [0.5, 0.0, 1.0] and b.grad.tolist() == [0.5, 1.0, 0.0]
    a.grad = b.grad = None
    gl.minimum(a, b).sum().backward()
    assert a.grad.tolist() == [0.5, 1.0, 0.0] and b.grad.tolist() == [0.5, 0.0, 1.0]


def test_maximum_and_minimum_keep_nan():
    for op in (gl.maximum, gl.minimum):
        assert np.isnan(op(gl.tensor([np.nan, 1.0]), gl.tensor([1.0, np.nan])).data).all()


def test_a_gradient_that_goes_elsewhere_is_chosen_and_not_multiplied_by_zero():
    a, b = gl.tensor([1.0, 5.0], requires_grad=True), gl.tensor([2.0, 2.0], requires_grad=True)
    y = gl.maximum(a, b)
    da, db = y.grad_fn.pull(np.float32([np.inf, np.nan]))
    assert da[0] == 0.0 and db[1] == 0.0


def test_abs_has_gradient_zero_at_zero():
    x = gl.tensor([0.0, -2.0, 3.0], requires_grad=True)
    y = abs(x)
    y.sum().backward()
    assert y.tolist() == [0.0, 2.0, 3.0] and x.grad.tolist() == [0.0, -1.0, 1.0]


def test_neg_changes_the_sign_of_value_and_gradient():
    x = gl.tensor([1.0, -2.0], requires_grad=True)
    y = -x
    y.sum().backward()
    assert y.tolist() == [-1.0, 2.0] and x.grad.tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_on_either_side_widen_nothing(dtype):
    x = gl.tensor(np.array([1.0, 2.0], dtype), requires_grad=True)
    two = np.float64(2.5)
    for y in (
        x * 2.5,
        2.5 * x,
        x + 1,
        1 - x,
        x / 3,
        3 / x,
        x * two,
        two * x,
        x / two,
        two / x,
        x + True,
        gl.maximum(x, 0.5),
        gl.minimum(0.5, x),
    ):
        assert y.dtype == dtype
        x.grad = None
        y.sum().backward()
        assert x.grad.dtype == dtype


def test_integers_divide_to_float32_and_otherwise_stay_integers():
    a = gl.tensor([1, 2])
    assert (a / 2).dtype == "float32" and (a / gl.tensor([2, 4])).tolist() == [0.5, 0.5] and (1 / a).dtype == "float32"
    assert (a / gl.tensor([2, 4])).dtype == "float32" and gl.div(1, 2).dtype == "float32" and gl.div(3.0, 2).item() == 1.5
    assert (a * 2).dtype == (a + a).dtype == (-a).dtype == "int64"
    assert (a + 1.5).dtype == (a * 0.5).dtype == "float32"
    assert (gl.tensor([True, False]) / 2).tolist() == [0.5, 0.0]


def test_a_zero_dimensional_operand_widens_nothing_of_its_kind():
    x, s = gl.tensor([1.0]), gl.tensor(2.0, dtype="float64")
    assert (x * s).dtype == (s * x).dtype == "float32"
    assert (x * gl.tensor([2.0], dtype="float64")).dtype == "float64"


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match="broadcast"):
        gl.tensor([1.0, 2.0]) + gl.tensor([1.0, 2.0, 3.0])


def test_comparisons_give_booleans_without_a_gradient():
    x = gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for got, want in [
        (x < 2, [True, False, False]),
        (x <= 2, [True, True, False]),
        (x > 2, [False, False, True]),
        (x >= 2, [False, True, True]),
        (x == 2, [False, True, False]),
        (x != 2, [True, False, True]),
        (x > 2, [False, False, True]),
        (x.lt(2), [True, False, False]),
        (x.le(2), [True, True, False]),
        (x.gt(2), [False, False, True]),
        (x.ge(2), [False, True, True]),
        (x.eq(2), [False, True, False]),
        (x.ne(2), [True, False, True]),
    ]:
        assert got.dtype == "bool" and got.tolist() == want and not got.requires_grad and got.grad_fn is None


def test_nan_equals_nothing():
    x = gl.tensor([np.nan])
    assert (x == x).tolist() == [False] and (x != x).tolist() == [True]


def test_a_tensor_is_compared_with_none_and_words_without_an_error():
    x = gl.tensor([1.0])
    assert (x == None) is False and (x != None) is True and (x == "x") is False  # noqa: E711
    assert x in [x] and len({x, x}) == 1


def test_dividing_by_zero_gives_infinity_without_a_warning():
    assert (gl.tensor([1.0, -1.0]) / 0.0).tolist() == [np.inf, -np.inf]


def test_clamp_moves_what_is_outside_and_cuts_its_gradient():
    x = gl.tensor([-2.0, -1.0, 0.5, 1.0, 3.0], requires_grad=True)
    y = x.clamp(-1.0, 1.0)
    y.sum().backward()
    assert y.tolist() == [-1.0, -1.0, 0.5, 1.0, 1.0] and x.grad.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert gl.clamp(x, min=0.0).tolist() == [0.0, 0.0, 0.5, 1.0, 3.0] and gl.clamp(x, max=0).tolist() == [-2.0, -1.0, 0.0, 0.0, 0.0]
    assert np.isnan(gl.clamp([np.nan], 0.0, 1.0).data).all()


def test_clamp_wants_numbers():
    for kw in ({}, {"min": "0"}, {"min": 0.0, "max": "1"}):
        with pytest.raises(TypeError, match="clamp: the bounds are numbers"):
            gl.clamp([1.0], **kw)
