"""Schedules that scale the first rate by a function of the epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import ArgumentError, KeywordError, explain
from ...nn.parameter import Parameter
from ...ops.argument import need_number, whole
from ..given import need_at_least_0, plain
from ..optimizer import Optimizer
from ..sgd import SGD
from .scheduler import LRScheduler


class ScaledLR(LRScheduler):
    """lr = eta_min + (base_lr - eta_min) scale(epoch), where a subclass says what scale is.

    A step multiplies what the rate is by scale(epoch) / scale(epoch - 1), so that several schedules of one optimizer
    multiply, and a rate that you set by hand stays in proportion.
    """

    eta_min: float = 0.0

    def scale(self, epoch: float) -> float:
        """What the first rate is multiplied by in this epoch."""
        raise NotImplementedError(f"{type(self).__name__} must define scale(self, epoch)")

    def get_lr(self) -> list[float]:  # noqa: D102 (explained in LRScheduler)
        now, before = self.scale(self.last_epoch), self.scale(self.last_epoch - 1) if self.last_epoch else 1.0
        rates = [group["lr"] for group in self.optimizer.param_groups]
        if not before:  # nothing to multiply; the rate is up from where the others of a chain left it
            return [rate + (base - self.eta_min) * now for rate, base in zip(rates, self.base_lrs, strict=True)]
        return [rate if now == before else self._rate(rate, now / before) for rate in rates]

    def _at(self, epoch: float) -> list[float]:
        return [self._rate(base, self.scale(epoch)) for base in self.base_lrs]

    def _rate(self, rate: float, scale: float) -> float:
        return self.eta_min + (rate - self.eta_min) * scale


class StepLR(ScaledLR):
    """The rate times gamma after every step_size epochs: scale = gamma^floor(epoch / step_size).

    >>> rates(lambda optimizer: StepLR(optimizer, step_size=2, gamma=0.5), 5)
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = need_count("StepLR", step_size=step_size)
        self.gamma = not_negative("StepLR", gamma=gamma)
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(ScaledLR):
    """The rate times gamma at each milestone: scale = gamma^(how many milestones are at or before the epoch).

    >>> rates(lambda optimizer: MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5), 5)
    [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        if not isinstance(milestones, Iterable) or isinstance(milestones, str):
            raise KeywordError(
                explain("MultiStepLR: milestones are epochs", got={"milestones": repr(milestones)}, need="a list of whole numbers")
            )
        self.milestones = sorted([whole("milestones", m) for m in milestones])
        self.gamma = not_negative("MultiStepLR", gamma=gamma)
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        return self.gamma ** bisect_right(self.milestones, epoch)


class ExponentialLR(ScaledLR):
    """The rate times gamma in every epoch: scale = gamma^epoch.

    >>> rates(lambda optimizer: ExponentialLR(optimizer, gamma=0.5), 4)
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = not_negative("ExponentialLR", gamma=gamma)
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        return self.gamma**epoch


class ConstantLR(ScaledLR):
    """A part of the rate for the first epochs: scale = factor while epoch < total_iters, then 1.

    >>> rates(lambda optimizer: ConstantLR(optimizer, factor=0.5, total_iters=2), 4)
    [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        need_share("ConstantLR", factor=factor)
        self.factor = factor
        self.total_iters = need_count("ConstantLR", at_least=0, total_iters=total_iters)
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(ScaledLR):
    """The rate along a line, mostly to warm up: scale from start_factor at epoch 0 to end_factor at total_iters, and on.

    >>> rates(lambda optimizer: LinearLR(optimizer, start_factor=0.5, total_iters=2), 4)
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        need_share("LinearLR", start_factor=start_factor, end_factor=end_factor)
        if start_factor == 0:
            raise ArgumentError(
                explain("LinearLR: the first rate can't be 0", got={"start_factor": start_factor}, need="0 < start_factor <= 1")
            )
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = need_count("LinearLR", at_least=0, total_iters=total_iters)
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        if epoch >= self.total_iters:
            return self.end_factor
        return self.start_factor + (self.end_factor - self.start_factor) * epoch / self.total_iters


class PolynomialLR(ScaledLR):
    """The rate down to 0 at total_iters: scale = (1 - epoch / total_iters)^power.

    >>> rates(lambda optimizer: PolynomialLR(optimizer, total_iters=4, power=2.0), 6)
    [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = need_count("PolynomialLR", total_iters=total_iters)
        self.power = not_negative("PolynomialLR", power=power)
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        return (1 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class CosineAnnealingLR(ScaledLR):
    """The rate along half a wave from base_lr down to eta_min at T_max, and up again: scale = (1 + cos(pi epoch / T_max)) / 2.

    Source: Loshchilov and Hutter 2017, arXiv:1608.03983, equation 5, without restarts.

    >>> [round(lr, 6) for lr in rates(lambda optimizer: CosineAnnealingLR(optimizer, T_max=2), 4)]
    [1.0, 0.5, 0.0, 0.5]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = not_negative("CosineAnnealingLR", T_max=T_max)
        self.eta_min = not_negative("CosineAnnealingLR", eta_min=eta_min)
        if T_max == 0:
            raise ArgumentError(explain("CosineAnnealingLR: half a wave takes time", got={"T_max": T_max}, need="> 0"))
        super().__init__(optimizer, last_epoch)

    def scale(self, epoch: float) -> float:  # noqa: D102 (explained by the class)
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2


def need_count(name: str, *, at_least: int = 1, **given: Any) -> int:
    """The one number that is given, if it is whole and large enough.

    >>> need_count("StepLR", step_size=2)
    2
    """
    [(option, value)] = given.items()
    n = whole(option, value)
    if n < at_least:
        raise ArgumentError(explain(f"{name}: {option} counts epochs", got={option: n}, need=f"{at_least} or more"))
    return n


def not_negative(name: str, **given: Any) -> float:
    """The one number that is given, if it is 0 or more.

    >>> not_negative("StepLR", gamma=0.5)
    0.5
    """
    need_at_least_0(name, given, *given)
    [value] = given.values()
    return plain(value)


def need_share(name: str, **given: Any) -> None:
    """Refuse what is no number from 0 to 1.

    >>> need_share("LinearLR", start_factor=0.5)
    """
    need_number(name, **given)
    for option, value in given.items():
        if not 0 <= value <= 1:
            raise ArgumentError(explain(f"{name}: {option} is a part of the rate", got={option: value}, need="0 to 1"))


def rates(make: Callable[[Optimizer], LRScheduler], epochs: int, lr: float = 1.0) -> list[float]:
    """The rates that the first epochs get, for a look at a schedule before it is used.

    >>> rates(lambda optimizer: ExponentialLR(optimizer, gamma=0.5), 3, lr=8.0)
    [8.0, 4.0, 2.0]
    """
    optimizer = SGD([Parameter([0.0])], lr=lr)
    schedule, found = make(optimizer), []
    for _ in range(epochs):
        found += schedule.get_last_lr()
        optimizer.step()
        schedule.step()
    return found
