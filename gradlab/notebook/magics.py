"""The `%gradlab` line magic: switch tracing, ask how it stands, show a panel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from ..errors import GradlabError
from ..trace import CAPTURE_BYTES
from ..trace.rules import RULES
from . import debugger
from .detail import DetailPanel
from .findings import FindingsPanel
from .gradients import GradientsPanel
from .graph import GraphPanel
from .inspector import Inspector
from .keeping import report
from .optimizer import OptimizerPanel
from .panel import Panel
from .session import Session, ensure_session
from .shapes import ShapesPanel
from .strip import StripPanel

Chosen = TypeVar("Chosen")

PANELS: dict[str, type[Panel]] = {
    cls.view: cls for cls in (Inspector, StripPanel, GraphPanel, ShapesPanel, GradientsPanel, OptimizerPanel, DetailPanel, FindingsPanel)
}
"""The panels by the names that `%gradlab panel` takes."""

HELP = f"""\
%gradlab              how tracing stands
%gradlab on           trace what runs from here on
%gradlab off          stop tracing; training runs at full speed
%gradlab clear        forget what was recorded and begin a new run
%gradlab budget 10    let tracing take 10 % of a step's time instead of 5; `budget off` reads every step in full
%gradlab capture      keep every array of the next step, 256 MiB at most; `capture 512` up to 512 MiB
%gradlab release      let go of the captured step
{debugger.HELP}
%gradlab explain      what the rules find, as text
%gradlab alive        which variables keep graphs in memory, and what to do
%gradlab mute R13     ask that rule no more; `unmute R13` asks it again
%gradlab panel graph  show one panel here: {", ".join(PANELS)}
%gradlab help         this list"""


WORDS = ("on", "off", "status", "clear", "budget", "capture", "release", "explain", "alive", "mute", "unmute", "panel", "help")


@magics_class
class GradlabMagics(Magics):
    """The magic of one shell; `%load_ext gradlab` registers it."""

    @magic_arguments()
    @argument("what", nargs="?", default="status", choices=[*WORDS, *debugger.WORDS], help="what to do")
    @argument(
        "name", nargs="?", default=None, help="the panel of `panel`, the MiB of `capture`, the percent of `budget`, the rule of `mute`"
    )
    @line_magic
    def gradlab(self, line: str) -> None:
        """Switch tracing on or off, ask how it stands, forget what was recorded, or show a panel."""
        session = ensure_session(self.shell)
        word, _, rest = line.strip().partition(" ")
        if word in debugger.WORDS:
            try:
                print(debugger.WORDS[word](session, rest.strip()))
            except GradlabError as error:
                raise UsageError(str(error)) from None
            return
        arguments = parse_argstring(self.gradlab, line)
        if arguments.what == "panel":
            display(_chosen(arguments.name or "inspector", PANELS)())
        elif arguments.what == "capture":
            print(capture(session, arguments.name))
        elif arguments.what == "budget":
            print(budget(session, arguments.name))
        elif arguments.what == "release":
            session.recorder.release()
            session.tell_capture()
            print("gradlab: no step is captured")
        elif arguments.what == "help":
            print(HELP)
        elif arguments.what == "explain":
            print(explanation(session))
        elif arguments.what == "alive":
            print(report(session))
        elif arguments.what in ("mute", "unmute"):
            print(muted(session, arguments.name, arguments.what == "mute"))
        elif arguments.what == "clear":
            session.clear()
            print("gradlab: forgotten; the next step begins a new run")
        else:
            if arguments.what != "status":
                session.trace(arguments.what == "on")
            print(status(session))


def budget(session: Session, percent: str | None) -> str:
    """Set what tracing may cost, where a percentage or `off` is given; one line that says how it stands.

    Raises: UsageError where it is neither.
    """
    governor = session.recorder.governor
    if percent == "off":
        governor.budget = None
    elif percent is not None:
        try:
            value = float(percent.removesuffix("%")) / 100
        except ValueError:
            value = -1.0
        if not 0 < value < math.inf:
            raise UsageError(f"budget: {percent} is no share of a step's time; a percentage such as 5 is needed, or off")
        governor.budget = value
    if governor.budget is None:
        return "gradlab: every step is read in full, whatever it costs"
    share, every = session.recorder.share, governor.every
    parts = [f"gradlab: tracing may take {100 * governor.budget:g} % of a step's time"]
    if share is not None:
        parts.append(f"it took {100 * share:.1f} %")
    if every > 1:
        parts.append(f"one step in {every} is read in full, the others for loss, gradient norm and learning rate")
    return " \u00b7 ".join(parts)


def _chosen(name: str, choices: Mapping[str, Chosen]) -> Chosen:
    """What is called so.

    Raises: UsageError where nothing is.
    """
    if name not in choices:
        raise UsageError(f"%gradlab: no {name!r}; choose from {', '.join(choices)}")
    return choices[name]


def capture(session: Session, limit_mib: str | None) -> str:
    """Keep the next step, and say so.

    Raises: UsageError where it is too large, tracing is off, or the limit is no number.
    """
    try:
        limit = CAPTURE_BYTES if limit_mib is None else int(float(limit_mib) * 2**20)
        size = session.recorder.capture_next(limit)
    except GradlabError as error:
        raise UsageError(str(error)) from None
    except ValueError:
        raise UsageError(f"%gradlab capture: {limit_mib!r} is no number of MiB") from None
    session.tell_capture()
    return f"gradlab: the next step is kept, about {size / 2**20:.1f} MiB, until %gradlab release"


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


def explanation(session: Session) -> str:
    """All findings as text, and how many rules had what they need."""
    diagnosis = session.stream.diagnosis
    diagnosis.update(asked=True)
    found = len(diagnosis.findings)
    head = f"gradlab: {found or 'no'} finding{'s' * (found != 1)} · {diagnosis.ran} rules ran, {diagnosis.lacking} lack data"
    if diagnosis.muted:
        head += f" · muted: {', '.join(sorted(diagnosis.muted))}"
    return "\n\n".join([head, *map(str, diagnosis.findings)])


def muted(session: Session, rule: str | None, on: bool) -> str:
    """Ask a rule no more, or again, and say which rules are not asked."""
    diagnosis = session.stream.diagnosis
    if rule in RULES:
        diagnosis.mute(rule, on)
        session.refresh()
    return f"gradlab: muted: {', '.join(sorted(diagnosis.muted)) or 'no rule'}"
