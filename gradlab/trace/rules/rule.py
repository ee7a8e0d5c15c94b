"""Rule: a check with an id, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .evidence import Evidence, Part
from .finding import Finding, Severity

Check = Callable[[Evidence], Iterable[Finding]]

ENOUGH_HITS = 2
"""So often a number must be out of its band, in the window that a rule looks at, before it is more than a remark."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: it reads evidence, never a tensor, and yields a finding for each thing that is wrong.

    Attributes:
        id: as in the documentation, `R13`.
        title: what it looks for.
        severity: how bad its findings are; one that says less of itself keeps that.
        needs: the parts of the evidence without which it can't say anything.
        check: the rule itself.
        learn: what is behind it, with the source.
        once: it reads the structure alone, so that it is asked once for each.
    """

    id: str
    title: str
    severity: Severity
    needs: tuple[Part, ...]
    check: Check
    learn: str = ""
    once: bool = False


RULES: dict[str, Rule] = {}
"""All rules, by id."""


def rule(id: str, title: str, severity: Severity, *needs: Part, once: bool = False) -> Callable[[Check], Check]:
    """Decorate a check to make it a rule; its docstring is what Learn shows."""

    def add(check: Check) -> Check:
        lines = (check.__doc__ or "").strip().splitlines()
        RULES[id] = Rule(id, title, severity, needs, check, " ".join(line.strip() for line in lines if line.strip()), once)
        return check

    return add


def graded(hits: int, severity: Severity) -> Severity | None:
    """How bad a number that was out of its band in `hits` of the steps looked at is: never, a remark, or as bad as the rule says.

    >>> graded(0, "warning"), graded(1, "warning"), graded(2, "warning")
    (None, 'info', 'warning')
    """
    return None if not hits else "info" if hits < ENOUGH_HITS else severity
