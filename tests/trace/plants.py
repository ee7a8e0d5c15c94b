"""Faults that are planted for the rules to find, three a rule, and runs without a fault.

No threshold was chosen on these: other networks, sizes and optimizers were used for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.function import Function
from gradlab.nn import functional as F
from gradlab.trace import check_batch, overfit
from gradlab.trace.rules import Finding

from .training import CNN, Attention, Reader, Training, adam, adamw, batches, classify, curve, digits, fit, mlp, sgd


class Plant(NamedTuple):
    """A fault that rule `rule` has to find within `patience` steps; a run without a fault has no rule."""

    rule: str
    name: str
    patience: int
    train: Callable[[], Training]


PLANTS: list[Plant] = []


def plant(rule: str, name: str, patience: int, plants: list[Plant] = PLANTS) -> Callable[[Callable[[], Training]], Callable[[], Training]]:
    """Decorate what makes a training to list it."""

    def add(train: Callable[[], Training]) -> Callable[[], Training]:
        plants.append(Plant(rule, name, patience, train))
        return train

    return add


def scaled(model: nn.Module, by: float, part: str = "") -> nn.Module:
    """Multiply the weights, or those of a part."""
    for name, p in model.named_parameters():
        if p.ndim > 1 and part in name:
            p.data[...] = p.data * by
    return model


def looped(model: nn.Module, optimizer, loss_of, *, zero: bool = True, batch: int = 32) -> Training:
    """A loop with a loss of its own."""
    for x, y in batches(batch):
        loss = loss_of(model, x, y)
        if zero:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


# R1


@plant("R1", "log of a probability that is 0, MLP, SGD", 20)
def log_of_zero() -> Training:
    model = mlp(64, 40, 10)
    model[2].bias.data[:] = [200.0] + [0.0] * 9
    return looped(model, sgd(0.1)(model.parameters()), lambda m, x, y: -(m(x).softmax(1)[np.arange(32), y.data].log()).mean())


@plant("R1", "square root of 0 backward, fit, Adam", 20)
def root_of_zero() -> Training:
    x, y = curve(64)
    w = gl.zeros(2, 1, requires_grad=True)
    optimizer = adam(0.01)([w])
    while True:
        loss = ((x @ w) ** 2).sum(1).sqrt().mean() - y.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


@plant("R1", "exp overflows, attention, AdamW", 20)
def exp_overflows() -> Training:
    model = scaled(Attention(16, 2), 400.0, "head")
    return looped(model, adamw(1e-3)(model.parameters()), lambda m, x, y: (m(x).exp().sum(1).log() - m(x)[np.arange(32), y.data]).mean())


# R2


@plant("R2", "12 sigmoid layers of 20, momentum", 40)
def deep_sigmoid() -> Training:
    return fit(mlp(2, *[20] * 12, 1, bend=nn.Sigmoid), sgd(0.05, 0.9))


@plant("R2", "8 ReLU layers with weights a tenth, AdamW", 40)
def small_weights() -> Training:
    return classify(scaled(mlp(64, *[48] * 7, 10), 0.1), adamw(1e-3), batch=16)


@plant("R2", "convolutions, then 7 sigmoid layers of 24, SGD", 40)
def sigmoid_on_images() -> Training:
    model = nn.Sequential(CNN(6), mlp(10, *[24] * 7, 10, bend=nn.Sigmoid))
    return classify(model, sgd(0.2), batch=16)


# R3


@plant("R3", "a step too long for the input's scale, fit, SGD", 60)
def diverges() -> Training:
    return fit(mlp(2, 30, 1), sgd(0.05), n=100, scale=30.0)


@plant("R3", "every 20th batch a thousand times too large, MLP, SGD", 80)
def rare_batches() -> Training:
    model = mlp(64, 32, 10, bend=nn.Tanh)
    optimizer = sgd(1e-3)(model.parameters())
    for step, (x, y) in enumerate(batches(24), 1):
        scores = model[2](model[1](model[0](x)) * (1000.0 if step % 20 == 0 else 1.0))
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


@plant("R3", "a recurrent weight twice too large, 25 times, ReLU, momentum", 60)
def recurrent() -> Training:
    rng = np.random.default_rng(5)
    w_in, w = (
        gl.tensor(rng.standard_normal((3, 16)) * 0.3, requires_grad=True),
        gl.tensor(rng.standard_normal((16, 16)) * 0.45, requires_grad=True),
    )
    head = gl.tensor(rng.standard_normal((16, 1)) * 0.3, requires_grad=True)
    optimizer = sgd(1e-3, 0.9)([w_in, w, head])
    while True:
        x = gl.tensor(rng.standard_normal((25, 8, 3)))
        h = gl.zeros(8, 16, dtype=gl.float64)
        for t in range(25):
            h = (x[t] @ w_in + h @ w).relu()
        loss = F.mse_loss(h @ head, x[-1][:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


# R4


@plant("R4", "half of 80 biases at -20, fit, Adam", 150)
def low_biases() -> Training:
    model = mlp(2, 80, 40, 1)
    model[0].bias.data[::2] = -20.0
    return fit(model, adam(1e-3), n=128)


@plant("R4", "channels of a CNN at -30, SGD with momentum", 150)
def low_channels() -> Training:
    model = CNN(10)
    model.b2.data[:9] = -30.0
    return classify(model, sgd(0.02, 0.9), batch=64)


@plant("R4", "three steps of lr 10, then 0.02, MLP, SGD", 150)
def early_leaps() -> Training:
    model = mlp(64, 120, 60, 10)
    fast, slow = sgd(10.0)(model.parameters()), sgd(0.02)(model.parameters())
    for step, (x, y) in enumerate(batches(48)):
        loss = F.cross_entropy(model(x), y)
        slow.zero_grad()
        loss.backward()
        (fast if step < 3 else slow).step()
        yield


# R5


@plant("R5", "inputs times 40 into sigmoids, Adam", 40)
def unscaled_into_sigmoid() -> Training:
    return classify(mlp(64, 50, 50, 10, bend=nn.Sigmoid), adam(1e-3), scale=40.0)


@plant("R5", "weights times 10, tanh, fit, momentum", 40)
def large_into_tanh() -> Training:
    return fit(scaled(mlp(2, 40, 40, 40, 1, bend=nn.Tanh), 10.0), sgd(1e-3, 0.9), n=100)


@plant("R5", "weights of deviation 1 in a tanh net of 100 inputs, AdamW", 40)
def unit_normal_tanh() -> Training:
    model = mlp(64, 100, 100, 10, bend=nn.Tanh)
    for p in model.parameters():
        if p.ndim > 1:
            nn.init.normal_(p)
    return classify(model, adamw(1e-3), batch=16)


# R6


@plant("R6", "lr 20 on a tanh net, SGD", 60)
def far_too_fast() -> Training:
    return classify(mlp(64, 48, 10, bend=nn.Tanh), sgd(20.0), batch=64)


@plant("R6", "lr 1e-7, attention, AdamW", 60)
def far_too_slow() -> Training:
    return classify(Attention(24, 3), adamw(1e-7), batch=8)


@plant("R6", "lr 3 with momentum 0.5, GELU", 60)
def momentum_too_fast() -> Training:
    return classify(mlp(64, 60, 30, 10, bend=nn.GELU), sgd(3.0, 0.5), batch=16)


# R7


class Unused(nn.Module):
    """A network with a layer that it does not call, or whose output it cuts off."""

    def __init__(self, *, cut: bool) -> None:
        super().__init__()
        self.first, self.last, self.spare = nn.Linear(64, 24), nn.Linear(24, 10), nn.Linear(24, 24)
        self.cut = cut

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        h = self.first(x).tanh()
        return self.last((self.spare(h).detach() if self.cut else h).relu())


@plant("R7", "a layer that is never called, SGD", 20)
def never_called() -> Training:
    return classify(Unused(cut=False), sgd(0.1))


@plant("R7", "detach in the middle, AdamW", 20)
def detached() -> Training:
    return classify(Unused(cut=True), adamw(1e-3), batch=8)


@plant("R7", "the head not given to the optimizer, CNN, momentum", 20)
def not_given() -> Training:
    model = CNN(4)
    optimizer = sgd(0.05, 0.9)([p for name, p in model.named_parameters() if not name.startswith("head")])
    return looped(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y))


# R8


@plant("R8", "MLP, SGD", 20)
def no_reset() -> Training:
    model = mlp(64, 30, 10)
    return looped(model, sgd(0.01)(model.parameters()), lambda m, x, y: F.cross_entropy(m(x), y), zero=False)


@plant("R8", "LSTM, Adam", 20)
def no_reset_lstm() -> Training:
    model = Reader(12)
    return looped(model, adam(1e-3)(model.parameters()), lambda m, x, y: F.cross_entropy(m(x), y), zero=False)


@plant("R8", "attention, momentum, sum of the loss", 20)
def no_reset_attention() -> Training:
    model = Attention(16, 2)
    optimizer = sgd(1e-4, 0.9)(model.parameters())
    return looped(model, optimizer, lambda m, x, y: F.cross_entropy(m(x), y, reduction="sum"), zero=False, batch=8)


# R9


@plant("R9", "softmax and cross_entropy, CNN, Adam", 20)
def softmax_twice() -> Training:
    model = CNN(4)
    return looped(model, adam(1e-3)(model.parameters()), lambda m, x, y: F.cross_entropy(m(x).softmax(1), y))


@plant("R9", "sigmoid and binary_cross_entropy_with_logits, MLP, SGD", 20)
def sigmoid_twice() -> Training:
    model = mlp(64, 20, 10)
    optimizer = sgd(0.1)(model.parameters())
    return looped(
        model, optimizer, lambda m, x, y: F.binary_cross_entropy_with_logits(m(x).sigmoid(), gl.tensor(np.eye(10, dtype="f")[y.data]))
    )


@plant("R9", "nll_loss of scores, LSTM, AdamW", 20)
def scores_into_nll() -> Training:
    model = Reader(10)
    return looped(model, adamw(1e-3)(model.parameters()), lambda m, x, y: F.nll_loss(m(x), y))


# R10


@plant("R10", "the last layer 30 times too large, CNN, Adam", 5)
def large_head() -> Training:
    return classify(scaled(CNN(8), 30.0, "head"), adam(1e-3))


@plant("R10", "the last layer 40 times too large, attention, SGD", 5)
def large_head_of_attention() -> Training:
    return classify(scaled(Attention(16, 2), 40.0, "head"), sgd(0.01), batch=8)


@plant("R10", "predictions far larger than targets, fit, momentum", 5)
def large_predictions() -> Training:
    return fit(scaled(mlp(2, 50, 1), 30.0, "2."), sgd(1e-5, 0.9), n=64)


# R11


@plant("R11", "all weights 0.05, MLP, Adam", 20)
def constant() -> Training:
    model = mlp(64, 30, 30, 10)
    for p in model.parameters():
        nn.init.constant_(p, 0.05)
    return classify(model, adam(1e-3))


@plant("R11", "all weights 1, x @ w by hand", 20)
def ones_by_hand() -> Training:
    x, y = curve(64)
    w1, w2 = gl.ones(2, 12, requires_grad=True), gl.ones(12, 1, requires_grad=True)
    while True:
        F.mse_loss((x @ w1).tanh() @ w2, y).backward()
        for w in (w1, w2):
            w.data -= 0.01 * w.grad
            w.grad = None
        yield


@plant("R11", "weights of deviation 1, 6 layers of 60, SGD", 20)
def unit_normal() -> Training:
    model = mlp(64, *[60] * 5, 10)
    for p in model.parameters():
        if p.ndim > 1:
            nn.init.normal_(p)
    return classify(model, sgd(1e-6), batch=16)


# R12


class Dropping(nn.Module):
    """A network with dropout."""

    def __init__(self, p: float = 0.3) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(64, 32), nn.Dropout(p), nn.Linear(32, 10)

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        return self.last(self.drop(self.first(x).relu()))


@plant("R12", "trained in eval mode, SGD", 20)
def in_eval() -> Training:
    return classify(Dropping().eval(), sgd(0.1))


@plant("R12", "evaluated with dropout, AdamW", 20)
def drops_in_test() -> Training:
    model = Dropping(0.1)
    x, _ = digits()
    for _ in classify(model, adamw(1e-3), batch=16):
        with gl.no_grad():
            model(gl.tensor(x[:100]))
        yield


@plant("R12", "evaluated with a batch's own statistics, CNN, momentum", 20)
def norm_in_test() -> Training:
    model = CNN(4, norm=True)
    x, _ = digits()
    for _ in classify(model, sgd(0.01, 0.9), batch=16):
        with gl.no_grad():
            model(gl.tensor(x[:50]))
        yield


# R13


@plant("R13", "(100, 1) - (100,) squared by hand, SGD", 20)
def squared_table() -> Training:
    x, y = curve(100)
    model = mlp(2, 20, 1)
    optimizer = sgd(0.01)(model.parameters())
    while True:
        loss = ((model(x) - y.reshape(-1)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


@plant("R13", "absolute error of a table, Adam", 20)
def absolute_table() -> Training:
    model = mlp(64, 16, 1, bend=nn.Tanh)
    return looped(model, adam(1e-3)(model.parameters()), lambda m, x, y: (m(x) - y).abs().sum())


@plant("R13", "mse_loss of (24, 1) and (24,), LSTM, AdamW", 20)
def mse_table() -> Training:
    model = nn.Sequential(Reader(8), nn.Linear(10, 1))
    optimizer = adamw(1e-3)(model.parameters())
    return looped(model, optimizer, lambda m, x, y: (((m(x) - y * 0.1) * 2.0).pow(2) / 2).mean(), batch=24)


# R14


@plant("R14", "lr 1 with momentum, fit of 150 points", 120)
def climbs() -> Training:
    return fit(mlp(2, 40, 40, 1, bend=nn.Tanh), sgd(1.0, 0.9), n=150)


@plant("R14", "lr 0.5, LSTM, Adam", 120)
def adam_leaps() -> Training:
    return classify(Reader(24), adam(0.5))


@plant("R14", "all data at once at twice the largest lr, a line, SGD", 120)
def zigzag() -> Training:
    rng = np.random.default_rng(6)
    x = gl.tensor(rng.standard_normal((200, 3)).astype(np.float32) * np.array([2.0, 0.3, 0.3], np.float32))
    y = x @ gl.tensor([[1.0], [2.0], [-1.0]]) + gl.tensor(rng.standard_normal((200, 1)).astype(np.float32))
    largest = 1 / float(np.linalg.eigvalsh(x.data.T @ x.data / 200)[-1])
    model = nn.Linear(3, 1)
    optimizer = sgd(1.005 * largest)(model.parameters())
    while True:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


# R15


@plant("R15", "lr 1e-6, LSTM, SGD", 150)
def lstm_stands_still() -> Training:
    return classify(Reader(16), sgd(1e-6))


@plant("R15", "lr 1e-8, attention, AdamW", 150)
def attention_stands_still() -> Training:
    return classify(Attention(16, 2), adamw(1e-8), batch=8)


@plant("R15", "lr 1e-8 with momentum, fit", 150)
def fit_stands_still() -> Training:
    return fit(mlp(2, 30, 30, 1, bend=nn.Tanh), sgd(1e-8, 0.9), n=64)


# R18


@plant("R18", "grey values 0 to 255, MLP, SGD", 20)
def bytes_in() -> Training:
    return classify(mlp(64, 20, 10), sgd(1e-5), scale=255.0)


@plant("R18", "a far offset, fit, Adam", 20)
def offset() -> Training:
    x, y = curve(64)
    model = mlp(2, 20, 1, bend=nn.Tanh)
    optimizer = adam(1e-3)(model.parameters())
    while True:
        loss = F.mse_loss(model(gl.tensor(x.data * 0.5 + 12.0)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


@plant("R18", "years as numbers, a line by hand", 20)
def years() -> Training:
    rng = np.random.default_rng(7)
    x = gl.tensor(rng.integers(1950, 2020, (64, 2)).astype(np.float32))
    w = gl.zeros(2, 1, requires_grad=True)
    while True:
        F.mse_loss(x @ w, gl.ones(64, 1)).backward()
        w.data -= 1e-9 * w.grad
        w.grad = None
        yield


# R19


def _mostly(of: int, share: float, model: nn.Module, optimizer, batch: int) -> Training:
    x, y = digits()
    rng = np.random.default_rng(8)
    mine, others = np.flatnonzero(y == of), np.flatnonzero(y != of)
    moves = optimizer(model.parameters())
    while True:
        part = np.where(rng.random(batch) < share, rng.choice(mine, batch), rng.choice(others, batch))
        loss = F.cross_entropy(model(gl.tensor(x[part])), gl.tensor(y[part]))
        moves.zero_grad()
        loss.backward()
        moves.step()
        yield


@plant("R19", "95 % zeros, MLP, SGD", 80)
def mostly_zeros() -> Training:
    return _mostly(0, 0.95, mlp(64, 20, 10), sgd(0.05), 64)


@plant("R19", "90 % sevens, CNN, AdamW", 80)
def mostly_sevens() -> Training:
    return _mostly(7, 0.9, CNN(4), adamw(1e-3), 48)


@plant("R19", "sorted data, LSTM, momentum", 80)
def sorted_data() -> Training:
    return _mostly(3, 1.0, Reader(10), sgd(0.01, 0.9), 64)


# R20


@plant("R20", "two linear layers, SGD", 20)
def two_lines() -> Training:
    return classify(nn.Sequential(nn.Linear(64, 40), nn.Linear(40, 30), nn.ReLU(), nn.Linear(30, 10)), sgd(0.1))


@plant("R20", "ReLU on the scores, Adam", 20)
def bent_scores() -> Training:
    return classify(nn.Sequential(nn.Linear(64, 30), nn.Tanh(), nn.Linear(30, 10), nn.ReLU()), adam(1e-3))


@plant("R20", "x @ w1 @ w2 by hand", 20)
def two_products() -> Training:
    x, y = curve(64)
    rng = np.random.default_rng(9)
    w1 = gl.tensor(rng.standard_normal((2, 20)).astype(np.float32), requires_grad=True)
    w2 = gl.tensor(rng.standard_normal((20, 1)).astype(np.float32), requires_grad=True)
    while True:
        F.mse_loss(x @ w1 @ w2, y).backward()
        for w in (w1, w2):
            w.data -= 1e-3 * w.grad
            w.grad = None
        yield


# R23


@plant("R23", "weight_decay 40, CNN, AdamW", 100)
def decay_of_adamw() -> Training:
    return classify(CNN(6), adamw(1e-3, 40.0))


@plant("R23", "weight_decay 2 with momentum, fit", 100)
def decay_of_sgd() -> Training:
    return fit(mlp(2, 50, 50, 1), sgd(0.01, 0.9, 2.0), n=100)


@plant("R23", "lr 0.5, attention, Adam", 100)
def growth() -> Training:
    return classify(Attention(16, 2), adam(0.5), batch=16)


# R24


class Doubled(Function):
    """y = x^2, with the gradient of 2 x^2."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return x * x

    def backward(self, g: np.ndarray) -> np.ndarray:
        return 4 * g * self.x


class Straight(Function):
    """y = tanh x, with the gradient of x."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.tanh(x)

    def backward(self, g: np.ndarray) -> np.ndarray:
        return g


class Signless(Function):
    """y = a / b, with a sign forgotten."""

    def forward(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        self.a, self.b = a, b
        return a / b

    def backward(self, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return g / self.b, g * self.a / self.b**2


@plant("R24", "a square with twice its gradient, MLP, SGD", 20)
def doubled() -> Training:
    model = mlp(64, 20, 10)
    return looped(model, sgd(0.01)(model.parameters()), lambda m, x, y: F.cross_entropy(Doubled.apply(m(x)), y))


@plant("R24", "a tanh with the gradient of a line, CNN, Adam", 20)
def straight() -> Training:
    model = CNN(4)
    return looped(model, adam(1e-3)(model.parameters()), lambda m, x, y: F.cross_entropy(Straight.apply(m(x)), y))


@plant("R24", "a quotient with a sign forgotten, attention, AdamW", 20)
def signless() -> Training:
    model = Attention(16, 2)
    optimizer = adamw(1e-3)(model.parameters())
    return looped(model, optimizer, lambda m, x, y: F.cross_entropy(Signless.apply(s := m(x), 2.0 + s * s), y), batch=8)


# R26


def _hoarding(model: nn.Module, optimizer, *, retain: bool = False, whole: bool = True) -> Training:
    kept = []
    moves = optimizer(model.parameters())
    for x, y in batches(16):
        loss = F.cross_entropy(model(x), y)
        moves.zero_grad()
        loss.backward(retain_graph=retain)
        moves.step()
        kept.append(loss if whole else loss * 1.0)
        yield


@plant("R26", "a list of losses, graphs retained, MLP, SGD", 20)
def losses_kept() -> Training:
    return _hoarding(mlp(64, 20, 10), sgd(0.1), retain=True)


@plant("R26", "a list of losses, graphs retained, LSTM, Adam", 20)
def losses_of_lstm() -> Training:
    return _hoarding(Reader(8), adam(1e-3), retain=True)


@plant("R26", "a list of losses, graphs retained, CNN, AdamW", 20)
def losses_of_cnn() -> Training:
    return _hoarding(CNN(4), adamw(1e-3), retain=True)


# R27


@plant("R27", "a bias before batch_norm, SGD", 20)
def bias_before_norm() -> Training:
    model = nn.Sequential(nn.Linear(64, 24), nn.Linear(24, 10))
    gain, shift = nn.Parameter(gl.ones(24)), nn.Parameter(gl.zeros(24))
    optimizer = sgd(0.05)([*model.parameters(), gain, shift])

    def loss_of(m, x, y):
        return F.cross_entropy(m[1](gl.batch_norm(m[0](x), None, None, gain, shift, training=True).relu()), y)

    return looped(model, optimizer, loss_of)


@plant("R27", "decay of 0.1 on biases, MLP, AdamW", 20)
def decayed_biases() -> Training:
    return classify(mlp(64, 20, 10), adamw(1e-3, 0.2))


@plant("R27", "Adam with weight_decay, CNN", 20)
def coupled_decay() -> Training:
    return classify(CNN(4), lambda p: gl.optim.Adam(p, lr=1e-3, weight_decay=0.01))


# R21 and R22, which are asked for


class Asked(NamedTuple):
    """A question that has to have a finding, or none where `rule` is not found."""

    rule: str
    name: str
    ask: Callable[[], Finding | None]
    fault: bool


def _batch() -> tuple[gl.Tensor, gl.Tensor]:
    x, y = digits()
    return gl.tensor(x[:16]), gl.tensor(y[:16])


def images() -> gl.Tensor:
    return _batch()[0]


def _by_heart(model: nn.Module, x: gl.Tensor | None = None, optimizer=None) -> Finding | None:
    images, labels = _batch()
    return overfit(model, (images if x is None else x, labels), F.cross_entropy, optimizer=optimizer, steps=300)


def _dead_channels() -> nn.Module:
    model = CNN(4)
    model.b2.data[:] = -50.0
    return model


class Mixed(nn.Module):
    """A network that looks at other samples of the batch too."""

    def __init__(self, inside: nn.Module, mix: Callable[[gl.Tensor], gl.Tensor]) -> None:
        super().__init__()
        self.inside, self.mix = inside, mix

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        return self.mix(self.inside(x))


ASKED = [
    Asked("R21", "inputs that are all alike, MLP", lambda: _by_heart(mlp(64, 32, 10), gl.ones(16, 64)), True),
    Asked("R21", "channels that are dead, CNN", lambda: _by_heart(_dead_channels()), True),
    Asked("R21", "lr 1e-7, LSTM, SGD", lambda: _by_heart(Reader(16), None, sgd(1e-7)), True),
    Asked("R21", "MLP 64-48-10", lambda: _by_heart(mlp(64, 48, 10)), False),
    Asked("R21", "CNN 6", lambda: _by_heart(CNN(6)), False),
    Asked("R21", "LSTM 20", lambda: _by_heart(Reader(20)), False),
    Asked("R21", "attention 16", lambda: _by_heart(Attention(16, 2)), False),
    Asked("R22", "softmax over the batch, MLP", lambda: check_batch(Mixed(mlp(64, 20, 10), lambda s: s.softmax(0)), images()), True),
    Asked(
        "R22",
        "a reshape in place of a transpose, CNN",
        lambda: check_batch(Mixed(CNN(4), lambda s: s.reshape(10, -1).T), images()),
        True,
    ),
    Asked("R22", "the mean of the batch taken away, LSTM", lambda: check_batch(Mixed(Reader(8), lambda s: s - s.mean(0)), images()), True),
    Asked("R22", "MLP 64-48-10", lambda: check_batch(mlp(64, 48, 10), images()), False),
    Asked("R22", "CNN 6", lambda: check_batch(CNN(6), images()), False),
    Asked("R22", "LSTM 20", lambda: check_batch(Reader(20), images()), False),
    Asked("R22", "attention 16", lambda: check_batch(Attention(16, 2), images()), False),
]


# Runs without a fault


@plant("", "MLP 64-96-48-10 GELU, momentum", 300)
def healthy_mlp() -> Training:
    return classify(mlp(64, 96, 48, 10, bend=nn.GELU), sgd(0.05, 0.9))


@plant("", "MLP 64-112-72-56-10 ReLU, AdamW", 300)
def healthy_deep_mlp() -> Training:
    return classify(mlp(64, 112, 72, 56, 10), adamw(1e-3), batch=40)


@plant("", "CNN 12, SGD", 200)
def healthy_cnn() -> Training:
    return classify(CNN(12), sgd(0.05))


@plant("", "CNN 10 with batch_norm, AdamW", 200)
def healthy_norm_cnn() -> Training:
    return classify(CNN(10, norm=True), adamw(3e-3), batch=48)


@plant("", "LSTM 40, momentum", 300)
def healthy_lstm() -> Training:
    return classify(Reader(40), sgd(0.1, 0.9))


@plant("", "LSTM 24, AdamW", 300)
def healthy_small_lstm() -> Training:
    return classify(Reader(24), adamw(5e-3), batch=16)


@plant("", "attention 48, SGD", 200)
def healthy_attention() -> Training:
    return classify(Attention(48, 6), sgd(0.05))


@plant("", "attention 24, AdamW", 200)
def healthy_small_attention() -> Training:
    return classify(Attention(24, 4), adamw(2e-3), batch=16)


@plant("", "fit 2-50-50-1 tanh, momentum, all points at once", 300)
def healthy_fit() -> Training:
    return fit(mlp(2, 50, 50, 1, bend=nn.Tanh), sgd(0.01, 0.9))


@plant("", "fit 2-48-1 ReLU, Adam, 16 points at a time", 300)
def healthy_noisy_fit() -> Training:
    return fit(mlp(2, 48, 1), adam(3e-3), batch=16)
