"""The gradient of an op against differences of its forward, on what it was given once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import observe
from ...backend import get_rng_state, set_rng_state
from ...function import made
from ..symptoms import Stranger

ENTRIES = 10
STEP = 1e-5
"""Of an entry's size."""


def relative_error(stranger: Stranger) -> float | None:
    """How far the op's gradient is from differences, at most over ten entries; None where that can't be told.

    gradlab's and NumPy's random numbers go on as if nothing had run.
    """
    states = get_rng_state(), np.random.get_state()  # noqa: NPY002 - the user may draw from it
    try:
        with observe.paused(), np.errstate(all="ignore"):
            return _error(stranger)
    except Exception:  # a user's own code: it may need what is not here
        return None
    finally:
        set_rng_state(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


def _error(stranger: Stranger) -> float | None:
    rng = np.random.default_rng(0)
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in stranger.arrays]
    asked = [k for k, need in enumerate(stranger.needs) if need and wide[k].dtype.kind == "f"]

    def run(arrays: list[np.ndarray]) -> tuple[list[Any], Any]:
        tensors = [made(a.copy()) for a in arrays]
        for k in asked:
            tensors[k].requires_grad = True
        return tensors, stranger.cls.apply(*tensors, **stranger.params)

    tensors, y = run(wide)
    again = run(wide)[1]
    if not np.array_equal(y.data, again.data, equal_nan=True):
        return None  # it draws random numbers
    w = rng.standard_normal(y.shape)
    (y * made(w)).sum().backward()
    errors: list[float] = []
    for k in asked:
        grad = tensors[k].grad
        d = np.zeros(wide[k].shape) if grad is None else np.asarray(grad.data)
        for at in rng.integers(0, wide[k].size, min(ENTRIES, wide[k].size)):
            h = STEP * max(abs(float(wide[k].flat[at])), 1e-2)
            sums: list[float] = []
            for sign in (1, -1):
                moved = [a.copy() for a in wide]
                moved[k].flat[at] += sign * h
                sums.append(float((run(moved)[1].data * w).sum()))
            numeric, exact = (sums[0] - sums[1]) / (2 * h), float(d.flat[at])
            scale = max(abs(numeric), abs(exact))
            errors.append(abs(numeric - exact) / scale if scale > 1e-8 else 0.0)
    # A kink is hit by few entries: what most say counts.
    return float(np.median(errors)) if len(errors) < 3 else float(np.sort(errors)[-(1 + len(errors) // 5)]) if errors else None
