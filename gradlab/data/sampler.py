"""Samplers: in which order items are read in one epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Array, Generator, to_numpy
from ..backend import generator as global_generator
from ..errors import DataError, KeywordError, explain
from .given import count_of

Source = np.random.Generator | Generator | None


class Sampler:
    """Indices in an order; a subclass writes `__iter__`, and `__len__` where it is known.

    >>> class Backwards(Sampler):
    ...     def __init__(self, source):
    ...         self.n = len(source)
    ...
    ...     def __iter__(self):
    ...         return iter(range(self.n - 1, -1, -1))
    >>> list(Backwards("abc"))
    [2, 1, 0]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__(self)")


class SequentialSampler(Sampler):
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


class RandomSampler(Sampler):
    """Every index once, in an order that is drawn anew for each epoch; or draws with replacement.

    Args:
        replacement: draw each index anew from all of them.
        num_samples: how many; as many as there are items without it. More than that go through the items again.
        generator: a `gl.Generator`, or one of NumPy, to draw from.
        seed: makes a generator of its own: the same seed gives the same epochs in the same order. Without either the
            order comes from gradlab's own random state, see `gl.manual_seed`.

    Raises:
        DataError: when it is read, and there are no items.

    >>> sorted(RandomSampler("abc", seed=0))
    [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Source = None,
        *,
        seed: int | None = None,
    ) -> None:
        if generator is not None and seed is not None:
            raise DataError("RandomSampler: give a generator or a seed, not both")
        if not isinstance(replacement, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            got = {"replacement": type(replacement).__name__}
            raise KeywordError(explain("RandomSampler: replacement is True or False", got=got, need="True or False"))
        self.data_source, self.replacement = data_source, replacement
        self._wanted = None if num_samples is None else count_of("RandomSampler", "num_samples", num_samples)
        self.generator = np.random.default_rng(seed) if seed is not None else generator

    @property
    def num_samples(self) -> int:
        """Indices in an epoch."""
        return len(self.data_source) if self._wanted is None else self._wanted

    def __iter__(self) -> Iterator[int]:
        rng, n, wanted = drawn_from(self.generator), len(self.data_source), self.num_samples
        if not n:
            raise DataError(explain("RandomSampler: nothing to draw from", got={"items": 0}, need="at least one item"))
        if self.replacement:
            return iter(rng.integers(n, size=wanted).tolist())
        rounds = [rng.permutation(n) for _ in range(-(-wanted // n))]
        return iter(np.concatenate(rounds)[:wanted].tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices, each once, in an order that is drawn anew for each epoch.

    >>> sorted(SubsetRandomSampler([7, 3]))
    [3, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Source = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        return iter([self.indices[i] for i in drawn_from(self.generator).permutation(len(self.indices)).tolist()])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn as often as their weights say: rare classes as often as common ones, with 1 / count as weight.

    Args:
        weights: one for each item, of any sum.
        replacement: False draws no index twice.

    Raises:
        DataError: weights that are negative or not finite, or fewer of them above 0 than are drawn without replacement.

    >>> list(WeightedRandomSampler([0, 0, 2], 4))
    [2, 2, 2, 2]
    """

    def __init__(
        self, weights: Sequence[float] | Tensor | Array, num_samples: int, replacement: bool = True, generator: Source = None
    ) -> None:
        array = np.asarray(to_numpy(weights._data) if isinstance(weights, Tensor) else weights, dtype=np.float64)
        self.num_samples = count_of("WeightedRandomSampler", "num_samples", num_samples)
        drawable = int((array > 0).sum())
        if array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any() or drawable < (1 if replacement else self.num_samples):
            got = {"weights": array.shape, "above 0": drawable, "negative or not finite": int((~(array >= 0) | np.isinf(array)).sum())}
            need = "one weight an item, 0 or more; without replacement at least num_samples above 0"
            raise DataError(explain("WeightedRandomSampler: nothing can be drawn by these", got=got, need=need))
        self.weights, self.replacement, self.generator = array, replacement, generator

    def __iter__(self) -> Iterator[int]:
        p = self.weights / self.weights.sum()
        return iter(drawn_from(self.generator).choice(len(p), self.num_samples, self.replacement, p).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """The indices of another sampler in lists of `batch_size`; the last may be shorter, unless `drop_last`.

    >>> list(BatchSampler(SequentialSampler("abcde"), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        self.sampler, self.drop_last = sampler, drop_last
        self.batch_size = count_of("BatchSampler", "batch_size", batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        return self._lists(iter(self.sampler))  # what is random is drawn here, not at the first batch

    def _lists(self, order: Iterator[int]) -> Iterator[list[int]]:
        while len(indices := list(islice(order, self.batch_size))) > (self.batch_size - 1 if self.drop_last else 0):
            yield indices

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def drawn_from(generator: Source) -> np.random.Generator:
    """NumPy's generator behind what was given, gradlab's own without."""
    return generator if isinstance(generator, np.random.Generator) else global_generator(generator)
