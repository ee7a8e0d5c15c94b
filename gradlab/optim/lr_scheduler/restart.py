"""A cosine that begins anew."""

from __future__ import annotations

import math
from typing import Any

from ...errors import KeywordError, explain
from ..optimizer import Optimizer
from .scaled import need_count, not_negative
from .scheduler import LRScheduler


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a wave from base_lr down to eta_min in T_0 epochs, then anew from the top, each time T_mult times as long.

    lr = eta_min + (base_lr - eta_min) (1 + cos(pi T_cur / T_i)) / 2, T_cur epochs into a wave of T_i.
    `step(epoch + i / batches)` sets the rate after every batch.

    Source: Loshchilov and Hutter 2017, arXiv:1608.03983, equation 5.

    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> rates(lambda optimizer: CosineAnnealingWarmRestarts(optimizer, T_0=1, T_mult=2), 7)[::2]
    [1.0, 0.5, 0.8535533905932737, 0.14644660940672627]
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        name = "CosineAnnealingWarmRestarts"
        self.T_0 = self.T_i = need_count(name, T_0=T_0)
        self.T_mult = need_count(name, T_mult=T_mult)
        self.eta_min, self.T_cur = not_negative(name, eta_min=eta_min), float(last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:  # noqa: D102 (explained in LRScheduler)
        scale = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * scale for base in self.base_lrs]

    def _need_epoch(self, epoch: Any) -> None:
        if not isinstance(epoch, (int, float)) or isinstance(epoch, bool) or not 0 <= epoch < math.inf:
            what = "CosineAnnealingWarmRestarts: this is no epoch"
            raise KeywordError(explain(what, got={"epoch": repr(epoch)}, need="a number, 0 or more, or nothing"))

    def _go(self, epoch: float | None) -> None:
        if epoch is None:
            self.T_cur += 1
        else:
            self.T_cur, self.T_i = epoch, self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        super()._go(epoch)
