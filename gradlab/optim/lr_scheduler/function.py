"""Schedules that a function of yours gives."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ..optimizer import Optimizer
from .scheduler import LRScheduler, functions, need_optimizer

Function: TypeAlias = Callable[[int], float]


class _OfFunctions(LRScheduler):
    _unsaved: tuple[str, ...] = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Optimizer, lr_lambda: Function | Sequence[Function], last_epoch: int = -1) -> None:
        self.lr_lambdas = functions(
            type(self).__name__, "lr_lambda", lr_lambda, need_optimizer(type(self).__name__, optimizer).param_groups
        )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """A copy of everything but the optimizer; of objects that are called their attributes, of functions nothing."""
        inside = [dict(vars(f)) if hasattr(f, "__dict__") and not isinstance(f, types.FunctionType) else None for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": inside}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().load_state_dict(state_dict)
        for f, inside in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if inside:
                vars(f).update(inside)


class LambdaLR(_OfFunctions):
    """The first rate times lr_lambda(epoch): one function, or a list with one for each group.

    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> rates(lambda optimizer: LambdaLR(optimizer, lambda epoch: 1 / (epoch + 1)), 4)
    [1.0, 0.5, 0.3333333333333333, 0.25]
    """

    def get_lr(self) -> list[float]:  # noqa: D102 (explained in LRScheduler)
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_OfFunctions):
    """The rate of the epoch before times lr_lambda(epoch): one function, or a list with one for each group.

    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> rates(lambda optimizer: MultiplicativeLR(optimizer, lambda epoch: 0.5 if epoch < 3 else 1.0), 4)
    [1.0, 0.5, 0.25, 0.25]
    """

    def get_lr(self) -> list[float]:  # noqa: D102 (explained in LRScheduler)
        groups = self.optimizer.param_groups
        if self._is_initial:
            return [group["lr"] for group in groups]
        return [group["lr"] * f(self.last_epoch) for f, group in zip(self.lr_lambdas, groups, strict=True)]
