"""Small trainings that the tests of the trainer share."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import DataLoader


def points(n: int = 50, seed: int = 3) -> tuple[gl.Tensor, gl.Tensor]:
    """Two features, and which of three classes they are."""
    x = np.random.default_rng(seed).standard_normal((n, 2)).astype("float32")
    return gl.tensor(x), gl.tensor((x[:, 0] > 0).astype("int64") + (x[:, 1] > 0.3))


def loader(n: int = 50, batch_size: int = 8, **options: Any) -> DataLoader:
    """The points in batches; of 50 the last one has 2."""
    return DataLoader(points(n), batch_size, **options)


def net(seed: int = 0, dropout: float = 0.2) -> nn.Sequential:
    """Batch statistics, dropout and two layers."""
    gl.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 3))


def trainer_of(model: nn.Module | None = None, lr: float = 0.01, **options: Any) -> gl.Trainer:
    """Adam and cross-entropy, without bars."""
    model = net() if model is None else model
    optimizer = gl.optim.Adam(model.parameters(), lr=lr)
    options = {"loss_fn": nn.CrossEntropyLoss(), "metrics": {"accuracy": gl.metrics.accuracy}, "progress": False} | options
    return gl.Trainer(model, optimizer, **options)
