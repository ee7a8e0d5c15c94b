"""R14 and R15: a learning rate at which the loss rises or swings, and one at which nothing happens."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, Trend, percent
from .rule import rule
from .update import TOO_FAR, TOO_LITTLE, held_low, paces, progress, rates, usual_rate

_RISES, _IN_A_ROW = 2.0, 5
_BLOCK = 40  # losses of which the mean is taken
_GIVEN_BACK = 0.25  # of the way that the loss had come
_SURE = 4.0  # standard errors
_SWING, _SWINGS_OVER = -0.8, 50  # correlation of neighbouring differences: -1 for a pure zigzag, -0.5 for noise
_SWING_SIZE = 0.02  # of the loss
_LEAPS, _AT_ONCE, _LATE = 3.0, 10, 20
_RESTART = 2.0
_STALLED_OVER, _STALLED = 100, 0.01


@rule("R14", "learning rate too high", "warning", "loss", "updates")
def too_high(e: Evidence) -> Iterator[Finding]:
    """Above a certain learning rate each step jumps over the valley: the loss rises, or swings from one side to the other without
    coming down. Where that begins depends on network, batch and optimizer, so the loss is looked at, not the number. Sources: CS231n,
    notes on neural networks 3; TheDeepChecker (loss at least twice its minimum); UMLAUT's fixed 0.01 fires on every good run of SGD.
    """
    if len(e.optimizers) > 1:
        return  # the losses of two networks that play against one another rise and fall by turns
    steps, losses = e.losses
    early = e.early("loss")[1][:_IN_A_ROW]
    if len(losses) < 10 or not len(early) or not np.isfinite(early).any():
        return
    began = float(np.nanmax(early[np.isfinite(early)]))
    found = _rises(losses, began) or _leapt(losses, e.early("loss")[1]) or _swings(losses)
    if found is None and not any((r[1:] > _RESTART * r[:-1]).any() for r in rates(e)):  # where the rate leaps up again, the loss may too
        found = _falls_back(losses, float(np.median(early)))
    speeds = paces(e)
    u = max((u for _, u in speeds), default=None)
    if found is None and u is not None and u > TOO_FAR and (progress(e) or 0.0) > 0.9:
        found = f"The latest steps move a weight by **{percent(u)}** of its size, and the loss does not fall.", 1.0
    if found is None:
        return
    verdict, times = found
    labels = {facts.cls: lr for facts in e.optimizers for options, _ in facts.groups if isinstance(lr := options.get("lr"), (int, float))}
    cls, lr = next(iter(labels.items()), ("", None))
    numbers = (Number("loss : best or first", times, f"at most {_RISES:g}"),)
    if u is not None:
        numbers += (Number("update : weight", u, f"good 3e-4 to 5e-3, at most {TOO_FAR:g}"),)
    yield Finding(
        "The learning rate is too high",
        verdict,
        f"{'' if lr is None else f'lr={lr:g} of {cls}: '}steps that are too long jump over the valley in place of going down into it.",
        "Lower the learning rate, three to ten times.",
        "" if lr is None else f"# lr is {lr:g} now\noptimizer = gl.optim.{cls}(model.parameters(), lr={_lower(lr, u):.1g})",
        trend=Trend.of("loss", (steps, losses), high=_RISES * began),
        numbers=numbers,
        step=int(steps[-1]),
    )


def _rises(losses: np.ndarray, began: float) -> tuple[str, float] | None:
    """The newest losses are all more than twice the largest of the first ones; where they are no numbers, the last that was one."""
    tail = losses[-_IN_A_ROW:]
    if not np.isfinite(tail).any():
        last = losses[np.isfinite(losses)][-1:]
        if began > 0 and len(last) and last[0] > _RISES * began:
            return f"The loss was **{last[0]:.3g}**, from {began:.3g}, when it ceased to be a number.", float(last[0] / began)
        return None  # it came out of the blue: the op that made it is named by R1
    if began > 0 and (~(tail <= _RISES * began)).all():
        times = float(np.median(tail) / began)
        return f"The last {_IN_A_ROW} losses are all more than twice the first ones: **{np.median(tail):.3g}**, from {began:.3g}.", times
    return None


def _leapt(losses: np.ndarray, early: np.ndarray) -> tuple[str, float] | None:
    """The loss shot up at once, came down, and stays where it had begun: what was thrown off in one step does not learn."""
    tail = losses[-_LATE:]
    if len(losses) < _LATE + _AT_ONCE or not np.isfinite(tail).all():
        return None
    first, peak = float(early[0]), float(np.nanmax(np.where(np.isfinite(early), early, np.inf)[:_AT_ONCE]))
    if first > 0 and peak > _LEAPS * max(first, float(tail.max())) and np.median(tail) > 0.9 * first:
        return f"The loss leapt from {first:.3g} to **{peak:.3g}** in the first steps, and has not come below where it began.", peak / first
    return None


def _falls_back(losses: np.ndarray, began: float) -> tuple[str, float] | None:
    """The loss gave back a good part of what it had gained, and noise can't explain it."""
    losses = losses[np.isfinite(losses)]
    blocks = len(losses) // _BLOCK
    if blocks < 2:
        return None
    parts = losses[-blocks * _BLOCK :].reshape(blocks, _BLOCK)
    means = parts.mean(axis=1)
    best = int(means[:-1].argmin())
    error = sqrt((parts[best].var() + parts[-1].var()) / _BLOCK)
    risen = means[-1] - means[best]
    if means[-1] > _RISES * means[best] > 0 and risen > _GIVEN_BACK * max(began - means[best], 0) and risen > _SURE * error:
        return f"The loss was down to {means[best]:.3g} and is up at **{means[-1]:.3g}** again.", float(means[-1] / means[best])
    return None


def _swings(losses: np.ndarray) -> tuple[str, float] | None:
    """The loss goes up and down by turns, and does not get on."""
    tail = losses[-_SWINGS_OVER:]
    if len(tail) < _SWINGS_OVER or not np.isfinite(tail).all():
        return None
    d = np.diff(tail)
    level = abs(float(tail.mean())) or 1e-45
    half = _SWINGS_OVER // 2
    size = float(np.abs(d).mean()) / level
    squares = float((d[:-1] ** 2).sum()) or 1e-45
    turns = float((d[:-1] * d[1:]).sum()) / squares
    if turns < _SWING and size > _SWING_SIZE and tail[half:].mean() > 0.97 * tail[:half].mean():
        return f"The loss swings by **{percent(size)}** from step to step, up and down by turns, and does not fall.", 1.0
    return None


def _lower(lr: float, u: float | None) -> float:
    return lr / 10 if u is None or u < 2e-3 else min(lr / 3, lr * 2e-3 / u)


@rule("R15", "learning rate too low, or stalled", "warning", "loss", "updates")
def stalled(e: Evidence) -> Iterator[Finding]:
    """A loss that stays where it is while the weights hardly move has a learning rate that is too low, or gets no gradient. If the
    weights do move, it is something else, and this rule says nothing. Sources: CS231n, notes on neural networks 3; UMLAUT; torchmortem.
    """
    steps, losses = e.losses
    if len(losses) < _STALLED_OVER or len(e.optimizers) > 1:
        return
    tail = losses[-_STALLED_OVER:]
    if not np.isfinite(tail).all():
        return
    half = _STALLED_OVER // 2
    before, now = float(tail[:half].mean()), float(tail[half:].mean())
    speeds = paces(e)
    slow = [u for _, u in speeds if u < TOO_LITTLE]
    gone = progress(e)
    if (
        held_low(e)
        or e.asleep
        or not before > 0
        or (before - now) / before >= _STALLED
        or len(slow) * 2 <= len(speeds)
        or (gone is not None and gone < 0.5)
    ):
        return
    u, fell = float(np.median(slow)), (before - now) / before
    weight = speeds[0][0]
    lr = weight.options.get("lr")
    most = usual_rate(weight)
    raised = f"lr={min(lr * 1e-3 / u, most):.1g}" if isinstance(lr, (int, float)) and u > 0 and lr < most else ""
    yield Finding(
        "Training stands still",
        f"In {_STALLED_OVER} steps the loss fell by **{percent(fell, 2)}**, and a step moves weights by {u:.1e} of their size.",
        f"lr={lr:g} of {weight.optimizer} is too low for these gradients." if isinstance(lr, (int, float)) else "The steps are too short.",
        "Raise the learning rate ten times, and look again.",
        f"# lr is {lr:g} now\noptimizer = gl.optim.{weight.optimizer}(model.parameters(), {raised})" if raised else "",
        trend=Trend.of("loss", (steps, losses)),
        numbers=(
            Number("fall of the loss", fell, f"at least {percent(_STALLED)} in {_STALLED_OVER} steps"),
            Number("update : weight", u, f"at least {TOO_LITTLE:g}"),
        ),
        step=int(steps[-1]),
    )
