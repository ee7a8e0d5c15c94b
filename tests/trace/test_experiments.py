"""Experiments on a captured step against NumPy in float64, by hand; and the run that goes on as if there had been none."""

from __future__ import annotations

import random

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.function import Function
from gradlab.nn import functional as F
from gradlab.trace import recording
from gradlab.trace.counterfactual import counterfactual
from gradlab.trace.differences import check_leaf, check_op
from gradlab.trace.nudge import nudge
from gradlab.trace.replay import Replay, ReplayError
from gradlab.trace.terms import terms_of


class Swish(Function):
    """y = x / (1 + e^-x)."""

    def forward(self, x, beta=1.0):
        self.x, self.s, self.beta = x, 1 / (1 + np.exp(-beta * x)), beta
        return x * self.s

    def backward(self, g):
        return g * (self.s + self.beta * self.x * self.s * (1 - self.s))


class Wrong(Swish):
    """The same with a forgotten term."""

    def backward(self, g):
        return g * self.s


class Noise(Function):
    """y = x m with m drawn from a generator, chosen by name."""

    def forward(self, x, source):
        draw = {"gradlab": gl.rand, "numpy": np.random.rand, "python": lambda *n: [random.random() for _ in range(n[0])]}[source]
        self.m = np.asarray(getattr(draw(len(x)), "data", None) if source == "gradlab" else draw(len(x)), x.dtype)[:, None]
        return x * self.m

    def backward(self, g):
        return g * self.m


class Own(Function):
    """It draws from a generator that nobody knows of."""

    rng = np.random.default_rng(1)

    def forward(self, x):
        return x * self.rng.random()

    def backward(self, g):
        return g


def mlp(dtype):
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Dropout(0.5), nn.Linear(7, 3)).to(dtype=dtype)
    x, y = gl.randn(6, 5, dtype=dtype), gl.tensor(np.arange(6) % 3)
    return model.parameters(), lambda: F.cross_entropy(model(x), y)


def convolution(dtype):
    w = gl.randn(4, 2, 3, 3, dtype=dtype, requires_grad=True)
    b, v = gl.randn(4, dtype=dtype, requires_grad=True), gl.randn(3, 4, dtype=dtype, requires_grad=True)
    gamma, beta = gl.ones(4, dtype=dtype, requires_grad=True), gl.zeros(4, dtype=dtype, requires_grad=True)
    mean, var = gl.zeros(4, dtype=dtype), gl.ones(4, dtype=dtype)
    x = gl.randn(2, 4, 6, 6, dtype=dtype)

    def loss():
        h = F.conv2d(x, w, b, stride=2, padding=1, groups=2)
        h = F.batch_norm(h, mean, var, gamma, beta, training=True)
        return (F.linear(h.tanh().mean((2, 3)), v) ** 2).mean()

    return [w, b, v, gamma, beta], loss


def attention(dtype):
    weights = [gl.randn(4, 4, dtype=dtype, requires_grad=True) for _ in range(3)]
    x, y = gl.randn(2, 5, 4, dtype=dtype), gl.randn(2, 5, 4, dtype=dtype)

    def loss():
        q, k, v = [x @ w for w in weights]
        h = F.scaled_dot_product_attention(q, k, v, dropout_p=0.3, is_causal=True)
        return F.mse_loss(h + F.softmax(q, dim=-1), y)

    return weights, loss


def own(dtype):
    w = gl.randn(5, 3, dtype=dtype, requires_grad=True)
    x = gl.randn(6, 5, dtype=dtype)
    return [w], lambda: (Noise.apply(Swish.apply(x @ w, beta=1.5), source="numpy") ** 2).sum()


NETS = {"mlp": mlp, "conv": convolution, "attention": attention, "own": own}


def captured(recorder, parameters, loss, optimizer=None, steps=3):
    """The second of some steps, captured."""
    optimizer = optimizer or optim.SGD(parameters, lr=0.05, momentum=0.9)
    for step in range(steps):
        if step == 1:
            recorder.capture_next()
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert recorder.captured.state == "complete"
    return recorder.captured


def once(recorder, make, *inputs, **params):
    """One op captured, with its loss."""
    recorder.capture_next()
    y = make(*inputs, **params)
    y.sum().backward()
    return recorder.captured, y


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    gl.manual_seed(5)
    np.random.seed(5)
    return request.param


@pytest.mark.parametrize("net", NETS)
def test_every_gradient_of_a_right_net_agrees(net, dtype):
    parameters, loss = NETS[net](dtype)
    parameters = list(parameters)
    with recording() as r:
        kept = captured(r, parameters, loss)
        for at, op in enumerate(kept.ops):
            for one in check_op(kept, at):
                assert one.state == "good" and one.error < 1e-7, (op.cls, one)
        wanted = [j for j, leaf in enumerate(kept.leaves) if leaf.gradient is not None]
        assert len(wanted) == len(parameters)
        for j in wanted:
            one = check_leaf(kept, j)
            assert one.state == "good", (net, j, one)
        r.release()


@pytest.mark.parametrize("net", NETS)
def test_the_replay_is_the_step(net, dtype):
    parameters, loss = NETS[net](dtype)
    with recording() as r:
        kept = captured(r, parameters, loss)
        replay = Replay(kept)
        values = replay.run()
        for at, op in enumerate(kept.ops):
            np.testing.assert_allclose(values[at], op.output, rtol=2e-4, atol=2e-5)
            assert values[at].dtype.kind != "f" or values[at].dtype == "float64"
        gradients, _ = replay.gradients()
        for ref, g in gradients.items():
            np.testing.assert_allclose(g, kept.leaves[-1 - ref].gradient, rtol=2e-3, atol=2e-5)
        r.release()


def test_a_forgotten_term_is_found_and_the_worst_entry_named():
    x = gl.tensor([[0.1, 2.0], [-3.0, 0.5]], dtype="float64", requires_grad=True)
    with recording() as r:
        kept, _ = once(r, Wrong.apply, x)
        (one,) = check_op(kept, 0)
        assert one.state == "wrong" and one.checked == one.size == 4
        s = 1 / (1 + np.exp(-x.data))
        true = s + x.data * s * (1 - s)
        error = np.abs(s - true) / np.maximum(np.abs(s), np.abs(true))
        assert one.worst.at == np.unravel_index(error.argmax(), error.shape)
        assert one.worst.backward / one.worst.differences == pytest.approx((s / true)[one.worst.at], rel=1e-7)
        assert one.error == pytest.approx(error.max(), rel=1e-6)
        assert check_leaf(kept, 0).state == "wrong"
        r.release()


def test_a_kink_is_no_error_where_backward_answers_with_a_slope_of_one_side():
    x = gl.tensor([0.0, 1.0, -2.0, 1e-7], dtype="float64", requires_grad=True)
    with recording() as r:
        kept, _ = once(r, F.relu, x)
        (one,) = check_op(kept, 0)
        assert one.kinks == 1 and one.kink.at == (0,) and (round(one.kink.left, 6), round(one.kink.right, 6)) == (0.0, 1.0)
        assert one.state == "good" and one.worst.at != (0,)
        r.release()


class Beside(Function):
    """relu whose backward at 0 is none of its slopes."""

    def forward(self, x):
        self.x = x
        return np.maximum(x, 0)

    def backward(self, g):
        return g * np.where(self.x == 0, 7.0, self.x > 0)


def test_a_slope_that_is_on_no_side_of_a_kink_is_wrong():
    x = gl.tensor([0.0, 1.0], dtype="float64", requires_grad=True)
    with recording() as r:
        kept, _ = once(r, Beside.apply, x)
        assert check_op(kept, 0)[0].state == "wrong"
        r.release()


@pytest.mark.parametrize("source", ["gradlab", "numpy", "python"])
def test_what_an_own_function_drew_is_drawn_again(source):
    x = gl.randn(4, 2, dtype="float64", requires_grad=True)
    with recording() as r:
        kept, y = once(r, Noise.apply, x, source=source)
        assert (Replay(kept).run()[0] == y.data).all()
        assert check_op(kept, 0)[0].state == "good"
        r.release()


def test_a_function_that_gives_other_numbers_each_time_is_named():
    x = gl.randn(4, requires_grad=True)
    with recording() as r:
        kept, _ = once(r, Own.apply, x)
        with pytest.raises(ReplayError, match="Own: it gives other numbers when it runs again"):
            check_op(kept, 0)
        r.release()


def test_a_parameter_that_was_not_kept_is_named():
    class Through(Function):
        def forward(self, x, by):
            return by(x)

        def backward(self, g):
            return g

    x, shift = gl.randn(4, requires_grad=True), 1.0
    with recording() as r:
        kept, _ = once(r, Through.apply, x, by=lambda v: v + shift)
        with pytest.raises(ReplayError, match="Through: a parameter of it was not captured"):
            check_op(kept, 0)
        r.release()


# Terms


def check_terms(kept, at, where, expected, count):
    """The terms make the entry, are in order, and are the products that `expected` has."""
    found = terms_of(kept, at, where, most=10_000)
    sizes = [abs(term) for term, _ in found.terms]
    assert sizes == sorted(sizes, reverse=True) and found.number == len(sizes) == count
    np.testing.assert_allclose(sorted(t for t, _ in found.terms), np.sort(np.ravel(expected)), rtol=1e-12)
    np.testing.assert_allclose(found.total, found.stored, rtol=1e-5, atol=1e-6)
    return found


def test_terms_of_matmul_and_linear_are_row_times_column(dtype):
    a, b = gl.randn(2, 1, 3, 5, dtype=dtype, requires_grad=True), gl.randn(4, 5, 6, dtype=dtype)
    w, c = gl.randn(7, 5, dtype=dtype, requires_grad=True), gl.randn(7, dtype=dtype)
    with recording() as r:
        kept, _ = once(r, lambda: (a @ b).sum() + F.linear(a, w, c).sum())
        names = [op.cls.__name__ for op in kept.ops]
        A, B, W, C = [t.data.astype(float) for t in (a, b, w, c)]
        found = check_terms(kept, names.index("MatMul"), (1, 3, 2, 4), A[1, 0, 2] * B[3, :, 4], 5)
        assert {f[1][0].at[:3] for f in found.terms} == {(1, 0, 2)} and {f[1][1].at[0] for f in found.terms} == {3}
        check_terms(kept, names.index("Linear"), (1, 0, 2, 6), [*(A[1, 0, 2] * W[6]), C[6]], 6)
        r.release()


@pytest.mark.parametrize("how", [{}, {"stride": 2, "padding": 1}, {"padding": "same", "dilation": 2}, {"groups": 2, "padding": (0, 2)}])
def test_terms_of_a_convolution_are_window_times_kernel(how, dtype):
    x = gl.randn(2, 4, 7, 6, dtype=dtype, requires_grad=True)
    w, b = gl.randn(6, 4 // how.get("groups", 1), 3, 2, dtype=dtype), gl.randn(6, dtype=dtype)
    with recording() as r:
        kept, y = once(r, F.conv2d, x, w, b, **how)
        for where in [(0, 0, 0, 0), (1, 5, y.shape[2] - 1, y.shape[3] - 1), (1, 3, 2, 1)]:
            found = terms_of(kept, 0, where, most=10_000)
            assert found.total == pytest.approx(float(y.data[where]), rel=1e-4, abs=1e-5)
            for term, factors in found.terms:
                values = [(x, w, b)[f.operand].data[f.at] for f in factors]
                assert term == pytest.approx(float(np.prod(values, dtype=float)), rel=1e-6)
        r.release()


def test_terms_of_softmax_sums_and_attention(dtype):
    x = gl.randn(3, 4, 5, dtype=dtype, requires_grad=True)
    X = x.data.astype(float)
    with recording() as r:
        kept, _ = once(
            r, lambda: x.softmax(1).sum((0, 2)).sum() + x.log_softmax(-1).sum() + x.mean((1, 2)).sum() + x.sum(1, keepdim=True).sum()
        )
        ops = [(op.cls.__name__, op.output.shape) for op in kept.ops]
        e = np.exp(X[2, :, 4] - X[2, :, 4].max())
        check_terms(kept, ops.index(("Softmax", (3, 4, 5))), (2, 1, 4), e, 4)
        e = np.exp(X[2, 1] - X[2, 1].max())
        check_terms(kept, ops.index(("LogSoftmax", (3, 4, 5))), (2, 1, 4), e, 5)
        check_terms(kept, ops.index(("Mean", (3,))), (1,), X[1], 20)
        check_terms(kept, ops.index(("Sum", (3, 1, 5))), (1, 0, 2), X[1, :, 2], 4)
        r.release()
        q, k, v = [gl.randn(2, 5, 4, dtype=dtype, requires_grad=True) for _ in range(3)]
        kept, y = once(r, lambda: F.scaled_dot_product_attention(q, k, v, dropout_p=0.4, is_causal=True))
        found = terms_of(kept, 0, (1, 3, 2))
        assert found.total == pytest.approx(float(y.data[1, 3, 2]), rel=1e-4, abs=1e-6) and found.number == 5
        r.release()


def test_of_a_sum_of_very_many_entries_the_largest_are_listed_and_all_are_summed():
    x = gl.randn(100, 100, dtype="float64", requires_grad=True)
    with recording() as r:
        kept, _ = once(r, lambda: x.sum() * 1.0)
        found = terms_of(kept, 0, (), most=3)
        assert found.number == 10_000 and found.total == pytest.approx(float(x.data.sum()))
        assert [abs(term) for term, _ in found.terms] == sorted(np.abs(x.data).ravel())[:-4:-1]
        r.release()


def test_what_cannot_be_taken_apart_is_refused_in_words():
    x = gl.randn(3, 4, requires_grad=True)
    with recording() as r:
        kept, _ = once(r, lambda: x.tanh() @ x.detach().T)
        with pytest.raises(ReplayError, match="Tanh: its arithmetic is not taken apart"):
            terms_of(kept, 0, (0, 0))
        with pytest.raises(ReplayError, match="is no entry of an array"):
            terms_of(kept, [op.cls.__name__ for op in kept.ops].index("MatMul"), (0, 9))
        r.release()


# Nudge


def test_a_nudge_changes_the_loss_as_numpy_says(dtype):
    w = gl.randn(5, 3, dtype=dtype, requires_grad=True)
    x, y = gl.randn(6, 5, dtype=dtype), gl.randn(6, 3, dtype=dtype)
    with recording() as r:
        kept = captured(r, [w], lambda: ((gl.tanh(x @ w) - y) ** 2).mean())
        j = next(j for j, leaf in enumerate(kept.leaves) if leaf.gradient is not None)
        before = kept.leaves[j].value.astype(float)

        def loss(by):
            W = before.copy()
            W[3, 1] += by
            return ((np.tanh(x.data.astype(float) @ W) - y.data.astype(float)) ** 2).mean()

        for eps in (None, 1e-2, 1e-5):
            done = nudge(kept, -1 - j, (3, 1), eps)
            assert done.eps == (eps or 1e-3 * max(1, abs(before[3, 1])))
            assert done.up == pytest.approx(loss(done.eps) - loss(0), rel=1e-6, abs=1e-14)
            assert done.down == pytest.approx(loss(-done.eps) - loss(0), rel=1e-6, abs=1e-14)
            assert done.loss == pytest.approx(loss(0)) and done.gradient == kept.leaves[j].gradient[3, 1]
        assert done.up == pytest.approx(done.gradient * done.eps, rel=1e-3)
        result = nudge(kept, 0, (2, 1), 1e-4)  # of a value in between
        assert (result.up - result.down) / 2 == pytest.approx(kept.ops[0].gradient[2, 1] * 1e-4, rel=1e-3)
        with pytest.raises(ReplayError, match="is no entry"):
            nudge(kept, -1 - j, (9, 9))
        r.release()


# Counterfactual


def bits(model, optimizer):
    """Everything of the run that a replay could touch."""
    state = {k: {n: np.array(v).tobytes() for n, v in s.items()} for k, s in optimizer.state_dict()["state"].items()}
    return (
        [p.data.tobytes() for p in model.parameters()],
        [None if p.grad is None else p.grad.data.tobytes() for p in model.parameters()],
        [b.data.tobytes() for b in model.buffers()],
        state,
        [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups],
        repr(gl.get_rng_state()),
        random.getstate(),
        [np.array(part).tobytes() for part in np.random.get_state()[1:]],
        [p.version for p in model.parameters()],
    )


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.drop = nn.Linear(4, 8), nn.Linear(8, 3), nn.Dropout(0.5)
        self.register_buffer("running_mean", gl.zeros(8))
        self.register_buffer("running_var", gl.ones(8))

    def forward(self, x):
        h = F.batch_norm(self.fc1(x), self.running_mean, self.running_var, training=True)
        return self.fc2(self.drop(h.tanh()))


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_counterfactual_step_is_the_step_that_would_have_been_and_leaves_the_run_alone(name):
    def train(steps, twist=lambda optimizer, model: None, drop=True):
        gl.manual_seed(1)
        model = Net()
        optimizer = OPTIMIZERS[name](model.parameters())
        x, y = gl.randn(16, 4), gl.tensor(np.arange(16) % 3)
        for step in range(steps):
            optimizer.zero_grad()
            if step == 2:
                before = [p.data.copy() for p in model.parameters()]
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            if step == 2:
                twist(optimizer, model)
            optimizer.step()
            if step == 2:
                norms = [float(np.linalg.norm((p.data - b).astype(float))) for p, b in zip(model.parameters(), before, strict=True)]
            yield model, optimizer, x, y, loss.item(), locals().get("norms")

    def double(optimizer, model):
        optimizer.param_groups[0]["lr"] *= 2

    def clip(optimizer, model):
        _clip(model, 0.05)

    truth = {}
    for what, twist in {"real": lambda o, m: None, "double": double, "clip": clip}.items():
        *_, (_, _, _, _, _, norms) = train(3, twist)
        truth[what] = norms
    with recording() as r:
        steps = train(4)
        for _ in range(2):
            next(steps)
        r.capture_next()
        model, optimizer, _, _, loss, _ = next(steps)
        kept = r.captured
        before = bits(model, optimizer)
        told = {
            "real": counterfactual(kept),
            "double": counterfactual(kept, lr_times=2.0),
            "clip": counterfactual(kept, clip=0.05),
            "none": counterfactual(kept, dropout=False),
            "lr": counterfactual(kept, lr=0.0),
        }
        for at in range(len(kept.ops)):
            if kept.ops[at].gradient is not None:
                check_op(kept, at)
        check_leaf(kept, next(j for j, leaf in enumerate(kept.leaves) if leaf.gradient is not None))
        nudge(kept, 0, (0, 0))
        assert bits(model, optimizer) == before
        for what, norms in truth.items():
            np.testing.assert_allclose([row.other for row in told[what].rows], norms, rtol=1e-4, atol=1e-8)
            np.testing.assert_allclose([row.real for row in told[what].rows], truth["real"], rtol=1e-5, atol=1e-8)
            assert told[what].before == pytest.approx(loss, rel=1e-5)
        assert told["real"].other == pytest.approx(told["real"].real, rel=1e-9)
        assert told["double"].lr == (optimizer.param_groups[0]["lr"], 2 * optimizer.param_groups[0]["lr"])
        assert told["clip"].clipped > 1 and told["clip"].other_norm == pytest.approx(0.05, rel=1e-6)
        assert told["none"].other_before != told["none"].before
        if name == "sgd":
            assert told["lr"].other == pytest.approx(told["lr"].before, rel=1e-6)
        r.release()


def _clip(model, most):
    norm = np.sqrt(sum(float((p.grad.data.astype(float) ** 2).sum()) for p in model.parameters()))
    for p in model.parameters():
        p.grad = gl.tensor(p.grad.data * np.float32(min(1.0, most / norm)))


def test_without_an_optimizer_step_there_is_no_counterfactual_and_it_says_so():
    w = gl.randn(3, requires_grad=True)
    with recording() as r:
        kept, _ = once(r, lambda: w * 2.0)
        with pytest.raises(ReplayError, match="no optimizer stepped"):
            counterfactual(kept)
        r.release()
