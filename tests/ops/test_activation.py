"""Activations and softmax: values far from zero, kinks, and forms that neither overflow nor lose digits."""

from __future__ import annotations

from math import erf, erfc, exp, pi, sqrt

import numpy as np
import pytest

import gradlab as gl
from gradlab.ops import GELU, GELUTanh

FAR = [-1000.0, -40.0, 0.0, 40.0, 1000.0]
TAIL = 4.248354255291589e-18  # 1 / (1 + e^40)


def pulled(op, values, dtype="float64"):
    """Values and gradients at a list of points."""
    x = gl.tensor(np.array(values, dtype), requires_grad=True)
    y = op(x)
    y.sum().backward()
    return y.data, x.grad.data


def test_tanh():
    y, dx = pulled(gl.tanh, [*FAR, 0.5])
    np.testing.assert_allclose(y, [-1, -1, 0, 1, 1, 0.46211715726000975])
    np.testing.assert_allclose(dx, [0, 0, 1, 0, 0, 0.7864477329659275], atol=1e-15)


def test_sigmoid_keeps_the_digits_of_its_tail():
    y, dx = pulled(gl.sigmoid, FAR)
    np.testing.assert_allclose(y, [0, TAIL, 0.5, 1, 1], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(dx, [0, TAIL, 0.25, 0, 0], rtol=1e-14, atol=1e-16)
    assert np.isnan(gl.sigmoid([np.nan]).data).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_no_activation_overflows_in_any_dtype(dtype):
    for op in (gl.tanh, gl.sigmoid, gl.relu, gl.gelu, lambda x: gl.gelu(x, approximate="tanh")):
        y, dx = pulled(op, [-1000.0, 1000.0], dtype)
        assert y.dtype == dx.dtype == dtype and np.isfinite(y).all() and np.isfinite(dx).all()


def test_relu_has_gradient_zero_at_zero_and_keeps_nan():
    y, dx = pulled(gl.relu, [0.0, -1.0, 2.0])
    assert y.tolist() == [0, 0, 2] and dx.tolist() == [0, 0, 1]
    assert np.isnan(gl.relu([np.nan, -1.0]).data).tolist() == [True, False]
    assert gl.relu(gl.tensor([-1, 2])).tolist() == [0, 2]


def test_gelu_is_exact_by_default():
    x = np.array([-3.0, -1.0, 0.0, 0.5, 3.0, 100.0, -100.0])
    y, dx = pulled(gl.gelu, x)
    np.testing.assert_allclose(y, [0.5 * v * (1 + erf(v / sqrt(2))) for v in x], rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(dx, [0.5 * (1 + erf(v / sqrt(2))) + v * exp(-v * v / 2) / sqrt(2 * pi) for v in x], rtol=1e-10, atol=1e-16)


def test_gelu_is_right_to_ten_digits_everywhere_that_counts():
    x = np.linspace(-11, 11, 4001)
    want = np.array([0.5 * v * erfc(-v / sqrt(2)) for v in x])
    np.testing.assert_allclose(gl.gelu(gl.tensor(x)).data, want, rtol=1e-10, atol=0)
    np.testing.assert_allclose(gl.gelu(gl.tensor(x.astype("float32"))).data, want, rtol=2e-6, atol=1e-8)


def test_gelu_of_infinity_and_nan():
    for op in (gl.gelu, lambda x: gl.gelu(x, approximate="tanh")):
        assert op(gl.tensor([np.inf, np.nan])).tolist() == [np.inf, pytest.approx(np.nan, nan_ok=True)]
    assert gl.gelu(gl.tensor([-np.inf])).tolist() == [0.0]


def test_gelu_in_the_tanh_form():
    y, dx = pulled(lambda x: gl.gelu(x, approximate="tanh"), [-3.0, -1.0, 0.0, 0.5, 3.0, 100.0, -100.0])
    np.testing.assert_allclose(
        y, [-0.0036373920817729943, -0.15880800939172324, 0.0, 0.34571400982514394, 2.996362607918227, 100.0, 0.0], rtol=1e-12, atol=1e-30
    )
    np.testing.assert_allclose(
        dx, [-0.011584166630969648, -0.08296408384578252, 0.5, 0.8673699035346424, 1.0115841666309695, 1.0, 0.0], rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("op", [GELU, GELUTanh])
def test_gelu_of_a_large_tensor_equals_its_formula(op):
    rng = np.random.default_rng(1)
    x = np.asfortranarray(rng.uniform(-6, 6, (301, 250)))  # more than two blocks, and not in C order
    t = gl.tensor(x, requires_grad=True)
    y = op.apply(t)
    np.testing.assert_allclose(y.data, op.reference(x), rtol=1e-10, atol=1e-12)
    g = rng.standard_normal(x.shape)
    (dx,) = y.grad_fn.pull(g)
    h = 1e-6
    np.testing.assert_allclose(dx, g * (op.reference(x + h) - op.reference(x - h)) / (2 * h), rtol=1e-5, atol=1e-8)


def test_gelu_says_which_forms_there_are():
    with pytest.raises(ValueError, match='"none" or "tanh"'):
        gl.gelu([1.0], approximate="fast")


def test_softmax_of_large_scores():
    x = gl.tensor([[1000.0, 1001.0], [-1000.0, -1000.0]], dtype="float64", requires_grad=True)
    y = gl.softmax(x, dim=1)
    (y * gl.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    np.testing.assert_allclose(y.data, [[0.2689414213699951, 0.7310585786300049], [0.5, 0.5]])
    np.testing.assert_allclose(x.grad.data, [[-0.19661193324148185, 0.19661193324148185], [-0.25, 0.25]])


def test_softmax_takes_the_largest_of_each_row_and_not_of_all():
    assert gl.softmax(gl.tensor([[0.0, 0.0], [2000.0, 2000.0]]), dim=1).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert gl.softmax(gl.tensor([[0.0, 5.0], [0.0, 5.0]]), dim=0).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert gl.softmax(gl.tensor([-np.inf, 0.0, 0.0]), dim=-1).tolist() == [0.0, 0.5, 0.5]


def test_log_softmax_is_finite_where_the_probability_is_zero():
    x = gl.tensor([0.0, -800.0], requires_grad=True)
    y = x.log_softmax(0)
    y[1].backward()
    assert y.tolist() == [0.0, -800.0] and x.grad.tolist() == [-1.0, 1.0]


def test_softmax_of_integers_is_float32():
    for op in (gl.softmax, gl.log_softmax, gl.logsumexp):
        assert op(gl.tensor([1, 2, 3]), 0).dtype == "float32"


def test_an_axis_that_is_not_there_is_refused():
    for op in (gl.softmax, gl.log_softmax, gl.logsumexp):
        with pytest.raises(IndexError, match="axis 2"):
            op(gl.zeros(2, 3), 2)


def test_logsumexp_neither_overflows_nor_underflows():
    for values, want, gradient in [
        ([1000.0, 1000.0], 1000.6931471805599, [0.5, 0.5]),
        ([-1000.0, -999.0], -998.6867383124818, [0.2689414213699951, 0.7310585786300049]),
        ([-np.inf, 1.0], 1.0, [0.0, 1.0]),
    ]:
        x = gl.tensor(np.array(values), requires_grad=True)
        y = x.logsumexp(0)
        y.backward()
        np.testing.assert_allclose(y.item(), want)
        np.testing.assert_allclose(x.grad.data, gradient)


def test_logsumexp_of_nothing_but_minus_infinity_is_minus_infinity():
    x = gl.tensor([[-np.inf, -np.inf], [0.0, 0.0]], requires_grad=True)
    y = gl.logsumexp(x, dim=1)
    y.sum().backward()
    assert y.tolist() == [-np.inf, pytest.approx(np.log(2))] and x.grad.tolist() == [[0.0, 0.0], [0.5, 0.5]]


def test_logsumexp_over_several_axes_keeps_them_where_asked():
    x = np.arange(12.0).reshape(2, 3, 2)
    want = np.log(np.exp(x).sum((0, 2)))
    np.testing.assert_allclose(gl.logsumexp(gl.tensor(x), [0, -1]).data, want)
    np.testing.assert_allclose(gl.tensor(x).logsumexp((0, 2), keepdim=True).data, want[None, :, None])
    np.testing.assert_allclose(gl.logsumexp(gl.tensor(x)).item(), np.log(np.exp(x).sum()))


def test_leaky_relu_has_its_slope_at_zero():
    y, dx = pulled(lambda x: gl.leaky_relu(x, 0.1), [0.0, -1.0, 2.0])
    np.testing.assert_allclose(y, [0, -0.1, 2])
    assert dx.tolist() == [0.1, 0.1, 1.0]
    assert np.isnan(gl.leaky_relu([np.nan]).data).all()


def test_silu():
    y, dx = pulled(gl.silu, [*FAR, 1.0])
    np.testing.assert_allclose(y, [0, -40 * TAIL, 0, 40, 1000, 0.7310585786300049], atol=1e-300)
    np.testing.assert_allclose(dx, [0, -39 * TAIL, 0.5, 1, 1, 0.9276705118714869], atol=1e-15)


def test_softplus_is_linear_far_up_and_keeps_its_tail():
    y, dx = pulled(gl.softplus, FAR)
    np.testing.assert_allclose(y, [0, TAIL, np.log(2), 40, 1000], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(dx, [0, TAIL, 0.5, 1, 1], rtol=1e-14, atol=1e-300)
    assert gl.softplus(gl.tensor([-120.0, 120.0])).tolist() == [pytest.approx(0.0, abs=1e-30), 120.0]
    np.testing.assert_allclose(gl.softplus(gl.tensor([0.5], dtype="float64"), beta=2.0).data, np.log1p(np.e) / 2)


def test_logsigmoid_is_the_logarithm_of_the_sigmoid_also_where_that_is_zero():
    y, dx = pulled(gl.logsigmoid, FAR)
    np.testing.assert_allclose(y, [-1000, -40, -np.log(2), -TAIL, 0], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(dx, [1, 1, 0.5, TAIL, 0], rtol=1e-14, atol=1e-300)
