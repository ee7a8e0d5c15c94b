"""How a batch is made: here, in a thread or in another process, from the same numbers each time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..backend import drawing_from, is_array
from .collate import collate
from .dataset import IterableDataset, TensorDataset, rows
from .subset import Subset


class WorkerInfo(NamedTuple):
    """Which worker reads an item: its number, how many there are, the seed of this epoch, and the dataset."""

    id: int
    num_workers: int
    seed: int | None
    dataset: Any


_info: ContextVar[WorkerInfo | None] = ContextVar("worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """What a dataset may ask while it reads an item; None where no worker reads.

    >>> get_worker_info() is None
    True
    """
    return _info.get()


class Job(NamedTuple):
    """One batch to make: the seed of the epoch, its number there, and indices; or how many items come next, and at least."""

    seed: int | None
    number: int
    indices: list[int]
    most: int = 0
    least: int = 1


class End:
    """In place of a batch: nothing comes any more."""


class Maker:
    """Makes the batches of a dataset, by one copy where items are rows of arrays, else item by item.

    What items draw from gradlab's random numbers depends on the epoch's seed and the batch's number only, never on which
    worker makes it.
    """

    def __init__(self, dataset: Any, collate_fn: Callable[[list[Any]], Any] | None) -> None:
        self.dataset, self.combine = dataset, collate_fn or collate
        self.rows = None if collate_fn else by_rows(dataset)
        self.coming: Iterator[Any] = iter(())

    def __call__(self, job: Job) -> Any:
        """The batch; `End` where the dataset has no more."""
        if self.rows is not None:
            return self.rows(job.indices)
        with drawing_from(lambda: np.random.default_rng((job.seed or 0, job.number))):  # takes 30 us: many items draw nothing
            items = self._next(job) if isinstance(self.dataset, IterableDataset) else self._chosen(job.indices)
            return End if items is None else self.combine(items)

    def _chosen(self, indices: list[int]) -> list[Any]:
        if hasattr(self.dataset, "__getitems__"):  # PyTorch's word for a dataset that reads many at once
            return self.dataset.__getitems__(indices)
        items: list[Any] = []
        for i in indices:
            try:
                items.append(self.dataset[i])
            except Exception as error:
                error.add_note(f"DataLoader: this came up in item {i} of {type(self.dataset).__name__}")
                raise
        return items

    def _next(self, job: Job) -> list[Any] | None:
        if job.number == 0:
            self.coming = iter(self.dataset)
        items = list(islice(self.coming, job.most))
        return items if len(items) >= job.least else None


@contextmanager
def working(info: WorkerInfo) -> Iterator[None]:
    """Say in the block that this worker reads."""
    token = _info.set(info)
    try:
        yield
    finally:
        _info.reset(token)


def seed_others(job: Job) -> None:
    """Start the random numbers of Python and NumPy anew for a batch, in a process that is a worker's alone."""
    drawn = np.random.SeedSequence((job.seed or 0, job.number)).generate_state(2)
    random.seed(int(drawn[0]))
    np.random.seed(int(drawn[1]))  # noqa: NPY002 - it is NumPy's old state that datasets draw from


def by_rows(dataset: Any) -> Callable[[list[int]], Any] | None:
    """How rows of arrays become a batch at once; None where items have to be read one by one."""
    if type(dataset) is TensorDataset:
        return dataset.batch
    if type(dataset) is Subset:
        inner, places = by_rows(dataset.dataset), np.asarray(dataset.indices, np.int64)
        return inner and (lambda indices: inner(places[np.asarray(indices, np.int64)]))  # type: ignore[arg-type]
    if isinstance(dataset, Tensor) or is_array(dataset):
        array: Any = dataset._data if isinstance(dataset, Tensor) else dataset
        if array.dtype.kind in "biuf":  # what is no number goes item by item: text stays text
            return lambda indices: rows(array, np.asarray(indices, np.int64))
    return None
