"""The rules on numbers find what is planted within their patience, also where few steps are read, and healthy runs are silent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from gradlab.trace import diagnose, recording
from gradlab.trace.rules import RULES

from .plants import PLANTS, Plant, classify, mlp, sgd
from .training import LESSONS, findings, of_script, warned

NUMERIC = ("R2", "R3", "R4", "R5", "R6", "R10", "R11", "R14", "R15", "R23")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")


def those(*rules: str) -> list[object]:
    return [pytest.param(one, id=f"{one.rule} {one.name}") for one in PLANTS if one.rule in rules]


@pytest.mark.parametrize("plant", those(*NUMERIC))
def test_a_planted_fault_is_found_within_its_patience(plant: Plant) -> None:
    gl.manual_seed(11)
    seen = findings(plant.train(), plant.patience, rule=plant.rule)
    assert plant.rule in warned(seen), seen
    finding = seen[plant.rule].finding
    assert "**" in finding.verdict
    assert finding.why
    assert finding.next
    assert finding.learn
    assert finding.numbers or "alike" in finding.title


@pytest.mark.slow
@pytest.mark.parametrize("plant", those(*NUMERIC))
def test_one_full_step_in_nine_is_enough_in_four_times_the_patience(plant: Plant) -> None:
    gl.manual_seed(11)
    assert plant.rule in warned(findings(plant.train(), 4 * plant.patience, rule=plant.rule, every=9))


@pytest.mark.slow
@pytest.mark.parametrize("plant", those(*NUMERIC))
def test_one_full_step_in_99_is_enough_in_1500_steps(plant: Plant) -> None:
    gl.manual_seed(11)
    assert plant.rule in warned(findings(plant.train(), 1500, rule=plant.rule, every=99, look=25))


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 9])
@pytest.mark.parametrize("plant", those(""))
def test_a_healthy_run_has_no_warning(plant: Plant, every: int) -> None:
    gl.manual_seed(11)
    seen = findings(plant.train(), plant.patience, every=every)
    assert warned(seen) == {}
    assert set(seen) <= {"R4", "R5", "R10", "R11"}  # remarks


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("[0-9]*.py")), ids=lambda path: path.stem)
def test_the_examples_have_no_warning(path: Path) -> None:
    if path.name not in LESSONS:
        assert warned(of_script(path)) == {}


def test_every_rule_on_numbers_has_three_plants() -> None:
    for rule in NUMERIC:
        assert rule in RULES
        assert len(those(rule)) >= 3, rule


def test_a_run_seen_only_at_its_end_is_judged_too() -> None:
    gl.manual_seed(11)
    training = next(one for one in PLANTS if one.name.startswith("half of 80 biases")).train()
    with gl.trace.recording(dict) as recorder:
        for _ in range(60):
            next(training)
        found = gl.trace.diagnose(recorder)
    dead = next(finding for finding in found if finding.rule == "R4")
    assert dead.op is not None
    assert recorder.structure()["ops"][dead.op]["function"] == "ReLU"
    assert np.isclose(dead.numbers[0].value, 0.5, atol=0.1)


@pytest.mark.parametrize("every", [1, 99])
def test_a_net_that_died_of_long_steps_is_not_told_to_make_longer_ones(every: int) -> None:
    gl.manual_seed(0)
    seen = findings(classify(mlp(64, 128, 64, 10), sgd(1.0, 0.9), batch=32), 225, every=every)
    assert seen["R4"].finding.severity == "error"
    assert not {"R6", "R15"} & {rule for rule, one in seen.items() if "Raise" in one.finding.next}


@pytest.mark.parametrize("plant", those("R4", "R5"))
def test_single_units_are_read_in_light_steps_too(plant: Plant) -> None:
    gl.manual_seed(11)
    assert plant.rule in warned(findings(plant.train(), 300, rule=plant.rule, every=99, look=25))


@pytest.mark.parametrize(("lr", "title"), [(0.4, "Updates are too large"), (1e-6, "Updates are tiny")])
def test_r6_says_how_far_the_latest_steps_moved_the_weight_and_its_own_limit(lr: float, title: str) -> None:
    gl.manual_seed(2)
    rng = np.random.default_rng(0)
    model = gl.nn.Sequential(gl.nn.Linear(8, 16), gl.nn.Tanh(), gl.nn.Linear(16, 1))
    optimizer = gl.optim.SGD(model.parameters(), lr=lr)
    weights = {name: p for name, p in model.named_parameters() if p.ndim == 2}
    moved: dict[str, list[float]] = {name: [] for name in weights}
    with recording() as recorder:
        for _ in range(40):
            x = gl.tensor(rng.normal(size=(8, 8)).astype(np.float32))
            optimizer.zero_grad()
            (model(x) - gl.tensor(rng.normal(size=(8, 1)).astype(np.float32))).pow(2).mean().backward()
            before = {name: np.array(p.data, np.float64) for name, p in weights.items()}
            optimizer.step()
            for name, p in weights.items():
                moved[name].append(float(np.linalg.norm(p.data - before[name]) / np.linalg.norm(before[name])))
    finding = next(one for one in diagnose(recorder) if one.rule == "R6")
    u = float(np.median(moved[finding.parameter][-16:]))
    assert finding.title == title and finding.numbers[0].value == pytest.approx(u, rel=1e-3)
    high = lr == 0.4
    share = f"**{100 * u:.0f} %**" if high else f"only **{u:.1e}**"
    assert finding.verdict.startswith(f"The latest steps move `{finding.parameter}` by {share} of its size")
    assert finding.trend is not None and finding.trend.label == f"update : weight of {finding.parameter}"
    assert (finding.trend.low, finding.trend.high) == ((None, 0.1) if high else (1e-5, None))
    assert finding.trend.values[-16:] == pytest.approx(moved[finding.parameter][-16:], rel=1e-3)
