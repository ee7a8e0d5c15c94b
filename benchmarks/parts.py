"""Where the time of the digits net's step goes, part by part, beside NumPy by hand: `python -m benchmarks.parts`.

Microseconds a step, the fastest fifth of 3,000 in each part, one thread.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from collections.abc import Callable, Iterator
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

import gradlab as gl
from gradlab import nn, optim
from gradlab.nn import functional as F

from .peers import numpy_by_hand as by_hand
from .problems import net

STEPS = 3_000
Times = dict[str, list[int]]


def gradlab_step() -> Callable[[], Iterator[str]]:
    """One step, which says the name of each part when it is over."""
    problem = net("digits")
    widths = [w.shape for w, _ in problem.layers]
    modules = [m for w in widths for m in (nn.Linear(*w), nn.GELU("tanh"))][:-1]
    model = nn.Sequential(*modules)
    optimizer = optim.AdamW(model.parameters(), lr=problem.lr)
    batch = problem.batches[0]

    def step() -> Iterator[str]:
        x, y = gl.from_numpy(problem.x[batch]), gl.from_numpy(problem.y[batch])
        yield "batch"
        scores: Any = x
        for module in modules:
            scores = module(scores)
        yield "forward"
        loss = F.cross_entropy(scores, y)
        yield "loss"
        optimizer.zero_grad()
        loss.backward()
        yield "backward"
        optimizer.step()
        yield "update"

    return step


def numpy_step() -> Callable[[], Iterator[str]]:
    """The same by hand."""
    problem = net("digits")
    optimizer = by_hand.AdamW(problem)
    weights, biases, grads = optimizer.views[::2], optimizer.views[1::2], optimizer.grads
    batch = problem.batches[0]

    def step() -> Iterator[str]:
        x, y = problem.x[batch], problem.y[batch]
        yield "batch"
        inputs, kept, z = [x], [], x
        for k, (w, b) in enumerate(zip(weights, biases, strict=True)):
            z = inputs[-1] @ w
            z += b
            if k + 1 < len(weights):
                h, t = by_hand.gelu(z)
                inputs.append(h)
                kept.append((z, t))
        yield "forward"
        _, d = by_hand.cross_entropy(z, y)
        yield "loss"
        for k in range(len(weights) - 1, -1, -1):
            np.matmul(inputs[k].T, d, out=grads[2 * k])
            np.sum(d, axis=0, out=grads[2 * k + 1])
            if k:
                d = by_hand.gelu_backward(d @ weights[k].T, *kept[k - 1])
        yield "backward"
        optimizer.step()
        yield "update"

    return step


def timed(step: Callable[[], Iterator[str]]) -> dict[str, float]:
    """Microseconds of each part, and of all."""
    times: Times = {}
    for _ in range(STEPS):
        begin = last = clock()
        for part in step():
            now = clock()
            times.setdefault(part, []).append(now - last)
            last = clock()
        times.setdefault("all", []).append(last - begin)
    return {part: float(np.percentile(spent, 20)) / 1e3 for part, spent in times.items()}


def main() -> None:
    """Print the table."""
    ours, limit = timed(gradlab_step()), timed(numpy_step())
    print("| part | gradlab us | by hand us | difference |\n|---|---|---|---|")
    for part in ours:
        print(f"| {part} | {ours[part]:.0f} | {limit[part]:.0f} | {ours[part] - limit[part]:.0f} |")


if __name__ == "__main__":
    main()
