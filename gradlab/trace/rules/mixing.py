"""R22: samples of a batch that change one another's result. It needs a backward pass of its own, so it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import observe
from ...backend import get_rng_state, set_rng_state, to_numpy
from ...errors import ArgumentError
from ...function import made
from .finding import Finding, Number

_ALLOWED = 1e-6
_LEARN = (
    "A sample's result should depend on that sample alone. A reshape in place of a transpose, a softmax or a mean over the batch's axis,"
    " or an index that is one off mixes samples, and the loss still falls. The gradient of one sample's result by all inputs shows it:"
    " it must be 0 for all others. Batch normalisation in training mode mixes them on purpose. Source: Karpathy, A recipe for training"
    " neural networks (2019), use backprop to chart dependencies."
)


def check_batch(model: Callable[[Any], Any], x: Any) -> Finding | None:
    """Whether the result for one sample depends on other samples of the batch, by a backward pass for the first, middle and last one.

    Nothing is changed: no gradient of the model, no mode, no random number. None where no sample depends on another.

    Args:
        model: maps a batch to results, the batch first in both.
        x: a batch of at least two samples, of floating-point numbers.

    Raises:
        ArgumentError: the batch is too small, or not of floating-point numbers.

    >>> import gradlab as gl
    >>> check_batch(lambda x: x.softmax(1), gl.randn(4, 3)) is None
    True
    >>> check_batch(lambda x: x.softmax(0), gl.randn(4, 3)).title
    'Samples of a batch are mixed'
    """
    array = np.asarray(to_numpy(getattr(x, "data", x)))
    if array.dtype.kind != "f" or array.ndim < 1 or len(array) < 2:
        got = f"{array.dtype} {array.shape}"
        raise ArgumentError(f"check_batch: takes a batch of two samples or more, of floating-point numbers; got {got}")
    for sample in dict.fromkeys((0, len(array) // 2, len(array) - 1)):
        sizes = _gradient_sizes(model, array, sample)
        others = np.delete(sizes, sample)
        if others.max() > _ALLOWED * max(float(sizes[sample]), 1.0):
            return _finding(sample, others, int(np.delete(np.arange(len(sizes)), sample)[others.argmax()]))
    return None


def _gradient_sizes(model: Callable[[Any], Any], array: np.ndarray, sample: int) -> np.ndarray:
    """Per sample of the batch, the largest entry of the gradient of one sample's result."""
    state = get_rng_state()
    parameters: list[Any] = list(getattr(model, "parameters", list)())
    before = [p.grad for p in parameters]
    try:
        with observe.paused():
            inputs = made(array.copy())
            inputs.requires_grad = True
            y = model(inputs)
            weights = np.random.default_rng(0).standard_normal(y.shape[1:]).astype(array.dtype)
            (y[sample] * made(weights)).sum().backward()
            grad = inputs.grad
    finally:
        set_rng_state(state)
        for p, g in zip(parameters, before, strict=True):
            p.grad = g
    d = np.zeros(array.shape) if grad is None else np.abs(np.asarray(to_numpy(grad.data)))
    return d.reshape(len(d), -1).max(1)


def _finding(sample: int, others: np.ndarray, worst: int) -> Finding:
    mixed = int((others > _ALLOWED).sum())
    return Finding(
        "Samples of a batch are mixed",
        f"The result for sample {sample} depends on **{mixed}** of the {len(others)} other samples.",
        f"Its gradient by sample {worst} is {others.max():.3g}, and should be 0."
        " Batch normalisation in training mode does that on purpose.",
        "Look for a softmax, mean or reshape over the batch's axis.",
        "x.reshape(x.shape[0], -1)  # keeps the batch apart, reshape(-1, n) may not",
        numbers=(Number("gradient by another sample", float(others.max()), f"limit {_ALLOWED:g}"),),
        subject="batch",
        severity="error",
        rule="R22",
        learn=_LEARN,
    )
