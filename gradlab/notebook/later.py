"""The code of those parts of the inspector that come when they are first opened, so that the bundle stays small."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import bundle
from .requests import Reply, answers

if TYPE_CHECKING:
    from .session import Session


@answers("code")
def code(session: Session) -> Reply:
    """The text of a module that the page imports."""
    return {"text": bundle.read("more.js")}
