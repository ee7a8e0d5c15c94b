"""One way up and one way down for a whole training."""

from __future__ import annotations

import math

from ...errors import ArgumentError, explain
from ...ops.argument import need_number
from ..optimizer import Group, Optimizer
from .momentum import note_momenta, set_momentum
from .scaled import need_count, need_share
from .scheduler import LRScheduler, Rates, need_optimizer, need_word, per_group

Phase = tuple[float, str, str, str, str]


class OneCycleLR(LRScheduler):
    """The rate from max_lr / div_factor up to max_lr, then down to almost 0; the momentum down and up. Step after every batch.

    Args:
        total_steps: of the whole training; in place of it `epochs` times `steps_per_epoch`.
        pct_start: the part of them that the rate rises.
        anneal_strategy: "cos" for half a wave, "linear" for a line.
        cycle_momentum: whether momentum, or the first of betas, goes along: from max_momentum to base_momentum and back.
        div_factor: max_lr / the first rate. `final_div_factor`: the first rate / the last.
        three_phase: down to the first rate in as many steps as up, then on to the last.

    Raises:
        ArgumentError: a step after the last, or options that make no sense.

    Source: Smith and Topin 2018, arXiv:1708.07120; one wave in place of two lines, as in PyTorch.

    >>> from gradlab.optim.lr_scheduler.scaled import rates
    >>> [round(lr, 3) for lr in rates(lambda optimizer: OneCycleLR(optimizer, max_lr=1.0, total_steps=6, pct_start=0.5), 6)]
    [0.04, 0.52, 1.0, 0.75, 0.25, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Rates,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Rates = 0.85,
        max_momentum: Rates = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        name, groups = "OneCycleLR", need_optimizer("OneCycleLR", optimizer).param_groups
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            got = {"total_steps": total_steps, "epochs": epochs, "steps_per_epoch": steps_per_epoch}
            raise ArgumentError(explain(f"{name}: how long is the training?", got=got, need="total_steps, or epochs and steps_per_epoch"))
        if total_steps is None:
            total_steps = need_count(name, epochs=epochs) * need_count(name, steps_per_epoch=steps_per_epoch)
        self.total_steps = need_count(name, total_steps=total_steps)
        need_share(name, pct_start=pct_start)
        need_word(name, "anneal_strategy", anneal_strategy, "cos", "linear")
        max_lrs = per_group(name, "max_lr", max_lr, groups)
        dividing = {"div_factor": div_factor, "final_div_factor": final_div_factor}
        need_number(name, **dividing)
        if not all(factor > 0 for factor in dividing.values()):
            raise ArgumentError(explain(f"{name}: rates are divided by these", got=dividing, need="> 0"))
        self.pct_start, self.anneal_strategy = float(pct_start), anneal_strategy
        self.cycle_momentum, self.three_phase = bool(cycle_momentum), bool(three_phase)
        if cycle_momentum:
            note_momenta(name, optimizer, base_momentum, max_momentum, last_epoch)
        for group, highest in zip(groups, max_lrs, strict=True):
            if last_epoch == -1 or "max_lr" not in group:
                group["initial_lr"], group["max_lr"] = highest / div_factor, highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        super().__init__(optimizer, last_epoch)

    def _phases(self) -> list[Phase]:
        """Last step of each, and what rate and momentum go from and to."""
        end, top = float(self.total_steps - 1), self.pct_start * self.total_steps - 1
        up = (top, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not self.three_phase:
            return [up, (end, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        down = (2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum")
        return [up, down, (end, "initial_lr", "min_lr", "max_momentum", "max_momentum")]

    def get_lr(self) -> list[float]:  # noqa: D102 (explained in LRScheduler)
        t = self.last_epoch
        if t > self.total_steps:
            got = {"step": t, "total_steps": self.total_steps}
            raise ArgumentError(explain("OneCycleLR: the training is over", got=got, need="a larger total_steps"))
        phases = self._phases()
        i = next((i for i, phase in enumerate(phases) if t <= phase[0]), len(phases) - 1)
        start, (end, lr_from, lr_to, momentum_from, momentum_to) = phases[i - 1][0] if i else 0.0, phases[i]
        part = min((t - start) / (end - start), 1.0) if end != start else 1.0
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                set_momentum(group, self._between(group, momentum_from, momentum_to, part))
        return [self._between(group, lr_from, lr_to, part) for group in self.optimizer.param_groups]

    def _between(self, group: Group, first: str, last: str, part: float) -> float:
        gone = part if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2
        return group[first] + (group[last] - group[first]) * gone
