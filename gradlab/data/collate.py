"""Collating: a list of items becomes one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import as_array, is_array, xp_of
from ..errors import DataError, DTypeError, ShapeError, explain


def collate(items: list[Any]) -> Any:
    """Stack tensors, arrays and numbers; go into tuples, lists and dicts; leave strings in a list.

    Integers stay int64, Python floats become float32, arrays keep their dtype.

    Raises:
        ShapeError: items of different kinds or sizes.
        DTypeError: something that can't be put in a batch.
        DataError: an item, or a part of one, is None.

    >>> x, y = collate([(0.5, 1), (1.5, 2)])
    >>> x.tolist(), y.tolist()
    ([0.5, 1.5], [1, 2])
    """
    kinds = [_kind(item) for item in items]
    if not items or "None" in kinds:
        raise DataError(
            explain(
                "DataLoader: no batch can be made where something is missing",
                got={f"item {kinds.index('None')}": None} if items else {"items": 0},
                need="a value in each item; or a collate_fn of your own",
            )
        )
    _same("kind", kinds)
    first = items[0]
    if kinds[0] == "text":
        return items
    if kinds[0] == "numbers":
        return _stacked([item._data if isinstance(item, Tensor) else item for item in items])
    if kinds[0] == "dict":
        _same("keys", [sorted(map(str, item)) for item in items])
        return {key: collate([item[key] for item in items]) for key in first}
    if kinds[0] == "sequence":
        _same("length", [len(item) for item in items])
        parts = [collate(list(part)) for part in zip(*items, strict=True)]
        if isinstance(first, tuple):
            return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
        return parts
    raise DTypeError(
        explain(
            "DataLoader: can't make a batch of this",
            got={"item": kinds[0]},
            need="tensors, arrays, numbers, text, or tuples and dicts of them; or a collate_fn of your own",
        )
    )


def _kind(item: object) -> str:
    if isinstance(item, (str, bytes)):  # also NumPy's own, which are NumPy scalars too
        return "text"
    if isinstance(item, (Tensor, bool, int, float, np.generic)) or is_array(item):
        return "numbers"
    if isinstance(item, Mapping):
        return "dict"
    if isinstance(item, (tuple, list)):
        return "sequence"
    return "None" if item is None else type(item).__name__


def _stacked(values: list[Any]) -> Tensor:
    arrays = [value for value in values if is_array(value)]
    if not arrays:
        return Tensor.made(as_array(values), None)
    _same("shape", [np.shape(value) for value in values])
    return Tensor.made(as_array(xp_of(arrays[0]).stack(values)), None)


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
