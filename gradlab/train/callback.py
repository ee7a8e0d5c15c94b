"""Callback: what is told of a training as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trainer import Trainer


class Callback:
    """Told of what happens in `Trainer.fit`; write the methods that you need.

    To stop training after the epoch, set `trainer.stopping` to the reason. What has to be the same after a stopped training went
    on belongs in `state_dict`.

    >>> class Told(Callback):
    ...     def on_epoch_end(self, trainer, row):
    ...         print(row["epoch"], row["loss"])
    """

    runs_last: bool = False
    """Whether it is told after the others, to save what they have learned."""

    def on_fit_begin(self, trainer: Trainer) -> None:
        """Training begins, or goes on."""

    def on_step_end(self, trainer: Trainer) -> None:
        """An update was made; an interrupt waits until this is done."""

    def on_epoch_end(self, trainer: Trainer, row: Mapping[str, Any]) -> None:
        """An epoch was measured, and its row is in the history; an interrupt waits until this is done."""

    def on_stop(self, trainer: Trainer) -> None:
        """Training was broken off, and the trainer stands after the last whole step."""

    def on_fit_end(self, trainer: Trainer) -> None:
        """Training is over; an interrupt waits until this is done."""

    def state_dict(self) -> dict[str, Any]:
        """What has to be known to go on: numbers, text, tensors, lists and dicts."""
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
