"""Metrics: how good results are, in one number that people can read."""

from __future__ import annotations

from typing import Any

from ._tensor import Tensor
from .backend import Array, as_array, device_of, moved, xp_of
from .errors import ShapeError, explain


def accuracy(output: Any, target: Any, ignore_index: int = -100) -> float:
    """The share of targets whose class has the highest score.

    Shapes: output: (batch, class) or (batch, class, *), as `cross_entropy` takes them, or (batch, *, class); target: (batch) or (batch, *)

    Args:
        ignore_index: targets that don't count, such as padding.

    Raises:
        ShapeError: the scores are not those of the targets.

    >>> accuracy(Tensor([[0.1, 2.0], [3.0, 0.2]]), Tensor([1, 1]))
    0.5
    """
    scores, wanted = _arrays(output, target)
    if scores.ndim == wanted.ndim + 1 and (scores.shape[0], *scores.shape[2:]) == wanted.shape:
        axis = 1
    elif scores.ndim > 1 and scores.shape[:-1] == wanted.shape:
        axis = -1
    else:
        got = {"output": tuple(scores.shape), "target": tuple(wanted.shape)}
        need = "output: (batch, class), target: (batch)"
        raise ShapeError(explain("accuracy: these scores are not those of the targets", got=got, need=need))
    counted = wanted != ignore_index
    xp = xp_of(scores)
    right = (xp.argmax(scores, axis=axis) == wanted) & counted
    return float(right.sum() / xp.maximum(counted.sum(), 1))  # one question to a device


def binary_accuracy(output: Any, target: Any, threshold: float = 0.0) -> float:
    """The share of yes-or-no answers that are right: yes is a score above `threshold`.

    Shapes: output, target: (*) of as many entries

    Args:
        threshold: 0 for scores, as `binary_cross_entropy_with_logits` takes them; 0.5 for probabilities.

    Raises:
        ShapeError: more or fewer scores than targets.

    >>> binary_accuracy(Tensor([[0.3], [-2.0]]), Tensor([1.0, 1.0]))
    0.5
    """
    scores, wanted = _arrays(output, target)
    if scores.size != wanted.size:
        got = {"output": tuple(scores.shape), "target": tuple(wanted.shape)}
        raise ShapeError(explain("binary_accuracy: not one score a target", got=got, need="as many"))
    return float(((scores.reshape(-1) > threshold) == (wanted.reshape(-1) > 0.5)).mean())


def _arrays(output: Any, target: Any) -> tuple[Array, Array]:
    """Both as arrays in one place."""
    scores, wanted = (t._data if isinstance(t, Tensor) else as_array(t) for t in (output, target))
    return scores, moved(wanted, device_of(scores))
