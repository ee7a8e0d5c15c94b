"""The backward pass: order, accumulation, freeing, and what it refuses."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab import observe
from gradlab.errors import GraphError, ShapeError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


def test_a_diamond_sums_its_paths():
    a = leaf(2.0)
    b = a * 3.0
    ((b + 1.0) * (b * b)).backward()
    assert a.grad.item() == 360.0


def test_a_ladder_of_forty_storeys_takes_no_exponential_time():
    x = leaf(1.0)
    y = x
    for _ in range(40):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**40


@pytest.mark.parametrize(
    "f, want", [(lambda x: x * x, 6.0), (lambda x: x + x, 2.0), (lambda x: x - x, 0.0), (lambda x: x / x, 0.0), (lambda x: x * x * x, 27.0)]
)
def test_an_operand_used_twice_counts_twice(f, want):
    x = leaf(3.0)
    f(x).backward()
    assert x.grad.item() == want


def test_gradients_are_never_shared_between_leaves():
    a, b = leaf([1.0]), leaf([1.0])
    ((a + b) * 2.0 + a * 100.0).sum().backward()
    assert (a.grad.item(), b.grad.item()) == (102.0, 2.0)
    a.grad.data *= 0.0
    assert b.grad.item() == 2.0


def test_a_read_only_gradient_is_never_written_into():
    x = leaf([1.0, 2.0])
    (x.sum() + (3.0 * x).sum()).backward()
    x.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_the_seed_a_user_gave_is_neither_kept_nor_changed():
    x, seed = leaf([1.0, 2.0]), np.array([1.0, 10.0])
    y = x + 0.0
    y.backward(seed, retain_graph=True)
    y.backward(seed)
    assert seed.tolist() == [1.0, 10.0] and x.grad.tolist() == [2.0, 20.0]


def test_backward_from_a_leaf_gives_it_ones():
    x = leaf(3.0)
    x.backward()
    x.backward()
    assert x.grad.item() == 2.0


def test_gradients_of_results_live_in_the_pass():
    a, b = leaf(2.0), leaf(5.0)
    c = a * b
    e = c * c
    e.backward(retain_graph=True)
    e.backward()
    assert (a.grad.item(), b.grad.item(), c.grad) == (200.0, 80.0, None)


def test_retain_grad_keeps_the_gradient_of_a_result():
    x = leaf([1.0, 2.0])
    y = x * 2.0
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 8.0] and x.grad.tolist() == [8.0, 16.0]


def test_retain_grad_of_the_root_works_too():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    y.backward()
    assert y.grad.item() == 1.0


def test_a_retained_gradient_is_its_own_array():
    x = leaf([1.0, 2.0])
    y = x + 0.0
    y.retain_grad()
    (y * 3.0).sum().backward()
    y.grad.data *= 0.0
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_second_backward_is_an_error_and_changes_nothing():
    x = leaf([2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(GraphError, match=r"freed[\s\S]*retain_graph=True"):
        y.backward()
    assert x.grad.tolist() == [4.0]


def test_a_partly_freed_graph_is_refused_before_anything_changes():
    x, w = leaf([2.0]), leaf([3.0])
    h = x * x
    h.sum().backward()
    with pytest.raises(GraphError, match="freed"):
        (h * w).sum().backward()
    assert w.grad is None and x.grad.tolist() == [4.0]


def test_retain_graph_allows_a_second_pass():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_a_root_without_history_is_refused():
    with pytest.raises(GraphError, match="requires a gradient"):
        gl.ones(1).backward()


def test_a_root_with_several_entries_needs_a_gradient():
    x = leaf([1.0, 2.0])
    with pytest.raises(GraphError, match=r"y\.sum\(\)\.backward\(\)"):
        (x * x).backward()
    (x * x).backward([1.0, 0.5])
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_scalar_root_of_shape_one_is_fine():
    x = leaf([[3.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[6.0]]


@pytest.mark.parametrize("gradient", [[1.0], [[1.0, 2.0]], 1.0])
def test_a_gradient_of_another_shape_is_refused(gradient):
    x = leaf([1.0, 2.0])
    with pytest.raises(ShapeError, match="another shape"):
        (x * 1.0).backward(gradient)


def test_a_tensor_may_be_the_gradient():
    x = leaf([1.0, 2.0])
    (x * 1.0).backward(gl.tensor([3.0, 4.0]))
    assert x.grad.tolist() == [3.0, 4.0] and x.grad.dtype == np.float64


def test_only_leaves_below_the_root_get_a_gradient():
    a, b, c = leaf(1.0), leaf(2.0), gl.tensor(3.0)
    (a * c).backward()
    assert a.grad.item() == 3.0 and b.grad is None and c.grad is None


def test_two_losses_over_one_trunk_add_up():
    x = leaf([1.0, -2.0])
    h = x * x
    h.sum().backward(retain_graph=True)
    (h * 3.0).sum().backward()
    assert x.grad.tolist() == [8.0, -16.0]


def test_accumulation_over_chunks_equals_the_whole_batch():
    X, y = np.random.default_rng(0).standard_normal((5, 2)), np.arange(5.0)
    w = leaf([0.5, -0.75])
    for lo, hi in [(0, 2), (2, 4), (4, 5)]:
        d = gl.tensor(X[lo:hi]) @ w - y[lo:hi]
        (d * d).sum().backward()
    np.testing.assert_allclose(w.grad.data, 2 * X.T @ (X @ w.data - y))


def test_a_chain_of_twenty_thousand_steps_runs_and_is_freed_without_recursion():
    limit = sys.getrecursionlimit()
    x = leaf([1.0])
    y = x
    for _ in range(20_000):
        y = y + 0.5
    y.sum().backward()
    assert x.grad.item() == 1.0 and y.item() == 10_001.0 and sys.getrecursionlimit() == limit
    z = x
    for _ in range(20_000):
        z = z * 1.0
    del z  # freed without a backward


@pytest.mark.slow
def test_a_chain_of_a_million_steps_runs_and_is_freed():
    x = leaf([1.0])
    y = x
    for _ in range(1_000_000):
        y = y + 0.5
    y.sum().backward()
    assert x.grad.item() == 1.0
    del y


def test_two_threads_may_run_their_own_passes():
    results = []

    def work(k):
        x = leaf(np.full(50, float(k)))
        for _ in range(50):
            y = x
            for _ in range(20):
                y = y + x
            (y * y).sum().backward()
        results.append((k, x.grad.data[0]))

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(results) == [(k, 50 * 2 * 21 * 21 * k) for k in (1, 2, 3)]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.sampled_from("+*-")), min_size=1, max_size=12))
def test_any_graph_agrees_with_forward_mode(steps):
    # Forward mode (dual numbers) is another way to the same derivative.
    x = leaf(0.7)
    values, duals = [x, x * 0.5], [(0.7, 1.0), (0.35, 0.5)]
    for i, j, sign in steps:
        a, b, (u, du), (v, dv) = *(values[k % len(values)] for k in (i, j)), *(duals[k % len(duals)] for k in (i, j))
        values.append(a + b if sign == "+" else a - b if sign == "-" else (a * b).tanh())
        t = np.tanh(u * v)
        duals.append((u + v, du + dv) if sign == "+" else (u - v, du - dv) if sign == "-" else (t, (1 - t * t) * (du * v + u * dv)))
    values[-1].backward()
    got = 0.0 if x.grad is None else x.grad.item()
    np.testing.assert_allclose([values[-1].item(), got], duals[-1], rtol=1e-9, atol=1e-9)


def test_a_float64_seed_is_not_rounded_on_the_way():
    x, seed = leaf([1.0, 1.0]), np.array([1 / 3, 1 / 7])
    (x * 1.0).backward(seed)
    assert x.grad.tolist() == seed.tolist()


def test_threads_that_share_a_leaf_lose_no_part():
    x = leaf(np.zeros(1000))

    def work():
        for _ in range(50):
            (x * 1.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(x.grad.data.tolist()) == {200.0}


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_contributions_add_up_whichever_path_they_take(shape):
    rng = np.random.default_rng(0)
    a, b = [gl.tensor(rng.uniform(1, 2, shape), requires_grad=True) for _ in "ab"]
    y = a
    for _ in range(5):
        y = y * a + b * b * a  # a and b come back as borrowed, as owned and as fresh arrays
    y.sum().backward()
    x, c = a.data, b.data
    np.testing.assert_allclose(a.grad.data, 6 * x**5 + c**2 * sum((k + 1) * x**k for k in range(5)), rtol=1e-12)
    np.testing.assert_allclose(b.grad.data, 2 * c * sum(x ** (k + 1) for k in range(5)), rtol=1e-12)


def test_gradients_are_the_same_bits_with_somebody_watching():
    def grads():
        rng = np.random.default_rng(0)
        w, b = gl.tensor(rng.standard_normal((4, 4)), requires_grad=True), gl.tensor(rng.standard_normal(4), requires_grad=True)
        h = gl.tensor(rng.standard_normal((3, 4)))
        for _ in range(4):
            h = (h @ w + b).tanh() * 1.1 + h
        h.sum().backward()
        return w.grad.data, b.grad.data

    class Watcher:
        def backward(self, fn, g, grads, began):
            pass

    plain = grads()
    watcher = Watcher()
    observe.attach(watcher)
    try:
        watched = grads()
    finally:
        observe.detach(watcher)
    for d, e in zip(plain, watched, strict=True):
        np.testing.assert_array_equal(d, e)


def test_an_error_on_the_way_leaves_every_gradient_as_it_was():
    class Fails(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            raise RuntimeError("no")

    x, w = gl.ones(2, requires_grad=True), gl.ones(2, requires_grad=True)
    y = (Fails.apply(x) * w).sum()
    with pytest.raises(RuntimeError, match="no"):
        y.backward()
    assert x.grad is None and w.grad is None


@pytest.mark.parametrize("watched", [False, True])
def test_a_leaf_frozen_after_the_forward_pass_gets_no_gradient(watched):
    x, w = gl.ones(2, requires_grad=True), gl.ones(2, requires_grad=True)
    y = (x * w).sum()
    x.requires_grad_(False)
    if watched:
        w.register_hook(lambda g: None)  # the pass that calls hooks
    y.backward()
    assert x.grad is None and w.grad.tolist() == [1.0, 1.0]


def test_a_pass_may_start_while_another_adds_to_a_gradient():
    inner = gl.ones(2, requires_grad=True)

    class Checks:
        def forward(self, fn, output, began):
            if type(fn).__name__ == "Clone":
                inner.sum().backward()

    checks, x = Checks(), gl.ones(2, requires_grad=True)
    observe.attach(checks)
    try:
        (x * x).sum().backward(create_graph=True)  # `.grad` is a clone of what came together
    finally:
        observe.detach(checks)
    x.grad = None
    assert inner.grad is not None


@pytest.mark.parametrize("watched", [False, True])
def test_a_step_that_somebody_still_holds_keeps_nothing_of_what_it_saved(watched):
    x = gl.ones(2, requires_grad=True)
    h = x * 2.0
    y = (h * h).exp().sum()
    steps = [h.grad_fn, *y.grad_fn.edges]
    if watched:
        x.register_hook(lambda g: None)
    y.backward()
    assert [vars(fn) for fn in (*steps, y.grad_fn)] == [{}, {}, {}]


def test_slices_add_up_to_the_same_bits_where_hooks_are_called():
    def gradient(watched):
        x = gl.ones(3, requires_grad=True)
        y = (x[0] * 2.0 + x[1:2] + (x[:2] * 3.0).sum()).sum() + (x * gl.tensor([-0.0, -0.0, -0.0])).sum()
        if watched:
            x.register_hook(lambda g: None)
        y.backward()
        return x.grad.data.tobytes()

    assert gradient(True) == gradient(False)
