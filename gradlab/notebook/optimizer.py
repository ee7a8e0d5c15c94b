"""The optimizer panel as a widget of its own, and what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..trace.microscope import COLUMNS
from .panel import Panel
from .requests import Reply, answers

if TYPE_CHECKING:
    from .session import Session


_NAMES = 20  # of parameters that are listed


class OptimizerPanel(Panel):
    """What the optimizer does to each parameter: gradient, moments, effective learning rate, update:weight ratio."""

    view = "optimizer"
    text = "gradlab: the optimizer panel"


@answers("microscope")
def microscope(session: Session) -> Reply:
    """What every optimizer did to each parameter in its last step, see `gradlab.trace.microscope.COLUMNS`; and what each holds.

    Shapes: one buffer of float32 (parameters, columns), of one optimizer after the other
    """
    tables = session.recorder.lens()
    rows = [[row[name] for name in COLUMNS] for table in tables for row in table["rows"]]
    with np.errstate(over="ignore"):
        numbers = np.array(rows, np.float64).astype("<f4")
    optimizers = [{key: table[key] for key in ("label", "lr", "step", "names", "numbers")} for table in tables]
    holdings = [
        {**held._asdict(), "unread": held.unread[:_NAMES], "unheld": held.unheld[:_NAMES], "more": max(len(held.unread), len(held.unheld))}
        for held in session.recorder.holdings(session.births.parameters)
    ]
    return {"columns": list(COLUMNS), "optimizers": optimizers, "holdings": holdings}, [numbers.tobytes()]
