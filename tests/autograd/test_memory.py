"""Graphs of any depth and width run and go away: no recursion, no exponential time, no cycle (the collector is off)."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.errors import GradlabError
from gradlab.nn import functional as F


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


def grown(x, n):
    y, half = x, gl.tensor(0.5, dtype=gl.float64)
    for _ in range(n):
        y = y + half
    return y


def test_a_chain_of_two_hundred_thousand_steps_runs_and_is_freed():
    limit, x = sys.getrecursionlimit(), leaf(1.0)
    y = grown(x, 200_000)
    y.backward()
    assert x.grad.item() == 1.0 and y.item() == 100_001.0 and sys.getrecursionlimit() == limit


def test_chains_are_freed_by_every_kind_of_pass_and_without_one():
    x, n = leaf(1.0), 20_000
    y = grown(x, n)
    assert gl.autograd.grad(y, x)[0].item() == 1.0
    y = grown(x, n)
    y.backward(retain_graph=True)
    del y
    y = grown(x, n)
    del y


def test_a_long_chain_of_gradients_with_a_graph_is_freed():
    n, x = 5_000, leaf(1.0)
    y = x
    for _ in range(n):
        y = y * 1.0001
    (d,) = gl.autograd.grad(y, x, create_graph=True)
    assert d.item() == pytest.approx(1.0001**n)
    del y, d


@pytest.mark.slow
def test_a_chain_of_a_million_steps_runs_and_is_freed():
    x = leaf(1.0)
    grown(x, 1_000_000).backward()
    assert x.grad.item() == 1.0
    y = grown(x, 1_000_000)
    del y


def test_wide_graphs_in_and_out():
    x = leaf(1.0)
    parts = [x * float(k) for k in range(5_000)]
    gl.stack(parts).sum().backward()
    assert x.grad.item() == sum(range(5_000))
    leaves = [leaf(1.0) for _ in range(5_000)]
    grads = gl.autograd.grad(gl.stack(leaves).sum(), leaves)
    assert len(grads) == 5_000 and all(g.item() == 1.0 for g in grads)


@pytest.mark.parametrize("kind", ["plain", "hooks", "grad", "graph", "anomaly"])
def test_a_ladder_of_diamonds_takes_linear_time(kind):
    x = leaf(1.0)
    y = x
    began = time.perf_counter()
    for _ in range(60):
        y = y + y
        y = y * 0.5 + y * 0.5
    if kind == "hooks":
        with x.register_hook(lambda g: None):
            y.backward()
    elif kind == "grad":
        gl.autograd.grad(y, x)
    elif kind == "graph":
        gl.autograd.grad(y, x, create_graph=True)
    elif kind == "anomaly":
        with gl.autograd.detect_anomaly():
            y.backward()
    else:
        y.backward()
    assert time.perf_counter() - began < 5.0


def retained(x):
    y = x * 2.0
    y.retain_grad()
    y.sum().backward()


def hooked(x):
    y = x * 2.0
    y.register_hook(lambda g: g * 1.0)
    with x.register_hook(lambda g: None), x.register_post_accumulate_grad_hook(lambda p: None):
        y.sum().backward()


def second(x):
    (d,) = gl.autograd.grad((x**3).sum(), x, create_graph=True)
    d.sum().backward()


def penalty(x):
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    (d,) = gl.autograd.grad(net(x.float()).sum(), list(net.parameters()), create_graph=True)[:1]
    (d * d).sum().backward()


def failed(x):
    for bad in (lambda: x @ gl.ones(7), lambda: x.reshape(7), lambda: F.cross_entropy(x, x), lambda: (x * 2.0).backward()):
        with contextlib.suppress(GradlabError):
            bad()


def in_place(x):
    y = x * 1.0
    y += x
    y[0] = x[1] * 2.0
    y[1:] *= 3.0
    y.sum().backward()
    z = x * 1.0
    z += z
    z *= z


def anomaly(x):
    with gl.autograd.detect_anomaly():
        (x * x).sum().backward()
        (x * x).exp()


def views(x):
    y = x * 2.0
    rows = [y[i] for i in range(3)]
    d = y.detach()
    return [r.sum().backward(retain_graph=True) for r in rows] and d.sum() and None


def checkpointed(x):
    gl.autograd.checkpoint(lambda x: (x.tanh(), x.exp()), x)[0].sum().backward()


def derivatives(x):
    gl.autograd.functional.hessian(lambda x: (x**3).sum(), x)
    gl.autograd.functional.jvp(lambda x: x**3, x, gl.ones(3, dtype=gl.float64))


def step(x):
    opt = optim.Adam([x], lr=0.1)
    (x * x).sum().backward()
    opt.step()
    opt.zero_grad()


@pytest.mark.parametrize(
    "use", [retained, hooked, second, penalty, failed, in_place, anomaly, views, checkpointed, derivatives, step], ids=lambda f: f.__name__
)
def test_nothing_is_left_for_the_collector(use):
    x = leaf([1.0, 2.0, 3.0])
    use(x)  # what is made once
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            use(x)
            x.grad = None
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_failed_step_keeps_nothing_of_its_inputs_alive():
    gc.disable()
    try:
        x = leaf(np.ones((3, 4)))
        y = x * 2.0
        alive = weakref.ref(y.grad_fn)
        with contextlib.suppress(GradlabError):
            y @ y
        del y
        assert alive() is None
    finally:
        gc.enable()


def test_threads_may_go_through_the_same_kept_graph():
    x = leaf(np.linspace(0.0, 1.0, 50))
    h = (x * x).tanh()
    y = (h * h).sum()
    (want,) = gl.autograd.grad(y, x, retain_graph=True)
    results = []

    def work():
        for _ in range(20):
            results.append(gl.autograd.grad(y, x, retain_graph=True)[0].data)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 80 and all((r == want.data).all() for r in results)


def test_threads_that_share_parameters_lose_no_part():
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    batches = [gl.tensor(np.random.default_rng(k).standard_normal((6, 4)).astype("float32")) for k in range(4)]

    def work(x, times):
        for _ in range(times):
            net(x).sum().backward()

    for x in batches:
        work(x, 20)
    want = [p.grad.data.copy() for p in net.parameters()]
    net.zero_grad()
    threads = [threading.Thread(target=work, args=(x, 20)) for x in batches]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for p, g in zip(net.parameters(), want, strict=True):
        np.testing.assert_allclose(p.grad.data, g, rtol=1e-4, atol=1e-4)


def test_threads_that_share_a_leaf_lose_no_part_of_gradients_with_a_graph():
    x = leaf(np.ones(10))

    def work():
        for _ in range(20):
            (x * x).sum().backward(create_graph=True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(x.grad.tolist()) == {160.0}
    x.grad = None
