"""A captured step once more, with another learning rate, clipped, or without dropout; the run itself is not touched."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from .. import observe
from ..backend import Array, quiet, to_numpy
from ..function import made
from .capture import Capture
from .draws import drawing
from .replay import Replay, ReplayError
from .update import Update, parameters


class Row(NamedTuple):
    """One parameter: the norms of its values, and of what the step and the other step change it by."""

    leaf: int
    value: float
    real: float
    other: float


class Counterfactual(NamedTuple):
    """What would have been.

    Attributes:
        before: the loss of the captured step. real, other: on the same batch after its update, and after the other one.
        other_before: the loss before the update where dropouts are left out; else `before`.
        real_norm, other_norm: of all gradients that the optimizers read.
        clipped: by what the gradients were divided because of `clip`, 1 where they were small enough.
        rows: per parameter that the step read.
        lr: what the other step took, of the first group.
    """

    before: float
    real: float
    other: float
    other_before: float
    real_norm: float
    other_norm: float
    clipped: float
    rows: list[Row]
    lr: tuple[float | None, float | None]


def counterfactual(
    capture: Capture, *, lr_times: float = 1.0, lr: float | None = None, clip: float | None = None, dropout: bool = True
) -> Counterfactual:
    """The captured step once more.

    Args:
        lr_times: what learning rates are multiplied by.
        lr: a learning rate in place of theirs.
        clip: the norm that all gradients of an optimizer together have at most.
        dropout: False leaves dropouts out, before and after the update.

    Raises:
        ReplayError: no optimizer stepped, or it or a Function cannot run again.
    """
    if not capture.updates:
        raise ReplayError("no optimizer stepped in the captured step")
    replay = Replay(capture)
    replay.need_loss()
    replay.verify()
    values = replay.run()
    other_replay = replay if dropout else Replay(capture, without_dropout=True)
    leaves = {leaf.serial: j for j, leaf in enumerate(capture.leaves) if leaf is not None}
    change = {} if dropout else _change(replay, other_replay)
    real: dict[int, Array] = {}
    other: dict[int, Array] = {}
    rows: list[Row] = []
    norms: list[tuple[float, float, float]] = []
    rates: tuple[float | None, float | None] = (None, None)
    for update in capture.updates:
        if update.optimizer is None:
            raise ReplayError(update.error)
        with observe.paused(), drawing(), quiet():
            optimizer = copy.deepcopy(update.optimizer)
            tensors = parameters(optimizer)
            refs = [leaves.get(serial) for serial in update.serials]
            if not any(p._grad is not None for p in tensors):
                raise ReplayError(f"{update.name} had no gradients when it was called: one that computes them itself is not replayed")
            before = [p._data.copy() for p in tensors]
            first = optimizer.param_groups[0].get("lr")
            norms.append(_gradients(update, tensors, refs, change, clip))
            for group in optimizer.param_groups:
                if "lr" in group:
                    group["lr"] = lr if lr is not None else group["lr"] * lr_times
            if rates == (None, None):
                rates = first, optimizer.param_groups[0].get("lr")
            optimizer.step()
        for p, j, w, after in zip(tensors, refs, before, update.after, strict=True):
            if j is not None:
                real[-1 - j], other[-1 - j] = replay.cast(after), replay.cast(p._data)
                rows.append(Row(j, _norm([w]), _norm([_apart(after, w)]), _norm([_apart(p._data, w)])))
    changes = replay.run(real)
    if other_replay is not replay:
        other_replay.run()
    total, total_other, clipped = np.array(norms).T if len(norms) > 1 else [[x] for x in norms[0]]
    return Counterfactual(
        replay.loss(values),
        replay.loss(changes),
        other_replay.loss(other_replay.run(other)),
        other_replay.loss(other_replay.values),
        float(np.hypot.reduce(total)),
        float(np.hypot.reduce(total_other)),
        float(max(clipped)),
        rows,
        rates,
    )


def _change(replay: Replay, other: Replay) -> dict[int, tuple[Array, Array]]:
    """Per leaf its gradients in both replays."""
    mine, theirs = replay.gradients()[0], other.gradients()[0]
    return {-1 - ref: (g, theirs[ref]) for ref, g in mine.items() if ref in theirs}


def _gradients(
    update: Update, tensors: list[Any], refs: list[int | None], change: dict[int, tuple[Array, Array]], clip: float | None
) -> tuple[float, float, float]:
    """Put the gradients of the other step in place; their norm in the real one, in the other one, and what they were divided by."""
    del update
    seen = [p._grad for p in tensors if p._grad is not None]
    norm = _norm(seen)
    if change:
        pairs = [(p._grad, *change[j]) for p, j in zip(tensors, refs, strict=True) if j in change and p._grad is not None]
        scale = _norm([s for s, _, _ in pairs]) / max(_norm([a for _, a, _ in pairs]), 1e-300)
        straight = _norm([_apart(s, a * scale) for s, a, _ in pairs]) <= 1e-3 * norm
        limit = norm if straight and scale < 0.999 else None  # the step clipped what it got
        for p, j in zip(tensors, refs, strict=True):
            if j in change and p._grad is not None:
                a, b = change[j]
                g = b if straight and (limit is not None or scale < 1.001) else p._grad + (b - a)
                p.grad = made(g.astype(p._data.dtype))
        if limit is not None:
            _scale(tensors, min(1.0, limit / max(_norm([p._grad for p in tensors if p._grad is not None]), 1e-300)))
    other = _norm([p._grad for p in tensors if p._grad is not None])
    over = max(1.0, other / clip) if clip else 1.0
    if over > 1.0:
        _scale(tensors, 1 / over)
    return norm, other / over, over


def _scale(tensors: list[Any], by: float) -> None:
    for p in tensors:
        if p._grad is not None:
            p.grad = made((p._grad * by).astype(p._data.dtype))


def _apart(a: Array, b: Array) -> Array:
    return a.astype("float64") - b


def _norm(arrays: list[Array]) -> float:
    return float(np.sqrt(sum(float((to_numpy(a).astype(np.float64) ** 2).sum()) for a in arrays)))
