"""DataLoader: a dataset in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import index
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Generator, is_array
from ..errors import DataError, KeywordError, explain
from .collate import collate
from .dataset import Dataset, TensorDataset, rows
from .sampler import RandomSampler, SequentialSampler


class DataLoader:
    """Goes through a dataset in batches, as often as you like; each `for` is one epoch.

    Args:
        dataset: anything with a length and numbered items, or a tuple of tensors or arrays of the same length.
        batch_size: items in a batch; the last one may be shorter.
        shuffle: read in an order that is drawn anew each epoch.
        sampler: an iterable of indices instead of `shuffle`.
        seed: for `shuffle`: the same seed gives the same batches; without it gradlab's own random state decides.
        generator: for `shuffle`: a `gl.Generator`, or one of NumPy, to draw the order from.
        drop_last: leave out a last batch that is shorter.
        collate_fn: makes a batch of a list of items, see `collate` for what is done without.

    >>> import numpy as np
    >>> loader = DataLoader((np.zeros((10, 2)), np.arange(10)), batch_size=4)
    >>> len(loader)
    3
    >>> [tuple(x.shape) for x, y in loader]
    [(4, 2), (4, 2), (2, 2)]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        *,
        seed: int | None = None,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        generator: np.random.Generator | Generator | None = None,
    ) -> None:
        if shuffle and sampler is not None:
            raise DataError("DataLoader: shuffle and sampler both say in which order items are read; give one of them")
        if sampler is not None and not hasattr(sampler, "__iter__"):
            raise KeywordError(
                explain("DataLoader: this is no sampler", got={"sampler": type(sampler).__name__}, need="an iterable of indices")
            )
        if collate_fn is not None and not callable(collate_fn):
            raise KeywordError(
                explain(
                    "DataLoader: collate_fn is called", got={"collate_fn": type(collate_fn).__name__}, need="a function of a list of items"
                )
            )
        if sampler is not None and iter(sampler) is sampler:
            raise DataError(
                explain(
                    "DataLoader: this sampler can be read only once, so the second epoch would be empty",
                    got={"sampler": type(sampler).__name__},
                    need="something that begins anew in each `for`: a list, a range, a class with __iter__",
                    fix="sampler=list(...)",
                )
            )
        if isinstance(dataset, tuple) and dataset and all(isinstance(t, Tensor) or is_array(t) for t in dataset):
            dataset = TensorDataset(*dataset)
        if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
            raise KeywordError(
                explain(
                    "DataLoader: needs items with numbers",
                    got={"dataset": type(dataset).__name__},
                    need="__len__ and __getitem__, or a tuple of arrays",
                )
            )
        self.dataset: Dataset | Any = dataset
        self.batch_size, self.drop_last, self.collate_fn = _count(batch_size), drop_last, collate_fn
        self.sampler: Iterable[int]
        self.sampler = (
            sampler if sampler is not None else RandomSampler(dataset, generator, seed) if shuffle else SequentialSampler(dataset)
        )

    def __len__(self) -> int:
        """Batches in an epoch."""
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        return self._batches(iter(self.sampler))

    def _batches(self, order: Iterator[int]) -> Iterator[Any]:
        make = self._maker()
        while indices := list(islice(order, self.batch_size)):
            if self.drop_last and len(indices) < self.batch_size:
                return
            yield make(indices)

    def _maker(self) -> Callable[[list[int]], Any]:
        """How a batch is made of indices: by one copy where items are rows of arrays, else item by item."""
        dataset = self.dataset
        if self.collate_fn is None:
            if type(dataset) is TensorDataset:
                return dataset.batch
            if isinstance(dataset, Tensor) or is_array(dataset):
                array: Any = dataset._data if isinstance(dataset, Tensor) else dataset
                if array.dtype.kind in "biuf":  # what is no number goes item by item: text stays text
                    return lambda indices: rows(array, np.asarray(indices, np.int64))
        combine = collate if self.collate_fn is None else self.collate_fn
        return lambda indices: combine([dataset[i] for i in indices])


def _count(batch_size: Any) -> int:
    try:
        n = 0 if isinstance(batch_size, bool) else index(batch_size)
    except TypeError:
        n = 0
    if n < 1:
        raise DataError(explain("DataLoader: batch_size counts items", got={"batch_size": batch_size}, need="a whole number, 1 or more"))
    return n
