"""layer_norm and rms_norm: several axes, eps inside the root, constant rows, mixed dtypes, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F


def test_the_variance_is_biased_and_eps_stands_inside_the_root():
    x = gl.tensor(np.array([[1.0, 2.0, 6.0]]), requires_grad=True)
    y = F.layer_norm(x, [3], eps=0.5)  # mean 3, variance 14 / 3
    np.testing.assert_allclose(y.data, (x.data - 3) / np.sqrt(14 / 3 + 0.5))
    (y * gl.tensor(np.array([[1.0, 0.0, 2.0]]))).sum().backward()
    np.testing.assert_allclose(x.grad.data, [[0.2270665006782245, -0.3264080947249477, 0.09934159404672319]])


def test_two_axes_have_one_mean_and_a_weight_of_their_shape():
    x = np.arange(12.0).reshape(3, 2, 2) ** 2
    w, b = np.arange(4.0).reshape(2, 2), np.ones((2, 2))
    y = F.layer_norm(gl.tensor(x), (2, 2), gl.tensor(w), gl.tensor(b))
    mean, var = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    np.testing.assert_allclose(y.data, (x - mean) / np.sqrt(var + 1e-5) * w + b)


def test_constant_rows_become_zero():
    assert F.layer_norm([[5.0, 5.0, 5.0]], 3).tolist() == [[0.0, 0.0, 0.0]]
    assert F.layer_norm([[5.0]], [1]).tolist() == [[0.0]]


def test_a_bias_needs_no_weight():
    x, b = gl.tensor(np.array([[1.0, 3.0]]), requires_grad=True), gl.tensor(np.array([1.0, 1.0]), requires_grad=True)
    y = F.layer_norm(x, (2,), bias=b, eps=0.0)
    assert y.tolist() == [[0.0, 2.0]]
    y.sum().backward()
    assert b.grad.tolist() == [1.0, 1.0]


def test_rms_norm_leaves_the_mean_and_has_an_eps_of_the_dtype():
    assert F.rms_norm(gl.tensor(np.array([3.0, 4.0])), (2,), eps=0.0).data.round(6).tolist() == [0.848528, 1.131371]
    np.testing.assert_allclose(F.rms_norm([1e-4, 0.0], (2,)).data, [0.2837, 0.0], rtol=1e-3)
    np.testing.assert_allclose(F.rms_norm(gl.tensor(np.array([1e-4, 0.0])), (2,)).data, [2**0.5, 0.0], rtol=1e-6)
    np.testing.assert_allclose(F.rms_norm(gl.tensor(np.array([1e-3, 0.0], "float16")), (2,)).data, [1.2705, 0.0], rtol=1e-3)


def test_half_may_be_normalised_with_float32_weights():
    x = gl.tensor(np.array([[1.0, 2.0]], "float16"), requires_grad=True)
    w = gl.ones(2, requires_grad=True)
    for y in (F.layer_norm(x, (2,), w, gl.zeros(2)), F.rms_norm(x, (2,), w)):
        assert y.dtype == "float16"
        y.sum().backward()
    assert x.grad.dtype == "float16" and w.grad.dtype == "float32"


def test_sums_of_float16_do_not_stop():
    x = np.full((1, 5000), 8.0, "float16")
    x[0, ::2] = 6.0
    np.testing.assert_allclose(F.layer_norm(gl.tensor(x), 5000).data[0, :2], [-1.0, 1.0], rtol=1e-3)
    np.testing.assert_allclose(F.rms_norm(gl.tensor(x * 100), 5000).data[0, :2], [0.8485, 1.1314], rtol=1e-3)


@pytest.mark.parametrize("op", [F.layer_norm, F.rms_norm])
def test_what_does_not_fit_is_refused(op):
    name, x = op.__name__, gl.ones(2, 3)
    for shape in ((2,), (), (2, 2, 3)):
        with pytest.raises(ValueError, match=f"{name}: the last axes of x are not the normalized shape"):
            op(x, shape)
    with pytest.raises(ValueError, match=f"{name}: the weight does not fit"):
        op(x, (3,), gl.ones(2))
    with pytest.raises(TypeError, match=f"{name}: the dtypes differ"):
        op(x, (3,), gl.ones(3, dtype=gl.float64))
    with pytest.raises(TypeError, match=f"{name}: takes floating numbers"):
        op(gl.tensor([[1, 2, 3]]), (3,))
    with pytest.raises(TypeError, match="normalized_shape: this is no whole number"):
        op(x, 3.0)


def test_layer_norm_refuses_a_bias_of_another_shape():
    with pytest.raises(ValueError, match="layer_norm: the bias does not fit"):
        F.layer_norm(gl.ones(2, 3), (3,), bias=gl.ones(1))
