"""Finding: what a rule has to say, in the order in which a person asks: what, why, how do you know, what now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Severity = Literal["info", "warning", "error"]

ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}
"""The worst first."""

MOST_POINTS = 200
"""Points of a trend that are kept: as many as a card is pixels wide."""


def percent(share: float, digits: int = 0) -> str:
    """A share as it is written in texts.

    >>> percent(0.114), percent(0.9876, 1)
    ('11 %', '98.8 %')
    """
    return f"{100 * share:.{digits}f} %"


class Number(NamedTuple):
    """A measured number beside what it is held against: `Number("update : weight", 0.083, "good up to 5e-3")`."""

    name: str
    value: float
    limit: str = ""


class Trend(NamedTuple):
    """A number over the steps, for a small line; what lies outside of `low..high` is drawn as bad.

    Build it with `Trend.of`, which keeps the newest points.
    """

    label: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, label: str, points: tuple[object, object], *, low: float | None = None, high: float | None = None) -> Trend:
        """A trend of what `Evidence.column` gave: arrays of steps and values."""
        steps, values = points
        newest = slice(-MOST_POINTS, None)
        return cls(label, tuple(map(int, steps[newest])), tuple(map(float, values[newest])), low, high)  # type: ignore[index]


@dataclass(frozen=True, slots=True)
class Finding:
    """One card. In the texts, `code` stands between backticks and **what counts** between two stars.

    Attributes:
        title: the problem in at most eight words.
        verdict: one sentence with the number.
        why: which op, which cell, and what it comes from.
        next: what to do, in a sentence.
        code: the same as lines to paste.
        trend: the number over time, with its band.
        numbers: what was measured, each beside its threshold.
        op: the op it is about, by its place in the structure that was read.
        leaf: the leaf, likewise.
        parameter: the parameter, by its label in the timeline.
        where: the line of it, as `In[3]:9` or `train.py:12`.
        step: the step at which it was seen.
        subject: tells findings of one rule apart, from step to step.
        severity: as bad as its rule can be, where it doesn't say less.
        rule: the id of the rule.
        learn: what is behind it, in a few sentences, with the source.
    """

    title: str
    verdict: str
    why: str = ""
    next: str = ""
    code: str = ""
    trend: Trend | None = None
    numbers: tuple[Number, ...] = ()
    op: int | None = None
    leaf: int | None = None
    parameter: str | None = None
    where: str = ""
    step: int | None = None
    subject: str = ""
    severity: Severity | None = None
    rule: str = ""
    learn: str = ""

    @property
    def key(self) -> str:
        """Names this finding as long as it stands: the rule and its subject."""
        return f"{self.rule}:{self.subject}"

    def __str__(self) -> str:
        """The card as text.

        >>> print(Finding("A leak", "It is **3** bytes.", next="Close it.", rule="R0", severity="info"))
        info  R0  A leak
          Verdict   It is 3 bytes.
          Next      Close it.
        """
        lines = [f"{self.severity or 'warning'}  {self.rule}  {self.title}"]
        for name, text in (("Verdict", self.verdict), ("Why", self.why), ("Next", self.next)):
            if text:
                lines.append(f"  {name:<10}{text.replace('**', '')}")
        lines[2:2] = [f"  {'':<10}{n.name} {n.value:.3g}{f' ({n.limit})' if n.limit else ''}" for n in self.numbers]
        lines += [f"  {'':<10}    {line}" for line in self.code.splitlines()]
        return "\n".join(lines)
