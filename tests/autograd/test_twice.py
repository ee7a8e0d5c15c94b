"""Second and higher derivatives: the same rules, run on Tensors."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab import nn, observe, ops, optim
from gradlab.errors import GraphError
from gradlab.function import Function
from gradlab.nn import functional as F
from gradlab.testing import check_twice

OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
CASES = [pytest.param(op, case, id=f"{op.__name__}-{case}") for op in OPS for case in op.cases if op.backward is not Function.backward]

# Ops without a second derivative, and why.
NOT_TWICE: dict[str, str] = {}
# Cases at a point where there is none.
SINGULAR = {
    "Std-scalar-correction=0": "the root of a variance that is 0",
    "PairwiseDistance-1x2,1x2-eps=0.0": "a distance of 0",
    "CDist-1x2,2x2-p=inf": "two differences that tie for the largest: a kink of the gradient",
    "Median-3": "two values that tie for the middle: a kink of the gradient",
    "ScatterBest-3,3,3-largest=True-include_self=True": "two values that tie for the largest: a kink of the gradient",
}


@pytest.mark.parametrize(("op", "case"), CASES)
def test_the_gradient_of_every_op_can_be_differentiated(op, case):
    if op.__name__ in NOT_TWICE:
        with pytest.raises(GraphError, match=f"{op.__name__}: its gradient can't be differentiated again"):
            check_twice(op, case)
    elif f"{op.__name__}-{case}" not in SINGULAR:
        check_twice(op, case)


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


def test_constants_among_the_inputs_stay_constants():
    a, b = leaf([2.0, 3.0]), leaf(4.0)
    gl.autograd.gradgradcheck(lambda a, b: gl.where(True, a * a, b) * gl.where(False, a, b * b), [a, b])
    gl.autograd.gradgradcheck(lambda a: (a.float() ** 2).double() * a, a, eps=1e-2, rtol=1e-2)


def test_derivatives_of_a_power_up_to_the_fourth():
    x = leaf(2.0)
    y, got = x**4, []
    for _ in range(4):
        (y,) = gl.autograd.grad(y, x, create_graph=True)
        got.append(y.item())
    assert got == [32.0, 48.0, 48.0, 24.0]


def test_a_gradient_penalty_as_in_wgan_gp_is_pytorchs():
    r = np.random.default_rng(3)
    W1, W2 = r.standard_normal((3, 2)), r.standard_normal((2, 3))
    r.standard_normal((4, 2)), r.standard_normal((2, 3))
    x, A, B = leaf(r.standard_normal((5, 2))), leaf(W1), leaf(W2[:1])
    score = F.leaky_relu(x @ A.T, 0.2) @ B.T
    (g,) = gl.autograd.grad(score.sum(), x, create_graph=True)
    loss = score.mean() + ((g.norm(2, dim=1) - 1) ** 2).mean() * 10
    loss.backward()
    assert loss.item() == pytest.approx(131.34957597551156, rel=1e-12)
    want = [[56.75784613874974, -75.01639564535857], [6.516867623482424, -8.613292315858727], [5.595894971801939, -7.744877925985089]]
    np.testing.assert_allclose(A.grad.data, want, rtol=1e-12)
    np.testing.assert_allclose(B.grad.data, [[-152.2559725343862, -32.83310635897834, 0.997678158203555]], rtol=1e-12)


def test_modules_train_on_a_gradient_penalty():
    gl.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    opt = optim.Adam(net.parameters(), lr=0.05)
    points, losses = gl.randn(16, 2), []
    for _ in range(60):
        x = points.clone().requires_grad_()
        (g,) = gl.autograd.grad(net(x).sum(), x, create_graph=True)
        loss = ((g.norm(2, dim=1) - 1) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]


def test_backward_with_a_graph_puts_gradients_with_a_graph_into_grad():
    x = leaf([1.0, 2.0])
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    assert g.requires_grad and g.tolist() == [3.0, 12.0]
    x.grad = None
    (g * g).sum().backward()
    assert x.grad.tolist() == [2 * 3 * 6.0, 2 * 12 * 12.0] and x.grad.grad_fn is None


def test_gradients_with_a_graph_add_up_and_a_plain_pass_cuts_the_graph():
    x = leaf(2.0)
    (x**3).backward(create_graph=True)
    (x**2).backward(create_graph=True)
    assert x.grad.item() == 16.0 and gl.autograd.grad(x.grad, x, retain_graph=True)[0].item() == 14.0
    (x * 1.0).backward()
    assert x.grad.item() == 17.0 and not x.grad.requires_grad
    x.grad = None


def test_hooks_and_retained_gradients_have_a_graph_too():
    x = leaf([1.0, 2.0])
    y = x * x
    y.retain_grad()
    with y.register_hook(lambda g: g * x):
        (d,) = gl.autograd.grad((y * y).sum(), x, create_graph=True)
    np.testing.assert_allclose(d.data, 4 * x.data**4)
    assert y.grad.requires_grad
    (dd,) = gl.autograd.grad(d.sum(), x)
    np.testing.assert_allclose(dd.data, 16 * x.data**3)


@pytest.mark.parametrize(("op", "slope"), [("tanh", lambda y: -2 * y), ("exp", lambda y: 1 + 0 * y), ("sigmoid", lambda y: 1 - 2 * y)])
def test_a_gradient_depends_on_the_output_that_its_rule_reads(op, slope):
    x, w = leaf([0.3, 0.6]), np.array([1.0, 10.0])
    y = getattr(x, op)()
    (g,) = gl.autograd.grad((y * w).sum(), x, create_graph=True)
    (d,) = gl.autograd.grad(g.sum(), y)
    np.testing.assert_allclose(d.data, slope(y.data) * w)


def test_a_hook_sees_what_comes_to_an_output_from_the_gradient_of_its_step():
    x = leaf([0.3, 0.6])
    y = x.exp()
    y.register_hook(lambda g: g * 2.0)
    (g,) = gl.autograd.grad(y.sum(), x, create_graph=True)  # 2 y, of which a pass sends 2 back to y, and the hook makes 4
    (d,) = gl.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(d.data, 4.0 * y.data)


def test_rules_on_tensors_run_on_a_device_too():
    """As CuPy would: functions of the device's own library, no array of another place in between."""
    values, results = np.random.default_rng(0).standard_normal((4, 6)), []
    for device in ("cpu", "sim"):
        x = gl.tensor(values, device=device, requires_grad=True)
        y = (F.layer_norm(F.gelu(x), (6,)) * x.exp()).sum() + F.cross_entropy(x, gl.tensor([1, 0, 5, 2], device=device))
        y = y + F.max_pool1d(x[None], 2).prod() + x[[0, 0, 2]].cumsum(0).std()
        (d,) = gl.autograd.grad(y, x, create_graph=True)
        (dd,) = gl.autograd.grad((d * d).sum(), x)
        assert str(d.device) == str(dd.device) == str(x.device)
        results.append([d.detach().cpu().numpy(), dd.cpu().numpy()])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-9)


def test_a_replay_uses_what_was_drawn():
    x = leaf(np.ones(50))
    y = F.dropout(x * x, 0.5)
    (d,) = gl.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_array_equal(d.data, 2 * y.data)
    (dd,) = gl.autograd.grad(d.sum(), x)
    np.testing.assert_array_equal(dd.data, 2 * y.data)


def test_a_replay_raises_no_forward_events():
    class Watch:
        def __init__(self):
            self.seen = []

        def forward(self, fn, output, began):
            self.seen.append(("forward", type(fn).__name__))

        def backward(self, fn, g, grads, began):
            self.seen.append(("backward", type(fn).__name__))

        def begin(self, kind, target, inputs):
            self.seen.append((kind, type(target).__name__))

    x = leaf([1.0])
    y = x.exp().sum()
    watch = Watch()
    observe.attach(watch)
    try:
        gl.autograd.grad(y, x, create_graph=True)
    finally:
        observe.detach(watch)
    assert ("forward", "Exp") not in watch.seen
    assert [kind for kind, _ in watch.seen if kind != "forward"] == ["pass", "backward", "backward"]


def test_what_the_replay_needs_must_not_have_changed():
    x = leaf([1.0])
    v = x * 1.0
    y = v.exp()  # on arrays its rule needs the output alone
    with gl.no_grad():
        v += 1.0
    assert gl.autograd.grad(y, x, retain_graph=True)[0].item() == np.exp(1.0)
    with pytest.raises(GraphError, match=r"Exp: input 0 was changed in place[\s\S]*x\.clone\(\)"):
        gl.autograd.grad(y, x, create_graph=True)


def test_what_became_the_result_of_another_step_is_told_too():
    x = leaf([2.0])
    v = x * 1.0
    y = v.exp()
    v *= 3.0
    assert gl.autograd.grad(y, x, retain_graph=True)[0].item() == np.exp(2.0)
    with pytest.raises(GraphError, match="Exp: input 0 was changed in place"):
        gl.autograd.grad(y, x, create_graph=True)


def test_in_place_steps_have_second_derivatives():
    x = leaf([1.0, 2.0, 3.0])

    def f(x):
        y = x * x
        y[0] = y[1] * 2.0
        y *= x
        return y.sum()

    gl.autograd.gradgradcheck(f, x)


class Cube(Function):
    """A step of a user's own, written for arrays."""

    def forward(self, x):
        self.x = x
        return x**3

    def backward(self, g):
        return 3 * g * self.x**2


class Ripple(Function):
    """One that calls NumPy by its name."""

    def forward(self, x):
        self.x = x
        return np.sin(x) * np.sum(x)

    def backward(self, g):
        return g * np.cos(self.x) * np.sum(self.x) + np.sum(g * np.sin(self.x)) * np.ones_like(self.x)


class Stuck(Function):
    """One whose rule leaves the world of operators and functions."""

    def forward(self, x):
        self.x = x
        return x * 2.0

    def backward(self, g):
        return g.copy() * 2.0


class Helped(Stuck):
    """The same with a formula beside it."""

    @staticmethod
    def reference(x):
        return x + x * x * 0 + x


def test_a_users_own_step_can_be_differentiated_twice():
    x = leaf([1.0, 2.0])
    for step in (Cube, Ripple):
        gl.autograd.gradcheck(step.apply, x)
        gl.autograd.gradgradcheck(step.apply, x)
    (d,) = gl.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    assert gl.autograd.grad(d.sum(), x)[0].tolist() == [6.0, 12.0]


def test_a_step_that_can_not_says_so_and_a_reference_helps():
    x = leaf([1.0, 2.0])
    assert gl.autograd.grad(Stuck.apply(x).sum(), x)[0].tolist() == [2.0, 2.0]
    with pytest.raises(GraphError, match=r"Stuck: its gradient can't be differentiated again[\s\S]*copy[\s\S]*`reference`"):
        gl.autograd.grad(Stuck.apply(x).sum(), x, create_graph=True)
    gl.autograd.gradgradcheck(Helped.apply, x)


@pytest.mark.parametrize("out", [lambda g: g * float(g.sum()), lambda g: g * np.asarray(g), lambda g: filled(g)])
def test_a_rule_that_would_lose_the_graph_in_silence_is_refused(out):
    class Leaks(Function):
        def forward(self, x):
            self.x = x
            return x * 1.0

        def backward(self, g):
            return out(g)

    x = leaf([2.0])
    with pytest.raises(GraphError, match=r"Leaks: its gradient can't be differentiated again[\s\S]*(lose the graph|can't differentiate)"):
        gl.autograd.grad(Leaks.apply(x * x).sum() ** 2, x, create_graph=True)


def filled(g):
    d = np.zeros(1)
    d[:] = g
    return d


def test_partial_derivatives_of_a_reference_do_not_run_through_its_inputs():
    x = leaf([3.0])

    class Product(Function):
        by_reference = True

        @staticmethod
        def reference(a, b):
            return a * b

        def forward(self, a, b):
            self.a, self.b = a, b
            return a * b

        def backward(self, g):
            return g * self.b, g * self.a

    (d,) = gl.autograd.grad(Product.apply(x, x * x), x, create_graph=True)
    assert d.item() == 27.0 and gl.autograd.grad(d, x, retain_graph=True)[0].item() == 18.0
    (d,) = gl.autograd.grad(Product.apply(x, x), x, create_graph=True)
    assert d.item() == 6.0


def test_a_graph_of_gradients_goes_away_with_what_holds_it():
    gc.collect()
    gc.disable()
    try:
        x = leaf(np.ones(3))
        y = (x**3).sum()
        (d,) = gl.autograd.grad(y, x, create_graph=True)
        alive = weakref.ref(d.grad_fn)
        del y, d
        assert alive() is None
        y = F.softmax(x, 0).sum()
        (d,) = gl.autograd.grad(y, x, create_graph=True)
        alive = weakref.ref(d.grad_fn)
        d.sum().backward()
        del y, d
        assert alive() is None and gc.collect() == 0
    finally:
        gc.enable()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.sampled_from("+*-/")), min_size=1, max_size=8))
def test_any_graph_has_the_second_derivatives_of_its_numbers(steps):
    def f(x):
        values = [x, x * 0.5 + 0.1]
        for i, j, sign in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            values.append(a + b if sign == "+" else a - b if sign == "-" else (a * b).tanh() if sign == "*" else a / (b * b + 1.0))
        return values[-1]

    gl.autograd.gradgradcheck(f, leaf([0.7, -0.4]), eps=1e-5)
