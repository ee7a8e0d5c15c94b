"""The engine: what rules are asked, when, and what becomes of what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import gradlab as gl
from gradlab.notebook import protocol
from gradlab.trace import Recorder, diagnose, recording
from gradlab.trace.rules import RULES, Diagnosis, Evidence, Finding, Number, Rule, Trend
from gradlab.trace.rules.rule import graded


def trained(steps: int = 3) -> Recorder:
    w = gl.randn(3, 2, requires_grad=True)
    optimizer = gl.optim.SGD([w], lr=0.1)
    with recording(lambda: {id(w): "w"}) as recorder:
        for _ in range(steps):
            (gl.ones(4, 3) @ w).tanh().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    return recorder


def steep(e: Evidence) -> Iterator[Finding]:
    steps, values = e.column("grad_norm")
    trend = Trend.of("grad_norm", (steps, values), high=0.1)
    yield Finding("Steep", f"{values[-1]}", trend=trend, numbers=(Number("g", values[-1]),), step=3)


def test_a_rule_is_asked_when_it_has_what_it_needs() -> None:
    rule = Rule("R99", "steep", "warning", ("updates", "gradients"), steep)
    empty = Diagnosis(Recorder(), {"R99": rule})
    empty.update()
    assert (empty.findings, empty.ran, empty.lacking) == ((), 0, 1)
    full = Diagnosis(trained(), {"R99": rule})
    full.update()
    (finding,) = full.findings
    assert (full.ran, full.lacking, finding.rule, finding.severity) == (1, 0, "R99", "warning")
    assert finding.trend is not None
    assert finding.trend.steps == (1, 2, 3)


def test_evidence_has_the_columns_of_the_newest_steps() -> None:
    recorder = trained(300)
    evidence = Evidence(recorder)
    steps, values = evidence.column("g/w")
    first, rows = recorder.timeline.rows(300 - 256)
    assert steps.tolist() == list(range(first, 301))
    assert values.tolist() == rows[:, recorder.timeline.columns().index("g/w")].tolist()
    assert len(evidence.column("g/nothing")[0]) == 0


def test_a_muted_rule_is_not_asked_until_it_is_unmuted() -> None:
    diagnosis = Diagnosis(trained(), {"R99": Rule("R99", "steep", "warning", ("updates",), steep)})
    diagnosis.mute("R99")
    assert (diagnosis.findings, diagnosis.ran) == ((), 0)
    diagnosis.mute("R99", False)
    assert len(diagnosis.findings) == 1


def test_a_rule_that_fails_is_switched_off_with_a_warning() -> None:
    def wrong(e: Evidence) -> Iterator[Finding]:
        raise ZeroDivisionError

    diagnosis = Diagnosis(trained(), {"R98": Rule("R98", "wrong", "info", (), wrong), "R99": Rule("R99", "steep", "info", (), steep)})
    with pytest.warns(UserWarning, match="rule R98 failed and is off"):
        diagnosis.update()
    diagnosis.update()
    assert [finding.rule for finding in diagnosis.findings] == ["R99"]


def test_a_rule_of_the_structure_is_asked_once_for_each_structure() -> None:
    asked: list[str] = []

    def seen(e: Evidence) -> Iterator[Finding]:
        asked.append(e.structure["key"])
        yield Finding("Seen", "once")

    recorder = trained()
    diagnosis = Diagnosis(recorder, {"R99": Rule("R99", "seen", "info", ("structure",), seen, once=True)})
    for _ in range(3):
        diagnosis.update()
    assert len(asked) == 1
    assert len(diagnosis.findings) == 1
    recorder.attach()
    gl.ones(2, 2).sum()
    recorder.detach()
    diagnosis.update()
    assert len(asked) == len(set(asked)) == 2


def test_the_worst_comes_first() -> None:
    def mixed(e: Evidence) -> Iterator[Finding]:
        yield Finding("a", "a", severity="info", subject="a")
        yield Finding("b", "b", severity="error", subject="b")
        yield Finding("c", "c", subject="c")

    diagnosis = Diagnosis(trained(), {"R99": Rule("R99", "mixed", "warning", (), mixed)})
    diagnosis.update()
    assert [finding.severity for finding in diagnosis.findings] == ["error", "warning", "info"]


def test_of_many_findings_of_one_rule_a_few_are_shown() -> None:
    def many(e: Evidence) -> Iterator[Finding]:
        for i in range(30):
            yield Finding("Again", "It is so.", subject=f"{i:02}")

    diagnosis = Diagnosis(trained(), {"R99": Rule("R99", "many", "warning", (), many)})
    diagnosis.update()
    assert [finding.subject for finding in diagnosis.findings] == ["00", "01", "02", "03"]
    assert diagnosis.findings[-1].verdict == "It is so. 26 more like it are not shown."


def test_while_a_cell_runs_a_new_graph_is_looked_at_at_once_and_all_else_when_it_is_time() -> None:
    asked: list[str] = []

    def numbers(e: Evidence) -> Iterator[Finding]:
        asked.append("numbers")
        yield Finding("Numbers", "n")

    def graphs(e: Evidence) -> Iterator[Finding]:
        asked.append("graph")
        yield Finding("Graph", "g")

    recorder = trained()
    rules = {"R98": Rule("R98", "n", "info", (), numbers), "R99": Rule("R99", "g", "info", ("structure",), graphs, once=True)}
    diagnosis = Diagnosis(recorder, rules)
    diagnosis.look()
    recorder.attach()
    gl.ones(2, 2).sum()
    recorder.detach()
    diagnosis.look(settled=False)
    diagnosis.look(settled=False)
    assert asked == ["numbers", "graph", "graph"]
    assert [finding.rule for finding in diagnosis.findings] == ["R98", "R99"]


def test_one_hit_is_a_remark_and_two_are_what_the_rule_says() -> None:
    assert [graded(hits, "error") for hits in range(4)] == [None, "info", "error", "error"]


def test_every_rule_has_an_id_a_title_and_a_source() -> None:
    for id, rule in RULES.items():
        assert id == rule.id
        assert rule.title
        assert len(rule.learn) > 80
        assert "  " not in rule.learn


def test_findings_travel_as_strict_json_and_little_endian_buffers() -> None:
    recorder = trained()
    diagnosis = Diagnosis(recorder, {"R99": Rule("R99", "steep", "warning", (), steep)})
    diagnosis.update()
    message = protocol.findings(run=1, step=3, key="k", ran=1, lacking=0, muted=[], findings=diagnosis.findings)
    json.dumps(message.content, allow_nan=False)
    steps, values = message.buffers
    assert (len(steps), len(values)) == (12, 12)
    assert message.content["findings"][0]["trend"] == {"label": "grad_norm", "low": None, "high": 0.1}


def test_diagnose_without_a_recorder_says_nothing() -> None:
    assert diagnose() == []


def test_looking_holds_no_tensor() -> None:
    import gc
    import weakref

    w = gl.randn(3, 2, requires_grad=True)
    with recording() as recorder:
        y = (gl.ones(4, 3) @ w).tanh()
        diagnose(recorder)
    reference = weakref.ref(y)
    del y
    gc.collect()
    assert reference() is None
