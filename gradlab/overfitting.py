"""Learn one batch by heart: what can't do that has a fault, before any question of data or generalisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, log
from typing import Any, NamedTuple

from . import optim
from .backend import to_numpy
from .errors import ArgumentError, explain
from .trial import trial

RIGHT = 0.95
"""Of the samples of a batch of classes that has been learned by heart."""

LEFT = 0.05
"""Of ln C, for C classes; else of the first loss."""


class Learned(NamedTuple):
    """How far a batch was learned by heart.

    Attributes:
        done: whether it was.
        losses: the loss of each step.
        goal: the loss that was to be reached.
        accuracy: the share that was right at last; None where the targets are no classes.
    """

    done: bool
    losses: list[float]
    goal: float
    accuracy: float | None


def learn_by_heart(
    model: Any,
    batch: Sequence[Any],
    loss: Callable[[Any, Any], Any],
    optimizer: Callable[[Any], optim.Optimizer] | None = None,
    steps: int = 500,
) -> Learned:
    """Train on one batch until it is known, and put everything back: parameters, gradients, buffers, random numbers. Nobody is told.

    Args:
        model: maps inputs to results, with `parameters()`.
        batch: inputs and targets.
        loss: a number from results and targets.
        optimizer: made from the parameters; Adam with lr=1e-2, or lr=1e-3 where that does better, if none is given.
        steps: at most so many.

    >>> import gradlab as gl
    >>> _ = gl.manual_seed(0)
    >>> model = gl.nn.Linear(8, 3)
    >>> learned = learn_by_heart(model, (gl.randn(6, 8), gl.arange(6) % 3), gl.nn.functional.cross_entropy)
    >>> learned.done, learned.accuracy
    (True, 1.0)
    """
    if len(batch) != 2:
        raise ArgumentError(explain("overfit: a batch is two things", got={"batch": f"{len(batch)} things"}, need="(inputs, targets)"))
    makers: list[Callable[[Any], optim.Optimizer]] = [optimizer] if optimizer is not None else [_adam(1e-2), _adam(1e-3)]
    best: Learned | None = None
    for make in makers:
        learned = _learn(model, batch[0], batch[1], loss, make, steps)
        if best is None or learned.done or (not best.done and learned.losses[-1] < best.losses[-1]):
            best = learned
        if best.done:
            break
    assert best is not None
    return best


def _adam(lr: float) -> Callable[[Any], optim.Optimizer]:
    return lambda parameters: optim.Adam(parameters, lr=lr)


def _learn(model: Any, x: Any, y: Any, loss_of: Callable[[Any, Any], Any], make: Callable[[Any], optim.Optimizer], steps: int) -> Learned:
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ArgumentError(explain("overfit: nothing to train", got={"parameters that require a gradient": 0}, need="at least one"))
    losses: list[float] = []
    accuracy, goal, done = None, 0.0, False
    with trial(model):
        for p in parameters:
            p.grad = None
        optimizer = make(parameters)
        for _ in range(max(steps, 1)):
            result = model(x)
            value = loss_of(result, y)
            losses.append(float(value.data))
            goal = goal or _goal(losses[0], result, y)
            accuracy = _accuracy(result, y)
            done = losses[-1] < goal or (accuracy is not None and accuracy >= RIGHT)
            if done or not isfinite(losses[-1]):
                break
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    return Learned(done, losses, goal, accuracy)


def _classes(result: Any, target: Any) -> int:
    """How many classes there are, 0 where the targets are no classes."""
    shape, wanted = getattr(result, "shape", ()), getattr(target, "data", target)
    whole = getattr(getattr(wanted, "dtype", None), "kind", "") in ("i", "u")
    return shape[1] if whole and len(shape) == 2 and shape[1] > 1 and getattr(wanted, "shape", ()) == shape[:1] else 0


def _goal(first: float, result: Any, target: Any) -> float:
    classes = _classes(result, target)
    return LEFT * log(classes) if classes else LEFT * first


def _accuracy(result: Any, target: Any) -> float | None:
    if not _classes(result, target):
        return None
    return float((to_numpy(result.data).argmax(1) == to_numpy(getattr(target, "data", target))).mean())
