"""EarlyStopping: no epoch is trained in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..data.given import count_of
from .callback import Callback
from .monitor import Monitor

if TYPE_CHECKING:
    from .trainer import Trainer


class EarlyStopping(Callback):
    """Stops training where a number has not become better in `patience` epochs.

    Args:
        monitor: of the history, such as "val_loss" or "val_accuracy".
        patience: epochs without a better one before it stops.
        min_delta: a smaller change is none.
        mode: "min" where less is better, "max" where more is; without it the name tells: "loss", "error" and "perplexity" are better
            when less, "accuracy" when more.
        restore_best: give the model the parameters of the best epoch when training is over.

    NaN is never better. A trainer that has not trained yet begins anew; one that was stopped, and is told to train more, is waited for
    again.

    Raises:
        ArgumentError: the name does not tell, and there is no mode; min_delta below 0; when `fit` begins, where there is no such number.
        DataError: patience is no whole number, 1 or more.

    >>> stopping = EarlyStopping("val_accuracy", patience=3)
    >>> stopping.monitor.mode
    'max'
    """

    def __init__(
        self, monitor: str = "val_loss", patience: int = 3, min_delta: float = 0.0, mode: str | None = None, restore_best: bool = False
    ) -> None:
        self.monitor = Monitor("EarlyStopping", monitor, mode, min_delta)
        self.patience, self.restore_best = count_of("EarlyStopping", "patience", patience), restore_best
        self.waited, self.best_epoch = 0, 0
        self._weights: dict[str, Any] | None = None

    def on_fit_begin(self, trainer: Trainer) -> None:
        """Begin anew with a new trainer, and wait again for one that was stopped."""
        self.monitor.need(trainer.measured)
        if not trainer.epoch:
            self.monitor.forget()
            self.waited, self.best_epoch, self._weights = 0, 0, None
        elif self.waited >= self.patience and not trainer.stopping:
            self.waited = 0

    def on_epoch_end(self, trainer: Trainer, row: Mapping[str, Any]) -> None:
        """Look at the number."""
        if self.monitor.better(row):
            self.waited, self.best_epoch = 0, row["epoch"]
            if self.restore_best:
                self._weights = {name: t.detach().clone() for name, t in trainer.model.state_dict().items()}
            return
        self.waited += 1
        if self.waited >= self.patience:
            trainer.stopping = f"{self.monitor.name} has not become better since epoch {self.best_epoch}"

    def on_fit_end(self, trainer: Trainer) -> None:
        """Go back to the best."""
        if self._weights is not None:
            trainer.model.load_state_dict(self._weights)

    def state_dict(self) -> dict[str, Any]:
        """The best so far, and how long ago that was."""
        return {"best": self.monitor.best, "waited": self.waited, "best_epoch": self.best_epoch, "weights": self._weights}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on."""
        self.monitor.best, self.waited = state_dict["best"], state_dict["waited"]
        self.best_epoch, self._weights = state_dict["best_epoch"], state_dict["weights"]
