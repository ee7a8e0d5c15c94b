"""HIPS autograd, which differentiates NumPy code; optional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
from autograd import value_and_grad

from ..problems import chain, net

Step = Callable[[], float]


def _loss(parameters: list[Any], x: Any, y: Any, activation: Callable[[Any], Any]) -> Any:
    for k, (w, b) in enumerate(parameters):
        x = x @ w + b
        if k < len(parameters) - 1:
            x = activation(x)
    if y.ndim == 2:
        return anp.mean((x - y) ** 2)
    z = x - anp.max(x, 1, keepdims=True)
    return anp.mean(anp.log(anp.sum(anp.exp(z), 1)) - z[anp.arange(len(y)), y])


def _descent(name: str, activation: Callable[[Any], Any]) -> Step:
    problem = net(name)
    parameters = [(w.copy(), b.copy()) for w, b in problem.layers]
    slope = value_and_grad(lambda p: _loss(p, problem.x, problem.y, activation))

    def step() -> float:
        loss, grads = slope(parameters)
        for pair, changes in zip(parameters, grads, strict=True):
            for p, g in zip(pair, changes, strict=True):
                p -= problem.lr * g.astype(p.dtype)
        return float(loss)

    return step


def mlp() -> Step:
    return _descent("mlp", lambda x: anp.maximum(x, 0))


def tiny() -> Step:
    return _descent("tiny", anp.tanh)


def chain_400() -> Step:
    x, a, b = chain()

    def run(x: Any, a: Any, b: Any) -> Any:
        for _ in range(200):
            x = x * a
            x = x + b
        return anp.sum(x)

    slope = value_and_grad(run, (0, 1, 2))
    return lambda: float(slope(x, a, b)[0])
