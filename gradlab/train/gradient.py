"""Gradients of one update: of several batches as if they were one, and whether they are finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._tensor import Tensor
from ..backend import quiet, xp_of
from ..errors import ArgumentError, explain
from ..nn.utils import clip_grads_with_norm_, get_total_norm
from .batch import Batch
from .measure import Measure


class NotFiniteError(Exception):
    """A loss or gradient is not finite; caught by the trainer, which says more."""

    def __init__(self, what: str, value: float) -> None:
        self.what, self.kind = what, "NaN" if value != value else "Inf"
        super().__init__(f"the {what} is {self.kind}")


def gradients(measure: Measure, batches: Sequence[Batch]) -> list[dict[str, float]]:
    """Add the gradient of the mean loss over the samples of all batches; returns loss and metrics of each.

    Raises:
        NotFiniteError: a loss is not finite.
        ArgumentError: no parameter is in the graph of the loss.
    """
    samples = sum(batch.size for batch in batches)
    measured: list[dict[str, float]] = []
    for batch in batches:
        output, loss = measure.forward(batch)
        value = loss.item()
        if not math.isfinite(value):
            raise NotFiniteError("loss", value)
        backward(measure, loss, batch.size, samples)
        measured.append({"loss": value, **measure.numbers(output, batch)})
    return measured


def backward(measure: Measure, loss: Tensor, size: int, samples: int) -> None:
    """Add the gradient of the loss of `size` of so many samples."""
    if not loss.requires_grad:
        got = {"parameters that require a gradient": sum(p.requires_grad for p in measure.model.parameters())}
        need = "a loss that is made from the model's output, and a parameter that is not frozen"
        raise ArgumentError(explain("fit: nothing leads from this loss to a parameter", got=got, need=need))
    if size == samples:
        loss.backward()
    else:
        loss.backward(Tensor.made(xp_of(loss._data).full_like(loss._data, size / samples), None))


def clipped(parameters: Sequence[Tensor], clip_norm: float | None) -> None:
    """Cut gradients to a length, where one is given; also where their squares overflow, and PyTorch makes them 0.

    Raises:
        NotFiniteError: one is not finite; then none is changed.
    """
    grads: list[Any] = [p._grad for p in parameters if p._grad is not None]
    length: Any = 0.0
    with quiet():  # squares may overflow where entries are finite
        if clip_norm is not None:
            length = get_total_norm([grad for p in parameters if (grad := p.grad) is not None])
        else:
            for g in grads:
                length = length + xp_of(g).vdot(g, g)
    finite = math.isfinite(float(length))
    if not finite and not all(bool(xp_of(g).isfinite(g).all()) for g in grads):
        raise NotFiniteError("gradient", math.nan if any(bool(xp_of(g).isnan(g).any()) for g in grads) else math.inf)
    if clip_norm is not None:
        if finite:
            clip_grads_with_norm_(parameters, clip_norm, length)
        else:
            _cut(parameters, clip_norm)


def _cut(parameters: Sequence[Tensor], clip_norm: float) -> None:
    """Cut gradients whose length is no number of their dtype: in float64, in parts of the largest entry."""
    grads = [grad for p in parameters if (grad := p.grad) is not None and grad.numel()]
    arrays = [xp_of(grad._data).asarray(grad._data, dtype="float64") for grad in grads]
    largest = max(float(abs(array).max()) for array in arrays)
    parts = [array / largest for array in arrays]
    length = math.sqrt(sum(float((part * part).sum()) for part in parts))
    for grad, part in zip(grads, parts, strict=True):
        grad._data[...] = part * min(clip_norm / length, largest)
        grad.bump()
