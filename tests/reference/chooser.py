"""How the inputs of an op are chosen: one description, driven by a seed (stored reference values) or by hypothesis (random shapes)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Shape = tuple[int, ...]


@dataclass
class Call:
    """What an op is called with. Arrays become tensors: those of floats want a gradient."""

    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        parts = [_brief(a) for a in self.args] + [f"{k}={_brief(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})"


def call(*args: Any, **kwargs: Any) -> Call:
    """Write a Call as the call it stands for; a keyword that is None is left out."""
    return Call(list(args), {k: v for k, v in kwargs.items() if v is not None})


class Still(np.ndarray):
    """An array whose tensor wants no gradient: the weights of classes, running statistics."""


def still(array: np.ndarray) -> Still:
    """The array as one that wants no gradient."""
    return np.asarray(array).view(Still)  # of a 0-d array NumPy may have made a number


def _brief(x: Any) -> str:
    if isinstance(x, (np.ndarray, np.generic)):
        return f"{x.dtype}{list(x.shape)}"
    if isinstance(x, (list, tuple)):
        return f"[{', '.join(map(_brief, x))}]"
    return repr(x)


class Chooser:
    """Choices from a seed: the same on every machine, since only Python's `random()` is asked."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def whole(self, lo: int, hi: int) -> int:
        """A whole number from lo to hi, both included."""
        return lo + int(self._random.random() * (hi - lo + 1))

    def pick(self, *options: T) -> T:
        """One of these."""
        return options[self.whole(0, len(options) - 1)]

    def flag(self) -> bool:
        """True or False."""
        return self.pick(True, False)

    def shape(self, least: int = 0, most: int = 3, side: int = 4, empty: bool = True) -> Shape:
        """Sizes of `least` to `most` axes, each from 1 to `side`; now and then one of them 0."""
        sizes = [self.whole(1, side) for _ in range(self.whole(least, most))]
        if empty and sizes and self.whole(0, 9) == 0:
            sizes[self.whole(0, len(sizes) - 1)] = 0
        return tuple(sizes)

    def dim(self, shape: Shape) -> int:
        """An axis of that shape, counted from either end."""
        n = max(len(shape), 1)
        return self.whole(-n, n - 1)

    def dims(self, shape: Shape) -> Any:
        """What a reduction takes: an axis, several, or None."""
        kind = self.pick("none", "one", "some")
        if kind == "none" or not shape:
            return None
        if kind == "one":
            return self.dim(shape)
        return tuple([i - self.pick(0, len(shape)) for i in range(len(shape)) if self.flag()]) or (-1,)

    def numbers(self, n: int) -> np.ndarray:
        """n numbers in [0, 1)."""
        rng = random.Random(self.whole(0, 10**6))
        return np.array([rng.random() for _ in range(n)])

    def floats(self, *shape: int, lo: float = -2.0, hi: float = 2.0, gap: float = 0.0) -> np.ndarray:
        """Uniform in [lo, hi); entries nearer to 0 than `gap` are moved out to it."""
        x = lo + (hi - lo) * self.numbers(int(np.prod(shape))).reshape(shape)
        return np.where(np.abs(x) < gap, np.copysign(gap, x), x) if gap else x

    def distinct(self, *shape: int, gap: float = 0.1) -> np.ndarray:
        """Entries at least `gap` apart, in any order: no ties, and no 0."""
        n = int(np.prod(shape))
        order = np.argsort(self.numbers(n), kind="stable")
        return ((order - n / 2 + 0.3) * gap).reshape(shape)

    def tied(self, *shape: int) -> np.ndarray:
        """Whole numbers from -2 to 2 as floats: many are equal, and some 0."""
        return np.floor(self.numbers(int(np.prod(shape))) * 5).reshape(shape) - 2

    def ints(self, *shape: int, lo: int = 0, hi: int = 4) -> np.ndarray:
        """Whole numbers from lo to hi - 1."""
        return (lo + np.floor(self.numbers(int(np.prod(shape))) * (hi - lo))).astype(np.int64).reshape(shape)

    def bools(self, *shape: int) -> np.ndarray:
        """Half of them True."""
        return (self.numbers(int(np.prod(shape))) < 0.5).reshape(shape)

    def broadcast(self, n: int = 2) -> list[Shape]:
        """Shapes that broadcast together, in every way they can meet."""
        full = self.shape(most=3)
        shapes = [self._narrower(full) for _ in range(n)]
        shapes[self.whole(0, n - 1)] = full if self.flag() else shapes[0]
        return shapes

    def _narrower(self, full: Shape) -> Shape:
        return tuple([1 if self.whole(0, 3) == 0 else size for size in full])[self.pick(0, 0, self.whole(0, len(full))) :]

    def prefix(self, shape: Shape, most: int = 2) -> Shape:
        """The shape with up to `most` axes of a batch in front."""
        return (*[self.whole(1, 3) for _ in range(self.whole(0, most))], *shape)


class Drawn(Chooser):
    """Choices made by hypothesis, which shrinks them to the smallest that fail."""

    def __init__(self, draw: Any, integers: Any) -> None:
        self._draw, self._integers = draw, integers

    def whole(self, lo: int, hi: int) -> int:
        """A whole number from lo to hi, both included."""
        return self._draw(self._integers(lo, hi))


def arrays_in(value: Any) -> list[np.ndarray]:
    """All arrays of a call's arguments, in order."""
    if isinstance(value, (np.ndarray, np.generic)):
        return [np.asanyarray(value)]
    if isinstance(value, Call):
        return arrays_in([*value.args, *value.kwargs.values()])
    if isinstance(value, (list, tuple)):
        return [a for v in value for a in arrays_in(v)]
    return []


def mapped(value: Any, change: Any) -> Any:
    """The same call with every array replaced by what `change` makes of it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return change(np.asanyarray(value))
    if isinstance(value, Call):
        return Call([mapped(a, change) for a in value.args], {k: mapped(v, change) for k, v in value.kwargs.items()})
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(v, change) for v in value]) if not hasattr(value, "_fields") else value
    return value


__all__: Sequence[str] = ("Call", "Chooser", "Drawn", "Still", "arrays_in", "call", "mapped", "still")
