"""The page of all ops is what the classes say, and that of findings what trainings give."""

from __future__ import annotations

import importlib.util
import inspect
import json
from pathlib import Path

import pytest

from benchmarks.problems import WORKLOADS
from gradlab import ops
from gradlab.function import Function
from gradlab.trace.rules import RULES

ROOT = Path(__file__).parent.parent


def made(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / f"docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script():
    return made("ops")


@pytest.fixture(scope="module")
def reference():
    return made("reference")


def test_the_page_of_ops_is_up_to_date(script):
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "write it again: python docs/ops.py"


def test_the_page_lists_every_op_and_every_formula(script):
    text = script.page()
    for name, f in vars(ops).items():
        if isinstance(f, type) and issubclass(f, Function):
            assert f"`{name}`: " in text and f.latex in text, name
        elif inspect.isfunction(f) and name != "raw_index":
            assert f"`{name}(" in text, name


def test_every_file_of_ops_has_its_family(script):
    assert "Others" not in script.families()


def test_the_reference_is_up_to_date_and_says_what_compares_every_layer_with_pytorch(reference):
    text = reference.page()
    assert reference.PAGE.read_text(encoding="utf-8") == text, "write it again: python docs/reference.py"
    for package in reference.PACKAGES:
        for name in reference.names(package):
            assert f"### `{name}(" in text
    compared = text.count("**Compared with PyTorch** by ")
    assert compared == len([n for package in reference.COMPARED for n in reference.names(package) if n in reference.comparisons()]) > 150


def test_every_layer_says_its_shapes(reference):
    from gradlab import nn

    layers = [c for c in reference.names("gradlab.nn").values() if isinstance(c, type) and issubclass(c, nn.Module)]
    assert not [c.__name__ for c in layers if "Shapes:" not in (inspect.getdoc(c) or "") and c.__name__ not in reference.HOLDERS]


def test_the_readme_leads_to_the_pages():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/ops.md" in text
    assert "docs/findings.md" in text
    assert "docs/reference.md" in text
    assert "docs/performance.md" in text


def test_the_page_of_performance_is_what_was_measured_and_compares_every_workload_with_every_peer():
    performance = made("performance")
    text = performance.page()
    assert performance.PAGE.read_text(encoding="utf-8") == text, "write it again: python docs/performance.py"
    measured = json.loads(performance.FIGURES.read_text(encoding="utf-8"))["workloads"]
    assert set(measured) == set(WORKLOADS)
    assert all({"numpy", *performance.PEERS} <= set(rows) for rows in measured.values())
    assert all(rows["gradlab"]["first"] == pytest.approx(rows["numpy"]["first"], rel=1e-4) for rows in measured.values())


@pytest.fixture(scope="module")
def findings():
    return made("findings")


@pytest.mark.slow
def test_the_page_of_findings_is_what_its_trainings_give(findings):
    assert findings.PAGE.read_text(encoding="utf-8") == findings.page(), "write it again: python docs/findings.py"


def test_the_page_of_findings_has_every_rule_with_three_faults_and_every_run(findings):
    text = findings.PAGE.read_text(encoding="utf-8")
    for rule, one in RULES.items():
        assert f"- **{rule}, {one.title}.** {one.learn}" in text, "write it again: python docs/findings.py"
        assert sum(plant.rule == rule for plant in findings.PLANTS) >= 3, f"plant three faults for {rule} in tests/trace"
    for rule in findings.ASKED:
        assert sum(one.rule == rule and one.fault for one in findings.plants.ASKED) >= 3
    for plant in findings.PLANTS:
        assert f"| {plant.name} | {plant.patience} |" in text, "write it again: python docs/findings.py"
