"""The graph panel as a widget of its own."""

from __future__ import annotations

from .panel import Panel


class GraphPanel(Panel):
    """The graph of one step: an op a node with its shape, value norm and gradient norm, parameters as chips."""

    view = "graph"
    text = "gradlab: the graph panel"
