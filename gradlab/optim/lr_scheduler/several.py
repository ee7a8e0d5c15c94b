"""Schedules made of others: one after the other, or all at once."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ArgumentError, KeywordError, explain
from ...ops.argument import whole
from ..optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler, need_optimizer


class _Several(LRScheduler):
    _unsaved: tuple[str, ...] = ("optimizer", "_schedulers")
    _schedulers: list[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """A copy of the states of all of them, and of which is on."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().load_state_dict(state_dict)
        for s, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            s.load_state_dict(state)

    def _need_state(self, state_dict: Any) -> None:
        super()._need_state(state_dict)
        states = state_dict["_schedulers"]
        if len(states) != len(self._schedulers):
            got = {"saved": len(states), "own": len(self._schedulers)}
            raise ArgumentError(explain(f"{type(self).__name__}.load_state_dict: other schedules came", got=got, need="as many"))
        for s, state in zip(self._schedulers, states, strict=True):
            s._need_state(state)


class SequentialLR(_Several):
    """One schedule after the other: schedulers[i] begins, with its own epoch 0, at epoch milestones[i - 1].

    >>> from gradlab.optim.lr_scheduler import ExponentialLR, LinearLR
    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> def warm_up_then_down(optimizer):
    ...     return SequentialLR(optimizer, [LinearLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)], milestones=[2])
    >>> rates(warm_up_then_down, 5)
    [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1) -> None:
        self._schedulers = of_one("SequentialLR", schedulers, optimizer)
        self._milestones = [whole("milestones", m) for m in milestones]
        if len(milestones) != len(self._schedulers) - 1 or self._milestones != sorted(self._milestones):
            raise ArgumentError(
                explain(
                    "SequentialLR: every schedule but the first begins at a milestone",
                    got={"schedulers": len(self._schedulers), "milestones": self._milestones},
                    need=f"{len(self._schedulers) - 1} epochs, each after the one before",
                )
            )
        super().__init__(optimizer, last_epoch)

    def _begin(self) -> None:
        for group in self.optimizer.param_groups:  # where they were before the schedules were made
            group["lr"] = group["initial_lr"]
        for s in self._schedulers:
            s.last_epoch = -1
        super()._begin()

    def _go(self, epoch: float | None) -> None:
        at = self.last_epoch + 1 if epoch is None else math.floor(epoch)
        i = bisect_right(self._milestones, at)
        begin = self._milestones[i - 1] if i else 0
        now = self._schedulers[i]
        if self._is_initial and at == begin:
            now._begin()
        else:
            now._go(None if epoch is None and at > begin else at - begin)
        self.last_epoch, self._last_lr = at, now.get_last_lr()


class ChainedScheduler(_Several):
    """Several schedules at once: each step is a step of all of them, in their order, so that what they multiply by multiplies.

    >>> from gradlab.optim.lr_scheduler import ConstantLR, ExponentialLR
    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> rates(lambda o: ChainedScheduler([ConstantLR(o, 0.5, total_iters=2), ExponentialLR(o, 0.5)]), 4)
    [0.5, 0.25, 0.25, 0.125]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._schedulers = of_one("ChainedScheduler", schedulers, optimizer)
        self.optimizer = self._schedulers[0].optimizer
        self.base_lrs, self.last_epoch, self._step_count = list(self._schedulers[0].base_lrs), 0, 1
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _go(self, epoch: float | None) -> None:
        for s in self._schedulers:
            s._go(epoch)
        self.last_epoch = self.last_epoch + 1 if epoch is None else math.floor(epoch)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


def of_one(name: str, schedulers: Any, optimizer: Optimizer | None) -> list[LRScheduler]:
    """The schedules as a list, if all of them set the rates of one optimizer."""
    if not isinstance(schedulers, (list, tuple)) or not schedulers:
        raise ArgumentError(explain(f"{name}: of which schedules?", got={"schedulers": repr(schedulers)}, need="a list of one or more"))
    for i, s in enumerate(schedulers):
        if not isinstance(s, LRScheduler):
            raise KeywordError(explain(f"{name}: is made of schedules", got={f"schedulers[{i}]": type(s).__name__}, need="a LRScheduler"))
        if isinstance(s, ReduceLROnPlateau):
            raise ArgumentError(
                explain(
                    f"{name}: ReduceLROnPlateau needs a loss in every step",
                    got={"schedulers": f"it is number {i}"},
                    need="to be stepped by itself",
                )
            )
        if s.optimizer is not (schedulers[0].optimizer if optimizer is None else need_optimizer(name, optimizer)):
            raise ArgumentError(
                explain(f"{name}: the schedules are of several optimizers", got={"schedulers": f"number {i} of another"}, need="one")
            )
    return list(schedulers)
