"""Small trainings that rules are tried on: a training is a generator that yields after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.nn import functional as F
from gradlab.trace import recording
from gradlab.trace.rules import RULES, Diagnosis, Finding

Training = Iterator[None]
LESSONS = {"06_optimizers.py"}
"""Examples that go wrong on purpose, to show how that looks."""
Optimizer = Callable[[list], gl.optim.Optimizer]


class Seen(NamedTuple):
    """A finding and the step at which it was first seen so severe."""

    finding: Finding
    step: int


def findings(training: Training, steps: int, *, rule: str | None = None, every: int = 1, look: int = 5) -> dict[str, Seen]:
    """What the rules say in a training, by rule, each at its most severe; it ends where `rule` has warned.

    Args:
        every: one step in so many is read in full, after the first three.
        look: steps between two looks.
    """
    seen: dict[str, Seen] = {}
    with recording(dict) as recorder:
        if every > 1:
            recorder.governor.budget = 0.05
            recorder.governor._period = lambda: every
        diagnosis = Diagnosis(recorder)
        for step in range(1, steps + 1):
            if next(training, StopIteration) is StopIteration:
                break
            if step % look and step > 3:
                continue
            diagnosis.update()
            for finding in diagnosis.findings:
                known = seen.get(finding.rule)
                if known is None or _rank(finding) > _rank(known.finding):
                    seen[finding.rule] = Seen(finding, step)
            if rule in seen and _rank(seen[rule].finding) > 0:
                break
    assert not diagnosis._failed
    assert set(seen) <= set(RULES)
    return seen


def _rank(finding: Finding) -> int:
    return ("info", "warning", "error").index(finding.severity)


def warned(seen: dict[str, Seen]) -> dict[str, str]:
    """The titles of warnings and errors, by rule."""
    return {rule: one.finding.title for rule, one in seen.items() if one.finding.severity != "info"}


# Data


@lru_cache(maxsize=1)
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Images, 0 to 1, and labels."""
    images, labels = gl.data.digits()
    return images.data, labels.data


def batches(size: int, seed: int = 0) -> Iterator[tuple[gl.Tensor, gl.Tensor]]:
    """Digits for ever, each time round in another order."""
    x, y = digits()
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(x))
        for at in range(0, len(x) - size + 1, size):
            part = order[at : at + size]
            yield gl.tensor(x[part]), gl.tensor(y[part])


def curve(n: int, seed: int = 0) -> tuple[gl.Tensor, gl.Tensor]:
    """Points of a noisy surface to be fitted."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (n, 2)).astype(np.float32)
    y = np.sin(2 * x[:, :1]) * x[:, 1:] + 0.05 * rng.standard_normal((n, 1)).astype(np.float32)
    return gl.tensor(x), gl.tensor(y.astype(np.float32))


# Networks


def mlp(*sizes: int, bend: type[nn.Module] = nn.ReLU, he: bool = False) -> nn.Sequential:
    """Linear layers with `bend` between them."""
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), bend()]
    model = nn.Sequential(*layers[:-1])
    if he:
        for p in model.parameters():
            if p.ndim > 1:
                nn.init.kaiming_normal_(p, nonlinearity="relu")
    return model


class CNN(nn.Module):
    """Two convolutions with a pool each, and a linear layer: 8 x 8 images -> 10 scores."""

    def __init__(self, channels: int = 8, *, norm: bool = False) -> None:
        super().__init__()
        self.w1 = nn.Parameter(gl.randn(channels, 1, 3, 3) * (2 / 9) ** 0.5)
        self.b1 = None if norm else nn.Parameter(gl.zeros(channels))
        self.w2 = nn.Parameter(gl.randn(2 * channels, channels, 3, 3) * (2 / (9 * channels)) ** 0.5)
        self.b2 = nn.Parameter(gl.zeros(2 * channels))
        if norm:
            self.gain, self.shift = nn.Parameter(gl.ones(channels)), nn.Parameter(gl.zeros(channels))
        self.head = nn.Linear(8 * channels, 10)
        self.norm = norm

    def forward(self, x: gl.Tensor) -> gl.Tensor:  # (batch, 64)
        x = gl.conv2d(x.reshape(-1, 1, 8, 8), self.w1, self.b1, padding=1)
        if self.norm:
            x = gl.batch_norm(x, None, None, self.gain, self.shift, training=True)
        x = gl.max_pool2d(x.relu(), 2)
        x = gl.max_pool2d(gl.conv2d(x, self.w2, self.b2, padding=1).relu(), 2)
        return self.head(x.reshape(x.shape[0], -1))


class Reader(nn.Module):
    """An LSTM over the rows of an image, and a linear layer on its last state."""

    def __init__(self, units: int = 32) -> None:
        super().__init__()
        bound = units**-0.5
        self.w_ih = nn.Parameter(gl.rand(4 * units, 8) * 2 * bound - bound)
        self.w_hh = nn.Parameter(gl.rand(4 * units, units) * 2 * bound - bound)
        self.bias = nn.Parameter(gl.zeros(4 * units))
        self.head = nn.Linear(units, 10)
        self.units = units

    def forward(self, x: gl.Tensor) -> gl.Tensor:  # (batch, 64)
        rows = x.reshape(-1, 8, 8).permute(1, 0, 2)  # (time, batch, pixel)
        zero = gl.zeros(rows.shape[1], self.units)
        out = gl.lstm(rows, (zero, zero), self.w_ih, self.w_hh, self.bias, gl.zeros(4 * self.units))
        return self.head(out[0][-1])


class Attention(nn.Module):
    """Rows of an image as 8 tokens, one block of attention and a small MLP, with norms and ways around; the mean is classified."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.embed = nn.Linear(8, width)
        self.place = nn.Parameter(gl.randn(8, width) * 0.1)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, 10)
        self.gains = nn.Parameter(gl.ones(3, width))
        self.heads, self.width = heads, width

    def forward(self, x: gl.Tensor) -> gl.Tensor:  # (batch, 64)
        n, width = x.shape[0], self.width
        x = self.embed(x.reshape(n, 8, 8)) + self.place
        parts = self.qkv(gl.layer_norm(x, (width,), self.gains[0])).reshape(n, 8, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(parts[0], parts[1], parts[2])  # (batch, head, token, feature)
        x = x + self.out(seen.permute(0, 2, 1, 3).reshape(n, 8, width))
        x = x + self.down(gl.gelu(self.up(gl.layer_norm(x, (width,), self.gains[1]))))
        return self.head(gl.layer_norm(x, (width,), self.gains[2]).mean(1))


# Loops


def classify(model: nn.Module, optimizer: Optimizer, *, batch: int = 32, seed: int = 0, scale: float = 1.0) -> Training:
    """Learn the digits by cross-entropy."""
    chosen = optimizer(list(model.parameters()))
    for x, y in batches(batch, seed):
        loss = F.cross_entropy(model(x * scale if scale != 1 else x), y)
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        yield


def fit(model: nn.Module, optimizer: Optimizer, *, n: int = 256, batch: int | None = None, scale: float = 1.0) -> Training:
    """Fit the surface by squared error; on all points at once, or in batches."""
    x, y = curve(n)
    chosen = optimizer(list(model.parameters()))
    rng = np.random.default_rng(0)
    while True:
        part = slice(None) if batch is None else rng.integers(0, n, batch)
        loss = F.mse_loss(model(x[part] * scale), y[part])
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        yield


def sgd(lr: float, momentum: float = 0.0, weight_decay: float = 0.0) -> Optimizer:
    """SGD as the loops take it."""
    return lambda p: gl.optim.SGD(p, lr=lr, momentum=momentum, weight_decay=weight_decay)


def adam(lr: float) -> Optimizer:
    """Adam, likewise."""
    return lambda p: gl.optim.Adam(p, lr=lr)


def adamw(lr: float, weight_decay: float = 0.01) -> Optimizer:
    """AdamW, likewise."""
    return lambda p: gl.optim.AdamW(p, lr=lr, weight_decay=weight_decay)


def of_script(path: Path, look: int = 20) -> dict[str, Seen]:
    """What the rules say of an example at its reduced size, as `findings` does; they look every so many steps, and at its end."""
    source = path.read_text(encoding="utf-8").replace("\nSMALL = False", "\nSMALL = True")
    seen: dict[str, Seen] = {}
    namespace: dict[str, object] = {"__name__": "script"}
    with recording(lambda: {id(value): name for name, value in list(namespace.items())}) as recorder:
        diagnosis = Diagnosis(recorder)

        def note(*, always: bool = False) -> None:
            if always or recorder.step % look == 0:
                diagnosis.update()
                for finding in diagnosis.findings:
                    known = seen.get(finding.rule)
                    if known is None or _rank(finding) > _rank(known.finding):
                        seen[finding.rule] = Seen(finding, recorder.step)

        recorder.between_steps.append(note)
        with redirect_stdout(StringIO()):
            exec(compile(source, str(path), "exec"), namespace)
        note(always=True)
    assert not diagnosis._failed
    return seen
