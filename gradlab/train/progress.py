"""Bars: how far training is, by tqdm, which draws in a terminal as in a notebook."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

_OFTEN = 0.1  # seconds between two looks at the numbers


class Bars:
    """A bar of epochs, and below it one of batches, which goes when an epoch ends.

    Args:
        shown: False draws nothing.
        epochs, done: how many there will be, and are; 0 epochs have no bar.
    """

    def __init__(self, shown: bool, epochs: int = 0, done: int = 0) -> None:
        self._shown, self._epochs, self._done = shown, epochs, done
        self._outer: Any = None
        self._inner: Any = None
        self._next = 0.0

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *error: object) -> None:
        for bar in (self._inner, self._outer):
            if bar is not None:
                bar.close()
        self._inner = self._outer = None

    def open(self) -> None:
        """The bar of epochs comes; takes a moment, in which Stop may be pressed."""
        if self._shown and self._epochs:
            self._outer = _tqdm(total=self._epochs, initial=self._done, desc="training", unit="epoch")

    def begin(self, what: str, total: int | None, done: int = 0) -> None:
        """So many batches begin."""
        if not self._shown:
            return
        self.end()
        self._inner = _tqdm(total=total, initial=done, desc=what, unit="batch", leave=False)

    def step(self, batches: int, numbers: Mapping[str, float]) -> None:
        """So many more are done, with these numbers."""
        if self._inner is None:
            return
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _OFTEN
            self._inner.set_postfix_str(shown(numbers), refresh=False)
        self._inner.update(batches)

    def end(self) -> None:
        """The bar of batches goes."""
        if self._inner is not None:
            self._inner.close()
            self._inner = None

    def epoch(self, numbers: Mapping[str, float]) -> None:
        """An epoch is over, with these numbers."""
        self.end()
        if self._outer is not None:
            self._outer.set_postfix_str(shown(numbers), refresh=False)
            self._outer.update(1)


def _tqdm(**options: Any) -> Any:
    from tqdm.auto import tqdm  # takes long to import, and has to see where it draws

    return tqdm(**options)


def shown(numbers: Mapping[str, float]) -> str:
    """Numbers by name in one line.

    >>> shown({"loss": 0.123456, "accuracy": 0.5})
    'loss 0.1235, accuracy 0.5'
    """
    return ", ".join(f"{name} {value:.4g}" for name, value in numbers.items() if name != "epoch")
