"""Hooks see each gradient once, when it is complete, and may replace it."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.autograd import hook
from gradlab.errors import DTypeError, GraphError, ShapeError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


@pytest.fixture(autouse=True)
def no_hook_is_left():
    yield
    gc.collect()
    assert not len(hook.living)


def test_a_hook_of_a_result_gets_the_sum_of_all_its_uses():
    x, seen = leaf([1.0, 2.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2.0 + y * 5.0).sum().backward()
    assert seen == [[7.0, 7.0]] and x.grad.tolist() == [7.0, 7.0]


def test_a_hook_of_a_leaf_gets_the_sum_of_all_its_uses_once():
    x, seen = leaf([1.0, 2.0]), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2.0 + (x * 5.0).sum()).sum().backward()
    assert seen == [[12.0, 12.0]] and x.grad.tolist() == [12.0, 12.0]


def test_what_a_hook_returns_takes_the_place_of_the_gradient():
    x = leaf([1.0, 2.0])
    y = x * 3.0
    y.register_hook(lambda g: g * 10.0)
    x.register_hook(lambda g: g + 1.0)
    y.sum().backward()
    assert x.grad.tolist() == [31.0, 31.0]


def test_hooks_run_in_the_order_of_registration_and_each_sees_what_the_one_before_left():
    x, seen = leaf(1.0), []
    for factor in (2.0, 3.0):
        x.register_hook(lambda g, factor=factor: seen.append(g.item()) or g * factor)
    (x * 1.0).backward()
    assert seen == [1.0, 2.0] and x.grad.item() == 6.0


def test_a_retained_gradient_is_what_the_hooks_left_whatever_came_first():
    for first in (True, False):
        y = leaf(1.0) * 1.0
        if first:
            y.retain_grad()
        y.register_hook(lambda g: g * 5.0)
        if not first:
            y.retain_grad()
        y.backward()
        assert y.grad.item() == 5.0


def test_a_hook_of_the_root_sees_the_seed():
    x, seen = leaf(2.0), []
    y = x * x
    y.register_hook(lambda g: seen.append(g.item()))
    y.backward()
    z = leaf(1.0)
    z.register_hook(lambda g: g * 4.0)
    z.backward()
    assert seen == [1.0] and z.grad.item() == 4.0


def test_a_hook_is_called_in_each_pass_until_it_is_removed():
    x, seen = leaf(1.0), []
    handle = x.register_hook(lambda g: seen.append(g.item()))
    (x * 1.0).backward()
    (x * 2.0).backward()
    handle.remove()
    handle.remove()
    (x * 3.0).backward()
    assert seen == [1.0, 2.0] and x.grad.item() == 6.0 and not len(hook.living)


def test_a_handle_is_a_block():
    x, seen = leaf(1.0), []
    with x.register_hook(seen.append):
        (x * 1.0).backward()
    (x * 1.0).backward()
    assert len(seen) == 1


def test_a_hook_may_remove_itself_while_it_runs():
    x, seen = leaf(1.0), []
    handle = x.register_hook(lambda g: (seen.append(1), handle.remove())[1])
    x.register_hook(lambda g: seen.append(2))
    (x * 1.0).backward()
    (x * 1.0).backward()
    assert seen == [1, 2, 2]


def test_a_returned_gradient_of_another_shape_is_an_error_and_no_leaf_is_touched():
    x = leaf([1.0, 2.0])
    y = x * 1.0
    y.register_hook(lambda g: g.sum())
    with pytest.raises(ShapeError, match=r"hook[\s\S]*returned\s+\(\)[\s\S]*gradient\s+\(2,\)"):
        y.sum().backward()
    assert x.grad is None


def test_what_is_no_function_or_no_gradient_is_refused():
    x = leaf(1.0)
    with pytest.raises(DTypeError, match="hook: this can't be called"):
        x.register_hook(5)
    with x.register_hook(lambda g: "no"), pytest.raises(DTypeError, match=r"hook: what it returned is no gradient[\s\S]*str"):
        (x * 1.0).backward()


def test_a_returned_gradient_of_another_dtype_is_cast():
    x = gl.tensor([1.0], requires_grad=True)
    x.register_hook(lambda g: g.double())
    (x * 1.0).sum().backward()
    assert x.grad.dtype == np.float32


def test_a_hook_can_not_write_into_the_gradient():
    x = leaf([1.0])
    x.register_hook(lambda g: g.zero_())
    with pytest.raises(GraphError, match="read-only"):
        (x * 1.0).sum().backward()


def test_what_a_hook_keeps_does_not_change_later():
    x, kept = leaf([1.0]), []
    x.register_hook(lambda g: kept.append(g))
    for _ in range(2):
        (x * 3.0).sum().backward()
    assert [g.item() for g in kept] == [3.0, 3.0] and x.grad.item() == 6.0


def test_a_tensor_without_gradient_takes_no_hook():
    with pytest.raises(GraphError, match="requires no gradient"):
        gl.ones(2).register_hook(print)


def test_hooks_do_not_keep_the_graph_alive_and_make_no_cycle():
    gc.collect()
    gc.disable()
    try:
        x = leaf(np.ones(3))
        y = x * 2.0
        handle = y.register_hook(lambda g: g)
        alive = weakref.ref(y)
        node = weakref.ref(y.grad_fn)
        del y
        assert alive() is None and node() is None
        handle.remove()
        y = x * 2.0
        y.register_hook(lambda g: g)
        y.retain_grad()
        loss = y.sum()
        loss.backward()
        alive = weakref.ref(y)
        del y, loss
        assert alive() is None
    finally:
        gc.enable()


def test_after_an_in_place_change_the_hook_stays_with_the_values_before():
    x, seen = leaf([1.0, 1.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    y *= 3.0
    y.sum().backward()
    assert seen == [[3.0, 3.0]]


def test_post_accumulate_hooks_run_once_a_pass_with_the_complete_gradient_in_place():
    x, seen = leaf([1.0]), []
    x.register_hook(lambda g: g * 10.0)
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    (x * 1.0 + x * 2.0).sum().backward()
    x.sum().backward()
    handle.remove()
    x.sum().backward()
    assert seen == [30.0, 40.0] and x.grad.item() == 50.0


def test_post_accumulate_hooks_are_for_leaves():
    with pytest.raises(GraphError, match=r"only leaves[\s\S]*y\.register_hook"):
        (leaf(1.0) * 1.0).register_post_accumulate_grad_hook(print)


def test_a_leaf_may_step_and_drop_its_gradient_as_soon_as_it_is_complete():
    """The gradients of all layers are never there at once."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    left = []

    def step(p):
        with gl.no_grad():
            p -= 0.1 * p.grad
        p.grad = None
        left.append(sum(q.grad is not None for q in model.parameters()))

    handles = [p.register_post_accumulate_grad_hook(step) for p in model.parameters()]
    before = [p.data.copy() for p in model.parameters()]
    model(gl.ones(2, 3)).sum().backward()
    assert left == [0] * 4 and all((p.data != b).any() for p, b in zip(model.parameters(), before, strict=True))
    for handle in handles:
        handle.remove()


def test_hooks_of_leaves_work_with_optimizers():
    w = leaf([1.0, 1.0])
    w.register_hook(lambda g: g.clamp(-0.5, 0.5))
    opt = optim.SGD([w], lr=1.0)
    (w * gl.tensor([3.0, 0.25], dtype=gl.float64)).sum().backward()
    opt.step()
    assert w.tolist() == [0.5, 0.75]


def test_a_pass_with_hooks_gives_the_very_same_numbers():
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3), nn.Tanh())
    x = gl.tensor(rng.standard_normal((4, 5)).astype("float32"))

    def grads():
        model.zero_grad()
        h = model(x)
        (h * h + h.exp() * h).sum().backward()
        return [p.grad.data.copy() for p in model.parameters()]

    plain = grads()
    handles = [p.register_hook(lambda g: None) for p in model.parameters()]
    for a, b in zip(plain, grads(), strict=True):
        np.testing.assert_array_equal(a, b)
    for handle in handles:
        handle.remove()


def test_threads_with_hooks_lose_no_part():
    x, seen = leaf(np.zeros(100)), []
    x.register_hook(lambda g: seen.append(1))

    def work():
        for _ in range(50):
            (x * 1.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen) == 200 and set(x.grad.data.tolist()) == {200.0}


def test_a_hook_that_changes_what_an_older_step_still_needs_is_told():
    w, u = gl.tensor([3.0], requires_grad=True), gl.tensor([5.0], requires_grad=True)

    def update(leaf):
        with gl.no_grad():
            leaf.sub_(1.0)

    w.register_post_accumulate_grad_hook(update)
    older = w.detach() * u
    y = (older * w).sum()  # w has its gradient, and is updated, before the older step is pulled
    with pytest.raises(GraphError, match=r"Mul: input 0, shape \(1,\), was changed in place"):
        y.backward()


def test_an_optimizer_in_the_hooks_of_its_leaves_is_fine():
    w = gl.tensor([3.0], requires_grad=True)

    def update(leaf):
        with gl.no_grad():
            leaf.sub_(leaf.grad * 0.5)

    w.register_post_accumulate_grad_hook(update)
    ((w * w) * w).sum().backward()
    assert w.tolist() == [3.0 - 0.5 * 27.0]
