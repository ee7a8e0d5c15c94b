"""All panels together, and the small output that `%load_ext gradlab` leaves."""

from __future__ import annotations

from .panel import Panel


class Inspector(Panel):
    """All panels, one below the other, with one selection through them: what JupyterLab docks at the right."""

    view = "inspector"
    text = "gradlab: the inspector"


class OutputPanel(Panel):
    """One line that says the inspector is docked, or the inspector itself where nothing docks it."""

    view = "output"
    text = "gradlab: tracing on"
