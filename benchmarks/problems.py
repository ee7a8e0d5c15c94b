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
    "cnn": "CNN 3x3 1-16, pool, 3x3 16-32, pool, linear 1568-10, on 64 x 1 x 28 x 28: forward, backward (W4)",
    "residual": "relu(batch_norm(conv 3x3 64-64 (x)) + x) on 32 x 64 x 32 x 32: forward, backward, also to x (W5)",
    "gpt": "GPT of 4 layers, 4 heads, 128 features, 128 tokens, batch 16, 65 characters: forward, backward, AdamW (W6)",
    "lstm": "LSTM 128-128, 64 steps, batch 32: forward, backward, also to x (W7)",
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


def cnn() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights (w1, b1, w2, b2, w3, b3; convolutions (out, in, 3, 3), the last (in, out)), images and labels."""
    rng = np.random.RandomState(3)
    parameters = [
        _uniform(rng, 9, 16, 1, 3, 3), _uniform(rng, 9, 16), _uniform(rng, 144, 32, 16, 3, 3), _uniform(rng, 144, 32),
        _uniform(rng, 1568, 1568, 10), _uniform(rng, 1568, 10),
    ]  # fmt: skip
    return parameters, rng.standard_normal((64, 1, 28, 28)).astype(F), rng.randint(0, 10, 64)


def residual() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights (conv, scale, shift), input, and what the output is multiplied with to make a loss."""
    rng = np.random.RandomState(4)
    shape = (32, 64, 32, 32)
    parameters = [_uniform(rng, 576, 64, 64, 3, 3), 1 + _uniform(rng, 64, 64), _uniform(rng, 64, 64)]
    return parameters, rng.standard_normal(shape).astype(F), (rng.standard_normal(shape) / 1000).astype(F)


LAYERS, HEADS, FEATURES, TOKENS, LETTERS, BATCH = 4, 4, 128, 128, 65, 16


def gpt() -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Weights by name, (in, out); tokens and the tokens to come, (batch, token)."""
    rng, d = np.random.RandomState(5), FEATURES
    weights = {"embed": _normal(rng, LETTERS, d), "place": _normal(rng, TOKENS, d), "head": _normal(rng, d, LETTERS)}
    weights |= {"scale": np.ones(d, F), "shift": np.zeros(d, F)}
    for i in range(LAYERS):
        for name, sizes in {"qkv": (d, 3 * d), "out": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}.items():
            weights[f"{i}.{name}"], weights[f"{i}.{name}_bias"] = _normal(rng, *sizes), np.zeros(sizes[1], F)
        for name in ("norm1", "norm2"):
            weights[f"{i}.{name}"], weights[f"{i}.{name}_bias"] = np.ones(d, F), np.zeros(d, F)
    letters = rng.randint(0, LETTERS, (BATCH, TOKENS + 1))
    return weights, letters[:, :-1].copy(), letters[:, 1:].copy()


def lstm() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights as PyTorch has them (w_ih, w_hh, b_ih, b_hh: gates i f g o), input (time, batch, feature), and the last h's factor."""
    rng, n = np.random.RandomState(6), 128
    parameters = [_uniform(rng, n, 4 * n, n), _uniform(rng, n, 4 * n, n), _uniform(rng, n, 4 * n), _uniform(rng, n, 4 * n)]
    return parameters, rng.standard_normal((64, 32, n)).astype(F), rng.standard_normal((32, n)).astype(F)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The 1,797 real digits that the package ships: images (1797, 64) in 0..1, labels (1797,)."""
    with resources.files("gradlab.data").joinpath("digits.csv.gz").open("rb") as file:
        rows = np.array(list(csv.reader(gzip.decompress(file.read()).decode().splitlines())), F)
    return rows[:, :64] / F(16), rows[:, 64].astype(np.int64)


def _layers(rng: np.random.RandomState, *sizes: int) -> Layers:
    return [(_uniform(rng, i, i, o), _uniform(rng, i, o)) for i, o in pairwise(sizes)]


def _uniform(rng: np.random.RandomState, fan_in: int, *shape: int) -> np.ndarray:
    return rng.uniform(-(fan_in**-0.5), fan_in**-0.5, shape).astype(F)


def _normal(rng: np.random.RandomState, *shape: int) -> np.ndarray:
    return (0.02 * rng.standard_normal(shape)).astype(F)
