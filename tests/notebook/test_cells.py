"""Every op knows the cell and the line it is written on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradlab.notebook import current_session
from gradlab.notebook.cells import loads_gradlab

Place = tuple[str | None, int | None, str | None, int | None]


@pytest.fixture
def places(shell: Any, run: Callable[..., Any]) -> Callable[[], list[tuple[str, Place]]]:
    """(op, (cell id, count, file, line)) of every op on show."""
    run("%load_ext gradlab", "load")

    def places() -> list[tuple[str, Place]]:
        tape = current_session().recorder.structure()
        cells = tape["cells"]
        return [(op["name"], _place(cells, op)) for op in tape["ops"]]

    return places


def _place(cells: list[dict[str, Any]], op: dict[str, Any]) -> Place:
    if op["cell"] is None:
        return (None, None, None, op["line"])
    cell = cells[op["cell"]]
    return (cell["id"], cell["count"], cell["file"], op["line"])


SETUP = "import gradlab as gl\nx = gl.ones(2, 3)\nw = gl.ones(3, requires_grad=True)"


def test_an_op_knows_its_cell_and_line(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("# a comment\ny = w.exp()\nz = y.sum()", "a")
    assert places() == [("exp", ("a", 3, None, 2)), ("sum", ("a", 3, None, 3))]


def test_blank_lines_at_the_top_of_a_cell_count(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("\n\n\ny = w.exp()", "a")
    assert places() == [("exp", ("a", 3, None, 4))]


def test_a_function_of_an_earlier_cell_is_the_place_not_the_cell_that_calls_it(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("def f(x):\n    x = x.exp()\n    return x.tanh()", "def")
    run("y = f(w)\ny = y.sum()", "call")
    assert places() == [("exp", ("def", 3, None, 2)), ("tanh", ("def", 3, None, 3)), ("sum", ("call", 4, None, 2))]


def test_a_module_the_user_imports_is_told_by_file_and_line(run: Any, places: Any, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "layers_of_mine.py").write_text("def f(x):\n    return x.exp()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    run(SETUP, "setup")
    run("import layers_of_mine\ny = layers_of_mine.f(w)", "a")
    sys.modules.pop("layers_of_mine")
    assert places() == [("exp", (None, None, "layers_of_mine.py", 2))]


def test_comprehensions_lambdas_and_operators_have_their_line(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("ys = [\n    w * k\n    for k in (2.0, 3.0)\n]\nf = lambda t: t.exp()\nz = f(ys[0])", "a")
    assert [(name, place[3]) for name, place in places()] == [("mul", 2), ("mul", 2), ("exp", 5)]
    assert {place[0] for _, place in places()} == {"a"}


def test_a_nested_module_is_the_line_in_its_forward(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("class Net(gl.nn.Module):\n    def forward(self, x):\n        return x.exp().sum()", "class")
    run("net = Net()\nloss = net(w)", "use")
    assert {place for _, place in places()} == {("class", 3, None, 3)}


def test_a_timed_cell_counts_from_its_first_line(run: Any, places: Any, capsys: Any) -> None:
    run(SETUP, "setup")
    run("%%time\ny = w.exp()\nz = y.sum()", "a")
    assert places() == [("exp", ("a", 3, None, 2)), ("sum", ("a", 3, None, 3))]


def test_a_timed_line_is_the_line_it_stands_on(run: Any, places: Any, capsys: Any) -> None:
    run(SETUP, "setup")
    run("# first\n%time y = w.exp()", "a")
    assert places() == [("exp", ("a", 3, None, 2))]


def test_timeit_counts_from_its_first_line(run: Any, places: Any, capsys: Any) -> None:
    run(SETUP, "setup")
    run("%%timeit -n 1 -r 1\nw.exp()", "a")
    assert places() == [("exp", ("a", 3, None, 2))]


def test_a_cell_inside_a_cell_magic_belongs_to_the_cell_around_it(shell: Any, run: Any, places: Any) -> None:
    shell.register_magic_function(lambda line, cell: shell.run_cell(cell).raise_error(), "cell", "twice")
    run(SETUP, "setup")
    run("%%twice\n\ny = w.exp()", "a")
    assert places() == [("exp", ("a", 3, None, 3))]
    run("y = w.tanh()", "b")
    assert places()[-1] == ("tanh", ("b", 4, None, 1))


def test_a_cell_that_runs_again_has_its_new_number(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    for count in (3, 4):
        run("%gradlab clear\ny = w.exp()", "a")
        assert places() == [("exp", ("a", count, None, 2))]


def test_of_identical_cells_the_last_one_run_is_meant(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("y = w.exp()", "a")
    run("%gradlab clear", "clear")
    run("y = w.exp()", "b")
    assert places() == [("exp", ("b", 5, None, 1))]


def test_a_cell_that_loads_gradlab_and_goes_on_is_known(run: Any) -> None:
    run("%load_ext gradlab\nimport gradlab as gl\ny = gl.ones(2, requires_grad=True).exp()", "all")
    tape = current_session().recorder.structure()
    assert _place(tape["cells"], tape["ops"][-1]) == ("all", 1, None, 3)


def test_a_function_from_before_loading_counts_to_the_cell_that_calls_it(run: Any) -> None:
    run("def f(x):\n    return x.exp()", "old")
    run("%load_ext gradlab", "load")
    run(SETUP, "setup")
    run("\ny = f(w)", "new")
    tape = current_session().recorder.structure()
    assert _place(tape["cells"], tape["ops"][-1]) == ("new", 4, None, 2)


def test_an_op_in_a_thread_is_where_its_code_is_written(run: Any, places: Any) -> None:
    run(SETUP, "setup")
    run("import threading\nt = threading.Thread(target=lambda: w.exp())\nt.start()\nt.join()", "a")
    assert places() == [("exp", ("a", 3, None, 2))]


@pytest.mark.parametrize(
    ("source", "loads"),
    [
        ("%load_ext gradlab", True),
        ("x = 1\n  %load_ext  gradlab # watch", True),
        ("# %load_ext gradlab", False),
        ("%load_ext gradlab2", False),
    ],
)
def test_the_line_that_loads_gradlab_is_found(source: str, loads: bool) -> None:
    assert loads_gradlab(source) is loads
