"""Faults of R16 and R17 planted in trainings by a Trainer, and such trainings without a fault. They count in epochs, not in steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import DataLoader

from . import plants
from .training import CNN, Attention, Optimizer, Reader, Training, adam, adamw, curve, digits, mlp, sgd

Part = tuple[np.ndarray, np.ndarray]
PLANTS: list[plants.Plant] = []
plant = partial(plants.plant, plants=PLANTS)


@lru_cache(maxsize=1)
def shuffled() -> Part:
    """The digits in an order of their own: those that come first are trained on."""
    x, y = digits()
    order = np.random.default_rng(21).permutation(len(x))
    return x[order], y[order]


def part(first: int, last: int) -> Part:
    """Some of them."""
    x, y = shuffled()
    return x[first:last], y[first:last]


def wrong(data: Part, share: float) -> Part:
    """A share of the labels drawn by lot."""
    x, y = data
    rng = np.random.default_rng(5)
    drawn = rng.random(len(y)) < share
    return x, np.where(drawn, rng.integers(0, 10, len(y)), y)


def trained(
    model: nn.Module,
    optimizer: Optimizer,
    train: object,
    validation: object,
    *,
    batch: int = 32,
    loss_fn: Callable = gl.nn.functional.cross_entropy,
    classes: bool = True,
) -> Training:
    """Yields after each epoch."""
    metrics = {"accuracy": gl.metrics.accuracy} if classes else None
    trainer = gl.Trainer(model, optimizer(list(model.parameters())), loss_fn, metrics, progress=False)
    data, held_out = DataLoader(train, batch, shuffle=True, seed=3), DataLoader(validation, 256)
    while True:
        trainer.fit(data, held_out, epochs=1)
        yield


# R16: learnt by heart


@plant("R16", "90 digits, a fifth mislabelled, MLP, AdamW (epochs)", 120)
def few_wrong_labels() -> Training:
    return trained(mlp(64, 200, 10), adamw(2e-3), wrong(part(0, 90), 0.2), part(1200, 1797), batch=15)


@plant("R16", "20 noisy points, a wide tanh fit, Adam (epochs)", 400)
def few_points() -> Training:
    x, y = curve(140, seed=4)
    noise = np.random.default_rng(1).standard_normal((20, 1)).astype(np.float32)
    few = (x.data[:20], y.data[:20] + noise)
    model = mlp(2, 128, 64, 1, bend=nn.Tanh)
    return trained(model, adam(1e-2), few, (x.data[20:], y.data[20:]), batch=10, loss_fn=gl.nn.functional.mse_loss, classes=False)


@plant("R16", "120 digits, three tenths mislabelled, CNN, momentum (epochs)", 120)
def few_images() -> Training:
    return trained(CNN(10), sgd(0.05, 0.9), wrong(part(0, 120), 0.3), part(1200, 1797), batch=20)


# R17: too good to be true


@plant("R17", "the label is one of the inputs, MLP, Adam (epochs)", 20)
def answer_inside() -> Training:
    def told(data: Part) -> Part:
        x, y = data
        return np.concatenate([x, np.eye(10, dtype=np.float32)[y]], axis=1), y

    return trained(mlp(74, 40, 10), adam(5e-3), told(part(0, 900)), told(part(900, 1500)))


@plant("R17", "validated on what was learnt, CNN, AdamW (epochs)", 40)
def the_same_samples() -> Training:
    return trained(CNN(8), adamw(5e-3), part(0, 300), part(100, 300))


@plant("R17", "sorted by label and cut in two, LSTM, AdamW (epochs)", 20)
def the_easier_part() -> Training:
    x, y = part(0, 1500)
    easy = y == 0
    hard = wrong((x[~easy], y[~easy]), 0.25)
    mixed = np.concatenate([hard[0], x[easy][:75]]), np.concatenate([hard[1], y[easy][:75]])
    return trained(Reader(24), adamw(5e-3), mixed, (x[easy][75:], y[easy][75:]))


# Without a fault


@plant("", "Trainer, MLP 64-48-10, momentum (epochs)", 12)
def sound_mlp() -> Training:
    return trained(mlp(64, 48, 10), sgd(0.05, 0.9), part(0, 1300), part(1300, 1797))


@plant("", "Trainer, CNN 10, AdamW (epochs)", 6)
def sound_cnn() -> Training:
    return trained(CNN(10), adamw(3e-3), part(0, 1300), part(1300, 1797))


@plant("", "Trainer, attention 32, AdamW (epochs)", 8)
def sound_attention() -> Training:
    return trained(Attention(32, 4), adamw(2e-3), part(0, 1300), part(1300, 1797))


@plant("", "Trainer, fit of 400 points, Adam (epochs)", 20)
def sound_fit() -> Training:
    x, y = curve(520, seed=6)
    train, held_out = (x.data[:400], y.data[:400]), (x.data[400:], y.data[400:])
    return trained(mlp(2, 40, 1, bend=nn.Tanh), adam(5e-3), train, held_out, loss_fn=gl.nn.functional.mse_loss, classes=False)
