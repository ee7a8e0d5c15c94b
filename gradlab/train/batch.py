"""Batches: what of them goes into the model, what the result is held against, and how many samples there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._tensor import Tensor
from ..backend import Device, is_array
from ..errors import DataError, explain

Unpack = Callable[[Any], tuple[tuple[Any, ...], Any]]


class Batch(NamedTuple):
    """Inputs of the model, targets, and the number of samples."""

    inputs: tuple[Any, ...]
    targets: Any
    size: int

    def named(self) -> dict[str, Any]:
        """What is in it by what an error calls it."""
        many = len(self.inputs) > 1
        return {f"input {i + 1}" if many else "the input": one for i, one in enumerate(self.inputs)} | {"the target": self.targets}


def batch_of(what: str, value: Any, unpack: Unpack | None, place: Device | None) -> Batch:
    """The parts of a batch, where the model is.

    Args:
        unpack: gives (inputs, targets) of a batch of another form.
        place: the device of the model; None leaves the batch where it is.

    Raises:
        DataError: it is no (inputs, targets).

    >>> batch_of("fit", (Tensor([[1.0], [2.0]]), Tensor([0, 1])), None, None).size
    2
    """
    if unpack is not None:
        parts: Any = unpack(value)
        if not (isinstance(parts, (tuple, list)) and len(parts) == 2):
            got = {"unpack gave": described(parts)}
            raise DataError(explain(f"{what}: unpack gives two things", got=got, need="(inputs, targets); several inputs as a tuple"))
        inputs, targets = parts
        inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    elif isinstance(value, (tuple, list)) and len(value) > 1:
        *inputs, targets = value
        inputs = tuple(inputs)
    else:
        fix = "unpack=lambda batch: (batch, batch)"
        if isinstance(value, Mapping):
            first, last = (next(iter(value)), list(value)[-1]) if value else ("x", "y")
            fix = f"unpack=lambda batch: (batch[{first!r}], batch[{last!r}])"
        got = {"batch": described(value)}
        raise DataError(
            explain(f"{what}: a batch is inputs and targets", got=got, need="(inputs, targets), or unpack= that makes it so", fix=fix)
        )
    inputs, targets = brought(inputs, place), brought(targets, place)
    first = inputs[0] if inputs else targets
    return Batch(inputs, targets, first.shape[0] if isinstance(first, Tensor) and first.ndim else size_of((inputs, targets)))


def inputs_of(value: Any, unpack: Unpack | None, place: Device | None) -> tuple[Any, ...]:
    """The inputs of a batch; one tensor is all inputs."""
    if unpack is None and (isinstance(value, Tensor) or is_array(value)):
        return (brought(value, place),)
    if unpack is None and isinstance(value, (tuple, list)) and len(value) == 1:
        return brought(tuple(value), place)
    return batch_of("predict", value, unpack, place).inputs


def brought(value: Any, place: Device | None) -> Any:
    """Arrays as tensors, all where the model is; goes into tuples, lists and dicts."""
    if isinstance(value, Tensor):
        return value if place is None or value.device == place else value.to(place)
    if isinstance(value, (tuple, list)):
        parts = [brought(one, place) for one in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if is_array(value):
        return brought(Tensor.made(value, None), place)
    if isinstance(value, Mapping):
        return {key: brought(one, place) for key, one in value.items()}
    return value


def size_of(value: Any) -> int:
    """The length of the first tensor that has one; 1 without."""
    return next((t.shape[0] for t in _tensors(value) if t.ndim), 1)


def _tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, Mapping):
        yield from _tensors(tuple(value.values()))


def described(value: Any) -> str:
    """What something is, in a few words, for an error."""
    if isinstance(value, Tensor):
        return f"one tensor of shape {value.shape}"
    if isinstance(value, Mapping):
        return f"a dict of {', '.join(map(repr, value)) or 'nothing'}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__
