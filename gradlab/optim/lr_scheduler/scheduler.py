"""LRScheduler: what every schedule of learning rates has in common."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...errors import ArgumentError, KeywordError, StateError, explain
from ...ops.argument import need_number, whole
from ..given import plain
from ..optimizer import Group, Optimizer

Rates: TypeAlias = float | list[float] | tuple[float, ...]
"""One number for all groups, or one for each."""


class LRScheduler:
    """Sets the learning rate of every group of an optimizer, anew each time `step` is called: after the optimizer's own steps.

    A subclass writes `get_lr`: the rates for `last_epoch`, one a group. It may read `base_lrs`, what the groups began with, and
    `optimizer.param_groups`, what they have now. Making a schedule sets the rates for epoch 0.

    Attributes:
        last_epoch: how often `step` was called.
        base_lrs: the rate that each group had at first ("initial_lr" in the group).

    To go on with a saved training: make optimizer and schedule, then load both states.

    >>> from gradlab import optim
    >>> from gradlab.nn import Parameter
    >>> class Halving(LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
    >>> optimizer = optim.SGD([Parameter([1.0])], lr=0.1)
    >>> schedule = Halving(optimizer)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.05]
    """

    optimizer: Optimizer
    _unsaved: tuple[str, ...] = ("optimizer",)
    _is_initial: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = need_optimizer(type(self).__name__, optimizer)
        groups, last_epoch = optimizer.param_groups, whole("last_epoch", last_epoch)
        if last_epoch == -1:
            for group in groups:
                group.setdefault("initial_lr", plain(group["lr"]))
        elif not all("initial_lr" in group for group in groups):
            raise ArgumentError(
                explain(
                    f"{type(self).__name__}: no schedule to go on with",
                    got={"last_epoch": last_epoch, "groups": "without initial_lr"},
                    need='"initial_lr" in every group of the optimizer; last_epoch=-1 begins anew',
                )
            )
        self.base_lrs: list[float] = [group["initial_lr"] for group in groups]
        self.last_epoch = last_epoch
        self._begin()

    def _begin(self) -> None:
        """Set the rates of the first epoch; or of the one after `last_epoch`, wherever the rates are now."""
        self._step_count, self._is_initial = 0, True
        self.step(None if self.last_epoch < 0 else self.last_epoch + 1)
        del self._is_initial

    def get_lr(self) -> list[float]:
        """The rates for `last_epoch`, one a group."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr(self)")

    def get_last_lr(self) -> list[float]:
        """The rates that were set last, one a group."""
        return list(self._last_lr)

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to that one, and set the rates; call it after `optimizer.step()`.

        Raises:
            KeywordError: the epoch is no number: only ReduceLROnPlateau takes a loss.
        """
        if epoch is not None:
            self._need_epoch(epoch)
        if self._step_count == 1 and not self.optimizer.has_stepped:
            warnings.warn(
                f"{type(self).__name__}: scheduler.step() came before the first optimizer.step(), so the first rate of the schedule "
                "is never used; call optimizer.step() first",
                UserWarning,
                stacklevel=2,
            )
        self._go(epoch)
        self._step_count += 1

    def _need_epoch(self, epoch: Any) -> None:
        if not isinstance(epoch, int) or isinstance(epoch, bool) or epoch < 0:
            name = type(self).__name__
            raise KeywordError(
                explain(f"{name}: this is no epoch", got={"epoch": repr(epoch)}, need="a whole number, 0 or more, or nothing")
            )

    def _go(self, epoch: float | None) -> None:
        """Set the rates of that epoch, or of the next."""
        before = self.last_epoch
        self.last_epoch = before + 1 if epoch is None else math.floor(epoch)
        try:
            self._set(self.get_lr() if epoch is None else self._at(epoch))
        except Exception:
            self.last_epoch = before
            raise

    def _at(self, epoch: float) -> list[float]:
        """The rates of an epoch, wherever the rates are now; `last_epoch` is that epoch."""
        return self.get_lr()

    def _set(self, rates: Sequence[float]) -> None:
        name, groups = type(self).__name__, self.optimizer.param_groups
        if len(rates) != len(groups):
            raise ArgumentError(
                explain(
                    f"{name}: the optimizer has other groups than the schedule was made for",
                    got={"rates": len(rates), "groups": len(groups)},
                    need="one rate a group: a schedule that is made after add_param_group",
                )
            )
        rates = [plain(rate) for rate in rates]
        need_number(name, **{f"rate {i}": rate for i, rate in enumerate(rates)})
        if not all(rate >= 0 for rate in rates):
            raise ArgumentError(explain(f"{name}: rates can't be negative", got={f"epoch {self.last_epoch}": rates}, need=">= 0"))
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = float(rate)
        self._last_lr = [group["lr"] for group in groups]

    # State

    def state_dict(self) -> dict[str, Any]:
        """A copy of everything but the optimizer, and functions."""
        return self._copied(self.__dict__)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken. The optimizer's own state has the rates that hold now: load it too.

        Raises:
            StateError: another schedule saved it, or one for other groups. Nothing is changed then.
        """
        self._need_state(state_dict)
        self.__dict__.update(self._copied(state_dict))

    def _copied(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, (list, tuple)) else v for k, v in state.items() if k not in self._unsaved}

    def _need_state(self, state_dict: Any) -> None:
        name, own = f"{type(self).__name__}.load_state_dict", self.state_dict()
        if not isinstance(state_dict, Mapping):
            raise KeywordError(
                explain(f"{name}: a state is a dict", got={"state_dict": type(state_dict).__name__}, need="what state_dict() returned")
            )
        got = {
            "missing": ", ".join([key for key in own if key not in state_dict]),
            "unexpected": ", ".join([str(key) for key in state_dict if key not in own]),
        }
        if any(got.values()):
            raise StateError(explain(f"{name}: another schedule saved this", got={k: v for k, v in got.items() if v}, need=", ".join(own)))
        sizes = {
            key: f"{len(state_dict[key])}, not {len(own[key])}"
            for key in ("base_lrs", "_last_lr")
            if key in own and len(state_dict[key]) != len(own[key])
        }
        if sizes:
            raise StateError(explain(f"{name}: it was saved for other groups", got=sizes, need="one rate a group"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(epoch {self.last_epoch}, lr={', '.join(f'{rate:.6g}' for rate in self._last_lr)})"


def need_optimizer(name: str, optimizer: Any) -> Optimizer:
    """The optimizer, if it is one that has learning rates."""
    if not isinstance(optimizer, Optimizer):
        raise KeywordError(
            explain(f"{name}: sets the rates of an optimizer", got={"optimizer": type(optimizer).__name__}, need="an Optimizer")
        )
    for group in optimizer.param_groups:
        if "lr" not in group:
            raise ArgumentError(
                explain(f"{name}: {type(optimizer).__name__} has no learning rate", got={"group": ", ".join(group)}, need="lr")
            )
    return optimizer


def per_group(name: str, option: str, value: Any, groups: Sequence[Group]) -> list[float]:
    """One number a group: those given, or the same for all."""
    values = [plain(v) for v in (value if isinstance(value, (list, tuple)) else [value] * len(groups))]
    need_number(name, **{option if len(values) == 1 else f"{option}[{i}]": v for i, v in enumerate(values)})
    if len(values) != len(groups):
        raise ArgumentError(explain(f"{name}: one {option} a group", got={option: len(values), "groups": len(groups)}, need="as many"))
    return values


def functions(name: str, option: str, value: Any, groups: Sequence[Group]) -> list[Callable[[int], float]]:
    """One function a group: those given, or the same for all."""
    values: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value] * len(groups)
    if len(values) != len(groups):
        raise ArgumentError(explain(f"{name}: one {option} a group", got={option: len(values), "groups": len(groups)}, need="as many"))
    for f in values:
        if not callable(f):
            raise KeywordError(explain(f"{name}: {option} is called with the epoch", got={option: repr(f)}, need="a function of an int"))
    return values


def need_word(name: str, option: str, word: Any, *words: str) -> None:
    """Refuse a word that is none of these.

    >>> need_word("ReduceLROnPlateau", "mode", "min", "min", "max")
    """
    if word not in words:
        raise ArgumentError(explain(f"{name}: which {option}?", got={option: repr(word)}, need=" or ".join(map(repr, words))))
