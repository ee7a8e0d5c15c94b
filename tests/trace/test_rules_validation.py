"""R16 and R17 find what is planted in trainings by a Trainer, and sound ones are silent."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.trace import diagnose, recording
from gradlab.trace.rules import RULES, Evidence

from .epochs import PLANTS
from .plants import Plant
from .training import findings, warned

FAULTS = [pytest.param(one, id=one.name) for one in PLANTS if one.rule]
SOUND = [pytest.param(one, id=one.name) for one in PLANTS if not one.rule]


@pytest.mark.parametrize("plant", FAULTS)
def test_a_planted_fault_is_found_within_its_patience(plant: Plant) -> None:
    gl.manual_seed(11)
    seen = findings(plant.train(), plant.patience, rule=plant.rule)
    assert plant.rule in (warned(seen) if RULES[plant.rule].severity == "warning" else seen)
    finding = seen[plant.rule].finding
    assert "**" in finding.verdict and finding.why and finding.next and finding.code and finding.learn
    assert finding.numbers and finding.trend is not None and len(finding.trend.values) > 3


@pytest.mark.parametrize("plant", SOUND)
def test_a_sound_training_has_no_warning(plant: Plant) -> None:
    gl.manual_seed(11)
    seen = findings(plant.train(), plant.patience)
    assert warned(seen) == {}
    assert not {"R16", "R17"} & {*seen}


def evidence(train: list[float], validation: list[float], name: str = "loss") -> gl.trace.Recorder:
    """A recorder that was told of these epochs."""
    recorder = gl.trace.Recorder()
    trainer = object()
    for epoch, (a, b) in enumerate(zip(train, validation, strict=True), 1):
        row = {"epoch": epoch, "loss": 1.0, name: a, f"val_{name}": b, "lr": 0.1}
        recorder.end(recorder.begin("epoch", trainer, (epoch,)), row, None)
    return recorder


def said(rule: str, *columns: list[float], name: str = "loss") -> list[str]:
    return [finding.severity or RULES[rule].severity for finding in RULES[rule].check(Evidence(evidence(*columns, name=name)))]


FALLING = [1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1]


@pytest.mark.parametrize(
    ("validation", "train", "severity"),
    [
        ([1.0, 0.8, 0.7, 0.75, 0.8, 0.9, 1.0], FALLING, ["warning"]),
        ([1.0, 0.8, 0.7, 0.72, 0.73, 0.74, 0.75], FALLING, ["info"]),  # it rises, but hardly
        ([1.0, 0.8, 0.7, 0.72, 0.71, 0.74, 0.72], FALLING, []),  # noise
        ([1.0, 0.8, 0.7, 0.65, 0.6, 0.58, 0.57], FALLING, []),  # a gap alone is nothing
        ([1.0, 0.8, 0.7, 0.65, 0.6, 0.7, 0.9], FALLING, []),  # not yet three
        ([0.1, 0.09, 0.08, 0.1, 0.11, 0.12, 0.13], [1.0] * 7, []),  # training does not fall
        ([1.0, 0.05, 0.01, 0.012, 0.013, 0.012, 0.013], FALLING, []),  # far below where it began
        ([1.0, 0.8, float("nan"), 0.75, 0.8, 0.9, 1.0], FALLING, []),
        ([1.0, 0.8, 0.9, 1.0], FALLING[:4], []),  # too early
    ],
)
def test_what_counts_as_learnt_by_heart(validation, train, severity) -> None:
    assert said("R16", train, validation) == severity


@pytest.mark.parametrize(
    ("validation", "train", "found"),
    [
        ([0.5, 0.8, 0.99, 1.0], [0.5, 0.8, 0.9, 0.99], True),
        ([0.5, 0.8, 0.98, 0.99], [0.5, 0.8, 0.9, 0.99], False),
        ([0.5, 0.8, 0.9, 0.9], [0.5, 0.6, 0.7, 0.75], True),
        ([0.5, 0.8, 0.9, 0.9], [0.5, 0.6, 0.7, 0.88], False),
        ([0.5, 0.8, 1.0], [0.5, 0.8, 1.0], False),  # too early
    ],
)
def test_what_counts_as_too_good(validation, train, found) -> None:
    assert said("R17", train, validation, name="accuracy") == ["info"] * found


def test_a_second_trainer_is_judged_by_its_own_epochs() -> None:
    recorder = evidence(FALLING, [1.0, 0.8, 0.7, 0.75, 0.8, 0.9, 1.0])
    assert [finding.rule for finding in diagnose(recorder)] == ["R16"]
    for epoch, (a, b) in enumerate(zip(FALLING, FALLING, strict=True), 1):
        recorder.end(recorder.begin("epoch", recorder, (epoch,)), {"epoch": epoch, "loss": a, "val_loss": b}, None)
    assert diagnose(recorder) == []


def test_without_validation_they_say_nothing() -> None:
    recorder = gl.trace.Recorder()
    recorder.end(recorder.begin("epoch", recorder, (1,)), {"epoch": 1, "loss": 1.0}, None)
    assert not Evidence(recorder).has("validation")
    with recording() as watched:
        gl.ones(2).sum()
    assert not Evidence(watched).has("validation")


def test_steps_of_epochs_are_those_of_the_run() -> None:
    gl.manual_seed(0)
    model = gl.nn.Linear(3, 2)
    trainer = gl.Trainer(model, gl.optim.SGD(model.parameters(), lr=0.1), gl.nn.CrossEntropyLoss(), progress=False)
    data = gl.data.DataLoader((np.ones((12, 3), np.float32), np.arange(12) % 2), 4)
    with recording() as recorder:
        trainer.fit(data, data, epochs=3)
    assert recorder.step == 9
    assert Evidence(recorder).validated("loss")[0].tolist() == [3, 6, 9]
