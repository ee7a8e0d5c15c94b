"""The strip panel as a widget of its own."""

from __future__ import annotations

from .panel import Panel


class StripPanel(Panel):
    """The status strip: step, loss, gradient norm and what tracing costs, in one line."""

    view = "strip"
    text = "gradlab: the strip panel"
