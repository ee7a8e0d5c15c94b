"""Pause, step, resume and breakpoints, as the page asks for them and as `%gradlab` words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError
from ..trace import ConditionError
from ..trace.reading import named
from .requests import answers
from .session import Session

HELP = """\
%gradlab pause        hold training at the end of the step; also `resume`, `step 3` and `step op`
%gradlab break nan    pause where an op makes a NaN; also loss > 10, grad_norm("fc2") > 100, step == 500, op("log"), with
                      and, or, not, parentheses; --raise raises instead; `break --list`, `break --clear` (all, or a number)
%gradlab probe fc1 rms
                      read one number more a step: norm, rms, mean, max or zeros of a module's output (fc1), a parameter
                      (fc1.weight) or its gradient (fc1.weight.grad, fc1.grad); `probe --list`, `probe --clear`"""


@answers("gate")
def gate(session: Session) -> dict[str, Any]:
    """Whether training is held, and whether this request came while a cell ran."""
    return session.gate()


@answers("pause")
def pause(session: Session) -> dict[str, Any]:
    """Hold at the end of the step."""
    session.debugger.pause()
    return session.gate()


@answers("resume")
def resume(session: Session) -> dict[str, Any]:
    """Go on."""
    session.debugger.resume()
    return session.gate()


@answers("step")
def step(session: Session, count: int = 1) -> dict[str, Any]:
    """Go on for some steps."""
    if not isinstance(count, int) or count < 1:
        raise ArgumentError(f"step: count must be a whole number from 1 on, not {count!r}")
    session.debugger.step(count)
    return session.gate()


@answers("step op")
def step_op(session: Session) -> dict[str, Any]:
    """Go on to the next op."""
    session.debugger.step_op()
    return session.gate()


@answers("break")
def add(session: Session, condition: str, raises: bool = False) -> dict[str, Any]:
    """Set a breakpoint."""
    if not isinstance(condition, str):
        raise ArgumentError(f"break: a condition is text, not {condition!r}")
    session.debugger.add(condition, raises=bool(raises))
    return breaks(session)


@answers("breaks")
def breaks(session: Session) -> dict[str, Any]:
    """All breakpoints, with how often each was met."""
    found = session.debugger.breakpoints
    return {"breaks": [{"number": b.number, "text": str(b), "raises": b.raises, "hits": b.hits} for b in found]}


@answers("clear breaks")
def clear(session: Session, number: int | None = None) -> dict[str, Any]:
    """Remove one breakpoint, or all."""
    session.debugger.clear(number)
    return breaks(session)


@answers("probe")
def probe(session: Session, what: str) -> dict[str, Any]:
    """Read one number more in every step."""
    if not isinstance(what, str):
        raise ArgumentError(f"probe: a name and a measure are text, not {what!r}")
    session.debugger.probe(what)
    return {"probes": [p.name for p in session.debugger.probes.all]}


def pause_words(session: Session, rest: str) -> str:
    """`%gradlab pause`."""
    _nothing_more("pause", rest)
    session.debugger.pause()
    return "gradlab: training pauses at the end of its step"


def resume_words(session: Session, rest: str) -> str:
    """`%gradlab resume`."""
    _nothing_more("resume", rest)
    session.debugger.resume()
    return "gradlab: training goes on"


def step_words(session: Session, rest: str) -> str:
    """`%gradlab step`, `%gradlab step 3` or `%gradlab step op`."""
    if rest == "op":
        session.debugger.step_op()
        return "gradlab: training pauses at the next op"
    if rest and not re.fullmatch(r"[1-9]\d{0,8}", rest):
        raise ArgumentError(f"%gradlab step: {rest!r} is no number of steps\n  takes: nothing, a number, or op")
    steps = int(rest or 1)
    session.debugger.step(steps)
    return f"gradlab: training pauses after {steps:,} step{'s' * (steps != 1)}"


def break_words(session: Session, rest: str) -> str:
    """`%gradlab break CONDITION [--raise]`, `%gradlab break --list` or `%gradlab break --clear [NUMBER]`."""
    debugger = session.debugger
    if rest in ("", "--list"):
        if not debugger.breakpoints:
            return "gradlab: no breakpoints"
        return "\n".join(f"{b.number:3}  {b}  ({b.hits:,} hit{'s' * (b.hits != 1)})" for b in debugger.breakpoints)
    if (asked := re.fullmatch(r"--clear(?:\s+(\S+))?", rest)) is not None:
        if asked[1] is not None and not asked[1].isdecimal():
            raise ArgumentError(f"%gradlab break --clear: {asked[1]!r} is no number of a breakpoint")
        gone = debugger.clear(None if asked[1] is None else int(asked[1]))
        return f"gradlab: {gone or 'no'} breakpoint{'s' * (gone != 1)} cleared"
    condition, raises = re.subn(r"\s--raise\b", "", f" {rest}")
    if (option := re.search(r"(?<!\S)--\w+", condition)) is not None:
        raise ConditionError(f"break: no option {option[0]}\n  takes: a condition, --raise, --list, --clear [number]")
    breakpoint = debugger.add(condition, raises=bool(raises))
    what = "raises" if breakpoint.raises else "pauses"
    return f"gradlab: breakpoint {breakpoint.number} {what} where {breakpoint.condition.text}{_note(session, breakpoint.condition.words)}"


def probe_words(session: Session, rest: str) -> str:
    """`%gradlab probe NAME MEASURE`, `%gradlab probe --list` or `%gradlab probe --clear`."""
    debugger = session.debugger
    if rest in ("", "--list"):
        read = debugger.recorder.steps.run.probes
        lines = [f"{p.name}  {read[f'p/{p.name}'][1]:.6g}" if f"p/{p.name}" in read else f"{p.name}  -" for p in debugger.probes.all]
        return "\n".join(lines) or "gradlab: no probes"
    if rest == "--clear":
        gone = debugger.clear_probes()
        return f"gradlab: {gone or 'no'} probe{'s' * (gone != 1)} cleared"
    return f"gradlab: from here on each step reads {debugger.probe(rest).name}, shown in the gradients panel"


WORDS: dict[str, Callable[[Session, str], str]] = {
    "pause": pause_words,
    "resume": resume_words,
    "step": step_words,
    "break": break_words,
    "probe": probe_words,
}
"""What `%gradlab WORD rest` does and says."""


def _nothing_more(word: str, rest: str) -> None:
    if rest:
        raise ArgumentError(f"%gradlab {word}: takes nothing more, not {rest!r}")


def _note(session: Session, words: list[tuple[str, str | None]]) -> str:
    """A name that nothing has so far is no error: the model may come later. But it is worth a word."""
    params = session.debugger.recorder.steps.params()
    known = sorted({p.leaf.name for p in params})
    for word, name in words:
        if word in ("grad_norm", "weight_norm", "update_ratio") and name and known and not named(params, name):
            modules = {part for k in known for part in (k, k.rpartition(".")[0]) if part}
            near = difflib.get_close_matches(name, modules, 3) or known[:3]
            return f"\n  so far no parameter's name begins with {name!r}; there are {', '.join(near)}"
    return ""
