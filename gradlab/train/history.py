"""History: what was measured in each epoch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from ..errors import DataError, PackageError, explain


class History(dict[str, list[Any]]):
    """A dict of lists, one entry an epoch: "epoch", "loss", metrics, the same with "val_" in front, "lr".

    Where an epoch was not measured, by a validation that came later, NaN stands.

    >>> history = History()
    >>> history.add({"epoch": 1, "loss": 0.5})
    >>> history.add({"epoch": 2, "loss": 0.25, "val_loss": 0.5})
    >>> history
    {'epoch': [1, 2], 'loss': [0.5, 0.25], 'val_loss': [nan, 0.5]}
    """

    def add(self, row: Mapping[str, Any]) -> None:
        """Note the numbers of an epoch."""
        n = max(map(len, self.values()), default=0)
        columns = {name: [*(self.get(name) or [math.nan] * n), row.get(name, math.nan)] for name in {**self, **row}}
        self.update(columns)

    def last(self) -> dict[str, Any]:
        """The numbers of the last epoch."""
        return {name: column[-1] for name, column in self.items()}

    def plot(self, axes: Any = None) -> Any:
        """Draw each number over the epochs, training and validation together, and return the figure.

        Args:
            axes: as many of matplotlib as there are pictures, to draw into; made without.

        Raises:
            PackageError: matplotlib is not installed.
            DataError: there is no epoch yet.
        """
        names = [name for name in self if name != "epoch" and not (name.startswith("val_") and name[4:] in self)]
        if not self.get("epoch"):
            raise DataError(explain("plot: there is nothing to draw yet", got={"epochs": 0}, need="a call of fit"))
        if axes is None:
            axes = _figure(4 * len(names), 3).subplots(1, len(names), squeeze=False)[0]
        for ax, name in zip(axes, names, strict=True):
            for column in (name, f"val_{name}"):
                if column in self:
                    marker = "o" if len(self["epoch"]) < 2 else None
                    ax.plot(self["epoch"], self[column], marker=marker, label="validation" if column != name else "training")
            ax.set_title(name)
            ax.set_xlabel("epoch")
            if f"val_{name}" in self:
                ax.legend()
        return axes[0].figure


def _figure(width_in: float, height_in: float) -> Any:
    """A figure of matplotlib that notebooks show, without pyplot, which would keep it and show it again."""
    try:
        from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]
    except ImportError:
        got = {"missing": "matplotlib"}
        raise PackageError(explain("plot: this needs matplotlib", got=got, need="it", fix="pip install matplotlib")) from None

    class Shown(Figure):
        def _repr_png_(self) -> bytes:
            png = BytesIO()
            self.savefig(png, format="png")
            return png.getvalue()

    return Shown(figsize=(width_in, height_in), layout="constrained")
