"""DataLoader: a dataset in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ..errors import DataError, KeywordError, explain
from .dataset import IterableDataset, numbered
from .given import count_of
from .processes import Processes, context_of
from .sampler import BatchSampler, RandomSampler, SequentialSampler, Source, drawn_from
from .standing import Standing, drawing_as, put_back, sources_of
from .threads import Threads
from .worker import End, Job, Maker


class DataLoader:
    """Goes through a dataset in batches, as often as you like; each `for` is one epoch.

    Workers change how fast batches come, never which: order and random numbers of the items depend on the seed alone.
    An IterableDataset is read by one worker.

    Args:
        dataset: anything with a length and numbered items, an IterableDataset, or a tuple of tensors or arrays of the same length.
        batch_size: items in a batch; the last one may be shorter.
        shuffle: read in an order that is drawn anew each epoch.
        sampler: an iterable of indices instead of `shuffle`.
        batch_sampler: an iterable of lists of indices instead of all of these.
        num_workers: batches are made ahead by so many threads; 0 makes each when it is asked for.
        collate_fn: makes a batch of a list of items, see `collate` for what is done without.
        pin_memory: taken for PyTorch's sake; memory is pinned when a batch goes to a device.
        drop_last: leave out a last batch that is shorter.
        timeout: seconds to wait for a batch of a worker, 0 for as long as it takes.
        worker_init_fn: called once in each worker with its number.
        multiprocessing_context: "spawn" or another way to start processes, for processes in place of threads. They have to
            import the dataset, so it can't be of a notebook, and a script needs `if __name__ == "__main__":`.
        generator: a `gl.Generator`, or one of NumPy, to draw the order and the seed of the items from.
        prefetch_factor: batches that are made ahead for each worker; 2 without it.
        persistent_workers: keep processes for the next epoch.
        seed: for `shuffle` and the items: the same seed gives the same batches; without it gradlab's own random state decides.

    Raises:
        DataError: options that contradict one another; a sampler that can be read only once.
        KeywordError: no dataset, sampler or function.

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
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        multiprocessing_context: Any = None,
        generator: Source = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        seed: int | None = None,
    ) -> None:
        dataset = dataset if isinstance(dataset, IterableDataset) else numbered("DataLoader", dataset)
        _need_functions(collate_fn=collate_fn, worker_init_fn=worker_init_fn)
        _need_one_order(dataset, shuffle, sampler, batch_sampler, batch_size, drop_last)
        if generator is not None and seed is not None:
            raise DataError("DataLoader: give a generator or a seed, not both")
        self.dataset, self.collate_fn, self.worker_init_fn = dataset, collate_fn, worker_init_fn
        self.num_workers = count_of("DataLoader", "num_workers", num_workers, 0)
        if multiprocessing_context is not None and not self.num_workers:
            raise DataError("DataLoader: multiprocessing_context says how workers start; give num_workers=1 or more, too")
        self.multiprocessing_context = None if multiprocessing_context is None else context_of(multiprocessing_context)
        self.prefetch_factor = 2 if prefetch_factor is None else count_of("DataLoader", "prefetch_factor", prefetch_factor)
        self.timeout, self.persistent_workers, self.pin_memory = _seconds(timeout), persistent_workers, pin_memory
        self.generator = generator
        # A stream of its own for the items: how they are read changes no order.
        self._items_generator: Source = generator if seed is None else np.random.default_rng((seed, 1))
        self.sampler: Iterable[int] | None = None
        self.batch_sampler: Iterable[list[int]] | None = batch_sampler
        self.batch_size = None if batch_sampler is not None else count_of("DataLoader", "batch_size", batch_size)
        self.drop_last = drop_last
        if batch_sampler is None and not isinstance(dataset, IterableDataset):
            drawn = RandomSampler(dataset, generator=generator, seed=seed) if shuffle else SequentialSampler(dataset)
            self.sampler = drawn if sampler is None else sampler
            self.batch_sampler = BatchSampler(self.sampler, self.batch_size or 1, drop_last)
        self._pool: Threads | Processes | None = None  # kept for the next epoch
        self._standing: Standing | None = None  # in an epoch; None between two
        self._resumed: Mapping[str, Any] | None = None  # where the next one goes on

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)  # __init__ may have failed before
        if pool is not None:
            pool.close()

    def __len__(self) -> int:
        """Batches in an epoch.

        Raises: TypeError where the dataset or sampler has no length.
        """
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]
        n, size = len(self.dataset), self.batch_size or 1
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self) -> Iterator[Any]:
        state, self._resumed = self._resumed, None
        skipped = 0 if state is None else state["batches"]
        with drawing_as(None if state is None else state["random"]):
            standing = self._standing = Standing(self._sources())
            maker = Maker(self.dataset, self.collate_fn)
            lists = None if self.batch_sampler is None else iter(self.batch_sampler)
            seed = None if maker.rows is not None else int(drawn_from(self._items_generator).integers(2**63))
            jobs = self._jobs(lists, seed)
            if lists is not None:
                standing.batches = sum(1 for _ in islice(jobs, skipped))
        batches = self._made(maker, jobs, standing) if not self.num_workers else self._ahead(maker, jobs, standing)
        if lists is None:  # a stream has to be read up to there
            standing.batches = sum(1 for _ in islice(batches, skipped))
        return batches

    def state_dict(self) -> dict[str, Any]:
        """Where the newest `for` stands: how many batches it gave, and the generators as they were when it began.

        The generators are those that loader and samplers have as attributes; "random" is gradlab's own, None between two epochs.
        """
        if self._standing is None:
            return {**Standing(self._sources()).state(), "random": None, **self._form()}
        return {**self._standing.state(), **self._form()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Let the next `for` go on there: it gives the batches that are left of that epoch, as they would have come.

        gradlab's own random numbers stay where they are, see `gl.set_rng_state`. A stream is read up to there.

        Raises:
            StateError: it is of a loader with another batch size, more or fewer items, or other generators.

        >>> loader = DataLoader([1, 2, 3, 4], shuffle=True, seed=0)
        >>> batches = iter(loader)
        >>> first, state = next(batches), loader.state_dict()
        >>> left = [batch.item() for batch in batches]
        >>> again = DataLoader([1, 2, 3, 4], shuffle=True, seed=0)
        >>> again.load_state_dict(state)
        >>> [batch.item() for batch in again] == left
        True
        """
        put_back(self._sources(), state_dict, self._form())
        self._standing, self._resumed = None, dict(state_dict)

    def _sources(self) -> list[np.random.Generator]:
        return sources_of(self, self.sampler, self.batch_sampler, getattr(self.batch_sampler, "sampler", None))

    def _form(self) -> dict[str, Any]:
        """By what a saved state is told from another loader's."""
        return {"batch_size": self.batch_size, "items": None if isinstance(self.dataset, IterableDataset) else len(self.dataset)}

    def _jobs(self, lists: Iterator[list[int]] | None, seed: int | None) -> Iterator[Job]:
        if lists is not None:
            for number, indices in enumerate(lists):
                yield Job(seed, number, list(indices))
            return
        size, number = self.batch_size or 1, 0
        while True:
            yield Job(seed, number, [], size, size if self.drop_last else 1)
            number += 1

    def _made(self, maker: Maker, jobs: Iterator[Job], standing: Standing) -> Iterator[Any]:
        for job in jobs:
            batch = maker(job)
            if batch is End:
                break
            standing.batches += 1
            yield batch
        self._over(standing)

    def _over(self, standing: Standing) -> None:
        """An epoch was read to its end."""
        if self._standing is standing:
            self._standing = None

    def _ahead(self, maker: Maker, jobs: Iterator[Job], standing: Standing) -> Iterator[Any]:
        """The batches of workers, which are always some ahead; however it ends, no worker works on."""
        pool, self._pool = self._pool or self._workers(maker), None  # so that a second iterator has workers of its own
        ahead: deque[Any] = deque()
        keep = False
        try:
            for job in jobs:
                ahead.append(pool.submit(job))
                if len(ahead) < self.prefetch_factor * self.num_workers:
                    continue
                batch = self._batch(pool, ahead.popleft())
                if batch is End:
                    ahead.clear()
                    break
                standing.batches += 1
                yield batch
            while ahead and (batch := self._batch(pool, ahead.popleft())) is not End:
                standing.batches += 1
                yield batch
            keep = True
            self._over(standing)
        except GeneratorExit:  # a `break`
            keep = True
            raise
        finally:
            if keep and self.persistent_workers and self._pool is None:
                pool.cancel()
                self._pool = pool
            else:
                pool.close()

    def _workers(self, maker: Maker) -> Threads | Processes:
        count = 1 if isinstance(self.dataset, IterableDataset) else self.num_workers
        if self.multiprocessing_context is None:
            return Threads(maker, count, self.worker_init_fn)
        return Processes(maker, count, self.worker_init_fn, self.multiprocessing_context)

    def _batch(self, pool: Any, ticket: Any) -> Any:
        try:
            return pool.result(ticket, self.timeout or None)
        except TimeoutError:
            got = {"timeout": f"{self.timeout:g} s"}
            raise DataError(explain("DataLoader: no batch came in time", got=got, need="a larger timeout, or faster items")) from None


def _need_one_order(dataset: Any, shuffle: Any, sampler: Any, batch_sampler: Any, batch_size: Any, drop_last: bool) -> None:
    """Refuse orders that contradict one another, and what is none."""
    if sampler is not None and shuffle:
        raise DataError("DataLoader: shuffle and sampler both say in which order items are read; give one of them")
    for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if given is None:
            continue
        kind = "indices" if name == "sampler" else "lists of indices"
        if not hasattr(given, "__iter__"):
            raise KeywordError(explain("DataLoader: this is no sampler", got={name: type(given).__name__}, need=f"an iterable of {kind}"))
        if iter(given) is given:
            raise DataError(
                explain(
                    "DataLoader: this sampler can be read only once, so the second epoch would be empty",
                    got={name: type(given).__name__},
                    need="something that begins anew in each `for`: a list, a range, a class with __iter__",
                    fix=f"{name}=list(...)",
                )
            )
    if batch_sampler is not None and (sampler is not None or shuffle or batch_size not in (1, None) or drop_last):
        raise DataError("DataLoader: batch_sampler says all of batch_size, shuffle, sampler and drop_last; give it alone")
    if isinstance(dataset, IterableDataset) and (shuffle or sampler is not None or batch_sampler is not None):
        raise DataError("DataLoader: an IterableDataset comes in its own order; it takes no shuffle and no sampler")


def _need_functions(**given: Any) -> None:
    for name, function in given.items():
        if function is not None and not callable(function):
            what = "a list of items" if name == "collate_fn" else "the worker's number"
            got = {name: type(function).__name__}
            raise KeywordError(explain(f"DataLoader: {name} is called", got=got, need=f"a function of {what}"))


def _seconds(timeout: Any) -> float:
    if not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise DataError(explain("DataLoader: timeout is in seconds", got={"timeout": timeout}, need="0 or more"))
    return timeout
