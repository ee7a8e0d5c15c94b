"""Symptoms: what rules need to know of a step that no tape keeps. All of it is noted once a step, or once a graph, never per op."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ..backend import to_numpy
from .names import Leaf
from .summary import norm
from .tape import Tape

LOOKS = 64
"""In the first so many steps of a run inputs are looked at, and later in those that are read in full."""

_READ_MOST = 65_536  # entries of an input that are looked at
_CLASSES_MOST = 10_000
_ROOTS_KEPT = 64
_INPUTS_KEPT = 64
_STRANGERS_MOST = 16
_STRANGER_ENTRIES = 4_096
SAME = 1e-6
"""Two norms of one array, as shares of it."""

Key = tuple[str, tuple[int, ...], str]


Root = tuple[int, weakref.ref[Any]]
"""Where a backward pass began: the step, and a weak reference to the tensor."""


class Stranger(NamedTuple):
    """An op of the user's own, with copies of what it was given once."""

    cls: type
    arrays: tuple[np.ndarray, ...]
    needs: tuple[bool, ...]
    params: dict[str, Any]


class InputStats:
    """What an input looked like, over the batches that were seen: range, mean and deviation, or how often each class came."""

    def __init__(self) -> None:
        self.seen = self.entries = 0
        self.low, self.high = math.inf, -math.inf
        self._sum = self._squares = 0.0
        self.counts: np.ndarray | None = None
        self._last: np.ndarray | None = None

    def see(self, array: Any) -> None:
        """Take in one batch."""
        flat = np.asarray(to_numpy(array)).ravel()
        if flat.size > _READ_MOST:
            flat = flat[:: flat.size // _READ_MOST]
        if not flat.size:
            return
        self.seen += 1
        if flat.dtype.kind in "iu" and array.ndim == 1 and flat.min() >= 0 and flat.max() < _CLASSES_MOST:
            self._count(np.bincount(flat, minlength=0 if self.counts is None else len(self.counts)))
        wide = flat.astype(np.float64)
        with np.errstate(all="ignore"):
            self.entries += flat.size
            self._sum += float(wide.sum())
            self._squares += float(wide.dot(wide))
            self.low, self.high = min(self.low, float(wide.min())), max(self.high, float(wide.max()))

    def _count(self, counts: np.ndarray) -> None:
        if self._last is not None and np.array_equal(counts, self._last):
            return  # one batch again and again says nothing new of the data
        self._last = counts
        if self.counts is not None:
            counts = counts.copy()
            counts[: len(self.counts)] += self.counts
        self.counts = counts

    @property
    def mean(self) -> float:
        """The mean over all entries seen."""
        return self._sum / self.entries if self.entries else math.nan

    @property
    def std(self) -> float:
        """Their standard deviation."""
        return math.sqrt(max(self._squares / self.entries - self.mean**2, 0.0)) if self.entries else math.nan


class Symptoms:
    """Counts and samples of one run.

    Attributes:
        unreset: in so many steps in a row the first backward call added to gradients that an update had used already.
        in_eval: so many steps in a row were made in eval mode by a model that has layers to which it matters, by its label.
        roots: where the newest backward passes began.
        inputs: what inputs look like, by name, shape without the batch, and kind of number.
        strangers, checked: ops of the user's own, and the relative errors of their gradients where they were looked at.
    """

    def __init__(self) -> None:
        self.unreset = 0
        self.in_eval: dict[str, int] = {}
        self.roots: deque[Root] = deque(maxlen=_ROOTS_KEPT)
        self.inputs: dict[Key, InputStats] = {}
        self.strangers: dict[type, Stranger] = {}
        self.checked: dict[type, float | None] = {}

    def forget(self) -> None:
        """A new run began; ops of the user's own stay what they are."""
        self.unreset = 0
        self.in_eval.clear()
        self.inputs.clear()

    def passed(self, tape: Tape, pending: list[Any], after_an_update: bool) -> None:
        """A backward call ended: had an update used what was in the gradients before it?"""
        if tape.passes or not after_an_update:
            return
        parts: dict[Any, list[float]] = {}
        for tensor, g, _, empty in pending:
            if not empty and g is not None and tensor.grad_fn is None:
                parts.setdefault(tensor, []).append(g)
        stale = False
        for tensor, norms in parts.items():
            # Where zero_grad filled in zeros, what is there is what was added; of a sum of several parts that can't be told.
            if len(norms) == 1 and tensor._grad is not None:
                stale |= abs(norm(tensor._grad) - norms[0]) > SAME * norms[0]
        self.unreset = self.unreset + 1 if stale else 0

    def updated(self, tape: Tape) -> None:
        """A step is complete: was it made in eval mode?"""
        for root in tape.roots:
            module = root.ref()
            if module is not None and root.switches:
                self.in_eval[root.label] = 0 if module.training else self.in_eval.get(root.label, 0) + 1

    def began(self, root: Any, step: int) -> None:
        """A backward pass begins at that tensor."""
        self.roots.append((step, weakref.ref(root)))

    def see_input(self, leaf: Leaf, array: Any) -> None:
        """Look at an input, or at targets."""
        key = key_of(leaf.name, leaf.shape, leaf.dtype)
        stats = self.inputs.get(key)
        if stats is None:
            if len(self.inputs) >= _INPUTS_KEPT:
                return
            stats = self.inputs[key] = InputStats()
        stats.see(array)

    def meet(self, fn: Any) -> None:
        """An op of the user's own is part of a graph that was not seen before: keep what it was given, where that is small."""
        cls = fn.__class__
        if cls in self.strangers or len(self.strangers) >= _STRANGERS_MOST:
            return
        arrays = [np.asarray(to_numpy(t._data)) for t in fn.inputs]
        if sum(a.size for a in arrays) <= _STRANGER_ENTRIES:
            self.strangers[cls] = Stranger(cls, tuple(np.array(a) for a in arrays), fn.needs, dict(fn.params))


def key_of(name: str, shape: tuple[int, ...], dtype: Any) -> Key:
    """By what an input is told from others, whatever the size of the batch."""
    return name, tuple(shape[1:]), np.dtype(dtype).kind
