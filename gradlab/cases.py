"""Recipes for an op's check inputs: cheap to declare beside the op, drawn only when checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Draw:
    """An array of `shape`, uniform in [lo, hi); entries within `gap` of 0 are moved out to `gap`."""

    shape: tuple[int, ...]
    lo: float = -2.0
    hi: float = 2.0
    gap: float = 0.0

    def array(self, rng: np.random.Generator) -> np.ndarray:
        """Draw it.

        >>> Draw((2, 3)).array(np.random.default_rng(0)).shape
        (2, 3)
        """
        x = np.asarray(rng.uniform(self.lo, self.hi, self.shape))
        return np.where(np.abs(x) < self.gap, np.copysign(self.gap, x), x) if self.gap else x


@dataclass(frozen=True)
class Ints:
    """An integer array of `shape`, uniform in [lo, hi): class ids, indices. It gets no gradient."""

    shape: tuple[int, ...]
    lo: int = 0
    hi: int = 4

    def array(self, rng: np.random.Generator) -> np.ndarray:
        """Draw it."""
        return np.asarray(rng.integers(self.lo, self.hi, self.shape))


@dataclass(frozen=True)
class Given:
    """An array written out, where a case needs exact values: ties, zeros, masks."""

    values: Any
    dtype: str = "float64"

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return np.shape(self.values)

    def array(self, rng: np.random.Generator) -> np.ndarray:
        """Write it out; `rng` is there for the common form."""
        return np.array(self.values, self.dtype)


class Case:
    """One way to call an op: a recipe per input, and keyword parameters."""

    def __init__(self, *inputs: Draw | Ints | Given, **params: Any) -> None:
        self.inputs = inputs
        self.params = params

    def __repr__(self) -> str:
        shapes = ",".join("x".join(map(str, d.shape)) or "scalar" for d in self.inputs)
        return shapes + "".join(f"-{k}={v}" for k, v in self.params.items())
