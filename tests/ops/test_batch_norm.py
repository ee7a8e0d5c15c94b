"""batch_norm, group_norm, instance_norm and their kin: which variance where, running statistics, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.ops.channel import blocks


def test_the_batch_is_normalised_by_the_biased_variance_and_the_unbiased_one_is_remembered():
    x = gl.tensor(np.array([[1.0], [2.0], [6.0]]), requires_grad=True)
    w, b = gl.tensor(np.ones(1), requires_grad=True), gl.tensor(np.zeros(1), requires_grad=True)
    mean, var = gl.tensor(np.zeros(1)), gl.tensor(np.ones(1))
    y = F.batch_norm(x, mean, var, w, b, training=True)
    np.testing.assert_allclose(y.data.ravel(), [-0.9258191078240388, -0.4629095539120194, 1.3887286617360581])
    np.testing.assert_allclose([mean.item(), var.item()], [0.3, 1.6])  # 0.1 * 3, 0.9 + 0.1 * 14 / 2
    assert mean.version == 1 and not mean.requires_grad and mean.grad_fn is None
    (y * gl.tensor(np.array([[1.0], [2.0], [4.0]]))).sum().backward()
    np.testing.assert_allclose(x.grad.data.ravel(), [-0.08817438201781538, 0.11021599362843207, -0.02204161061161684])
    np.testing.assert_allclose([w.grad.item(), b.grad.item()], [3.703276431296155, 7.0])


def test_outside_of_training_the_running_statistics_are_used_and_kept():
    x = gl.tensor(np.array([[1.0], [2.0]]), requires_grad=True)
    mean, var = gl.tensor(np.array([0.3])), gl.tensor(np.array([1.6]))
    y = F.batch_norm(x, mean, var)
    np.testing.assert_allclose(y.data.ravel(), [0.5533968611669773, 1.3439638056912306])
    mean.data[0] = 99.0  # a later change does not reach the gradient
    (y * gl.tensor(np.array([[1.0], [3.0]]))).sum().backward()
    np.testing.assert_allclose(x.grad.data.ravel(), [0.7905669445242534, 2.37170083357276])
    assert F.batch_norm(gl.tensor(np.array([[50.0]])), gl.tensor(np.array([50.0])), var).tolist() == [[0.0]] and var.item() == 1.6


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 7), (2, 3, 4, 5), (70, 3, 40, 40), (2, 3, 1)])
def test_channels_are_the_second_axis(shape):
    x = np.random.default_rng(0).standard_normal(shape) + 5
    over = (0, *range(2, len(shape)))
    want = (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + 1e-5)
    np.testing.assert_allclose(F.batch_norm(gl.tensor(x), None, None, training=True).data, want, rtol=1e-9, atol=1e-10)
    momentum = 0.25
    mean, var = gl.zeros(3, dtype=gl.float64), gl.ones(3, dtype=gl.float64)
    F.batch_norm(gl.tensor(x), mean, var, training=True, momentum=momentum)
    np.testing.assert_allclose(mean.data, momentum * x.mean(over))
    np.testing.assert_allclose(var.data, 0.75 + momentum * x.var(over, ddof=1))


def test_a_gradient_over_many_blocks():
    rng = np.random.default_rng(0)
    x = gl.tensor(rng.standard_normal((9, 4, 100, 100)), requires_grad=True)
    g = rng.standard_normal(x.shape)
    F.batch_norm(x, None, None, training=True, eps=0.0).backward(gl.tensor(g))
    z = (x.data - x.data.mean((0, 2, 3), keepdims=True)) / x.data.std((0, 2, 3), keepdims=True)
    d = g - g.mean((0, 2, 3), keepdims=True) - z * (g * z).mean((0, 2, 3), keepdims=True)
    np.testing.assert_allclose(x.grad.data, d / x.data.std((0, 2, 3), keepdims=True), rtol=1e-8, atol=1e-10)


def test_a_gradient_of_groups_over_many_blocks():
    rng = np.random.default_rng(0)
    x, w = gl.tensor(rng.standard_normal((5, 4, 100, 100)), requires_grad=True), gl.tensor(rng.standard_normal(4), requires_grad=True)
    g = rng.standard_normal(x.shape)
    F.group_norm(x, 2, w, eps=0.0).backward(gl.tensor(g))
    rows, u = x.data.reshape(5, 2, -1), (g * w.data[:, None, None]).reshape(5, 2, -1)
    s = rows.std(-1, keepdims=True)
    z = (rows - rows.mean(-1, keepdims=True)) / s
    d = (u - u.mean(-1, keepdims=True) - z * (u * z).mean(-1, keepdims=True)) / s
    np.testing.assert_allclose(x.grad.data, d.reshape(x.shape), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(w.grad.data, (g * z.reshape(x.shape)).sum((0, 2, 3)))


def test_blocks_are_samples_that_fit_the_cache():
    def sizes(*shape):
        return [part.stop - part.start for part in blocks(np.broadcast_to(0.0, shape))]

    assert sizes(9, 4, 10_000) == [1] * 9
    assert sizes(10, 64, 256) == [4, 4, 4]
    assert sizes(1, 1000, 1000) == [1] and sizes(0, 3, 2) == []


def test_half_goes_with_float32_statistics_and_sums_in_float32():
    x = gl.tensor(np.full((5000, 1), 8.0, "float16"), requires_grad=True)
    x.data[::2] = 6.0
    mean, var = gl.zeros(1), gl.ones(1)
    y = F.batch_norm(x, mean, var, gl.ones(1), gl.zeros(1), training=True)
    assert y.dtype == "float16" and mean.dtype == "float32"
    np.testing.assert_allclose(y.data[:2].ravel(), [-1, 1], rtol=1e-3)
    np.testing.assert_allclose(mean.data, [0.7], rtol=1e-4)


def test_no_samples_move_nothing():
    mean, var = gl.zeros(3), gl.ones(3)
    assert F.batch_norm(gl.zeros(0, 3), mean, var, training=True).shape == (0, 3)
    assert mean.tolist() == [0.0] * 3 and var.tolist() == [1.0] * 3


def test_one_value_a_channel_has_no_variance():
    for shape in ((1, 3), (1, 3, 1)):
        with pytest.raises(ValueError, match="batch_norm: one value a channel"):
            F.batch_norm(gl.ones(*shape), None, None, training=True)
    with pytest.raises(ValueError, match="try:  training=False"):
        F.batch_norm(gl.ones(1, 3), gl.zeros(3), gl.ones(3), training=True)
    with pytest.raises(ValueError, match="group_norm: one value a group"):
        F.group_norm(gl.ones(1, 6), 6)
    for shape in ((2, 3), (2, 3, 1)):
        with pytest.raises(ValueError, match="instance_norm: one place"):
            F.instance_norm(gl.ones(*shape))


def test_what_is_not_one_number_a_channel_is_refused_before_anything_moves():
    x, mean, var = gl.ones(2, 3), gl.zeros(3), gl.ones(3)
    with pytest.raises(ValueError, match="batch_norm: the weight is not one number a channel"):
        F.batch_norm(x, mean, var, gl.ones(2), training=True)
    with pytest.raises(ValueError, match="the running_mean is not one number a channel"):
        F.batch_norm(x, gl.zeros(2), gl.ones(2), training=True)
    with pytest.raises(ValueError, match=r"running statistics are missing[\s\S]*both or none"):
        F.batch_norm(x, mean, None, training=True)
    with pytest.raises(ValueError, match=r"running statistics are missing[\s\S]*both, to normalise with"):
        F.batch_norm(x, None, None)
    with pytest.raises(ValueError, match="x has no channels"):
        F.batch_norm(gl.ones(3), mean, var)
    with pytest.raises(TypeError, match="takes floating numbers"):
        F.batch_norm(gl.tensor([[1, 2, 3]]), mean, var)
    with pytest.raises(TypeError, match="the dtypes differ"):
        F.batch_norm(x, mean, var, gl.ones(3, dtype=gl.float64), training=True)
    assert mean.tolist() == [0.0] * 3 and var.tolist() == [1.0] * 3


def test_groups_of_channels():
    x = np.random.default_rng(0).standard_normal((2, 6, 3, 2))
    rows = x.reshape(2, 3, -1)
    z = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    w, b = np.arange(6.0), np.ones(6)
    y = F.group_norm(gl.tensor(x), 3, gl.tensor(w), gl.tensor(b))
    np.testing.assert_allclose(y.data, z.reshape(x.shape) * w[:, None, None] + b[:, None, None])
    for groups in (4, 0, -1):
        with pytest.raises(ValueError, match="group_norm: the channels don't make such groups"):
            F.group_norm(gl.tensor(x), groups)
    with pytest.raises(ValueError, match="group_norm: x has no channels"):
        F.group_norm(gl.ones(6), 3)


def test_instances_move_running_statistics_by_their_mean():
    x = np.random.default_rng(0).standard_normal((4, 3, 5))
    mean, var = gl.zeros(3, dtype=gl.float64), gl.ones(3, dtype=gl.float64)
    y = F.instance_norm(gl.tensor(x), mean, var, momentum=0.5)
    np.testing.assert_allclose(y.data, (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 1e-5))
    np.testing.assert_allclose(mean.data, 0.5 * x.mean((0, 2)))
    np.testing.assert_allclose(var.data, 0.5 + 0.5 * x.var(2, ddof=1).mean(0))
    fixed = F.instance_norm(gl.tensor(x), mean, var, use_input_stats=False)
    np.testing.assert_array_equal(fixed.data, F.batch_norm(gl.tensor(x), mean, var).data)
    with pytest.raises(ValueError, match="running statistics are missing"):
        F.instance_norm(gl.tensor(x), mean)


def test_local_response_norm_looks_to_both_sides_and_divides_alpha_by_the_size():
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    d = np.zeros_like(x)
    for c in range(5):
        d[:, c] = (x[:, max(c - 1, 0) : c + 2] ** 2).sum(1)
    np.testing.assert_allclose(F.local_response_norm(gl.tensor(x), 3, 0.5, 0.75, 2.0).data, x / (2 + 0.5 / 3 * d) ** 0.75)
    with pytest.raises(ValueError, match="local_response_norm: too few axes"):
        F.local_response_norm(gl.ones(2, 3), 2)
    with pytest.raises(ValueError, match="a window of no channels"):
        F.local_response_norm(gl.ones(2, 3, 1), 0)
