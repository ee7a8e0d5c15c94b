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


@pytest.mark.notebooks
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


def test_parameters_are_overwritten_and_a_failure_is_told_and_does_not_stop_the_others(
    tmp_path: Path, environment: dict[str, str], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = script("run")
    monkeypatch.setattr(runner, "FOLDER", tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for number, ending in enumerate(('assert DEVICE == "cpu"', "", 'import os\nif DEVICE != "cpu":\n    os._exit(1)')):
        book = nbformat.v4.new_notebook()
        book.cells = [
            nbformat.v4.new_code_cell("%load_ext gradlab"),
            nbformat.v4.new_code_cell('DEVICE = "cpu"\nSMALL = False', metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(f'print("data: two numbers")\nprint("result: on", DEVICE, SMALL)\n{ending}'),
        ]
        nbformat.write(book, tmp_path / f"0{number}_device.ipynb")
    assert runner.main(["00", "--keep", str(tmp_path / "kept")]) == 0
    assert re.search(r"\| 00_device \| two numbers \| \d+ \| \d+ \| on cpu False \| 0 steps, no findings \|", capsys.readouterr().out)
    assert "on cpu False" in (tmp_path / "kept" / "00_device.ipynb").read_text("utf-8")
    assert runner.main(["--device", "cuda", "--small"]) == 1
    out, err = capsys.readouterr()
    assert [row.split(" | ")[4] for row in out.splitlines()[2:]] == ["**failed**", "on cuda True", "**failed**"]
    assert "AssertionError" in err
    assert "Kernel died" in err


def test_a_name_that_begins_no_example_is_refused_with_those_there_are() -> None:
    runner = script("run")
    assert [path.stem for path in runner.found(["01", "02_cell"])] == ["01_digits", "02_cell_by_cell"]
    assert len(runner.found([])) == len(SOURCES)
    with pytest.raises(SystemExit, match="no example begins with 'digits'; there are 01_digits, 02_cell_by_cell"):
        runner.found(["digits"])


def lesson(until: str, changes: dict[str, str], capsys: Any) -> str:
    """What 03_scalar_autograd prints up to the cell that ends with a line, where its reader has written other lines."""
    namespace: dict[str, Any] = {}
    for cell in cells(FOLDER / "03_scalar_autograd.py")[1:]:
        source = cell.source
        for old, new in changes.items():
            source = source.replace(old, new)
        exec(source, namespace)
        if cell.source.endswith(until):
            return capsys.readouterr().out
    raise AssertionError(f"no cell ends with {until}")


EXERCISE = "slope = None  # your formula, of t"


@pytest.mark.parametrize("right", ["1 - t**2", "(1 - t) * (1 + t)", "1 / math.cosh(x.data) ** 2"])
def test_the_exercise_takes_every_right_formula(right: str, capsys: Any) -> None:
    assert "Right: in five places" in lesson("print(check(tanh))", {EXERCISE: f"slope = {right}"}, capsys)


@pytest.mark.parametrize("wrong", ["1 - t", "t**2 - 1", "1 + t**2", "t * (1 - t)", "1.0", "0.0", "(1 - t**2) * 1.001"])
def test_the_exercise_refuses_wrong_formulas_with_both_numbers(wrong: str, capsys: Any) -> None:
    with pytest.raises(AssertionError, match=r"at -?[\d.]+ your slope is -?[\d.]+; a nudge gives [\d.]+"):
        lesson("print(check(tanh))", {EXERCISE: f"slope = {wrong}"}, capsys)


def test_the_exercise_refuses_another_function(capsys: Any) -> None:
    with pytest.raises(AssertionError, match=r"at -2.0 the value is -1.0000, and tanh is -0.9640"):
        lesson("print(check(tanh))", {EXERCISE: "slope = 1 - t**2", "t = math.tanh(x.data)\n    slope": "t = -1.0\n    slope"}, capsys)


def test_an_exercise_that_is_not_solved_is_said_to_be_and_the_lesson_goes_on_with_the_solution(capsys: Any) -> None:
    assert "Not solved yet" in lesson("tanh = solution", {}, capsys)


@pytest.mark.parametrize("said, answer", [("None", "You have not predicted"), ("3", "Just as you said"), ("6.0", "You said 6.0")])
def test_the_prediction_is_compared_with_what_happens(said: str, answer: str, capsys: Any) -> None:
    text = lesson('print(f"With the sum it is {x.grad}.")', {"prediction = None": f"prediction = {said}"}, capsys)
    assert f"{answer}: without the sum x.grad is 3.0." in text
    assert "With the sum it is 6.0." in text
