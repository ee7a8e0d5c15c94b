"""The gradients panel as a widget of its own, and what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .panel import Panel
from .requests import Reply, answers

if TYPE_CHECKING:
    from .session import Session

_LOOKED_AT_S = 12.0
_LEDGERS_MOST = 200


class GradientsPanel(Panel):
    """Gradient norms, a parameter a row and a step a column, as a heat map, and lines for the chosen ones."""

    view = "gradients"
    text = "gradlab: the gradients panel"


@answers("zeros")
def zeros(session: Session) -> Reply:
    """Read the share of zeros in every gradient for a while; a page that still shows it asks again every few seconds."""
    recorder = session.recorder
    recorder.read_zeros(_LOOKED_AT_S)
    if session.state != "running":
        session.refresh()
    return {}


@answers("ledgers")
def ledgers(session: Session) -> Reply:
    """What has been added to each parameter's gradient since it was last None: [backward call, op, norm], oldest first."""
    found = [{"name": name, "entries": [list(entry) for entry in entries]} for name, entries in session.recorder.ledgers() if entries]
    return {"ledgers": found[:_LEDGERS_MOST], "more": max(0, len(found) - _LEDGERS_MOST)}
