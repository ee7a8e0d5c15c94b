"""The `%gradlab` line magic: switch tracing, ask how it stands, show a panel."""

from __future__ import annotations

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from .gradients import GradientsPanel
from .graph import GraphPanel
from .inspector import Inspector
from .optimizer import OptimizerPanel
from .panel import Panel
from .session import Session, ensure_session
from .shapes import ShapesPanel
from .strip import StripPanel

PANELS: dict[str, type[Panel]] = {cls.view: cls for cls in (Inspector, StripPanel, GraphPanel, ShapesPanel, GradientsPanel, OptimizerPanel)}
"""The panels by the names that `%gradlab panel` takes."""

HELP = f"""\
%gradlab              how tracing stands
%gradlab on           trace what runs from here on
%gradlab off          stop tracing; training runs at full speed
%gradlab clear        forget what was recorded and begin a new run
%gradlab panel graph  show one panel here: {", ".join(PANELS)}
%gradlab help         this list"""


@magics_class
class GradlabMagics(Magics):
    """The magic of one shell; `%load_ext gradlab` registers it."""

    @magic_arguments()
    @argument("what", nargs="?", default="status", choices=["on", "off", "status", "clear", "panel", "help"], help="what to do")
    @argument("name", nargs="?", default=None, choices=list(PANELS), help="which panel `panel` shows; the inspector where none is named")
    @line_magic
    def gradlab(self, line: str) -> None:
        """Switch tracing on or off, ask how it stands, forget what was recorded, or show a panel."""
        arguments = parse_argstring(self.gradlab, line)
        session = ensure_session(self.shell)
        if arguments.what == "panel":
            display(PANELS[arguments.name or "inspector"]())
        elif arguments.what == "help":
            print(HELP)
        elif arguments.what == "clear":
            session.clear()
            print("gradlab: forgotten; the next step begins a new run")
        else:
            if arguments.what != "status":
                session.trace(arguments.what == "on")
            print(status(session))


def status(session: Session) -> str:
    """One line on how tracing stands: on or off, run, steps and ops of the step on show."""
    recorder = session.recorder
    with recorder.lock:
        on, run, step, ops = recorder.on, recorder.run, recorder.step, len(recorder.structure()["ops"])
    parts = [f"gradlab: tracing {'on' if on else 'off'}"]
    if not ops and not step:
        parts.append("nothing recorded yet")
    else:
        parts += [f"run {run}", f"{step:,} step{'s' * (step != 1)}", f"{ops:,} op{'s' * (ops != 1)} on show"]
    return " · ".join(parts)
