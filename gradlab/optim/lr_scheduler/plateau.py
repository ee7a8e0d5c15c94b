"""A schedule that looks at the loss."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ArgumentError, KeywordError, explain
from ...ops.argument import need_number
from ..given import plain
from ..optimizer import Optimizer
from .scaled import need_count, not_negative
from .scheduler import LRScheduler, Rates, need_optimizer, need_word, per_group


class ReduceLROnPlateau(LRScheduler):
    """The rate times factor where a loss has not become better in more than `patience` epochs. Call `step(loss)`.

    Args:
        mode: "min" where less is better, "max" where more is.
        threshold: how much better counts: by that part of the best ("rel"), or by that much ("abs"), see `threshold_mode`.
        cooldown: epochs after a change that don't count.
        min_lr: the rate never falls below. `eps`: a smaller change is not made.

    NaN is never better.

    >>> from gradlab import optim
    >>> from gradlab.nn import Parameter
    >>> optimizer = optim.SGD([Parameter([1.0])], lr=1.0)
    >>> schedule = ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     optimizer.step()
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Rates = 0.0,
        eps: float = 1e-8,
    ) -> None:
        name = "ReduceLROnPlateau"
        groups = need_optimizer(name, optimizer).param_groups
        need_number(name, threshold=threshold)
        if not_negative(name, factor=factor) >= 1:
            raise ArgumentError(explain(f"{name}: factor makes rates smaller", got={"factor": factor}, need="0 <= factor < 1"))
        need_word(name, "mode", mode, "min", "max")
        need_word(name, "threshold_mode", threshold_mode, "rel", "abs")
        self.optimizer, self.mode, self.threshold_mode = optimizer, mode, threshold_mode
        self.factor, self.threshold, self.eps = factor, threshold, not_negative(name, eps=eps)
        self.patience = need_count(name, at_least=0, patience=patience)
        self.cooldown = need_count(name, at_least=0, cooldown=cooldown)
        self.min_lrs = per_group(name, "min_lr", min_lr, groups)
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.num_bad_epochs = self.cooldown_counter = 0
        self._last_lr = [group["lr"] for group in groups]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the loss of an epoch, and lower the rates where it no longer becomes better.

        Raises:
            KeywordError: it is no number.
        """
        metrics = plain(metrics)
        if not isinstance(metrics, (int, float)):
            raise KeywordError(explain("ReduceLROnPlateau: this is no loss", got={"metrics": type(metrics).__name__}, need="one number"))
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(float(metrics)):
            self.best, self.num_bad_epochs = float(metrics), 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            groups = self.optimizer.param_groups  # maybe more of them by now, for which the one min_lr holds too
            self.min_lrs = per_group("ReduceLROnPlateau", "min_lr", self.min_lrs if len({*self.min_lrs}) > 1 else self.min_lrs[0], groups)
            self._set([self._lower(group["lr"], least) for group, least in zip(groups, self.min_lrs, strict=True)])
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _is_better(self, loss: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "abs":
            return sign * loss < sign * self.best - self.threshold
        return sign * loss < sign * self.best * (1 - sign * self.threshold)

    def _lower(self, rate: float, least: float) -> float:
        lower = max(rate * self.factor, least)
        return lower if rate - lower > self.eps else rate
