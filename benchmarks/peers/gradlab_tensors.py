"""gradlab as a user writes it; GRADLAB_BENCH_TRACE=structure|norms watches it with the tracer."""

from __future__ import annotations

import os
from collections.abc import Callable

import gradlab as gl
from gradlab import nn, optim
from gradlab.nn import functional as F

from ..problems import Net, chain, net

Step = Callable[[], float]

if mode := os.environ.get("GRADLAB_BENCH_TRACE"):
    from gradlab import observe
    from gradlab.trace import Recorder

    observe.attach(Recorder(norms=mode == "norms"))


def _model(problem: Net, activation: Callable[[], nn.Module]) -> nn.Sequential:
    modules: list[nn.Module] = []
    for w, b in problem.layers:
        linear = nn.Linear(*w.shape)
        linear.load_state_dict({"weight": gl.tensor(w.T.copy()), "bias": gl.tensor(b)})
        modules += [linear, activation()]
    return nn.Sequential(*modules[:-1])


def _gelu() -> nn.Module:
    return nn.GELU(approximate="tanh")


def digits() -> Step:
    problem = net("digits")

    def step() -> float:
        model = _model(problem, _gelu)
        optimizer = optim.AdamW(model.parameters(), lr=problem.lr, weight_decay=problem.weight_decay)
        for batch in problem.batches:
            loss = F.cross_entropy(model(gl.from_numpy(problem.x[batch])), gl.from_numpy(problem.y[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    return step


def _infer(name: str) -> Step:
    problem = net(name)
    model, x = _model(problem, _gelu), gl.tensor(problem.x)

    def step() -> float:
        with gl.no_grad():
            return float(model(x).data[0, 0])

    return step


def infer1() -> Step:
    return _infer("infer1")


def infer128() -> Step:
    return _infer("infer128")


def _step(problem: Net, model: nn.Module, optimizer: optim.Optimizer, loss_of: Callable[..., gl.Tensor]) -> Step:
    x, y = gl.tensor(problem.x), gl.tensor(problem.y)

    def step() -> float:
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def mlp() -> Step:
    problem = net("mlp")
    model = _model(problem, nn.ReLU)
    return _step(problem, model, optim.SGD(model.parameters(), lr=problem.lr), F.cross_entropy)


def mlp8() -> Step:
    problem = net("mlp8")
    model = _model(problem, nn.ReLU)
    return _step(problem, model, optim.AdamW(model.parameters(), lr=problem.lr, weight_decay=problem.weight_decay), F.cross_entropy)


def tiny() -> Step:
    problem = net("tiny")
    model = _model(problem, nn.Tanh)
    return _step(problem, model, optim.SGD(model.parameters(), lr=problem.lr), F.mse_loss)


def _chain(n: int) -> Step:
    x, a, b = [gl.tensor(v, requires_grad=True) for v in chain()]

    def step() -> float:
        x.grad = a.grad = b.grad = None
        y = x
        for _ in range(n // 2):
            y = y * a
            y = y + b
        total = y.sum()
        total.backward()
        return total.item()

    return step


def chain_400() -> Step:
    return _chain(400)


def deep() -> Step:
    return _chain(100_000)
