"""Samplers: in which order items are read in one epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sized

import numpy as np

from ..backend import Generator
from ..backend import generator as global_generator
from ..errors import DataError


class SequentialSampler:
    """0, 1, 2, ...

    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler:
    """Every index once, in an order that is drawn anew for each epoch.

    Args:
        generator: a `gl.Generator`, or one of NumPy, to draw from.
        seed: makes a generator of its own: the same seed gives the same epochs in the same order. Without either the
            order comes from gradlab's own random state, see `gl.manual_seed`.

    >>> sorted(RandomSampler("abc", seed=0))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized, generator: np.random.Generator | Generator | None = None, seed: int | None = None) -> None:
        if generator is not None and seed is not None:
            raise DataError("RandomSampler: give a generator or a seed, not both")
        self.data_source = data_source
        self.generator = np.random.default_rng(seed) if seed is not None else generator

    def __iter__(self) -> Iterator[int]:
        drawn_from = self.generator if isinstance(self.generator, np.random.Generator) else global_generator(self.generator)
        return iter(drawn_from.permutation(len(self.data_source)).tolist())

    def __len__(self) -> int:
        return len(self.data_source)
