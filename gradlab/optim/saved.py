"""Saved states of optimizers: what can't be gone on from is answered here, before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Array, is_array, xp_of
from ..errors import ArgumentError, ShapeError, explain
from ..nn.state import array_of
from .given import BESIDE, plain

HOW = ("foreach", "fused", "capturable", "differentiable")
"""Options of PyTorch's that say how a step is computed, not what; a saved state of PyTorch's has them."""


def copied(value: Any) -> Any:
    """An array of its own, in the order of rows; other values are themselves."""
    return xp_of(value).array(value, order="C") if is_array(value) else value


def loaded(
    name: str, state_dict: Any, own: Sequence[Mapping[str, Any]], options: Collection[str]
) -> tuple[list[dict[str, Any]], list[tuple[int, Tensor, dict[str, Any]]]]:
    """The groups of `own` with the saved options, and the saved entries: number, the parameter it stands for, its state.

    A state that went through a file is as good: numbers as text, lists for tuples, tensors for arrays.
    """

    def need(fits: bool, what: str, got: Mapping[str, object], need: str) -> None:
        if not fits:
            raise ArgumentError(explain(f"{name}.load_state_dict: {what}; nothing was loaded", got=got, need=need))

    parts: dict[str, Any] = dict(state_dict) if isinstance(state_dict, Mapping) else {}
    saved: Any = parts.get("param_groups")
    state: Any = parts.get("state")
    whole = isinstance(saved, (list, tuple)) and all(isinstance(group, Mapping) and "params" in group for group in saved)
    whole = whole and isinstance(state, Mapping) and all(isinstance(entry, Mapping) for entry in state.values())
    got = ", ".join(map(str, parts)) or type(state_dict).__name__
    need(whole, "this is no saved optimizer", {"state_dict": got}, "what state_dict() returned")
    sizes, own_sizes = [[len(group["params"]) for group in groups] for groups in (saved, own)]
    need(sizes == own_sizes, "the groups differ", {"parameters per group": sizes}, str(own_sizes))
    unknown = [key for group, mine in zip(saved, own, strict=True) for key in group if key not in (*options, *mine, *BESIDE, *HOW)]
    need(not unknown, "another method saved this", {"options": ", ".join(unknown)}, ", ".join(options) or "no options")
    numbers = [int(number) for group in saved for number in group["params"]]
    by_number: dict[Any, Tensor] = dict(zip(numbers, [p for group in own for p in group["params"]], strict=True))
    need(len(by_number) == len(numbers), "a parameter is there twice", {"params": numbers}, "each number once")
    entries: dict[Any, Mapping[str, Any]] = {
        int(key) if isinstance(key, str) and key.isdecimal() else key: entry for key, entry in state.items()
    }
    strange = [number for number in entries if number not in by_number]
    need(not strange, "a state belongs to no parameter", {"state": strange}, f"numbers of {numbers}")
    groups = [
        {**mine, **{key: _as(mine.get(key), plain(value)) for key, value in new.items() if key not in HOW}, "params": mine["params"]}
        for mine, new in zip(own, saved, strict=True)
    ]
    return groups, [
        (number, by_number[number], {key: _read(key, value) for key, value in entry.items()}) for number, entry in entries.items()
    ]


def _as(mine: Any, value: Any) -> Any:
    """A tuple that became a list in a file is a tuple again."""
    return tuple(value) if isinstance(mine, tuple) and isinstance(value, list) else value


def _read(key: str, value: Any) -> Any:
    """A saved value as it is kept: tensors, those of PyTorch too, as arrays, and a count as a whole number."""
    value = array_of(value)
    if key == "step" and is_array(value) and not value.ndim and float(value).is_integer():
        return int(value)
    return value


def need_entry(name: str, number: int, p: Tensor, entry: Mapping[str, Any], known: Collection[str], needed: Collection[str]) -> None:
    """Refuse a saved state of parameter `p` that a step could not go on from.

    Args:
        known: names that the method may remember something by; none where its class doesn't say.
        needed: those of them that its options ask for.
    """
    if known and entry and not {*needed} <= {*entry} <= {*known}:
        raise ArgumentError(
            explain(
                f"{name}.load_state_dict: the state of parameter {number} is another method's",
                got={"state": ", ".join(map(str, entry))},
                need=", ".join(needed) or "nothing",
            )
        )
    for key, value in entry.items():
        is_moment = known and key != "step"
        if is_array(value) and value.shape != p.shape and (is_moment or value.shape):
            raise ShapeError(
                explain(
                    f"{name}.load_state_dict: the state of parameter {number} has another shape",
                    got={key: value.shape, "parameter": p.shape},
                    need="the same shape",
                )
            )
        if known and not (_is_moment(value) if is_moment else _is_count(value)):
            raise ArgumentError(
                explain(
                    f"{name}.load_state_dict: the state of parameter {number} can't be used",
                    got={key: f"{type(value).__name__} {getattr(value, 'dtype', value)}"},
                    need="an array of floating numbers" if is_moment else "a whole number, 0 or more",
                )
            )


def _is_moment(value: Array | Any) -> bool:
    return is_array(value) and value.dtype.kind == "f"


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 0
