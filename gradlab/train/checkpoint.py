"""Checkpoint: a training in files, from which it goes on bit by bit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.given import count_of
from ..errors import FileError, explain
from ..files.saving import path_of
from .callback import Callback
from .monitor import Monitor

if TYPE_CHECKING:
    from .trainer import Trainer

LAST, BEST = "last.safetensors", "best.safetensors"


class Checkpoint(Callback):
    """Saves a training after each epoch, and when it is broken off: `last.safetensors`, and `best.safetensors` where it is the best.

    `fit(..., resume=folder)` goes on from the last one. The parameters alone: `gl.load(folder / "best.safetensors")["model"]`.

    Args:
        folder: made where it is not there.
        monitor: what the best is judged by; "val_loss" where there is validation, else "loss".
        mode: "min" or "max", see `EarlyStopping`.
        every: save also after so many steps.

    Raises:
        FileError: the folder can't be made or written.
        ArgumentError: when `fit` begins, where there is no such number.

    >>> Checkpoint("runs/digits", monitor="val_accuracy").monitor
    'val_accuracy'
    """

    runs_last = True

    def __init__(
        self, folder: str | os.PathLike[str], monitor: str | None = None, mode: str | None = None, every: int | None = None
    ) -> None:
        self.folder, self.monitor, self.mode = path_of("Checkpoint", folder), monitor, mode
        self.every = None if every is None else count_of("Checkpoint", "every", every)
        self._best: Monitor | None = None if monitor is None else Monitor("Checkpoint", monitor, mode)

    @property
    def last(self) -> Path:
        """The file of the last state."""
        return self.folder / LAST

    @property
    def best(self) -> Path:
        """The file of the best epoch."""
        return self.folder / BEST

    def on_fit_begin(self, trainer: Trainer) -> None:
        """Make the folder now, not after hours; a trainer that has not trained yet has no best."""
        if self._best is None:
            self._best = Monitor("Checkpoint", "val_loss" if "val_loss" in trainer.measured else "loss", self.mode)
        self._best.need(trainer.measured)
        if not trainer.epoch:
            self._best.forget()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            got = {"folder": self.folder, type(error).__name__: error}
            raise FileError(explain("Checkpoint: this folder can't be made", got=got, need="a place that can be written")) from None

    def on_step_end(self, trainer: Trainer) -> None:
        """Save now and then."""
        if self.every is not None and trainer.step % self.every == 0:
            trainer.save(self.last)

    def on_epoch_end(self, trainer: Trainer, row: Mapping[str, Any]) -> None:
        """Save."""
        if self._best is not None and self._best.better(row):
            trainer.save(self.best)
        trainer.save(self.last)

    def on_stop(self, trainer: Trainer) -> None:
        """Save where it stands."""
        trainer.save(self.last)

    def state_dict(self) -> dict[str, Any]:
        """The best so far."""
        return {} if self._best is None else {"name": self._best.name, "best": self._best.best}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on."""
        if state_dict:
            self._best = self._best or Monitor("Checkpoint", state_dict["name"], self.mode)
            if self._best.name == state_dict["name"]:
                self._best.best = state_dict["best"]
