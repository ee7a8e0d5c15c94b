"""A schedule that goes up and down, and takes the momentum the other way."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...errors import KeywordError, explain
from ..optimizer import Optimizer
from .momentum import note_momenta, set_momentum
from .scaled import need_count, not_negative
from .scheduler import LRScheduler, Rates, need_optimizer, need_word, per_group


class CyclicLR(LRScheduler):
    """The rate from base_lr up to max_lr and down again, over and over; the momentum from max_momentum down and up.

    Args:
        step_size_up, step_size_down: steps of the way up, and of the way down, which is as long where it is None.
        mode: "triangular"; "triangular2" with half the height in every next cycle; "exp_range" with the height times gamma^step.
        scale_fn: a height of yours in place of a mode: of the number of the cycle, or of the step where `scale_mode` is "iterations".
        cycle_momentum: whether momentum, or the first of betas, goes along.

    Source: Smith 2017, arXiv:1506.01186.

    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> rates(lambda optimizer: CyclicLR(optimizer, base_lr=1.0, max_lr=2.0, step_size_up=2), 5)
    [1.0, 1.5, 2.0, 1.5, 1.0]
    """

    _unsaved: tuple[str, ...] = ("optimizer", "_scale_fn_custom")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Rates,
        max_lr: Rates,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Rates = 0.8,
        max_momentum: Rates = 0.9,
        last_epoch: int = -1,
    ) -> None:
        groups = need_optimizer("CyclicLR", optimizer).param_groups
        base_lrs, self.max_lrs = (per_group("CyclicLR", k, v, groups) for k, v in (("base_lr", base_lr), ("max_lr", max_lr)))
        up = need_count("CyclicLR", step_size_up=step_size_up)
        down = up if step_size_down is None else need_count("CyclicLR", step_size_down=step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        need_word("CyclicLR", "mode", mode if scale_fn is None else "triangular", "triangular", "triangular2", "exp_range")
        need_word("CyclicLR", "scale_mode", scale_mode, "cycle", "iterations")
        if scale_fn is not None and not callable(scale_fn):
            raise KeywordError(explain("CyclicLR: scale_fn is called with a number", got={"scale_fn": repr(scale_fn)}, need="a function"))
        self.mode, self.gamma, self._scale_fn_custom = mode, not_negative("CyclicLR", gamma=gamma), scale_fn
        self.scale_mode = scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = bool(cycle_momentum)
        if cycle_momentum:
            note_momenta("CyclicLR", optimizer, base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = ([group[key] for group in groups] for key in ("base_momentum", "max_momentum"))
        if last_epoch == -1:
            for group, rate in zip(groups, base_lrs, strict=True):
                group["initial_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def scale_fn(self, x: float) -> float:
        """How high cycle x (from 1), or step x, is, as a part of max_lr - base_lr."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self.gamma**x if self.mode == "exp_range" else 0.5 ** (x - 1) if self.mode == "triangular2" else 1.0

    def get_lr(self) -> list[float]:  # noqa: D102 (explained in LRScheduler)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True):
                set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]
