"""Datasets: things with a length and numbered items, or things to go through."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Array, is_array, picked, xp_of
from ..errors import DataError, KeywordError, PlaceError, ShapeError, explain


class Dataset:
    """A number of items; a subclass says how many, and makes item `index`; `__getitems__(indices)` may make a list of them at once.

    Two datasets are joined by `+`, see `ConcatDataset`.

    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 3
    ...
    ...     def __getitem__(self, index):
    ...         return index, float(index**2)
    >>> Squares()[2]
    (2, 4.0)
    """

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__(self)")

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(self, index)")

    def __add__(self, other: Any) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Items that come one after the other, with no number: lines of a file, a stream. A subclass writes `__iter__`.

    A loader reads it in one worker, however many it was given: items come once and in their order.

    >>> class Countdown(IterableDataset):
    ...     def __iter__(self):
    ...         return iter([3, 2, 1])
    >>> list(Countdown())
    [3, 2, 1]
    """

    def __len__(self) -> int:
        raise KeywordError(f"{type(self).__name__}: how many items will come is not known")  # a TypeError, as `list` expects

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__(self)")

    def __getitem__(self, index: int) -> Any:
        raise KeywordError(
            explain(
                f"{type(self).__name__}: an IterableDataset has no numbered items",
                got={"index": index},
                need="for item in dataset",
            )
        )


class TensorDataset(Dataset):
    """Tensors or arrays of the same length; item i is the tuple of their i-th entries.

    The tensors are kept, not copied, and items carry no graph.

    Raises:
        ShapeError: the lengths differ, or there is nothing with a length.

    >>> TensorDataset(np.zeros((3, 2)), np.array([4, 5, 6]))[2]
    (tensor([0., 0.], shape=(2,), dtype=float64), tensor(6, shape=()))
    """

    def __init__(self, *tensors: Tensor | Array) -> None:
        for t in tensors:
            if not (isinstance(t, Tensor) or is_array(t)):
                raise KeywordError(
                    explain("TensorDataset: takes tensors and arrays", got={"one of them": type(t).__name__}, need="Tensor or array")
                )
        self.tensors: tuple[Tensor, ...] = tuple([t if isinstance(t, Tensor) else Tensor(t) for t in tensors])
        shapes = [t.shape for t in self.tensors]
        if not shapes or () in shapes or len({shape[0] for shape in shapes}) > 1:
            raise ShapeError(
                explain(
                    "TensorDataset: the lengths differ" if all(shapes) and shapes else "TensorDataset: nothing to number here",
                    got={f"tensor {i}": shape for i, shape in enumerate(shapes)},
                    need="the same first size",
                )
            )

    def __len__(self) -> int:
        return self.tensors[0].shape[0]

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        try:
            return tuple([Tensor(t._data[index]) for t in self.tensors])
        except IndexError:
            raise no_item("TensorDataset", index, len(self)) from None

    def batch(self, indices: list[int]) -> tuple[Tensor, ...]:
        """The items of `indices` as one batch, by one copy a tensor.

        >>> TensorDataset(np.arange(5)).batch([4, 0])[0].tolist()
        [4, 0]
        """
        index = np.asarray(indices, np.int64)
        return tuple([rows(t._data, index) for t in self.tensors])


class ConcatDataset(Dataset):
    """Datasets one after the other; `a + b` makes one too.

    >>> both = ConcatDataset(["abc", "de"])
    >>> len(both), both[3], both[-1]
    (5, 'd', 'e')
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = [numbered("ConcatDataset", dataset) for dataset in datasets]
        if not self.datasets:
            raise DataError(explain("ConcatDataset: nothing to join", got={"datasets": 0}, need="at least one"))
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        n = len(self)
        if not -n <= index < n:
            raise no_item("ConcatDataset", index, n)
        place = index % n
        part = bisect_right(self.cumulative_sizes, place)
        return self.datasets[part][place - (self.cumulative_sizes[part - 1] if part else 0)]


def numbered(name: str, dataset: Any) -> Any:
    """The dataset; one of the rows of several tensors or arrays where a tuple of them came, as `fashion_sample()` gives.

    Raises:
        KeywordError: it has no length or no numbered items.
    """
    if isinstance(dataset, tuple) and dataset and all(isinstance(t, Tensor) or is_array(t) for t in dataset):
        return TensorDataset(*dataset)
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")) or isinstance(dataset, IterableDataset):
        got = {"dataset": type(dataset).__name__}
        raise KeywordError(explain(f"{name}: needs items with numbers", got=got, need="__len__ and __getitem__"))
    return dataset


def no_item(name: str, index: Any, n: int) -> PlaceError:
    """The answer to an index beyond a dataset of n items."""
    return PlaceError(explain(f"{name}: there is no such item", got={"index": index}, need=f"0 to {n - 1}"))


def rows(array: Array, index: np.ndarray) -> Tensor:
    """A tensor of the chosen rows, which shares no memory with `array`."""
    return Tensor.made(picked(array, xp_of(array).asarray(index)), None)
