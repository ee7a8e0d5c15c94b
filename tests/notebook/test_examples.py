"""The example notebooks are what their sources say, run from top to bottom, and keep what they promise."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SOURCES = sorted(FOLDER.glob("[0-9]*.py"))
EACH = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


def script(name: str) -> Any:
    """A program of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(f"examples_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(source: Path) -> list[Any]:
    return [c for c in nbformat.read(source.with_suffix(".ipynb"), as_version=4).cells if c.cell_type == "code"]


@EACH
def test_the_notebook_is_what_its_source_says(source: Path) -> None:
    pytest.importorskip("jupytext", reason="the notebooks are built with jupytext")
    assert source.with_suffix(".ipynb").read_text("utf-8") == script("build").notebook(source), "run: python examples/build.py"


@EACH
def test_the_first_code_cell_loads_gradlab_and_nothing_is_stored(source: Path) -> None:
    first, *rest = cells(source)
    assert first.source == "%load_ext gradlab"
    assert all(not c.outputs and c.execution_count is None for c in (first, *rest))


@EACH
def test_one_cell_has_the_parameters_in_full_size(source: Path) -> None:
    (parameters,) = [c for c in cells(source) if "parameters" in c.metadata.get("tags", ())]
    values: dict[str, object] = {}
    exec(parameters.source, values)
    assert values["DEVICE"] == "cpu"
    assert values["SMALL"] is False
    assert values["SEEDS"]


@EACH
def test_the_text_states_data_time_and_result(source: Path) -> None:
    text = nbformat.read(source.with_suffix(".ipynb"), as_version=4).cells[0].source
    assert all(f"**{word}.**" in text for word in ("Data", "Time", "Result"))
    assert re.search(r"\*\*Result\.\*\*.*\d", text, re.DOTALL)


@EACH
def test_it_runs_at_reduced_size_and_the_inspector_sees_it_and_has_no_warning(
    source: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    runner = script("run")
    outcome = runner.run(source.with_suffix(".ipynb"), runner.REDUCED, {**environment, "GRADLAB_DATA": ""}, tmp_path)
    assert not outcome.error, outcome.error
    assert outcome.data
    assert outcome.result
    assert outcome.steps
    assert set(outcome.findings.values()) <= {"info"}, outcome.findings
    assert runner.table([outcome]).count("\n") == 2


def test_parameters_are_overwritten_and_a_failure_is_told(tmp_path: Path, environment: dict[str, str], capsys: Any) -> None:
    runner = script("run")
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell("%load_ext gradlab"),
        nbformat.v4.new_code_cell('DEVICE = "cpu"', metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell('print("data: two numbers")\nprint("result: on", DEVICE)\nassert DEVICE == "cpu"'),
    ]
    nbformat.write(book, tmp_path / "00_device.ipynb")
    runner.FOLDER = tmp_path
    well, ill = (runner.run(tmp_path / "00_device.ipynb", {"DEVICE": device}, environment) for device in ("cpu", "sim"))
    assert (well.data, well.result, well.error) == ("two numbers", "on cpu", "")
    assert ill.result == "on sim"
    assert "AssertionError" in ill.error
    assert "| 00_device | two numbers | " in runner.table([ill])
    assert "**failed**" in runner.table([ill])


def test_a_name_that_begins_no_example_is_refused_with_those_there_are() -> None:
    runner = script("run")
    assert [path.stem for path in runner.found(["01", "02_cell"])] == ["01_digits", "02_cell_by_cell"]
    assert len(runner.found([])) == len(SOURCES)
    with pytest.raises(SystemExit, match="no example begins with 'digits'; there are 01_digits, 02_cell_by_cell"):
        runner.found(["digits"])
