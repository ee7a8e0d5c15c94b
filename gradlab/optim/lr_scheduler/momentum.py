"""The momentum of a group, which cyclic schedules take along: `momentum` itself, or the first of `betas`."""

from __future__ import annotations

from ...errors import ArgumentError, explain
from ..optimizer import Group, Optimizer
from .scheduler import Rates, per_group


def note_momenta(name: str, optimizer: Optimizer, base_momentum: Rates, max_momentum: Rates, last_epoch: int) -> None:
    """Note both ends in every group, where a saved state has them, and begin with the larger."""
    groups = optimizer.param_groups
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ArgumentError(
            explain(
                f"{name}: this optimizer has no momentum to go along",
                got={"optimizer": type(optimizer).__name__},
                need="momentum or betas",
                fix="cycle_momentum=False",
            )
        )
    ends = zip(*(per_group(name, k, v, groups) for k, v in (("base_momentum", base_momentum), ("max_momentum", max_momentum))), strict=True)
    for group, (low, high) in zip(groups, ends, strict=True):
        if last_epoch == -1 or "base_momentum" not in group:
            group["base_momentum"], group["max_momentum"] = low, high
            set_momentum(group, high)


def set_momentum(group: Group, momentum: float) -> None:
    """Set the momentum of a group."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
