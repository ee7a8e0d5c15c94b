"""gradlab, and PyTorch on the CPU, as a user writes them: the same lines for both.

GRADLAB_BENCH_LIBRARY names the library; GRADLAB_BENCH_TRACE watches gradlab with its tracer: structure, norms
too, or norms governed, which is how a notebook has it that is allowed 5 % of a step's time.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from ..problems import Net, chain, net

Step = Callable[[], float]
LIBRARY = os.environ["GRADLAB_BENCH_LIBRARY"]
lib: Any = importlib.import_module(LIBRARY)
nn: Any = importlib.import_module(f"{LIBRARY}.nn")
optim: Any = importlib.import_module(f"{LIBRARY}.optim")
F: Any = importlib.import_module(f"{LIBRARY}.nn.functional")

if LIBRARY == "torch":
    lib.set_num_threads(1)
if mode := os.environ.get("GRADLAB_BENCH_TRACE"):
    from gradlab import observe
    from gradlab.trace import Recorder

    recorder = Recorder(norms=mode != "structure")
    recorder.governor.budget = 0.05 if mode == "governed" else None
    recorder.running = True
    observe.attach(recorder)


def _model(problem: Net, activation: Callable[[], Any]) -> Any:
    modules: list[Any] = []
    for w, b in problem.layers:
        linear = nn.Linear(*w.shape)
        linear.load_state_dict({"weight": lib.tensor(w.T.copy()), "bias": lib.tensor(b)})
        modules += [linear, activation()]
    return nn.Sequential(*modules[:-1])


def _gelu() -> Any:
    return nn.GELU(approximate="tanh")


def digits() -> Step:
    problem = net("digits")

    def step() -> float:
        model = _model(problem, _gelu)
        optimizer = optim.AdamW(model.parameters(), lr=problem.lr, weight_decay=problem.weight_decay)
        for batch in problem.batches:
            loss = F.cross_entropy(model(lib.from_numpy(problem.x[batch])), lib.from_numpy(problem.y[batch]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    return step


def _infer(name: str) -> Step:
    problem = net(name)
    model, x = _model(problem, _gelu), lib.tensor(problem.x)

    def step() -> float:
        with lib.no_grad():
            return float(model(x)[0, 0])

    return step


def infer1() -> Step:
    return _infer("infer1")


def infer128() -> Step:
    return _infer("infer128")


def _step(problem: Net, model: Any, optimizer: Any, loss_of: Callable[..., Any]) -> Step:
    x, y = lib.tensor(problem.x), lib.tensor(problem.y)

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
    x, a, b = [lib.tensor(v, requires_grad=True) for v in chain()]

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
