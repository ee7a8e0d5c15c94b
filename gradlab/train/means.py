"""Means over an epoch, in which a sample counts as much as any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Means:
    """Sums of numbers times samples, by name.

    >>> means = Means()
    >>> means.add({"loss": 1.0}, 3)
    >>> means.add({"loss": 2.0}, 1)
    >>> means.values()
    {'loss': 1.25}
    """

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self.samples = 0

    def add(self, numbers: Mapping[str, float], size: int) -> None:
        """Note the numbers of a batch of so many samples."""
        for name, value in numbers.items():
            self.sums[name] = self.sums.get(name, 0.0) + value * size
        self.samples += size

    def values(self) -> dict[str, float]:
        """The means."""
        return {name: total / max(self.samples, 1) for name, total in self.sums.items()}

    def state_dict(self) -> dict[str, Any]:
        """The sums."""
        return {"sums": dict(self.sums), "samples": self.samples}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with saved sums."""
        self.sums, self.samples = dict(state["sums"]), state["samples"]
