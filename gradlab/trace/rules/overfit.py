"""R21: a batch that can't be learned by heart. It needs a training of its own, so it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from ...overfitting import LEFT, RIGHT, Learned, learn_by_heart
from .finding import Finding, Number, Trend, percent

_LEARN = (
    "A network with more parameters than a small batch has numbers can learn it by heart, and its loss goes to zero. One that can't has"
    " a fault that no other data will mend: labels that belong to other inputs, a gradient that is cut or wrong, a loss that was built"
    " wrongly, a learning rate far off. Try 8 to 32 samples, before anything else. Sources: A. Karpathy, A Recipe for Training Neural"
    " Networks (2019), overfit one batch; TheDeepChecker (Ben Braiek & Khomh 2022)."
)


def overfit(
    model: Any,
    batch: Sequence[Any],
    loss: Callable[[Any, Any], Any],
    *,
    optimizer: Callable[[Any], Any] | None = None,
    steps: int = 500,
) -> Finding | None:
    """Whether the model can learn one small batch by heart: 95 % right, or a loss below 0.05 ln C (else 5 % of the first), in 500 steps.

    Parameters, gradients, buffers and random numbers are put back afterwards, and nothing of it is recorded. None where it can.

    Args:
        model: maps inputs to results, with `parameters()`; it is used in the mode it is in.
        batch: inputs and targets.
        loss: a number from results and targets.
        optimizer: made from the parameters, `lambda ps: gl.optim.SGD(ps, lr=0.1)`; Adam with lr 1e-2, then 1e-3, if none is given.
        steps: at most so many.

    Raises:
        ArgumentError: the batch is not two things, or the model has nothing to train.

    >>> import gradlab as gl
    >>> _ = gl.manual_seed(0)
    >>> x, y = gl.randn(8, 4), gl.arange(8) % 2
    >>> model = gl.nn.Sequential(gl.nn.Linear(4, 32), gl.nn.ReLU(), gl.nn.Linear(32, 2))
    >>> overfit(model, (x, y), gl.nn.functional.cross_entropy) is None
    True
    >>> overfit(model, (x * 0.0, y), gl.nn.functional.cross_entropy).title
    'One batch can not be learned'
    """
    learned = learn_by_heart(model, batch, loss, optimizer, steps)
    return None if learned.done else _finding(learned)


def _finding(learned: Learned) -> Finding:
    losses = np.array(learned.losses)
    last = learned.losses[-1]
    numbers = (Number("loss", last, f"at most {learned.goal:.3g}"),)
    if learned.accuracy is not None:
        numbers += (Number("right", learned.accuracy, f"at least {RIGHT:g}"),)
    numbers += (Number("first loss", learned.losses[0]),)
    right = "" if learned.accuracy is None else f", and {percent(learned.accuracy)} of its samples are right"
    still = float(losses.max() - losses.min()) < LEFT * abs(learned.losses[0])
    if not isfinite(last):
        why = "The loss became NaN or infinite on the way."
    elif still:
        why = "The loss hardly moved: the gradient is cut or zero, or the inputs are all alike."
    else:
        why = "It learned a part: labels may not belong to their inputs, the network may be too small, or the learning rate wrong."
    return Finding(
        "One batch can not be learned",
        f"After {len(losses)} steps on one batch the loss is **{last:.3g}**{right}.",
        why,
        "Look at a few inputs beside their targets, then at each parameter's gradient.",
        "for name, p in model.named_parameters():\n    print(name, None if p.grad is None else float(abs(p.grad.data).max()))",
        trend=Trend.of("loss on one batch", (np.arange(1, len(losses) + 1), losses), high=learned.goal),
        numbers=numbers,
        subject="batch",
        severity="error",
        rule="R21",
        learn=_LEARN,
    )
