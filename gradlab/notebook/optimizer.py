"""The optimizer panel as a widget of its own."""

from __future__ import annotations

from .panel import Panel


class OptimizerPanel(Panel):
    """What the optimizer does to each parameter: gradient, moments, effective learning rate, update:weight ratio."""

    view = "optimizer"
    text = "gradlab: the optimizer panel"
