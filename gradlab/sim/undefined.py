"""What NumPy defines and a GPU leaves open: refused here, so that no result hangs on it. On bare NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse_contradiction(array: np.ndarray, key: tuple[Any, ...], value: Any) -> None:
    """Different values for one place in an assignment: no order is kept, any may stay.

    Raises:
        RuntimeError: there are some.
    """
    if not any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" and part.size > 1 for part in key):
        return
    places = np.arange(array.size).reshape(array.shape)[key].ravel()
    if len(np.unique(places)) == len(places):
        return
    values = np.broadcast_to(np.asarray(value), array[key].shape).ravel()
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    same = places[1:] == places[:-1]
    differ = (values[1:] != values[:-1]) & ~((values[1:] != values[1:]) & (values[:-1] != values[:-1]))
    if bool((same & differ).any()):
        raise RuntimeError("sim: different values for one place; on a GPU it is open which one stays")


def refuse_overlap(out: np.ndarray, *inputs: np.ndarray) -> None:
    """A result written over an operand that is read in another place: NumPy makes a copy first, a GPU does not.

    Raises:
        RuntimeError: they overlap, and are not the same entries.
    """
    for x in inputs:
        same = x.__array_interface__["data"] == out.__array_interface__["data"] and (x.shape, x.strides) == (out.shape, out.strides)
        if not same and np.may_share_memory(out, x) and _shares(out, x):
            raise RuntimeError("sim: the result is written over an operand that is read elsewhere; a GPU makes no copy first")


def _shares(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False


def refuse_cast(array: np.ndarray, dtype: Any) -> None:
    """A float as an integer that the new dtype does not have (NaN, infinite, too large): processors differ in what comes out.

    Raises:
        RuntimeError: there is one.
    """
    wanted = np.dtype(dtype)
    if array.dtype.kind != "f" or wanted.kind not in "iu" or not array.size:
        return
    info = np.iinfo(wanted)
    if not bool(((array > float(info.min) - 1) & (array < float(info.max) + 1)).all()):
        raise RuntimeError(f"sim: a number that {wanted} does not have; what a cast makes of it is open")
