"""The numbers of one step as arrays, in the order of its structure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .graph import Node
from .series import Series
from .tape import Tape

SUM = 4
"""The bit of a leaf whose gradient holds what several backward calls added."""


@dataclass(slots=True)
class Numbers:
    """What a frame shows of one step.

    Attributes:
        ops: value norm, gradient norm, forward and backward duration in microseconds; NaN where unknown.
        op_has: bit 0: the value norm is known, bit 1: the gradient norm.
        leaves: value norm and gradient norm.
        leaf_has: the same bits, and bit 2: the gradient is the sum of several backward calls.
        loss: the root of the last backward call of the newest step, if it was a scalar.
        grad_norm: over all parameters together, of the same step.
        optimizers: dicts with "label", "lr", "columns", "rows" (parameter numbers) and "values" (rows, columns), the learning rate
            that of its newest step; and "of", the step that the rows are of, where that is not the newest of the run.
        of: the step that ops and leaves are of, where that is not the newest of the run, in which no op was read; else None.

    Shapes: ops: (ops, 4), op_has: (ops,), leaves: (leaves, 2), leaf_has: (leaves,)
    """

    ops: np.ndarray
    op_has: np.ndarray
    leaves: np.ndarray
    leaf_has: np.ndarray
    loss: float | None
    grad_norm: float | None
    optimizers: list[dict[str, Any]]
    of: int | None = None


def numbers_of(tape: Tape, node: Node, series: Iterable[Series], step: int) -> Numbers:
    """Copy the numbers of `tape` up to `node` out of its lists; `step` is the newest of the run."""
    n, m = node.depth, node.leaves_to
    ops, leaves = np.empty((n, 4), np.float32), np.empty((m, 2), np.float32)
    with np.errstate(over="ignore"):
        ops[:, 0], values_known = _column(tape.values[:n])
        ops[:, 1], grads_known = _column(tape.grads[:n])
        ops[:, 2] = np.array(tape.forward_ns[:n], np.float64) / 1e3
        ops[:, 3] = _column(tape.backward_ns[:n])[0] / 1e3
        leaves[:, 0], leaf_values_known = _column(tape.leaf_values[:m])
        leaves[:, 1], leaf_grads_known = _column(tape.leaf_grads[:m])
    optimizers: list[dict[str, Any]] = [
        {"label": s.label, "lr": s.lr, "columns": list(s.columns), "rows": list(s.rows), "values": s.table()}
        | ({} if s.of == step else {"of": s.of})
        for s in series
        if s.tape
    ]
    has, leaf_has = values_known + 2 * grads_known, leaf_values_known + 2 * leaf_grads_known
    leaf_has[tape.summed(m)] |= SUM
    return Numbers(ops, has.astype(np.uint8), leaves, leaf_has.astype(np.uint8), tape.loss, tape.grad_norm, optimizers)


def _column(values: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The values with NaN for None, and 1 where there is one."""
    return np.array(values, np.float64), np.array([v is not None for v in values], np.uint8)
