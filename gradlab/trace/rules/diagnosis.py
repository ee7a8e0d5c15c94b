"""Diagnosis: asks the rules about a recorder, and keeps what they found."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..collector import uncollected
from ..recorder import Recorder
from .evidence import Evidence
from .finding import ORDER, Finding
from .rule import RULES, Rule

INTERVAL = 0.5
"""Seconds between two looks while a cell runs, at least."""

_SHARE = 0.02  # of the time, at most, goes into looking while a cell runs
_MOST = 20  # findings on show
_MOST_A_RULE = 4


class Diagnosis:
    """What the rules say of a recorder now.

    Attributes:
        findings: the worst first.
        version: counts changes of `findings`, of what is muted and of which rules ran.
        ran, lacking: how many rules had what they need, and how many had not.
        muted: ids of rules that are not asked.
        key: of the structure that the findings' ops and leaves are places in.

    >>> import gradlab as gl
    >>> from gradlab.trace import recording
    >>> x, y = gl.randn(64, 1), gl.randn(64)
    >>> w = gl.randn(1, 1, requires_grad=True)
    >>> with recording() as r:
    ...     ((x @ w - y) ** 2).mean().backward()
    >>> diagnosis = Diagnosis(r)
    >>> diagnosis.update()
    True
    >>> [finding.rule for finding in diagnosis.findings]
    ['R13']
    """

    def __init__(self, recorder: Recorder, rules: Mapping[str, Rule] = RULES) -> None:
        self.recorder = recorder
        self.rules = dict(rules)
        self.muted: set[str] = set()
        self.findings: tuple[Finding, ...] = ()
        self.version = self.ran = self.lacking = 0
        self.key = ""
        self._failed: set[str] = set()
        self._by_structure: tuple[str, dict[str, tuple[Finding, ...]]] = ("", {})
        self._next = 0.0

    def mute(self, rule: str, on: bool = True) -> None:
        """Ask a rule no more, or again."""
        if on:
            self.muted.add(rule)
        else:
            self.muted.discard(rule)
        self.update()
        self.version += 1

    def look(self, settled: bool = True) -> None:
        """Look again: where nothing runs at once, else where it is time to; at a graph that is new at once, but only at it."""
        if settled or time.monotonic() >= self._next:
            self.update()
        elif self.recorder.structure()["key"] != self.key:
            self._update([rule for rule in self.rules.values() if rule.once])

    def update(self, asked: bool = False) -> bool:
        """Ask every rule, and say whether anything changed; `asked`: by the cell that runs, so that it does not train meanwhile."""
        began = time.monotonic()
        changed = self._update(list(self.rules.values()), asked)
        ended = time.monotonic()
        self._next = ended + max(INTERVAL, (ended - began) / _SHARE)
        return changed

    @uncollected
    def _update(self, rules: list[Rule], by_cell: bool = False) -> bool:
        asked = {rule.id for rule in rules}
        with self.recorder.lock:
            evidence = Evidence(self.recorder, by_cell)
            found = [finding for finding in self.findings if finding.rule not in asked and finding.rule not in self.muted]
            ran = lacking = 0
            for rule in rules:
                if rule.id in self.muted or rule.id in self._failed:
                    continue
                if all(map(evidence.has, rule.needs)):
                    ran += 1
                    found += self._asked(rule, evidence)
                else:
                    lacking += 1
        if len(rules) < len(self.rules):
            ran, lacking = self.ran, self.lacking
        findings = _shown(found)
        changed = findings != self.findings or (ran, lacking) != (self.ran, self.lacking)
        self.findings, self.ran, self.lacking, self.key = findings, ran, lacking, evidence.structure["key"]
        self.version += changed
        return changed

    def _asked(self, rule: Rule, evidence: Evidence) -> tuple[Finding, ...]:
        if rule.once:
            key = evidence.structure["key"]
            if self._by_structure[0] != key:
                self._by_structure = key, {}
            known = self._by_structure[1].get(rule.id)
            if known is not None:
                return known
        try:
            found = tuple(_signed(rule, evidence))
        except Exception as error:
            self._failed.add(rule.id)
            warnings.warn(f"rule {rule.id} failed and is off: {error!r}; training goes on", stacklevel=2)
            return ()
        if rule.once:
            self._by_structure[1][rule.id] = found
        return found


def _shown(found: list[Finding]) -> tuple[Finding, ...]:
    """The worst first, and of each rule only a few, the last of which says how many more there are."""
    found = sorted(found, key=lambda f: (ORDER[f.severity or "warning"], -(f.step or 0), int(f.rule[1:]), f.subject))
    counts = Counter(f.rule for f in found)
    shown: list[Finding] = []
    seen: Counter[str] = Counter()
    for finding in found:
        seen[finding.rule] += 1
        more = counts[finding.rule] - _MOST_A_RULE
        if seen[finding.rule] < _MOST_A_RULE or more <= 0:
            shown.append(finding)
        elif seen[finding.rule] == _MOST_A_RULE:
            shown.append(replace(finding, verdict=f"{finding.verdict} {more} more like it are not shown."))
    return tuple(shown[:_MOST])


def _signed(rule: Rule, evidence: Evidence) -> Iterator[Finding]:
    for finding in rule.check(evidence):
        yield replace(finding, rule=rule.id, learn=rule.learn, severity=finding.severity or rule.severity)


def diagnosis_of(recorder: Recorder) -> Diagnosis:
    """The one diagnosis of a recorder, which also knows what is muted."""
    if recorder.diagnosis is None:
        recorder.diagnosis = Diagnosis(recorder)
    return recorder.diagnosis
