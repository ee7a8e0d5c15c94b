"""Checkpoints: less memory, the same numbers."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.autograd import checkpoint
from gradlab.errors import GraphError
from gradlab.nn import functional as F


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


def model():
    gl.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 3))


def grads_of(net, loss):
    for p in net.parameters():
        p.grad = None
    loss.backward()
    return [p.grad.data for p in net.parameters()]


def test_values_and_gradients_are_the_same_and_so_is_what_dropout_drew():
    net, x = model(), gl.tensor(np.random.default_rng(0).standard_normal((5, 4)).astype("float32"), requires_grad=True)
    gl.manual_seed(7)
    y = net(x)
    want = grads_of(net, (y * y).sum())
    dx, x.grad, after = x.grad.data, None, gl.rand(1).item()
    gl.manual_seed(7)
    z = checkpoint(net, x)
    np.testing.assert_array_equal(y.data, z.data)
    gl.rand(3)  # others draw in between
    for a, b in zip(want, grads_of(net, (z * z).sum()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_allclose(x.grad.data, dx, rtol=1e-6)
    gl.manual_seed(7)
    checkpoint(net, x).sum().backward()
    assert gl.rand(1).item() == after


def test_nothing_of_the_inside_is_kept_between_forward_and_backward():
    alive = []

    class Seen(gl.Function):
        def forward(self, x):
            alive.append(weakref.ref(self))
            return x * 2.0

        def backward(self, g):
            return g * 2.0

    x = leaf([1.0])
    gc.disable()
    try:
        y = checkpoint(lambda x: Seen.apply(Seen.apply(x)), x)
        assert [r() for r in alive] == [None, None]
        y.backward()
        assert len(alive) == 4 and [r() for r in alive] == [None] * 4
    finally:
        gc.enable()
    assert x.grad.tolist() == [4.0]


def test_tensors_from_around_the_function_get_their_gradients():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    h = w * w
    y = checkpoint(lambda x: (x * h * w).sum(), x)
    y.backward()
    np.testing.assert_allclose(w.grad.data, 3 * w.data**2 * x.data)
    np.testing.assert_allclose(x.grad.data, w.data**3)


def test_it_works_with_grad_and_with_hooks():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    seen = []
    h = x * 2.0
    with h.register_hook(lambda g: seen.append(g.tolist())), w.register_hook(lambda g: seen.append(g.tolist())):
        dh, dw = gl.autograd.grad(checkpoint(lambda h: (h * w).sum(), h) + h.sum(), [h, w])
    assert dh.tolist() == [4.0, 5.0] and dw.tolist() == [2.0, 4.0]
    assert sorted(seen) == [[2.0, 4.0], [4.0, 5.0]]


def test_second_derivatives_go_through():
    x = leaf([0.5, 1.5])
    gl.autograd.gradgradcheck(lambda x: checkpoint(lambda x: (x * x).tanh() * x, x), x)


def test_checkpoints_nest():
    x = leaf([0.5])

    def inner(x):
        return x.tanh() * 2.0

    checkpoint(lambda x: checkpoint(inner, x).exp() * checkpoint(inner, x), x).backward()
    got, x.grad = x.grad.item(), None
    (inner(x).exp() * inner(x)).backward()
    assert got == pytest.approx(x.grad.item(), rel=1e-12)


def test_several_outputs_of_several_dtypes_and_others_that_have_no_gradient():
    x = leaf([1.0, 2.0])
    a, b, n, c = checkpoint(lambda x: (x * 2.0, x.float().exp(), x.argmax(), 7), x)
    assert b.dtype == np.float32 and n.item() == 1 and c == 7
    (a.sum() + b.sum()).backward()
    np.testing.assert_allclose(x.grad.data, 2 + np.exp(x.data), rtol=1e-6)


def test_without_grad_mode_or_gradients_the_function_just_runs():
    with gl.no_grad():
        assert checkpoint(lambda x: x * 2.0, leaf([1.0])).grad_fn is None
    assert checkpoint(lambda x: x * 2.0, gl.ones(2)).grad_fn is None


def test_a_changed_parameter_is_an_error_and_a_rebound_argument_is_not():
    x, w = leaf([1.0]), leaf([3.0])
    h = x * 2.0
    y = checkpoint(lambda h: h * h * w, h)
    h *= 100.0
    y.backward(retain_graph=True)
    assert x.grad.item() == 2 * 2.0 * 2.0 * 3.0
    with gl.no_grad():
        w += 1.0
    with pytest.raises(GraphError, match=r"Checkpoint: input \d was changed in place"):
        y.backward()


def test_pytorchs_keywords_are_taken():
    x = leaf([1.0])
    checkpoint(lambda x, k: x * k, x, k=3.0, use_reentrant=False, preserve_rng_state=False).backward()
    assert x.grad.item() == 3.0


def test_no_cycle_is_left():
    gc.collect()
    gc.disable()
    try:
        x = leaf(np.ones(3))
        y = checkpoint(lambda x: (F.relu(x) * x).sum(), x)
        y.backward()
        z = checkpoint(lambda x: (F.relu(x) * x).sum(), x)
        del y, z
        assert gc.collect() == 0
    finally:
        gc.enable()
