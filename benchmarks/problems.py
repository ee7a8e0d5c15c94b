"""The problems every competitor solves: the same data, the same first weights, the same mathematics, float32.

Weights are (in, out); an adapter turns them where its library stores them the other way round.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise

import numpy as np

F = np.float32
Layers = list[tuple[np.ndarray, np.ndarray]]

WORKLOADS = {
    "digits": "MLP 64-128-64-10 GELU(tanh), AdamW, batch 32, on real digits: 20 epochs (W1)",
    "infer1": "the same net, forward only, batch 1",
    "infer128": "the same net, forward only, batch 128",
    "mlp": "MLP 784-100-10 ReLU, batch 128: forward, backward, SGD (W2)",
    "chain_400": "chain of 400 operations (mul, add) on one number, forward and backward (W3)",
    "deep": "chain of 100,000 operations on one number, forward and backward (W3)",
    "mlp8": "MLP 8 x 256 ReLU, batch 64: forward, backward, AdamW",
    "tiny": "MLP 2-2-1 tanh, batch 4: forward, backward, SGD",
}


@dataclass
class Net:
    """Layers, data and hyper-parameters of one problem."""

    layers: Layers
    x: np.ndarray
    y: np.ndarray
    lr: float = 1e-3
    weight_decay: float = 0.01
    batches: Sequence[np.ndarray] = ()


def net(name: str) -> Net:
    """The multilayer perceptron problems, by workload name."""
    if name in ("digits", "infer1", "infer128"):
        x, y = digits()
        order = np.random.RandomState(42).permutation(len(x))
        train = order[len(x) // 5 :]
        rng = np.random.RandomState(0)
        layers = _layers(rng, 64, 128, 64, 10)
        batches = [part for _ in range(20) for part in np.split(rng.permutation(train), range(32, len(train), 32))]
        return Net(layers, x if name == "digits" else x[: int(name[5:])].copy(), y, batches=batches)
    rng = np.random.RandomState(1)
    sizes, batch, classes = {"mlp": ((784, 100, 10), 128, 10), "mlp8": ((256,) * 9, 64, 256), "tiny": ((2, 2, 1), 4, 0)}[name]
    layers = _layers(rng, *sizes)
    x = rng.standard_normal((batch, sizes[0])).astype(F)
    y = rng.randint(0, classes, batch) if classes else rng.standard_normal((batch, 1)).astype(F)
    return Net(layers, x, y, lr=1e-3 if name == "mlp8" else 0.1)


def chain() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, a, b of the chain y = y a + b: near the identity, so that 100,000 steps stay finite."""
    rng = np.random.RandomState(2)
    return (
        (1 + 1e-6 * rng.standard_normal(1)).astype(F),
        (1 + 1e-6 * rng.standard_normal(1)).astype(F),
        (1e-6 * rng.standard_normal(1)).astype(F),
    )


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The 1,797 real digits that the package ships: images (1797, 64) in 0..1, labels (1797,)."""
    with resources.files("gradlab.data").joinpath("digits.csv.gz").open("rb") as file:
        rows = np.array(list(csv.reader(gzip.decompress(file.read()).decode().splitlines())), F)
    return rows[:, :64] / F(16), rows[:, 64].astype(np.int64)


def _layers(rng: np.random.RandomState, *sizes: int) -> Layers:
    def uniform(fan_in: int, *shape: int) -> np.ndarray:
        return rng.uniform(-(fan_in**-0.5), fan_in**-0.5, shape).astype(F)

    return [(uniform(i, i, o), uniform(i, o)) for i, o in pairwise(sizes)]
