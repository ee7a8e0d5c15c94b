"""Saving and loading: copying every number of a module out into a flat dict, and back in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..backend import Array, device_of, is_array, moved, xp_of
from ..errors import DTypeError, KeywordError, ShapeError, StateError, explain
from ..interchange import imported


class Keys(NamedTuple):
    """What did not match when a state was loaded: names the state lacked, and names the module does not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def copied(tensor: Tensor) -> Tensor:
    """A tensor with the same numbers that shares neither memory nor graph with `tensor`."""
    return Tensor(xp_of(tensor._data).array(tensor._data))


def load(name: str, own: Mapping[str, Tensor], state: Mapping[str, Tensor | Array], strict: bool, may_miss: Collection[str] = ()) -> Keys:
    """Write the values of `state` into the tensors of `own`; nothing is written unless everything fits.

    Args:
        may_miss: names that the state may lack.

    Raises:
        StateError: `strict`, and a name is missing or unexpected.
        ShapeError: a shape differs, also where it would broadcast.
        DTypeError: values that the module's own dtype can't hold.
        GraphError: a tensor of another library requires a gradient there.
    """
    if not isinstance(state, Mapping):
        raise KeywordError(
            explain(
                f"{name}.load_state_dict: a state is a dict", got={"state_dict": type(state).__name__}, need="what state_dict() returned"
            )
        )
    keys = Keys([key for key in own if key not in state and key not in may_miss], [key for key in state if key not in own])
    arrays = {key: _array(key, state[key]) for key in own if key in state}
    wrong: list[tuple[type[Exception], str, dict[str, str], str]] = []
    if strict:
        named = {"missing": ", ".join(keys.missing_keys), "unexpected": ", ".join(map(str, keys.unexpected_keys))}
        wrong.append((StateError, "the names differ", {k: v for k, v in named.items() if v}, "every name of the module, and no other"))
    shapes = {key: f"shape {array.shape}, not {own[key].shape}" for key, array in arrays.items() if array.shape != own[key].shape}
    wrong.append((ShapeError, "shapes differ", shapes, "the module's own shapes"))
    pairs = {key: (array.dtype, own[key].dtype) for key, array in arrays.items()}
    kinds = {key: f"{came}, not {its}" for key, (came, its) in pairs.items() if not np.can_cast(came, its, "same_kind")}
    wrong.append((DTypeError, "other kinds of numbers came", kinds, "numbers that the module's own dtypes can hold"))
    fixed = {key: f"{own[key].shape}, read-only" for key in arrays if not writeable(own[key])}
    wrong.append((StateError, "arrays can't be written into", fixed, "arrays of their own, not expanded ones"))
    _refuse(name, [one for one in wrong if one[2]])
    for key, array in arrays.items():
        tensor = own[key]
        tensor._data[...] = moved(array, device_of(tensor._data))
        tensor.bump()
    return keys


def _refuse(name: str, wrong: list[tuple[type[Exception], str, dict[str, str], str]]) -> None:
    """Raise one error that lists everything that is wrong; its class is that of the first kind."""
    if not wrong:
        return
    got: dict[str, str] = {}
    for _, _, rows, _ in wrong:
        for key, text in rows.items():
            got[key] = f"{got[key]}; {text}" if key in got else text
    what = f"{name}.load_state_dict: {', '.join(what for _, what, _, _ in wrong)}; nothing was loaded"
    fix = "strict=False to load what matches" if [what for _, what, _, _ in wrong] == ["the names differ"] else ""
    raise wrong[0][0](explain(what, got=got, need="; ".join(need for *_, need in wrong), fix=fix))


def array_of(value: Any) -> Any:
    """The array of a tensor, of ours or another library's; whatever is none is itself.

    Raises: as `gl.from_dlpack`.
    """
    if isinstance(value, Tensor):
        return value._data
    return imported(value) if hasattr(value, "__dlpack__") and not is_array(value) else value


def writeable(tensor: Tensor) -> bool:
    """Whether values can be written into the tensor's array; those of `expand` can't."""
    return getattr(tensor._data.flags, "writeable", True)  # arrays on a device are never read-only


def _array(key: str, value: Any) -> Array:
    array = array_of(value)
    if is_array(array):
        return array
    raise StateError(
        explain(
            f"load_state_dict: {key} is neither a tensor nor an array", got={key: type(value).__name__}, need="what state_dict() returned"
        )
    )
