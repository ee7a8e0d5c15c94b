"""scaled_dot_product_attention: masks of both kinds, rows without anything to look at, grouped heads, dropout, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F

INF = np.inf
sdpa = F.scaled_dot_product_attention


def draw(*shape, seed=0, grad=False):
    return gl.tensor(np.random.default_rng(seed).standard_normal(shape), requires_grad=grad)


def test_a_row_that_may_look_at_nothing_is_zero_and_harms_no_gradient():
    q = gl.tensor([[[1.0], [2.0], [3.0]]], requires_grad=True)
    k = gl.tensor([[[1.0], [0.0], [-1.0]]], requires_grad=True)
    v = gl.tensor([[[1.0], [10.0], [100.0]]], requires_grad=True)
    keep = np.array([[True, False, False], [False, False, False], [True, True, False]])
    for mask in (gl.tensor(keep), gl.tensor(np.where(keep, 0.0, -INF).astype("float32"), requires_grad=True)):
        for x in (q, k, v):
            x.grad = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = sdpa(q, k, v, attn_mask=mask)
            y.sum().backward()
        np.testing.assert_allclose(y.data.ravel(), [1.0, 0.0, 1.4268328585981012], rtol=1e-6)
        np.testing.assert_allclose(q.grad.data.ravel(), [0.0, 0.0, -0.4065899375782094], rtol=1e-5)
        np.testing.assert_allclose(k.grad.data.ravel(), [-1.2197698127346281, 1.219769812734628, 0.0], rtol=1e-5)
        np.testing.assert_allclose(v.grad.data.ravel(), [1.9525741268224333, 0.04742587317756679, 0.0], rtol=1e-5)
    np.testing.assert_allclose(mask.grad.data, [[0, 0, 0], [0, 0, 0], [-0.406590, 0.406590, 0]], rtol=1e-5)


def test_causal_is_the_lower_triangle_also_of_a_rectangle():
    for n, m in ((3, 5), (5, 3)):
        q, k, v = draw(2, n, 4), draw(2, m, 4, seed=1), draw(2, m, 3, seed=2)
        mask = gl.tensor(np.tril(np.ones((n, m), bool)))
        np.testing.assert_allclose(sdpa(q, k, v, is_causal=True).data, sdpa(q, k, v, mask).data)


def test_the_scale_is_one_over_the_root_of_the_features_unless_given():
    q, k, v = draw(2, 4), draw(3, 4, seed=1), draw(3, 2, seed=2)
    z = q.data @ k.data.T
    for scale, used in ((None, 0.5), (0.1, 0.1)):
        e = np.exp(z * used)
        np.testing.assert_allclose(sdpa(q, k, v, scale=scale).data, e / e.sum(1, keepdims=True) @ v.data)


def test_large_scores_do_not_overflow():
    q = gl.tensor(np.array([[200.0]], "float16"))
    assert sdpa(q, gl.tensor(np.array([[400.0], [401.0]], "float16")), gl.tensor(np.array([[1.0], [2.0]], "float16"))).tolist() == [[2.0]]
    assert sdpa([[1e3]], [[1e3], [-1e3]], [[1.0], [2.0]]).tolist() == [[1.0]]


def test_no_keys_give_zeros():
    assert sdpa(gl.ones(1, 3, 2), gl.ones(1, 0, 2), gl.ones(1, 0, 2)).tolist() == [[[0.0, 0.0]] * 3]


def test_grouped_heads_are_repeated_heads():
    q, k, v = draw(2, 6, 3, 4, grad=True), draw(2, 2, 5, 4, seed=1, grad=True), draw(2, 2, 5, 4, seed=2, grad=True)
    mask = gl.tensor(np.random.default_rng(3).random((1, 6, 3, 5)) < 0.7)
    y = sdpa(q, k, v, mask, enable_gqa=True)
    again = [gl.tensor(np.repeat(x.data, 3, axis=1), requires_grad=True) for x in (k, v)]
    z = sdpa(q.detach(), *again, mask)
    np.testing.assert_allclose(y.data, z.data)
    g = draw(*y.shape, seed=4)
    y.backward(g)
    z.backward(g)
    for x, xs in zip((k, v), again, strict=True):
        np.testing.assert_allclose(x.grad.data, xs.grad.data.reshape(2, 2, 3, 5, 4).sum(2))


def test_dropout_drops_weights_and_keeps_the_mean():
    q, k, v = gl.zeros(400, 30, 2), gl.zeros(400, 20, 2), gl.ones(400, 20, 1, requires_grad=True)
    y = sdpa(q, k, v, dropout_p=0.25)
    assert abs(y.data.mean() - 1) < 0.02 and y.data.std() > 0.1
    y.sum().backward()
    assert abs(v.grad.data.sum() - y.data.sum()) < 0.1
    assert (sdpa(q, k, v, dropout_p=1.0).data == 0).all()
    gl.manual_seed(1)
    a = sdpa(draw(4, 2), draw(3, 2), draw(3, 2), dropout_p=0.5)
    gl.manual_seed(1)
    assert a.tolist() == sdpa(draw(4, 2), draw(3, 2), draw(3, 2), dropout_p=0.5).tolist()
    assert sdpa(draw(1, 4, 3, 2), draw(1, 2, 3, 2), draw(1, 2, 3, 2), dropout_p=0.5, enable_gqa=True).shape == (1, 4, 3, 2)


def test_dropout_gradients_are_those_of_the_weights_that_were_kept():
    q, k, v = draw(3, 2, grad=True), draw(4, 2, seed=1, grad=True), draw(4, 2, seed=2, grad=True)
    y = sdpa(q, k, v, dropout_p=0.5)
    fn, g = y.grad_fn, np.random.default_rng(5).standard_normal((3, 2))
    params = fn.params
    for i, (x, d) in enumerate(zip((q, k, v), fn.pull(g), strict=True)):
        for at in np.ndindex(x.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [q.data.copy(), k.data.copy(), v.data.copy()]
                moved[i][at] += step
                sides.append((g * type(fn).reference(*moved, **params)).sum())
            assert d[at] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-5, abs=1e-8)


def test_what_does_not_go_together_is_refused():
    x = gl.ones(1, 4, 3, 2)
    for args, kwargs in (
        ((x, gl.ones(1, 4, 5, 3), gl.ones(1, 4, 5, 3)), {}),
        ((x, gl.ones(1, 4, 5, 2), gl.ones(1, 4, 6, 2)), {}),
        ((x, gl.ones(1, 2, 5, 2), gl.ones(1, 2, 5, 2)), {}),
        ((x, gl.ones(1, 3, 5, 2), gl.ones(1, 3, 5, 2)), {"enable_gqa": True}),
        ((gl.ones(2), gl.ones(2), gl.ones(2)), {}),
        ((x, x, x, gl.zeros(2, 2)), {}),
        ((gl.ones(3, 2), gl.ones(3, 2), gl.ones(3, 2), gl.zeros(4, 3, 3)), {}),
        ((x, gl.ones(1, 2, 5, 2), gl.ones(1, 2, 5, 2)), {"dropout_p": 0.5}),
        ((x, gl.ones(1, 2, 5, 2), gl.ones(1, 2, 5, 2), gl.zeros(2, 3, 5)), {"enable_gqa": True}),
    ):
        with pytest.raises(ValueError, match=r"scaled_dot_product_attention: the shapes don't go together\n  query"):
            sdpa(*args, **kwargs)


def test_masks_and_dtypes_are_refused():
    x = gl.ones(2, 3)
    for mask in (gl.ones(2, 2, dtype=gl.int64), gl.ones(2, 2, dtype=gl.float64)):
        with pytest.raises(TypeError, match="this is no mask"):
            sdpa(x, x, x, mask)
    with pytest.raises(ValueError, match="two masks"):
        sdpa(x, x, x, gl.zeros(2, 2), is_causal=True)
    with pytest.raises(ValueError, match="dropout_p is the probability"):
        sdpa(x, x, x, dropout_p=1.5)
    with pytest.raises(TypeError, match="the dtypes differ"):
        sdpa(x, x.double(), x)
    with pytest.raises(TypeError, match="takes floating numbers"):
        sdpa(x.long(), x.long(), x.long())
