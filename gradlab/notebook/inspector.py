"""All panels together, and the small output that `%load_ext gradlab` leaves."""

from __future__ import annotations

from typing import Any

from IPython.display import DisplayHandle

from . import model
from .panel import Panel


class Inspector(Panel):
    """All panels, one below the other, with one selection through them: what JupyterLab docks at the right."""

    view = "inspector"
    text = "gradlab: the inspector"


class OutputPanel(Panel):
    """One line that says the inspector is docked, or the inspector itself where nothing docks it.

    Where the page says that it has docked the inspector, the line takes the place of the widget: a notebook that is saved
    and opened again without a kernel then shows the line, not a widget whose model is gone.
    """

    view = "output"
    text = "gradlab: tracing on"
    _docked = "tracing on · inspector docked at the right"
    _style = "font: 11px/16px var(--jp-ui-font-family, sans-serif); color: var(--jp-ui-font-color2, #5f6368)"

    def __init__(self) -> None:
        super().__init__()
        self._handle: DisplayHandle | None = None
        model.hear_while_busy(self)
        self.on_msg(self._on_message)

    def show(self) -> DisplayHandle | None:
        """Display it as the output of the running cell."""
        self._handle = super().show()
        return self._handle

    def _on_message(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and content.get("kind") == "docked" and self._handle is not None:
            line = {"text/plain": f"gradlab: {self._docked}", "text/html": f'<div style="{self._style}">{self._docked}</div>'}
            self._handle.update(line, raw=True)
            self._handle = None
            self.close()
