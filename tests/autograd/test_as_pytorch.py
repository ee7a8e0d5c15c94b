"""The same programs in gradlab and in PyTorch: what they print is the same. Run with `pytest -m torch` where PyTorch is."""

from __future__ import annotations

import importlib
import inspect

import pytest

import gradlab as gl

pytestmark = pytest.mark.torch


def leaf(m, values):
    return m.tensor(values, dtype=m.float64, requires_grad=True)


def order_of_hooks(m):
    log, x = [], leaf(m, [1.0, 2.0])
    y = x * 2.0
    y.retain_grad()
    y.register_hook(lambda g: log.append(("first", g.tolist())) or g * 2)
    y.register_hook(lambda g: log.append(("second", g.tolist())))
    x.register_hook(lambda g: log.append(("leaf", g.tolist())) or g + 1)
    x.register_post_accumulate_grad_hook(lambda p: log.append(("after", p.grad.tolist())))
    (y * y).sum().backward()
    return log, y.grad.tolist(), x.grad.tolist()


def hooks_and_grad(m):
    log, x = [], leaf(m, [1.0, 2.0])
    y = x * 3.0
    y.register_hook(lambda g: log.append(("y", g.tolist())) or g * 2)
    x.register_hook(lambda g: log.append(("x", g.tolist())) or g * 5)
    x.register_post_accumulate_grad_hook(lambda p: log.append("after"))
    grads = [m.autograd.grad((y * x).sum(), t, retain_graph=True)[0] for t in (x, y)]  # both at once, PyTorch gives y's without its hook
    return log, [g.tolist() for g in grads], x.grad is None


def hooks_and_inputs(m):
    log, x, w = [], leaf(m, [1.0, 2.0]), leaf(m, [3.0, 4.0])
    h = x * w
    h.register_hook(lambda g: log.append(("h", g.tolist())))
    x.register_hook(lambda g: log.append(("x", g.tolist())))
    w.register_hook(lambda g: log.append(("w", g.tolist())) or g * 2)
    w.register_post_accumulate_grad_hook(lambda p: log.append(("after", p.grad.tolist())))
    (h * h).sum().backward(inputs=[w])
    return log, x.grad is None, w.grad.tolist()


def hooks_where_no_wanted_gradient_goes(m):
    log, x, w = [], leaf(m, [1.0, 2.0]), leaf(m, [3.0, 4.0])
    side, h = x * 2.0, w * 2.0
    side.register_hook(lambda g: log.append("side"))
    h.register_hook(lambda g: log.append("h"))
    side.retain_grad()
    (d,) = m.autograd.grad((side * h).sum(), w)
    return log, d.tolist(), side.grad is None


def hooks_before_a_change_in_place(m):
    log, x = [], leaf(m, [1.0, 2.0])
    y = x * 2.0
    y.register_hook(lambda g: log.append(("before", g.tolist())))
    y *= 3.0
    y.register_hook(lambda g: log.append(("after", g.tolist())))
    y.sum().backward()
    return sorted(log), x.grad.tolist()


def retained_after_a_change_in_place(m):
    x = leaf(m, [1.0, 2.0])
    y = x * 2.0
    y.retain_grad()
    y *= 3.0
    y.sum().backward()
    return y.grad.tolist(), x.grad.tolist()


def removed_hooks(m):
    log, x = [], leaf(m, 2.0)
    handle = x.register_hook(lambda g: log.append(1))
    with x.register_hook(lambda g: log.append(2)):
        (x * x).backward()
    handle.remove()
    (x * x).backward()
    return log, x.grad.item()


def several_roots(m):
    x = leaf(m, [1.0, 2.0])
    y, z = x * x, (x * 3.0).sum()
    m.autograd.backward([y, z], [m.tensor([1.0, 10.0], dtype=m.float64), None])
    return x.grad.tolist()


def results_as_inputs(m):
    x = leaf(m, [1.0, 2.0])
    a = x * 2.0
    b = a * a
    return [g.tolist() for g in m.autograd.grad((b * a).sum(), [a, b, x])]


def unused_inputs(m):
    x, w = leaf(m, [1.0]), leaf(m, [2.0])
    first = m.autograd.grad((x * x).sum(), [x, w], allow_unused=True)
    second = m.autograd.grad((x * x).sum(), [x, w], materialize_grads=True)
    return [None if g is None else g.tolist() for g in (*first, *second)]


def third_derivatives(m):
    x, out = leaf(m, 2.0), []
    y = x**4 + x.exp() * x.sin()
    for _ in range(3):
        (y,) = m.autograd.grad(y, x, create_graph=True)
        out.append(y.item())
    return out


def gradient_of_a_gradient_by_its_cotangent(m):
    x, v = leaf(m, [1.0, 2.0]), leaf(m, [3.0, 4.0])
    (d,) = m.autograd.grad(x**3, x, v, create_graph=True)
    return [g.tolist() for g in m.autograd.grad(d.sum(), [x, v])]


def backward_in_the_gradient(m):
    x = leaf(m, [1.0, 2.0])
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    x.grad = None
    (g * g).sum().backward()
    return g.tolist(), x.grad.tolist()


def functional(m):
    x, v = leaf(m, [0.5, 1.5]), m.tensor([1.0, -2.0], dtype=m.float64)
    f = m.autograd.functional
    J = f.jacobian(lambda a, b: (a * b, (a + b).sum()), (x.detach(), v))
    return (
        [[t.tolist() for t in row] for row in J],
        f.hessian(lambda x: (x**3).sum() * x.prod(), x.detach()).tolist(),
        [t.tolist() for t in f.jvp(lambda x: x.sin() * x, x.detach(), v)],
        [t.tolist() for t in f.vjp(lambda x: x.sin() * x, x.detach(), v)],
        [t.tolist() for t in f.hvp(lambda x: (x**3).sum() * x.prod(), x.detach(), v)],
    )


def gradient_mode_in_hooks(m):
    x, modes = leaf(m, [1.0]), []
    y = (x * x).sum()
    x.register_hook(lambda g: modes.append(m.is_grad_enabled()))
    y.backward(retain_graph=True)
    m.autograd.grad(y, x, create_graph=True)
    with m.no_grad():
        y.backward()
    return modes, m.is_grad_enabled()


def twice_the_same_input(m):
    x = leaf(m, [1.0, 2.0])
    return [g.tolist() for g in m.autograd.grad((x * x).sum(), [x, x])]


def the_identity_of_grad(m):
    x = leaf(m, [1.0, 2.0])
    (x * x).sum().backward()
    g = x.grad
    (x * x).sum().backward()
    same = x.grad is g, g.tolist()
    g.zero_()
    return same, x.grad.tolist()


def errors(m):
    x, w, out = leaf(m, [1.0, 2.0]), leaf(m, [2.0, 3.0]), []

    def changed():
        y = x.exp()
        z = y * y
        with m.no_grad():
            y += 1.0
        z.sum().backward()

    def freed():
        y = (x * x).sum()
        y.backward()
        y.backward()

    for wrong in (
        changed,
        freed,
        lambda: (x * x).backward(),
        lambda: m.autograd.grad((x * x).sum(), w),
        lambda: m.autograd.grad(m.ones(1), x),
        lambda: m.autograd.grad((x * x).sum(), m.ones(2)),
        lambda: m.ones(2).register_hook(print),
        lambda: (x * x).register_post_accumulate_grad_hook(print),
        lambda: m.autograd.backward([x.sum(), x.sum()], [None]),
        lambda: x.add_(1.0),
        lambda: m.autograd.gradcheck(lambda t: t.detach() * t, leaf(m, [1.0])),
    ):
        try:
            wrong()
        except Exception as error:
            out.append(isinstance(error, RuntimeError))
        else:
            out.append("no error")
    return out, x.grad.tolist()


def anomalies(m):
    out = []
    for f in (lambda t: t.sqrt() * 0.0, lambda t: t * 2.0):
        x = leaf(m, [0.0])
        try:
            with m.autograd.set_detect_anomaly(True):
                f(x).sum().backward()
            out.append("fine")
        except RuntimeError:
            out.append("error")
    return out


def checkpoints(m):
    run = m.autograd.checkpoint if m is gl else importlib.import_module("torch.utils.checkpoint").checkpoint
    x, w, calls = leaf(m, [1.0, 2.0]), leaf(m, [3.0, 4.0]), []

    def f(x):
        calls.append(1)
        return (x * w).sin(), (x * x).sum()

    a, b = run(f, x, use_reentrant=False)
    (a.sum() * b).backward()
    return len(calls), x.grad.tolist(), w.grad.tolist()


PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__ and f is not leaf]


def rounded(value):
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_program_answers_as_in_pytorch(program):
    torch = pytest.importorskip("torch")
    assert rounded(program(gl)) == rounded(program(torch))
