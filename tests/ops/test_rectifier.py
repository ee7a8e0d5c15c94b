"""Rectifiers and other activations with bends: values and slopes at the bends, at infinity and NaN."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            gl.relu,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 0.5, 2.0, INF, NAN],
            [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        ),
        (
            gl.leaky_relu,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-INF, -0.02, -0.005, 0.0, 0.5, 2.0, INF, NAN],
            [0.01, 0.01, 0.01, 0.01, 1.0, 1.0, 1.0, 0.01],
        ),
        (
            lambda x: gl.leaky_relu(x, 0.3),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-INF, -0.6, -0.15, 0.0, 0.5, 2.0, INF, NAN],
            [0.3, 0.3, 0.3, 0.3, 1.0, 1.0, 1.0, 0.3],
        ),
        (
            lambda x: gl.threshold(x, 0.5, 9.0),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF],
            [9.0, 9.0, 9.0, 9.0, 9.0, 2.0, INF],
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        ),
        (gl.elu, [-INF, -2.0, 0.0, 2.0, INF], [-1.0, -0.8646647167633873, 0.0, 2.0, INF], [0.0, 0.1353352832366127, 1.0, 1.0, 1.0]),
        (lambda x: gl.elu(x, 1.5), [-INF, -2.0, 0.0, 2.0], [-1.5, -1.296997075145081, 0.0, 2.0], [0.0, 0.20300292485491905, 1.5, 1.0]),
        (
            gl.selu,
            [-INF, -2.0, 0.0, 2.0, INF],
            [-1.7580993408473766, -1.5201664685956948, 0.0, 2.101401974710961, INF],
            [0.0, 0.2379328722516818, 1.7580993408473766, 1.0507009873554805, 1.0507009873554805],
        ),
        (
            lambda x: gl.celu(x, 2.0),
            [-INF, -2.0, 0.0, 2.0, INF],
            [-2.0, -1.2642411176571153, 0.0, 2.0, INF],
            [0.0, 0.36787944117144233, 1.0, 1.0, 1.0],
        ),
        (gl.hardtanh, [-INF, -1.0, -0.5, 1.0, 2.0], [-1.0, -1.0, -0.5, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0, 0.0]),
        (
            lambda x: gl.hardtanh(x, -2.0, 0.5),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF],
            [-2.0, -2.0, -0.5, 0.0, 0.5, 0.5, 0.5],
            [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        ),
        (gl.relu6, [-1.0, 0.0, 3.0, 6.0, 7.0, INF], [0.0, 0.0, 3.0, 6.0, 6.0, 6.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        (
            gl.hardswish,
            [-4.0, -3.0, -1.0, 0.0, 1.0, 3.0, 4.0, INF],
            [-0.0, -0.0, -0.3333333333333333, 0.0, 0.6666666666666666, 3.0, 4.0, INF],
            [0.0, 0.0, 0.16666666666666669, 0.5, 0.8333333333333333, 1.0, 1.0, 1.0],
        ),
        (gl.hardshrink, [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF], [-INF, -2.0, 0.0, 0.0, 0.0, 2.0, INF], [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]),
        (
            lambda x: gl.hardshrink(x, 2.0),
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF],
            [-INF, 0.0, 0.0, 0.0, 0.0, 0.0, INF],
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ),
        (
            gl.softshrink,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF],
            [-INF, -1.5, -0.0, 0.0, 0.0, 1.5, INF],
            [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        ),
        (
            gl.tanhshrink,
            [-2.0, 0.0, 0.5, 2.0],
            [-1.035972419924183, 0.0, 0.03788284273999026, 1.035972419924183],
            [0.9293491751468356, 0.0, 0.2135522670340726, 0.9293491751468356],
        ),
        (
            gl.rrelu,
            [-INF, -2.0, -0.5, 0.0, 0.5, 2.0, INF, NAN],
            [-INF, -0.4583333333333333, -0.11458333333333333, 0.0, 0.5, 2.0, INF, NAN],
            [0.22916666666666666, 0.22916666666666666, 0.22916666666666666, 0.22916666666666666, 1.0, 1.0, 1.0, 0.22916666666666666],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


def test_hardsigmoid_at_its_bends():
    x = gl.tensor(np.array([-4.0, -3.0, 0.0, 1.5, 3.0, 4.0, NAN]), requires_grad=True)
    y = gl.hardsigmoid(x)
    np.testing.assert_allclose(y.data, [0, 0, 0.5, 0.75, 1, 1, NAN], rtol=1e-15)
    y.backward(gl.ones_like(y))
    np.testing.assert_allclose(x.grad.data, [0, 0, 1 / 6, 1 / 6, 0, 0, 0], rtol=1e-15)


def test_elu_of_nan_is_nan_and_far_below_nothing_overflows():
    assert np.isnan(gl.elu([NAN]).data).all() and gl.selu(gl.tensor([1e4])).item() == pytest.approx(10507.01)
    assert gl.celu(gl.tensor([-1e30]), 0.5).item() == -0.5


def test_prelu_has_one_slope_a_channel():
    x = gl.tensor(np.arange(-6.0, 6.0).reshape(2, 3, 2), requires_grad=True)
    w = gl.tensor(np.array([0.5, 0.25, 0.1]), requires_grad=True)
    y = gl.prelu(x, w)
    np.testing.assert_allclose(y.data, [[[-3.0, -2.5], [-1.0, -0.75], [-0.2, -0.1]], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]])
    y.sum().backward()
    assert w.grad.tolist() == [-11.0, -7.0, -3.0]
    np.testing.assert_allclose(x.grad.data, [[[0.5] * 2, [0.25] * 2, [0.1] * 2], [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0]]])
    one = gl.tensor([0.5], requires_grad=True)
    gl.prelu(gl.tensor([-2.0, 3.0, -4.0]), one).sum().backward()
    assert one.grad.tolist() == [-6.0]


def test_prelu_refuses_slopes_that_do_not_fit():
    for shape, slopes in [((2, 3), 2), ((4,), 4), ((), 2)]:
        with pytest.raises(ValueError, match="prelu: the slopes don't fit the channels"):
            gl.prelu(gl.ones(*shape), gl.ones(slopes))
    with pytest.raises(TypeError, match="prelu: the dtypes differ"):
        gl.prelu(gl.ones(2, 3), gl.ones(3, dtype="float64"))


def test_rrelu_draws_its_slopes_in_training_and_keeps_them_for_backward():
    x = gl.tensor(np.full(1000, -1.0), requires_grad=True)
    y = gl.rrelu(x, 0.2, 0.4, training=True)
    slopes = -y.data
    assert 0.2 <= slopes.min() < 0.22 and 0.38 < slopes.max() <= 0.4 and len(set(slopes)) == 1000
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.data, slopes)
    assert gl.rrelu([2.0, 0.0], 0.2, 0.4, training=True).tolist() == [2.0, 0.0]
    gl.manual_seed(1)
    first = gl.rrelu(x, training=True).data
    gl.manual_seed(1)
    np.testing.assert_array_equal(gl.rrelu(x, training=True).data, first)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: gl.rrelu([1.0], 0.5, 0.1), "rrelu: the bounds are the wrong way round"),
        (lambda: gl.hardtanh([1.0], 1.0, -1.0), "hardtanh: the bounds are the wrong way round"),
        (lambda: gl.softshrink([1.0], -1.0), "softshrink: lambd is a distance"),
        (lambda: gl.celu([1.0], 0.0), "celu: x is divided by alpha"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_integers_stay_integers_where_no_fraction_can_come_out():
    x = gl.tensor([-3, 0, 9])
    assert gl.relu(x).tolist() == [0, 0, 9] and gl.relu6(x).tolist() == [0, 0, 6] and gl.hardtanh(x).tolist() == [-1, 0, 1]
    assert gl.threshold(x, 1, 5).tolist() == [5, 5, 9]
    for f in (gl.relu, gl.relu6, gl.hardtanh):
        assert f(x).dtype == "int64" and f(2.0).dtype == "float32"
    for f in (gl.elu, gl.selu, gl.celu, gl.hardswish, gl.hardsigmoid, gl.hardshrink, gl.softshrink, gl.tanhshrink, gl.mish, gl.softsign):
        assert f(x).dtype == "float32"
