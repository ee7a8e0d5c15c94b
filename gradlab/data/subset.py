"""Parts of datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from operator import index
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Generator, to_numpy
from ..errors import DataError, KeywordError, PlaceError, explain
from .dataset import Dataset, no_item, numbered
from .sampler import drawn_from


class Subset(Dataset):
    """The items of a dataset that have these indices, in this order.

    Raises:
        PlaceError: an index beyond the dataset.

    >>> Subset("abcd", [3, 0])[0], len(Subset("abcd", [3, 0]))
    ('d', 2)
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        dataset = numbered("Subset", dataset)
        array = np.asarray(to_numpy(indices._data) if isinstance(indices, Tensor) else indices)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            got = {"indices": f"{array.dtype}, {array.shape}"}
            raise KeywordError(explain("Subset: these are no indices", got=got, need="a list of whole numbers"))
        n = len(dataset)
        if array.size and not -n <= array.min() <= array.max() < n:
            raise PlaceError(
                explain("Subset: an index beyond the dataset", got={"from": array.min(), "to": array.max()}, need=f"0 to {n - 1}")
            )
        self.dataset = dataset
        self.indices: list[int] = array.tolist()

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        try:
            place = self.indices[index]
        except IndexError:
            raise no_item("Subset", index, len(self)) from None
        return self.dataset[place]


def random_split(dataset: Any, lengths: Sequence[int | float], generator: np.random.Generator | Generator | None = None) -> list[Subset]:
    """Parts of these lengths, drawn at random, with no item in two of them.

    Args:
        lengths: whole numbers whose sum is the length; or shares whose sum is 1, which are rounded down, and what is left
            goes one by one to the first parts, as in PyTorch.
        generator: a `gl.Generator`, or one of NumPy; without it gradlab's own random state decides.

    Raises:
        DataError: the sum is neither the length nor 1; a length is negative; a share of more than 0 would get no item.

    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    dataset = numbered("random_split", dataset)
    n, sizes = len(dataset), list(lengths)
    if sizes and math.isclose(sum(sizes), 1) and all(0 <= size <= 1 for size in sizes):
        counts = [int(n * share) for share in sizes]
        for i in range(n - sum(counts)):
            counts[i % len(counts)] += 1
        if any(share and not count for share, count in zip(sizes, counts, strict=True)):
            got = {"items": n, "shares": sizes}
            raise DataError(explain("random_split: a part would be empty", got=got, need="at least one item for each share above 0"))
    else:
        counts = [-1 if isinstance(size, float) else index(size) for size in sizes]
        if sum(counts) != n or min(counts, default=0) < 0:
            got = {"items": n, "lengths": sizes}
            raise DataError(
                explain(
                    "random_split: these lengths don't make up the dataset",
                    got=got,
                    need=f"whole numbers that sum to {n}, or shares that sum to 1",
                )
            )
    order = drawn_from(generator).permutation(n)
    return [Subset(dataset, order[end - count : end].tolist()) for end, count in zip(accumulate(counts), counts, strict=True)]
