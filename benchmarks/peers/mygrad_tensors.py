"""MyGrad, tensors on NumPy; optional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mygrad as mg
from mygrad.nnet.losses import softmax_crossentropy

from ..problems import chain, net

Step = Callable[[], float]


def _descent(name: str, activation: Callable[[Any], Any], loss_of: Callable[[Any, Any], Any]) -> Step:
    problem = net(name)
    layers = [(mg.tensor(w.copy()), mg.tensor(b.copy())) for w, b in problem.layers]

    def step() -> float:
        h: Any = problem.x
        for k, (w, b) in enumerate(layers):
            h = mg.matmul(h, w) + b
            if k < len(layers) - 1:
                h = activation(h)
        loss = loss_of(h, problem.y)
        loss.backward()
        for p in [p for layer in layers for p in layer]:
            p.data -= problem.lr * p.grad
            p.null_grad()
        return float(loss.item())

    return step


def mlp() -> Step:
    return _descent("mlp", lambda x: mg.maximum(x, 0), softmax_crossentropy)


def tiny() -> Step:
    return _descent("tiny", mg.tanh, lambda h, y: mg.mean((h - y) ** 2))


def _chain(n: int) -> Step:
    x, a, b = [mg.tensor(v) for v in chain()]

    def step() -> float:
        y = x
        for _ in range(n // 2):
            y = y * a
            y = y + b
        total = mg.sum(y)
        total.backward()
        return float(total.item())

    return step


def chain_400() -> Step:
    return _chain(400)


def deep() -> Step:
    return _chain(100_000)
