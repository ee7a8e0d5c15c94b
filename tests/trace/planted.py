"""Nets, optimizers and data that the tests of rules plant their faults in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.nn import functional as F
from gradlab.trace import diagnose, recording
from gradlab.trace.rules import Finding

Made = tuple[nn.Module, Callable[[], tuple[gl.Tensor, gl.Tensor]]]


class MLP(nn.Module):
    def __init__(self, sizes: tuple[int, ...] = (16, 32, 24, 5)) -> None:
        super().__init__()
        self.layers = [f"fc{i}" for i in range(1, len(sizes))]
        for name, a, b in zip(self.layers, sizes, sizes[1:], strict=False):
            setattr(self, name, nn.Linear(a, b))

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        for name in self.layers[:-1]:
            x = getattr(self, name)(x).relu()
        return getattr(self, self.layers[-1])(x)


class CNN(nn.Module):
    def __init__(self, channels: int = 6, classes: int = 4) -> None:
        super().__init__()
        self.k1 = nn.Parameter(gl.randn(channels, 1, 3, 3) * 0.3)
        self.k2 = nn.Parameter(gl.randn(channels, channels, 3, 3) * 0.15)
        self.head = nn.Linear(channels * 4, classes)

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        h = gl.max_pool2d(gl.conv2d(x, self.k1, padding=1).relu(), 2)
        h = gl.max_pool2d(gl.conv2d(h, self.k2, padding=1).relu(), 2)
        return self.head(h.reshape(h.shape[0], -1))


class LSTM(nn.Module):
    def __init__(self, inputs: int = 5, hidden: int = 12, classes: int = 3) -> None:
        super().__init__()
        self.x, self.h, self.head = nn.Linear(inputs, 4 * hidden), nn.Linear(hidden, 4 * hidden), nn.Linear(hidden, classes)
        self.hidden = hidden

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        h, c = gl.zeros(x.shape[0], self.hidden), gl.zeros(x.shape[0], self.hidden)
        for t in range(x.shape[1]):
            gates = self.x(x[:, t]) + self.h(h)
            i, f, o, u = (gates[:, k * self.hidden : (k + 1) * self.hidden] for k in range(4))
            c = f.sigmoid() * c + i.sigmoid() * u.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h)


class Attention(nn.Module):
    def __init__(self, tokens: int = 11, width: int = 16, length: int = 6) -> None:
        super().__init__()
        self.table = nn.Parameter(gl.randn(tokens, width) * 0.5)
        self.place = nn.Parameter(gl.randn(length, width) * 0.5)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, tokens)
        self.mask = np.triu(np.ones((length, length), bool), 1)
        self.width = width

    def forward(self, ids: gl.Tensor) -> gl.Tensor:
        x = self.table[ids] + self.place
        scores = self.q(x) @ self.k(x).transpose(-1, -2) / self.width**0.5
        x = F.layer_norm(x + self.out(scores.masked_fill(gl.tensor(self.mask), -np.inf).softmax(-1) @ self.v(x)), (self.width,))
        x = F.layer_norm(x + self.down(F.gelu(self.up(x))), (self.width,))
        return self.head(x).reshape(-1, self.head.weight.shape[0])


def classes(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    return (scores + 0.3 * rng.standard_normal(scores.shape)).argmax(1)


def mlp(batch: int = 32, sizes: tuple[int, ...] = (16, 32, 24, 5)) -> Made:
    rng = np.random.default_rng(1)
    true = rng.standard_normal((sizes[0], sizes[-1]))

    def draw() -> tuple[gl.Tensor, gl.Tensor]:
        x = rng.standard_normal((batch, sizes[0])).astype(np.float32)
        return gl.tensor(x), gl.tensor(classes(rng, x @ true))

    return MLP(sizes), draw


def cnn(batch: int = 16) -> Made:
    rng = np.random.default_rng(2)

    def draw() -> tuple[gl.Tensor, gl.Tensor]:
        x = rng.standard_normal((batch, 1, 8, 8)).astype(np.float32)
        quarters = x[:, 0].reshape(batch, 2, 4, 2, 4).mean((2, 4)).reshape(batch, 4)
        return gl.tensor(x), gl.tensor(quarters.argmax(1))

    return CNN(), draw


def lstm(batch: int = 24) -> Made:
    rng = np.random.default_rng(3)

    def draw() -> tuple[gl.Tensor, gl.Tensor]:
        x = rng.standard_normal((batch, 7, 5)).astype(np.float32)
        return gl.tensor(x), gl.tensor(x.sum(1)[:, :3].argmax(1))

    return LSTM(), draw


def attention(batch: int = 8) -> Made:
    rng = np.random.default_rng(4)

    def draw() -> tuple[gl.Tensor, gl.Tensor]:
        first = rng.integers(0, 11, (batch, 1))
        ids = (first + 2 * np.arange(7)) % 11
        return gl.tensor(ids[:, :-1]), gl.tensor(ids[:, 1:].reshape(-1))

    return Attention(), draw


NETS: dict[str, Callable[[], Made]] = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "attention": attention}
OPTIMIZERS: dict[str, Callable[[Any], gl.optim.Optimizer]] = {
    "sgd": lambda ps: gl.optim.SGD(ps, lr=0.05, momentum=0.9),
    "adamw": lambda ps: gl.optim.AdamW(ps, lr=2e-3),
    "adam": lambda ps: gl.optim.Adam(ps, lr=2e-3),
    "rmsprop": lambda ps: gl.optim.RMSprop(ps, lr=1e-3),
    "rmsprop centered": lambda ps: gl.optim.RMSprop(ps, lr=5e-4, momentum=0.9, centered=True, eps=1e-4),
    "adagrad": lambda ps: gl.optim.Adagrad(ps, lr=0.02),
}


def train(made: Made, optimizer: str | gl.optim.Optimizer, steps: int = 40) -> None:
    """The plain loop."""
    model, draw = made
    moves = OPTIMIZERS[optimizer](model.parameters()) if isinstance(optimizer, str) else optimizer
    for _ in range(steps):
        x, y = draw()
        loss = F.cross_entropy(model(x), y)
        moves.zero_grad()
        loss.backward()
        moves.step()


def findings(run: Callable[[], Any], *rules: str) -> list[Finding]:
    """What the rules, all or those named, say of what ran."""
    with recording() as recorder:
        run()
        found = diagnose(recorder)
    return [finding for finding in found if not rules or finding.rule in rules]
