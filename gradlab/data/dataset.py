"""Datasets: things with a length and numbered items."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Array, is_array, xp_of
from ..errors import KeywordError, ShapeError, explain


class Dataset:
    """A number of items; a subclass says how many, and makes item `index`.

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
        return tuple([Tensor(t._data[index]) for t in self.tensors])

    def batch(self, indices: list[int]) -> tuple[Tensor, ...]:
        """The items of `indices` as one batch, by one copy a tensor.

        >>> TensorDataset(np.arange(5)).batch([4, 0])[0].tolist()
        [4, 0]
        """
        index = np.asarray(indices, np.int64)
        return tuple([rows(t._data, index) for t in self.tensors])


def rows(array: Array, index: np.ndarray) -> Tensor:
    """A tensor of the chosen rows, which shares no memory with `array`."""
    xp = xp_of(array)
    return Tensor.made(xp.take(array, xp.asarray(index), axis=0), None)
