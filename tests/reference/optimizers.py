"""Every optimizer with every option on several nets, in gradlab or in PyTorch; `python -m tests.reference.optimizers` writes PyTorch's.

optimizers.npz holds, by "optimizer net", some entries of all parameters after the 1st, 10th and 50th step, in float64.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
STEPS = (1, 10, 50)
ENTRIES = 9  # of every parameter, at most

SGD, ADAM, RMSPROP, ADAGRAD = {"lr": 0.05}, {"lr": 0.02}, {"lr": 0.01}, {"lr": 0.1}
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SGD": ("SGD", SGD),
    "SGD, default rate": ("SGD", {}),
    "SGD, decay": ("SGD", {**SGD, "weight_decay": 0.1}),
    "SGD, maximize": ("SGD", {**SGD, "maximize": True, "weight_decay": 0.1}),
    "SGD, momentum": ("SGD", {**SGD, "momentum": 0.9}),
    "SGD, momentum, decay": ("SGD", {**SGD, "momentum": 0.9, "weight_decay": 0.1}),
    "SGD, dampening": ("SGD", {**SGD, "momentum": 0.9, "dampening": 0.5}),
    "SGD, nesterov": ("SGD", {**SGD, "momentum": 0.9, "nesterov": True}),
    "SGD, nesterov, decay, maximize": ("SGD", {"lr": 0.01, "momentum": 0.8, "nesterov": True, "weight_decay": 0.1, "maximize": True}),
    "Adam": ("Adam", ADAM),
    "Adam, defaults": ("Adam", {}),
    "Adam, betas": ("Adam", {**ADAM, "betas": (0.5, 0.75)}),
    "Adam, betas of 0": ("Adam", {**ADAM, "betas": (0.0, 0.0), "eps": 0.1}),
    "Adam, eps": ("Adam", {**ADAM, "eps": 0.1}),
    "Adam, decay": ("Adam", {**ADAM, "weight_decay": 0.1}),
    "Adam, decoupled": ("Adam", {**ADAM, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "Adam, amsgrad": ("Adam", {**ADAM, "amsgrad": True, "betas": (0.8, 0.9)}),
    "Adam, maximize": ("Adam", {**ADAM, "maximize": True}),
    "Adam, everything": ("Adam", {**ADAM, "amsgrad": True, "maximize": True, "weight_decay": 0.1, "eps": 1e-3}),
    "AdamW": ("AdamW", ADAM),
    "AdamW, defaults": ("AdamW", {}),
    "AdamW, decay": ("AdamW", {**ADAM, "weight_decay": 0.3}),
    "AdamW, amsgrad": ("AdamW", {**ADAM, "amsgrad": True, "betas": (0.8, 0.9)}),
    "AdamW, everything": ("AdamW", {**ADAM, "amsgrad": True, "maximize": True, "weight_decay": 0.1, "eps": 1e-3}),
    "RMSprop": ("RMSprop", {}),
    "RMSprop, alpha": ("RMSprop", {**RMSPROP, "alpha": 0.9}),
    "RMSprop, eps, decay": ("RMSprop", {**RMSPROP, "eps": 0.01, "weight_decay": 0.1}),
    "RMSprop, momentum": ("RMSprop", {"lr": 0.003, "momentum": 0.9}),
    "RMSprop, centered": ("RMSprop", {**RMSPROP, "centered": True, "eps": 1e-3}),
    "RMSprop, everything": (
        "RMSprop", {"lr": 0.003, "alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.1, "maximize": True, "eps": 1e-3}
    ),
    "Adagrad": ("Adagrad", {}),
    "Adagrad, rate": ("Adagrad", ADAGRAD),
    "Adagrad, decay of the rate": ("Adagrad", {**ADAGRAD, "lr_decay": 0.1}),
    "Adagrad, first sum": ("Adagrad", {**ADAGRAD, "initial_accumulator_value": 0.3}),
    "Adagrad, everything": (
        "Adagrad",
        {**ADAGRAD, "lr_decay": 0.01, "initial_accumulator_value": 0.1, "weight_decay": 0.1, "eps": 1e-3, "maximize": True},
    ),
}  # fmt: skip


class Net(NamedTuple):
    """Shapes of its parameters, and its loss at a step: of the library's functional module, the parameters and the step's numbers."""

    shapes: tuple[tuple[int, ...], ...]
    loss: Callable[..., Any]


def perceptron(F: Any, p: Any, rng: np.random.Generator, of: Callable[[Any], Any], step: int) -> Any:
    """Two layers on random numbers, squared error; the second bias is read in every third step only."""
    h = (of(rng.normal(size=(6, 5))) @ p[0] + p[1]).tanh()
    y = h @ p[2] + p[3] if step % 3 == 0 else h @ p[2]
    return F.mse_loss(y, of(rng.normal(size=(6, 3))))


def images(F: Any, p: Any, rng: np.random.Generator, of: Callable[[Any], Any], step: int) -> Any:
    """A convolution, a pool and a layer on random images, cross-entropy."""
    h = F.max_pool2d(F.relu(F.conv2d(of(rng.normal(size=(5, 1, 8, 8))), p[0], p[1], padding=1)), 4)
    return F.cross_entropy(F.linear(h.reshape(5, 16), p[2], p[3]), of(rng.integers(0, 3, 5)))


def words(F: Any, p: Any, rng: np.random.Generator, of: Callable[[Any], Any], step: int) -> Any:
    """An embedding that is the last layer too, a layer between with a norm, cross-entropy of the next of random words."""
    ids = of(rng.integers(0, 11, 9))
    h = F.gelu(F.linear(F.layer_norm(F.embedding(ids, p[0]), (6,), p[1], p[2]), p[3]))
    return F.cross_entropy(h @ p[0].T, of(rng.integers(0, 11, 9)))


def wide(F: Any, p: Any, rng: np.random.Generator, of: Callable[[Any], Any], step: int) -> Any:
    """One layer so large that it is moved by itself, and a norm."""
    return F.mse_loss(F.rms_norm(of(rng.normal(size=(4, 130))) @ p[0], (140,), p[1]), of(rng.normal(size=(4, 140))))


NETS = {
    "perceptron": Net(((5, 7), (7,), (7, 3), (3,)), perceptron),
    "images": Net(((4, 1, 3, 3), (4,), (3, 16), (3,)), images),
    "words": Net(((11, 6), (6,), (6,), (6, 6), (2, 2)), words),  # the last one never has a gradient
    "wide": Net(((130, 140), (140,)), wide),
}

WRITTEN = [(key, net) for i, key in enumerate(OPTIMIZERS) for net in NETS if net in ("perceptron", "words") or i % 3 == 0]
"""The trainings of the file: the larger nets with every third optimizer only, for the sake of time."""


def trained(lib: Any, key: str, net: str, dtype: str = "float64", steps: tuple[int, ...] = STEPS) -> list[np.ndarray]:
    """Some entries of the parameters after each of `steps`; the last parameter is in a group with half the rate."""
    kind, options = OPTIMIZERS[key]
    rng = np.random.default_rng(7)
    F = lib.nn.functional

    def of(array: np.ndarray) -> Any:
        return lib.tensor(array.astype(dtype) if array.dtype.kind == "f" else array)

    parameters = [lib.nn.Parameter(of(rng.normal(size=shape) * 0.5)) for shape in NETS[net].shapes]
    rate = options["lr"] / 2 if "lr" in options else 0.004
    optimizer = getattr(lib.optim, kind)([{"params": parameters[:-1]}, {"params": parameters[-1:], "lr": rate}], **options)
    found = []
    for step in range(1, max(steps) + 1):
        optimizer.zero_grad()
        NETS[net].loss(F, parameters, rng, of, step).backward()
        optimizer.step()
        if step in steps:
            flat = [np.asarray(p.detach().numpy()).reshape(-1) for p in parameters]
            found.append(np.concatenate([a[:: max(1, a.size // ENTRIES)] for a in flat]))
    return found


def main() -> int:
    """Write the file."""
    import torch

    values = {f"{key} {net}": np.stack(trained(torch, key, net)) for key, net in WRITTEN}
    np.savez_compressed(FILE, torch=torch.__version__, **values)
    print(f"{FILE.name}: {len(values)} trainings, {FILE.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
