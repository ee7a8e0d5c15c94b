"""The competitors of the benchmarks do the same work, and a figure that got worse is named."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import parts
from benchmarks.comparison import compared
from benchmarks.peers import PEERS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def steps(monkeypatch):
    monkeypatch.setenv("GRADLAB_BENCH_LIBRARY", "gradlab")

    def of(peer, workload):
        modules = [importlib.import_module(f"benchmarks.peers.{name}") for name in PEERS[peer][0]]
        return next(getattr(m, workload) for m in modules if hasattr(m, workload))()

    return of


@pytest.mark.parametrize("workload", ["infer1", "infer128", "mlp", "chain_400", "mlp8", "tiny", "cnn", "residual", "gpt", "lstm"])
def test_gradlab_and_numpy_by_hand_compute_the_same_numbers(steps, workload):
    ours, by_hand = steps("gradlab", workload), steps("numpy", workload)
    for _ in range(2):  # where parameters move, the second number depends on the gradients
        assert ours() == pytest.approx(by_hand(), rel=2e-4)


def test_one_command_prints_a_table_and_writes_figures_that_can_be_compared(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "benchmarks", "-w", "tiny", "-p", "numpy,gradlab", "-r", "1", "-s", "0.01", *arguments]
        return subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)

    first = run("--json", str(tmp_path / "a.json"))
    assert first.returncode == 0 and "| gradlab |" in first.stdout, first.stderr
    figures = json.loads((tmp_path / "a.json").read_text())
    assert figures["machine"]["numpy"] and figures["workloads"]["tiny"]["gradlab"]["x numpy"] > 0
    figures["workloads"]["tiny"]["gradlab"]["x numpy"] /= 1000
    (tmp_path / "b.json").write_text(json.dumps(figures))
    second = run("--compare", str(tmp_path / "b.json"))
    assert second.returncode == 1 and "tiny gradlab: x numpy" in second.stdout


def test_the_parts_of_a_step_are_those_of_numpy_by_hand_and_make_it_up(monkeypatch, capsys):
    monkeypatch.setattr(parts, "STEPS", 5)
    ours, limit = parts.timed(parts.gradlab_step()), parts.timed(parts.numpy_step())
    assert list(ours) == list(limit) == ["batch", "forward", "loss", "backward", "update", "all"]
    assert all(spent["all"] > 0.8 * sum(spent[part] for part in list(spent)[:-1]) for spent in (ours, limit))
    parts.main()
    assert len(capsys.readouterr().out.splitlines()) == 8


def test_what_is_absent_before_or_now_is_no_worse():
    row = {"x numpy": 2.0, "ms": 1.0, "peak MB": 40.0}
    before = {"workloads": {"mlp": {"gradlab": row, "torch": row}}}
    now = {
        "workloads": {"mlp": {"gradlab": row | {"peak MB": 50.0}, "torch": {"why": "not installed"}, "numpy": row}, "gpt": {"numpy": row}}
    }
    assert compared(before, now) == ["mlp gradlab: peak MB 40.00 -> 50.00 (+25 %)"]


def test_a_name_that_is_no_workload_is_refused():
    command = [sys.executable, "-m", "benchmarks", "-w", "mnist"]
    answer = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert answer.returncode == 2 and "no workloads mnist" in answer.stderr
