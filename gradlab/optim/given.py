"""What an optimizer is given: parameters, groups of them with options, a saved state; mistakes are answered here."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import is_array
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..nn.parameter import Parameter


def listed(params: Any) -> list[Any]:
    """The parameters or groups as a list; what is no list of parameters gets a clear answer."""
    if isinstance(params, Tensor) or not isinstance(params, Iterable) or isinstance(params, (str, Mapping)):
        fix = "model.parameters()" if hasattr(params, "parameters") else "[w]" if isinstance(params, Tensor) else ""
        raise KeywordError(
            explain(
                "optimizer: needs a list of parameters",
                got={"params": type(params).__name__},
                need="an iterable of parameters, or of dicts",
                fix=fix,
            )
        )
    return list(params)


def unique(name: str, tensors: list[Any]) -> list[Tensor]:
    """Each once, in order; one that no gradient can reach is refused."""
    found: dict[int, Tensor] = {}
    for t in tensors:
        if not isinstance(t, Tensor):
            raise KeywordError(
                explain(
                    f"{name}: moves tensors only", got={"params": type(t).__name__}, need="Parameters, or tensors with requires_grad=True"
                )
            )
        if not t.is_leaf:
            raise ArgumentError(
                explain(
                    f"{name}: can't move the result of {t.grad_fn!r}",
                    got={"shape": t.shape},
                    need="a leaf: a Parameter, or a tensor that no op made",
                    fix="t.detach().requires_grad_()",
                )
            )
        if not (t.requires_grad or isinstance(t, Parameter)):  # a frozen Parameter is fine: it is skipped
            raise ArgumentError(
                explain(
                    f"{name}: this tensor requires no gradient", got={"shape": t.shape}, need="requires_grad=True", fix="t.requires_grad_()"
                )
            )
        found[id(t)] = t
    if len(found) < len(tensors):
        warnings.warn(f"{name}: {len(tensors) - len(found)} parameters came in twice; each is moved once a step", UserWarning, stacklevel=6)
    return list(found.values())


def loaded(
    name: str, state_dict: Any, own: Sequence[dict[str, Any]], options: Collection[str]
) -> tuple[list[dict[str, Any]], list[tuple[int, Tensor, Mapping[str, Any]]]]:
    """The groups of `own` with the saved options, and the saved entries: number, the parameter it stands for, its state."""

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
    sizes = [len(group["params"]) for group in saved]
    need(
        sizes == [len(g["params"]) for g in own], "the groups differ", {"parameters per group": sizes}, str([len(g["params"]) for g in own])
    )
    unknown = [key for group in saved for key in group if key not in (*options, "params", "name")]
    need(not unknown, "another method saved this", {"options": ", ".join(unknown)}, ", ".join(options) or "no options")
    numbers = [number for group in saved for number in group["params"]]
    by_number = dict(zip(numbers, [p for group in own for p in group["params"]], strict=True))
    need(len(by_number) == len(numbers), "a parameter is there twice", {"params": numbers}, "each number once")
    strange = [number for number in state if number not in by_number]
    need(not strange, "a state belongs to no parameter", {"state": strange}, f"numbers of {numbers}")
    groups = [{**group, **new, "params": group["params"]} for group, new in zip(own, saved, strict=True)]
    return groups, [(number, by_number[number], entry) for number, entry in state.items()]


def need_entry(name: str, number: int, p: Tensor, entry: Mapping[str, Any], remembers: Collection[str] | None) -> None:
    """Refuse a saved state of the parameter that a step could not go on from."""
    if remembers is not None and entry and {*entry} != {*remembers}:
        raise ArgumentError(
            explain(
                f"{name}.load_state_dict: the state of parameter {number} is another method's",
                got={"state": ", ".join(map(str, entry))},
                need=", ".join(remembers),
            )
        )
    for key, value in entry.items():
        is_moment = remembers is not None and key != "step"
        if is_array(value) and value.shape != p.shape and (is_moment or value.shape):
            raise ShapeError(
                explain(
                    f"{name}.load_state_dict: the state of parameter {number} has another shape",
                    got={key: value.shape, "parameter": p.shape},
                    need="the same shape",
                )
            )
        if remembers is not None and not (is_array(value) and value.dtype.kind == "f" if is_moment else _is_count(value)):
            raise ArgumentError(
                explain(
                    f"{name}.load_state_dict: the state of parameter {number} can't be used",
                    got={key: f"{type(value).__name__} {getattr(value, 'dtype', value)}"},
                    need="an array of floating numbers" if is_moment else "a whole number, 0 or more",
                )
            )


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 0
