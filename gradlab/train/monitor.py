"""Monitor: the best that a number of the history has been."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import ArgumentError, KeywordError, explain
from ..ops.argument import need_number

_LESS, _MORE = ("loss", "error", "perplexity"), ("accuracy",)


class Monitor:
    """Says whether a number has become better.

    Args:
        name: of a column of the history.
        mode: "min" where less is better, "max" where more is; without it the name tells: "loss", "error" and "perplexity" are
            better when less, "accuracy" when more.
        min_delta: by so much it has to become better.

    NaN is never better.

    Raises:
        ArgumentError: the name does not tell, and there is no mode; min_delta below 0.
        KeywordError: a name that is no text, a min_delta that is no number.

    >>> monitor = Monitor("EarlyStopping", "val_loss")
    >>> [monitor.better({"val_loss": loss}) for loss in (2.0, 1.0, 1.5)], monitor.best
    ([True, True, False], 1.0)
    """

    def __init__(self, what: str, name: str, mode: str | None = None, min_delta: float = 0.0) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise KeywordError(explain(f"{what}: monitor is the name of a number", got={"monitor": repr(name)}, need='such as "val_loss"'))
        need_number(what, min_delta=min_delta)
        if not min_delta >= 0:
            raise ArgumentError(
                explain(f"{what}: a change has a size", got={"min_delta": min_delta}, need="0 or more, also where more is better")
            )
        self.what, self.name, self.min_delta = what, name, min_delta
        guess = "min" if name.endswith(_LESS) else "max" if name.endswith(_MORE) else None
        if mode not in ("min", "max", None) or (mode is None and guess is None):
            got = {"monitor": name, "mode": mode}
            raise ArgumentError(explain(f"{what}: is more of this better, or less?", got=got, need="mode='min' or mode='max'"))
        self.mode = mode or guess
        self.best = math.nan
        self.forget()

    def need(self, measured: Collection[str]) -> None:
        """Refuse to look at what is not measured.

        Raises:
            ArgumentError: it is not.
        """
        if self.name not in measured:
            fix = "fit(train_loader, val_loader)" if self.name.startswith("val_") and self.name[4:] in measured else ""
            got = {"monitor": self.name, "measured": ", ".join(measured)}
            raise ArgumentError(explain(f"{self.what}: this is not measured", got=got, need="one of those", fix=fix))

    def forget(self) -> None:
        """Begin anew: nothing was good so far."""
        self.best = math.inf if self.mode == "min" else -math.inf

    def better(self, row: Mapping[str, Any]) -> bool:
        """Whether the row of an epoch is the best so far, which is then remembered.

        Raises:
            ArgumentError: the row has no such number.
        """
        self.need(row)
        value = float(row[self.name])
        sign = 1 if self.mode == "min" else -1
        if not sign * value < sign * self.best - self.min_delta:
            return False
        self.best = value
        return True
