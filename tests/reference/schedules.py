"""Every schedule over 200 epochs, in gradlab or in PyTorch; `python -m tests.reference.schedules` writes down PyTorch's.

schedules.npz holds, by schedule, learning rate and momentum of two groups in every epoch, in float64; a momentum that stays is left out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
EPOCHS = 200
LOSSES = [max(0.3, 2 * math.exp(-e / 20)) + 0.05 * math.sin(e * e) for e in range(EPOCHS)]

SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "StepLR": lambda s, o: s.StepLR(o, 7, gamma=0.7),
    "StepLR, default gamma": lambda s, o: s.StepLR(o, step_size=50),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [3, 30, 30, 100], gamma=0.3),
    "MultiStepLR, at 0": lambda s, o: s.MultiStepLR(o, [0, 30]),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.97),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.25, 30),
    "ConstantLR, defaults": lambda s, o: s.ConstantLR(o),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.1, 0.9, 40),
    "LinearLR, defaults": lambda s, o: s.LinearLR(o),
    "LinearLR, to 0": lambda s, o: s.LinearLR(o, 1.0, 0.0, 40),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 150, 1.7),
    "PolynomialLR, defaults": lambda s, o: s.PolynomialLR(o),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 30),
    "CosineAnnealingLR, eta_min": lambda s, o: s.CosineAnnealingLR(o, T_max=40, eta_min=0.001),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 13),
    "CosineAnnealingWarmRestarts, T_mult": lambda s, o: s.CosineAnnealingWarmRestarts(o, 10, 2, eta_min=0.001),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda e: 0.95**e),
    "LambdaLR, one a group": lambda s, o: s.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (e + 1)]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95 if e % 3 else 1.01),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, max_lr=[0.5, 0.2], total_steps=EPOCHS),
    "OneCycleLR, linear": lambda s, o: s.OneCycleLR(
        o, 0.5, EPOCHS, anneal_strategy="linear", three_phase=True, pct_start=0.4, base_momentum=0.6, max_momentum=0.8
    ),
    "OneCycleLR, epochs": lambda s, o: s.OneCycleLR(
        o, max_lr=0.5, epochs=20, steps_per_epoch=10, div_factor=10, final_div_factor=100, cycle_momentum=False
    ),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=17),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(o, [0.01, 0.02], 0.1, step_size_up=17, step_size_down=9, mode="triangular2"),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=17, mode="exp_range", gamma=0.99),
    "CyclicLR, scale_fn": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, step_size_up=17, scale_fn=lambda x: 1 / x, base_momentum=0.5, max_momentum=[0.6, 0.7]
    ),
    "CyclicLR, iterations": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, step_size_up=5, scale_fn=lambda x: 0.9**x, scale_mode="iterations", cycle_momentum=False
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=10), s.CosineAnnealingLR(o, 50), s.ExponentialLR(o, 0.9)], [10, 60]
    ),
    "SequentialLR, constant and steps": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 5), s.StepLR(o, 10, 0.5)], [7]),
    "SequentialLR, functions": lambda s, o: s.SequentialLR(
        o, [s.LambdaLR(o, lambda e: (e + 1) / 10), s.MultiplicativeLR(o, lambda e: 0.9), s.CosineAnnealingWarmRestarts(o, 10)], [7, 30]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)]),
    "ChainedScheduler, cosine": lambda s, o: s.ChainedScheduler(
        [s.LinearLR(o, 0.1, total_iters=10), s.CosineAnnealingLR(o, 40, eta_min=1e-5)], optimizer=o
    ),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, patience=3, factor=0.5, cooldown=2, min_lr=[0.001, 0.0001]),
    "ReduceLROnPlateau, defaults": lambda s, o: s.ReduceLROnPlateau(o),
    "ReduceLROnPlateau, max abs": lambda s, o: s.ReduceLROnPlateau(
        o, "max", patience=30, factor=0.5, threshold=0.01, threshold_mode="abs", eps=1e-4
    ),
    "ReduceLROnPlateau, max rel": lambda s, o: s.ReduceLROnPlateau(o, mode="max", patience=0, factor=0.9, threshold=0.02),
    "ReduceLROnPlateau, min abs": lambda s, o: s.ReduceLROnPlateau(o, patience=1, threshold=0.05, threshold_mode="abs", min_lr=0.001),
}


def optimizer_of(lib: Any, kind: str = "SGD") -> Any:
    """Two groups of one parameter, with rates 0.1 and 0.02."""
    a, b = (lib.nn.Parameter(lib.tensor([1.0])) for _ in range(2))
    momentum = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(lib.optim, kind)([{"params": [a]}, {"params": [b], "lr": 0.02}], lr=0.1, **momentum)


def followed(lib: Any, key: str, kind: str = "SGD") -> np.ndarray:
    """Rate and momentum of both groups in every epoch. Shapes: (epochs, 4)"""
    optimizer = optimizer_of(lib, kind)
    schedule = SCHEDULES[key](lib.optim.lr_scheduler, optimizer)
    found = []
    for epoch in range(EPOCHS):
        groups = optimizer.param_groups
        found.append([*(g["lr"] for g in groups), *(g["momentum"] if kind == "SGD" else g["betas"][0] for g in groups)])
        optimizer.step()
        schedule.step(*([LOSSES[epoch]] if key.startswith("Reduce") else []))
    return np.array(found)


def main() -> int:
    """Write the file."""
    import torch

    values = {key: followed(torch, key) for key in SCHEDULES}
    values = {key: v if (v[:, 2:] != 0.9).any() else v[:, :2] for key, v in values.items()}
    np.savez_compressed(FILE, torch=torch.__version__, **values)
    print(f"{FILE.name}: {len(values)} schedules, {FILE.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
