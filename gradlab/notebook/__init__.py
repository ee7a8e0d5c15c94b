"""The notebook side: `%load_ext gradlab`, the `%gradlab` magic and one widget a panel."""

from __future__ import annotations

from typing import Any

from . import experiments as _experiments
from . import keeping as _keeping
from . import time as _time
from .detail import DetailPanel
from .findings import FindingsPanel
from .gradients import GradientsPanel
from .graph import GraphPanel
from .inspector import Inspector, OutputPanel
from .magics import GradlabMagics
from .optimizer import OptimizerPanel
from .session import Session, SessionModel, current_session, end_session, ensure_session
from .shapes import ShapesPanel
from .strip import StripPanel

__all__ = [
    "DetailPanel",
    "FindingsPanel",
    "GradientsPanel",
    "GraphPanel",
    "Inspector",
    "OptimizerPanel",
    "Session",
    "SessionModel",
    "ShapesPanel",
    "StripPanel",
    "current_session",
    "load_ipython_extension",
    "unload_ipython_extension",
]


def load_ipython_extension(shell: Any) -> None:
    """Begin tracing in this shell: what `%load_ext gradlab` calls. Loading again changes nothing but renews the output."""
    session = ensure_session(shell)
    session.recorder.attach()
    shell.register_magics(GradlabMagics)
    if session.model is None:
        print(OutputPanel.text)
        return
    if session.output is not None:
        session.output.close()
    session.output = OutputPanel()
    session.output.show()


def unload_ipython_extension(shell: Any) -> None:
    """End tracing and leave the shell as it was: what `%unload_ext gradlab` calls."""
    end_session()
    shell.magics_manager.magics["line"].pop("gradlab", None)
    shell.magics_manager.registry.pop("GradlabMagics", None)
