"""Collating: a list of items becomes one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import DEFAULT_FLOAT, is_array, xp_of
from ..errors import DTypeError, ShapeError, explain


def collate(items: list[Any]) -> Any:
    """Stack tensors, arrays and numbers; go into tuples, lists and dicts; leave strings in a list.

    Integers stay int64, Python floats become float32, arrays keep their dtype.

    Raises:
        ShapeError: items of different sizes.
        DTypeError: something that can't be put in a batch.

    >>> x, y = collate([(0.5, 1), (1.5, 2)])
    >>> x.tolist(), y.tolist()
    ([0.5, 1.5], [1, 2])
    """
    first = items[0]
    if isinstance(first, Tensor) or is_array(first):
        return _stacked([item._data if isinstance(item, Tensor) else item for item in items])
    if isinstance(first, np.generic):
        return Tensor.made(np.array(items), None)
    if isinstance(first, (bool, int, float)):
        array = np.array(items)
        return Tensor.made(array.astype(DEFAULT_FLOAT) if array.dtype.kind == "f" else array, None)
    if isinstance(first, str):
        return items
    if isinstance(first, Mapping):
        _same("keys", [sorted(map(str, item)) for item in items])
        return {key: collate([item[key] for item in items]) for key in first}
    if isinstance(first, (tuple, list)):
        _same("length", [len(item) for item in items])
        parts = [collate(list(part)) for part in zip(*items, strict=True)]
        if isinstance(first, tuple):
            return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
        return parts
    raise DTypeError(
        explain(
            "DataLoader: can't make a batch of this",
            got={"item": type(first).__name__},
            need="tensors, arrays, numbers, or tuples and dicts of them; or a collate_fn of your own",
        )
    )


def _stacked(arrays: list[Any]) -> Tensor:
    _same("shape", [np.shape(a) for a in arrays])
    return Tensor.made(xp_of(arrays[0]).stack(arrays), None)


def _same(what: str, values: list[Any]) -> None:
    for i, value in enumerate(values):
        if value != values[0]:
            raise ShapeError(
                explain(
                    f"DataLoader: items of different {what} don't form a batch",
                    got={"item 0": values[0], f"item {i}": value},
                    need=f"the same {what} for all; or batch_size=1, or a collate_fn of your own",
                )
            )
