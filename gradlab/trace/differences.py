"""Check a gradient of a captured step: what backward says beside differences of forward, in float64, with a verdict in words.

Source: the bands of relative error are those of Stanford's cs231n, "Gradient checks" (notes on neural networks, part 3).
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from .. import observe
from ..backend import Array, asarray_like, quiet, to_numpy
from ..function import made
from ..grad_mode import enable_grad, no_grad
from .capture import Capture
from .draws import drawing
from .replay import Replay, ReplayError, _input

STEP = 6e-6  # relative: near the cube root of float64's epsilon, where truncation and rounding of a central difference balance
GOOD, KINKS, WRONG = 1e-7, 1e-4, 1e-2
"""Up to GOOD the two agree, up to KINKS they do as far as kinks nearby allow, above WRONG the gradient is wrong."""

_FINER = (1.0, 1 / 16, 1 / 256)  # of STEP: a kink nearby is left behind by smaller steps
_LEAST = 10


class Entry(NamedTuple):
    """One entry of an array: what backward says, what differences say, and the slopes on its two sides."""

    at: tuple[int, ...]
    backward: float
    differences: float
    left: float
    right: float
    error: float
    kink: bool


class Check(NamedTuple):
    """What came out for one array.

    Attributes:
        what: "input 0", or "" for a leaf.
        shape: of the array; size and checked: how many entries it has and how many were looked at.
        worst: the entry with the largest relative error among those that are at no kink; None where all are.
        kink: an entry where the function has no derivative, None where there is none.
        coarse: why differences have fewer digits than they should, or "".
    """

    what: str
    shape: tuple[int, ...]
    size: int
    checked: int
    worst: Entry | None
    kink: Entry | None
    kinks: int
    coarse: str = ""

    @property
    def error(self) -> float:
        """The largest relative error."""
        return self.worst.error if self.worst is not None else 0.0

    @property
    def state(self) -> Literal["good", "kinks", "uneasy", "wrong"]:
        """In which band it is; an entry at a kink is wrong where backward is none of the slopes beside it, nor between them."""
        if self.kink is not None and not _between(self.kink):
            return "wrong"
        good, kinks = (WRONG, WRONG) if self.coarse else (GOOD, KINKS)
        error = self.error
        if not error <= WRONG:
            return "wrong"
        return "good" if error <= good else "kinks" if error <= kinks else "uneasy"


def check_op(capture: Capture, at: int, most: int = 32, seconds: float = 2.0) -> list[Check]:
    """Check the gradients of one op by its inputs, at a random cotangent.

    Args:
        most: how many entries of each input are moved.
        seconds: after which no further ones are, once there were ten.

    Raises:
        ReplayError: the op cannot run again, or nothing of it wants a gradient.
    """
    replay = Replay(capture)
    replay.verify([at])
    op, node = replay.op(at), replay.nodes[at]
    refs = [replay.ref(at, i) for i in range(len(op.inputs))]
    arrays = [replay.cast(x) if ref is None else replay.recorded(ref) for x, ref in zip(op.inputs, refs, strict=True)]
    leaves = [leaf for one in replay.nodes for leaf in one.leaves]
    asked = [
        i
        for i, ref in enumerate(refs)
        if ref is not None and arrays[i].dtype.kind == "f" and (replay.nodes[ref].graph if ref >= 0 else leaves[-1 - ref].requires_grad)
    ]
    if not asked or not node.graph:
        raise ReplayError(f"{op.cls.__name__} has no gradient to check: no input of it wants one")
    tensors = [_input(x.copy() if hasattr(x, "copy") else x) for x in arrays]
    for i in asked:
        tensors[i].requires_grad_()
    with observe.paused(), enable_grad(), drawing(), quiet():
        y = replay.apply(at, tensors)
        w = asarray_like(np.random.default_rng(20).standard_normal(y.shape), y._data)
        grads = y.grad_fn.pull(w.copy())
    base = y._data
    coarse = "" if base.dtype == "float64" else f"it computes in {base.dtype} whatever it is given"

    def moved(i: int) -> Callable[[Array], float]:
        def change(x: Array) -> float:
            inputs = [made(x) if k == i else _input(a.copy() if hasattr(a, "copy") else a) for k, a in enumerate(arrays)]
            with observe.paused(), no_grad(), drawing(), quiet():
                z = replay.apply(at, inputs)._data
            with np.errstate(invalid="ignore"):
                gone = z - base
                return float((gone * w).sum())  # entry by entry: what did not move adds no rounding

        return change

    until = time.monotonic() + seconds
    scale = float((abs(base) * abs(w)).max()) if base.size else 0.0
    checks = [_checked(f"input {i}", arrays[i], grads[i], moved(i), most, until, scale, coarse) for i in asked]
    return [_own_slopes(one, w) if one.kink is not None and one.shape == w.shape else one for one in checks]


def _own_slopes(one: Check, w: Array) -> Check:
    """The slopes at a kink of what maps entry to entry, without the cotangent that they were measured through."""
    kink = one.kink
    assert kink is not None
    by = float(w[kink.at])
    plain = kink._replace(backward=kink.backward / by, differences=kink.differences / by, left=kink.left / by, right=kink.right / by)
    return one._replace(kink=plain)


def check_leaf(capture: Capture, j: int, most: int = 32, seconds: float = 2.0) -> Check:
    """Check the gradient of the loss of the captured step by leaf `j`: the whole chain of Functions between the two.

    Raises:
        ReplayError: the step cannot run again, has no loss, or the leaf no gradient.
    """
    replay = Replay(capture)
    replay.need_loss()
    replay.verify()
    gradients, values = replay.gradients()
    replay.values = values
    ref = -1 - j
    if ref not in gradients:
        raise ReplayError("no gradient of this step comes to it")
    coarse = next((f"{replay.op(at).cls.__name__} computes in {values[at].dtype} whatever it is given" for at in values
                   if at >= 0 and values[at].dtype.kind == "f" and values[at].dtype != "float64"), "")  # fmt: skip

    def change(x: Array) -> float:
        return replay.change(replay.run({ref: x}))

    return _checked("", replay.leaf(j), gradients[ref], change, most, time.monotonic() + seconds, abs(replay.loss(values)), coarse)


def _checked(
    what: str, x: Array, gradient: Array | None, change: Callable[[Array], float], most: int, until: float, scale: float, coarse: str
) -> Check:
    """Compare, at some entries of `x`; `change` gives by how much a function moves from its value at `x`."""
    host = to_numpy(x)
    g = np.zeros(host.shape) if gradient is None else np.asarray(to_numpy(gradient), np.float64)
    largest = float(np.abs(g[np.isfinite(g)]).max(initial=0.0))
    entries: list[Entry] = []
    for index in _some(host, g, most):
        entries.append(_entry(x, index, float(g[index]), change, largest, scale, 1e3 if coarse else 1.0))
        if time.monotonic() > until and len(entries) >= _LEAST:
            break
    smooth = [entry for entry in entries if not entry.kink]
    kinks = sorted((entry for entry in entries if entry.kink), key=_between)
    worst = max(smooth, key=lambda entry: np.inf if entry.error != entry.error else entry.error, default=None)
    return Check(what, host.shape, host.size, len(entries), worst, kinks[0] if kinks else None, len(kinks), coarse)


def _some(x: np.ndarray, g: np.ndarray, most: int) -> Sequence[tuple[int, ...]]:
    """Which entries are looked at: all of few; else the largest gradients, exact zeros, where kinks are, and others at random."""
    if x.size <= most:
        return [*np.ndindex(x.shape)]
    rng = np.random.default_rng(24)
    flat, zeros = np.abs(g).ravel(), np.flatnonzero(x.ravel() == 0)
    top = np.argpartition(np.where(np.isnan(flat), np.inf, flat), -4)[-4:]
    found = dict.fromkeys([*top[::-1], *rng.permutation(zeros)[:4], *rng.choice(x.size, most, replace=False)])
    return [tuple(int(k) for k in np.unravel_index(int(at), x.shape)) for at in [*found][:most]]


def _entry(
    x: Array, index: tuple[int, ...], backward: float, change: Callable[[Array], float], largest: float, scale: float, wider: float
) -> Entry:
    """Central differences at one entry, in smaller and smaller steps while they disagree with backward."""
    value = float(x[index])

    def at(there: float) -> float:
        moved = x.copy()
        moved[index] = there
        return change(moved)

    best = entry = Entry(index, backward, np.nan, np.nan, np.nan, np.nan, kink=False)
    jumps: list[float] = []
    for finer in _FINER if wider == 1.0 else _FINER[:1]:
        h = STEP * finer * wider * max(1.0, abs(value))
        up, down = value + h, value - h
        right, left = at(up) / (up - value), -at(down) / (value - down)
        slope = (right * (up - value) + left * (value - down)) / (up - down)
        noise = 16 * np.finfo(np.float64).eps * scale / h
        error = _relative(backward, slope, largest, noise)
        jumps.append(abs(right - left))
        entry = Entry(index, backward, slope, left, right, error, kink=False)
        if error < best.error or best.error != best.error:
            best = entry
        if error <= GOOD:
            return entry
    bend = max(abs(best.left), abs(best.right), 1e-3 * largest)
    # On a smooth function the slopes of both sides come together with the step; at a kink they stay apart.
    if len(jumps) > 1 and jumps[-1] > 1e-3 * bend and jumps[-1] > 0.5 * jumps[0]:
        return entry._replace(kink=True)
    return best


def _relative(a: float, b: float, largest: float, noise: float) -> float:
    """|a - b| over the larger of both; entries of less than a thousandth of the largest are measured by that, and rounding is no error."""
    apart = abs(a - b)
    if apart <= noise:
        return 0.0 if apart == 0.0 else min(apart / max(abs(a), abs(b), 1e-3 * largest, 1e-300), GOOD)
    return apart / max(abs(a), abs(b), 1e-3 * largest, 1e-300)


def _between(entry: Entry) -> bool:
    low, high = sorted((entry.left, entry.right))
    slack = 1e-6 * max(abs(low), abs(high))
    return low - slack <= entry.backward <= high + slack
