"""What single units do: which ReLU units ever wake, and how much of a tanh or sigmoid lies at its ends.

Norms can't say that. But in the moment before gradients are computed, the graph still holds what its activations made. So in few
steps the graph is walked once, and a sample of each activation is read: no op pays for it, nothing is kept
but counts.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import numpy as np

from ..backend import Array, is_array, to_numpy, xp_of
from .tape import Tape

APART, APART_LIGHT, APART_LATER = 4, 8, 32
"""Steps between two readings, at least; between two of which the ops were not seen; and between those after many readings, while no
ReLU seems dead."""

BATCHES = 10
"""So many batches in a row without a sign of a unit make it a dead one, if they are"""

SAMPLES = 512
"""so many samples; of small batches more are read, up to 100."""

AT_THE_END = 0.97
"""A tanh beyond +-this lets 6 % of a gradient through, a sigmoid outside of 0.03..0.97 at most 3 %."""

_MOST_BATCHES = 100
_MANY = 64  # readings
_FEW = 3
_OPS_READ = 32
_ENTRIES_READ = 8_192  # of one ReLU's output
_ENTRIES_SAMPLED = 2_048  # of a tanh's or sigmoid's: a share of 20 % to within 1 %
_KEPT = 256
_CHANNELS_FIRST = ("Conv", "BatchNorm", "GroupNorm", "InstanceNorm", "MaxPool", "AvgPool")


class Unit:
    """What was seen of one activation.

    Attributes:
        function: its class.
        idle: of a ReLU, per unit, how many of the newest readings in a row found it zero everywhere; None for other classes.
        ends: of a tanh or sigmoid, the share of entries at its ends, of the newest readings.
        readings: how many there were.
        needed: how many in a row a dead unit has to be zero in.
    """

    __slots__ = ("ends", "function", "idle", "needed", "readings")

    def __init__(self, function: str, units: int, samples: int) -> None:
        self.function = function
        self.idle = np.zeros(units, np.int32) if function == "ReLU" else None
        self.ends: deque[float] = deque(maxlen=BATCHES)
        self.readings = 0
        self.needed = min(max(BATCHES, -(-SAMPLES // max(samples, 1))), _MOST_BATCHES)

    @property
    def dead(self) -> float:
        """The share of units that were zero on every sample of so many of the newest batches that they count as dead."""
        return self._idle_for(self.needed)

    @property
    def idle_share(self) -> float:
        """The share of units that were zero on every sample of the newest few batches: dead, as it seems; 0 before there are so many."""
        return self._idle_for(_FEW)

    def _idle_for(self, batches: int) -> float:
        return 0.0 if self.idle is None else float((self.idle >= batches).mean())


class Units:
    """The readings of a run, by the place of the op in its step, its class and how many units it has.

    >>> import gradlab as gl
    >>> from gradlab.trace import recording
    >>> w = gl.tensor([[1.0, -1.0]], requires_grad=True)
    >>> with recording() as r:
    ...     (gl.ones(3, 1) @ w).relu().sum().backward()
    >>> unit = r.steps.run.units.of(1, "ReLU")
    >>> unit.idle.tolist()
    [0, 1]
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str, int], Unit] = OrderedDict()
        self.next_reading = 0  # the step from which on activations are read again
        self._tape = self._count = 0
        self._places: list[tuple[int, str]] = []  # where the activations of a graph were in the newest step that was read in full

    def of(self, op: int, function: str) -> Unit | None:
        """What was seen of the op at that place, if it was of that class; the newest where there are several sizes."""
        for (at, name, _), unit in reversed(self._known.items()):
            if at == op and name == function:
                return unit
        return None

    def read(self, root: Any, tape: Tape, step: int) -> None:
        """Read the graph of a backward call that is about to begin, where the last reading is long enough ago."""
        due = step >= self.next_reading or tape.id == self._tape
        if not due and step > APART:
            return
        found = _to_read(root)
        self._move_to([(tape.refs.get(fn.seq, -1), fn.__class__.__name__) for fn in found])
        if not due:
            return  # the first steps of a loop may begin with other ops than those after them
        if tape.id != self._tape:
            self.next_reading, self._tape, self._count = step + APART, tape.id, self._count + 1
        self._see_all(found)

    def read_light(self, root: Any, step: int) -> None:
        """Read the graph of a step of which the ops were not seen, where its activations are those of the last one that was seen."""
        if step < self.next_reading or not self._places:
            return
        found = _to_read(root)
        if [fn.__class__.__name__ for fn in found] == [name for _, name in self._places]:
            self._count += 1
            self._see_all(found)
        later = self._count > _MANY and not any(unit.idle_share for unit in self._known.values())
        self.next_reading, self._tape = step + (APART_LATER if later else APART_LIGHT), 0

    def _move_to(self, places: list[tuple[int, str]]) -> None:
        """The activations of the graph are there now; where only their places are others, what was seen of them goes along."""
        old, self._places = self._places, places
        if old != places and [name for _, name in old] == [name for _, name in places]:
            new = dict(zip(old, places, strict=True))
            self._known = OrderedDict(((*new.get(key[:2], key[:2]), key[2]), unit) for key, unit in self._known.items())

    def _see_all(self, found: list[Any]) -> None:
        for (at, name), fn in zip(self._places, found, strict=True):
            y = getattr(fn, "y", None)
            if at >= 0 and y is not None and is_array(y) and y.size and y.ndim:
                self._see(at, name, fn, y)

    def _see(self, at: int, name: str, fn: Any, y: Array) -> None:
        axis = _unit_axis(fn, y)
        key = (at, name, y.shape[axis])
        unit = self._known.get(key)
        if unit is None:
            if len(self._known) >= _KEPT:
                self._known.popitem(last=False)
            unit = self._known[key] = Unit(name, y.shape[axis], y.size // y.shape[axis])
        unit.readings += 1
        if unit.idle is not None:
            unit.idle += 1
            unit.idle[awake(y, axis, self._count)] = 0
        else:
            unit.ends.append(share_at_ends(y, name == "Tanh", self._count))


def _to_read(root: Any) -> list[Any]:
    found = activations(root.grad_fn)
    return found[:: -(-len(found) // _OPS_READ) or 1]


def activations(fn: Any) -> list[Any]:
    """The ReLUs, tanhs and sigmoids of a graph, in the order in which they ran."""
    found: list[Any] = []
    seen, todo = {fn}, [fn]
    while todo:
        one = todo.pop()
        for edge in getattr(one, "edges", ()):
            if edge is not None and edge not in seen and hasattr(edge, "edges"):
                seen.add(edge)
                todo.append(edge)
        if one.__class__.__name__ in ("ReLU", "Tanh", "Sigmoid"):
            found.append(one)
    return sorted(found, key=lambda one: one.seq)


def awake(y: Array, axis: int, turn: int) -> np.ndarray:
    """Per unit, whether any entry that is looked at is not 0; of a large array each turn looks at other ones.

    >>> awake(np.array([[0.0, 1.0], [0.0, 0.0]]), 1, 0)
    array([False,  True])
    """
    if y.ndim == 2 and y.size <= _ENTRIES_READ:  # most are; 3 us in place of 10
        return to_numpy(y.max(axis=0) != 0)
    too_many = -(-y.size // _ENTRIES_READ)
    cut: list[slice] = []
    for i, n in enumerate(y.shape):
        step = 1 if i == axis % y.ndim else min(too_many, n)
        cut.append(slice(turn % step, None, step))
        too_many = -(-too_many // step)
    seen = y[tuple(cut)]
    over = tuple(i for i in range(y.ndim) if i != axis % y.ndim)
    return to_numpy(seen.max(axis=over) != 0 if over else seen != 0)


def share_at_ends(y: Array, is_tanh: bool, turn: int) -> float:
    """How much of a tanh, or sigmoid, is where it is flat; of a large array each turn looks at other entries.

    >>> share_at_ends(np.array([-1.0, 0.0, 0.5, 0.99]), True, 0), share_at_ends(np.array([0.01, 0.5]), False, 0)
    (0.5, 0.5)
    """
    step = -(-y.size // _ENTRIES_SAMPLED)
    seen = y.reshape(-1)[turn % step :: step]
    # sigmoid(x) = (1 + tanh(x / 2)) / 2: its ends are those of 2 y - 1, taken at the same slope
    distance, end = (seen, AT_THE_END) if is_tanh else (seen - 0.5, AT_THE_END - 0.5)
    xp = xp_of(y)
    return int(xp.count_nonzero(xp.abs(distance) > end)) / seen.size


def _unit_axis(fn: Any, y: Array) -> int:
    """The axis of units: the last one, after a convolution that of channels."""
    if y.ndim < 3:
        return -1
    one = fn
    for _ in range(4):
        one = next((e for e in one.edges if e is not None and hasattr(e, "edges")), None)
        if one is None:
            return -1
        if one.__class__.__name__.startswith(_CHANNELS_FIRST):
            return 1
    return -1
