"""The findings panel as a widget of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..trace.rules import RULES
from .panel import Panel
from .requests import Reply, answers

if TYPE_CHECKING:
    from .session import Session


class FindingsPanel(Panel):
    """What is wrong with the training: one card a finding, with what, why, how it is known and what to do."""

    view = "findings"
    text = "gradlab: the findings panel"


@answers("mute")
def mute(session: Session, rule: str = "", on: bool = True) -> Reply:
    """Ask a rule no more, or again; the page hears what is left with its next message of findings."""
    if rule not in RULES:
        raise ArgumentError(f"there is no rule {str(rule)[:80]!r}; known: {', '.join(RULES)}")
    session.stream.diagnosis.mute(rule, bool(on))
    session.refresh()
    return {"muted": sorted(session.stream.diagnosis.muted)}
