"""The shapes panel as a widget of its own."""

from __future__ import annotations

from .panel import Panel


class ShapesPanel(Panel):
    """A table of every tensor of a step: op, cell and line, shape, dtype, bytes, and whether gradients reach it."""

    view = "shapes"
    text = "gradlab: the shapes panel"
