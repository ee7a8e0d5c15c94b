"""gl.autograd.grad, chosen inputs, several roots."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import GraphError, ShapeError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


def test_grad_of_leaves_and_results_touches_no_grad():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    h = x * w
    y = (h * h).sum()
    dx, dh = gl.autograd.grad(y, [x, h])
    assert dx.tolist() == [18.0, 64.0] and dh.tolist() == [6.0, 16.0]
    assert x.grad is None and w.grad is None and h.grad is None
    assert dx.grad_fn is None and not dx.requires_grad


def test_one_input_gives_a_tuple_of_one():
    x = leaf(3.0)
    (d,) = gl.autograd.grad(x * x, x)
    assert d.item() == 6.0


def test_the_gradient_of_an_intermediate_goes_through_others_below_it():
    x = leaf(2.0)
    a = x * 3.0
    b = a * a
    da, db = gl.autograd.grad(b * a, [a, b])
    assert (da.item(), db.item()) == (3 * 36.0, 6.0)


def test_grad_of_a_root_with_respect_to_itself_is_one():
    x = leaf(2.0)
    y = x * x
    dx, dy = gl.autograd.grad(y, [x, y])
    assert (dx.item(), dy.item()) == (4.0, 1.0)
    assert gl.autograd.grad(x, x)[0].item() == 1.0


def test_an_unused_input_is_an_error_that_says_which_and_what_helps():
    x, unused = leaf(2.0), leaf([1.0, 2.0])
    with pytest.raises(GraphError, match=r"input 1 was not used[\s\S]*\(2,\)[\s\S]*allow_unused=True"):
        gl.autograd.grad(x * x, [x, unused])
    assert gl.autograd.grad(x * x, [x, unused], allow_unused=True)[1] is None
    assert gl.autograd.grad(x * x, [x, unused], materialize_grads=True)[1].tolist() == [0.0, 0.0]


def test_an_input_that_requires_no_gradient_is_an_error():
    x = leaf(2.0)
    with pytest.raises(GraphError, match="input 1 requires no gradient"):
        gl.autograd.grad(x * x, [x, gl.tensor(1.0)])
    with pytest.raises(GraphError, match="no inputs"):
        gl.autograd.grad(x * x, [])


def test_an_output_without_graph_is_an_error():
    with pytest.raises(GraphError, match="grad: nothing here requires a gradient"):
        gl.autograd.grad(gl.tensor(2.0), leaf(1.0))
    with pytest.raises(GraphError, match=r"nothing here requires a gradient\s+root\s+3\.0"):
        gl.autograd.grad(3.0, leaf(1.0))


def test_an_output_with_several_entries_needs_a_gradient_of_its_shape():
    x = leaf([1.0, 2.0])
    with pytest.raises(GraphError, match=r"grad: a gradient needs a scalar"):
        gl.autograd.grad(x * x, x)
    with pytest.raises(ShapeError, match="another shape"):
        gl.autograd.grad(x * x, x, gl.ones(3))
    assert gl.autograd.grad(x * x, x, gl.tensor([1.0, 10.0]))[0].tolist() == [2.0, 40.0]
    assert gl.autograd.grad([x * x], x, [gl.tensor([1.0, 10.0])])[0].tolist() == [2.0, 40.0]


def test_several_outputs_add_up_and_each_may_have_its_gradient():
    x = leaf([1.0, 2.0])
    outputs = [x * 2.0, (x * x).sum()]
    (d,) = gl.autograd.grad(outputs, x, [gl.ones(2), None])
    assert d.tolist() == [4.0, 6.0]
    with pytest.raises(GraphError, match="one gradient per tensor"):
        gl.autograd.grad([x * 2.0, x.sum()], x, [gl.ones(2)])


def test_the_same_output_twice_counts_twice():
    x = leaf(3.0)
    y = x * x
    gl.autograd.backward([y, y])
    assert x.grad.item() == 12.0


def test_several_roots_visit_what_they_share_once_and_in_order():
    x = leaf(2.0)
    a = x * x
    b = a * 3.0
    calls = []
    a.register_hook(lambda g: calls.append(g.item()))
    gl.autograd.backward([a, b], [gl.tensor(10.0), None])
    assert calls == [13.0] and x.grad.item() == 52.0


def test_gradients_are_never_shared_between_results():
    a, b = leaf([1.0]), leaf([1.0])
    da, db = gl.autograd.grad((a + b).sum(), [a, b])
    da += 5.0
    assert db.tolist() == [1.0]
    x = leaf([1.0, 2.0])
    first, again = gl.autograd.grad((x * x).sum(), [x, x])
    first += 1.0
    assert again.tolist() == [2.0, 4.0]


def test_grad_frees_the_graph_unless_told_otherwise():
    x = leaf(3.0)
    y = x * x
    gl.autograd.grad(y, x, retain_graph=True)
    gl.autograd.grad(y, x)
    with pytest.raises(GraphError, match="freed"):
        gl.autograd.grad(y, x)


def test_steps_that_lead_to_no_wanted_input_do_not_run():
    class Boom(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            raise AssertionError("not asked for")

    x, w = leaf(2.0), leaf(3.0)
    y = Boom.apply(x) * w
    assert gl.autograd.grad(y, w, retain_graph=True)[0].item() == 2.0
    y.backward(inputs=[w])
    assert w.grad.item() == 2.0 and x.grad is None


def test_what_an_unwanted_step_reads_may_have_changed():
    x, w = leaf([2.0]), leaf([3.0])
    v = x.exp()
    h = v * 1.0
    y = (h * w).sum()
    with gl.no_grad():
        v += 1.0
    assert gl.autograd.grad(y, w, retain_graph=True)[0].item() == np.exp(2.0)
    with pytest.raises(GraphError, match="Exp: its output was changed in place"):
        gl.autograd.grad(y, x)


def test_backward_with_inputs_adds_to_their_grad_alone():
    x, w = leaf(2.0), leaf(3.0)
    h = x * w
    y = h * h * w
    y.backward(inputs=[w, h], retain_graph=True)
    assert x.grad is None and (w.grad.item(), h.grad.item()) == (108.0, 36.0)
    y.backward(inputs=w)
    assert w.grad.item() == 216.0


def test_hooks_come_before_the_gradient_that_grad_returns():
    x = leaf(2.0)
    h = x * 1.0
    h.register_hook(lambda g: g * 10.0)
    x.register_hook(lambda g: g + 1.0)
    dx, dh = gl.autograd.grad(h, [x, h], retain_graph=True)
    assert (dx.item(), dh.item()) == (11.0, 10.0)
    assert gl.autograd.grad(h, h)[0].item() == 10.0


def test_grad_of_one_of_many_leaves_agrees_with_backward():
    rng = np.random.default_rng(0)
    leaves = [leaf(rng.standard_normal((3, 3))) for _ in range(6)]
    y = leaves[0]
    for w in leaves[1:]:
        y = (y @ w).tanh() + y
    loss = (y * y).sum()
    grads = gl.autograd.grad(loss, leaves, retain_graph=True)
    loss.backward()
    for w, d in zip(leaves, grads, strict=True):
        np.testing.assert_array_equal(d.data, w.grad.data)


def test_backward_to_an_input_named_twice_or_retaining_adds_its_gradient_once():
    x = gl.tensor([0.5, 1.0], requires_grad=True)
    (x * 3.0).sum().backward(inputs=[x, x])
    assert x.grad.tolist() == [3.0, 3.0]
    h = x * 1.0
    h.retain_grad()
    assert h.retains_grad and not x.retains_grad
    h.register_hook(lambda g: g * 2.0)
    (h * 3.0).sum().backward(inputs=[h, x])
    assert h.grad.tolist() == [6.0, 6.0] and x.grad.tolist() == [9.0, 9.0]
