"""The gradients panel as a widget of its own."""

from __future__ import annotations

from .panel import Panel


class GradientsPanel(Panel):
    """Gradient norms, a parameter a row and a step a column, as a heat map, and lines for the chosen ones."""

    view = "gradients"
    text = "gradlab: the gradients panel"
