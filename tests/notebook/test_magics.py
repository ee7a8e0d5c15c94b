"""What the magic says and does."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.error import UsageError

from gradlab.notebook import current_session
from gradlab.notebook.magics import PANELS

OP = "import gradlab as gl\nw = gl.ones(3, requires_grad=True)\nloss = w.exp().sum()"


@pytest.fixture
def say(run: Any, capsys: Any) -> Any:
    """Run a line and return what it printed."""
    run("%load_ext gradlab", "load")

    def say(line: str) -> str:
        capsys.readouterr()
        run(line, "say")
        return capsys.readouterr().out.strip()

    return say


def test_off_records_nothing_and_on_goes_on(say: Any, run: Any) -> None:
    assert say("%gradlab off") == "gradlab: tracing off · nothing recorded yet"
    run(OP)
    assert current_session().recorder.structure()["ops"] == []
    assert say("%gradlab on") == "gradlab: tracing on · nothing recorded yet"
    run(OP)
    assert [op["name"] for op in current_session().recorder.structure()["ops"]] == ["exp", "sum"]


def test_alone_it_says_how_tracing_stands(say: Any, run: Any) -> None:
    run(OP)
    assert say("%gradlab") == say("%gradlab status") == "gradlab: tracing on · run 1 · 0 steps · 2 ops on show"


def test_clear_begins_a_new_run(say: Any, run: Any) -> None:
    run(OP)
    assert say("%gradlab clear") == "gradlab: forgotten; the next step begins a new run"
    assert say("%gradlab") == "gradlab: tracing on · nothing recorded yet"


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_is_shown_by_its_name(say: Any, name: str) -> None:
    assert say(f"%gradlab panel {name}") == PANELS[name].text
    assert PANELS[name].view == name


def test_panel_without_a_name_is_the_inspector(say: Any) -> None:
    assert say("%gradlab panel") == "gradlab: the inspector"


def test_help_names_every_word(say: Any) -> None:
    text = say("%gradlab help")
    for word in ("on", "off", "clear", "panel graph", "help", *PANELS):
        assert word in text


def test_a_wrong_word_is_a_usage_error(say: Any, shell: Any) -> None:
    with pytest.raises(UsageError, match="invalid choice"):
        shell.run_line_magic("gradlab", "of")


def test_the_budget_is_five_percent_and_can_be_set(say: Any) -> None:
    assert say("%gradlab budget") == "gradlab: tracing may take 5 % of a step's time"
    assert say("%gradlab budget 12.5%") == "gradlab: tracing may take 12.5 % of a step's time"
    assert say("%gradlab budget off") == say("%gradlab budget") == "gradlab: every step is read in full, whatever it costs"
    assert current_session().recorder.governor.budget is None


@pytest.mark.parametrize("percent", ["0", "-5", "much", "nan"])
def test_a_budget_that_is_no_share_of_the_time_is_refused(run: Any, say: Any, percent: str) -> None:
    result = current_session().shell.run_cell(f"%gradlab budget {percent}")
    assert isinstance(result.error_in_exec, UsageError) and "percentage" in str(result.error_in_exec)
    assert current_session().recorder.governor.budget == 0.05


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pause", "pauses at the end of its step"),
        ("resume", "goes on"),
        ("step", "pauses after 1 step"),
        ("step 12", "pauses after 12 steps"),
        ("step op", "pauses at the next op"),
        ("break", "no breakpoints"),
        ("break loss > 10 or nan", "breakpoint 1 pauses where loss > 10 or nan"),
        ('break grad_norm("fc2") > 100 --raise', 'breakpoint 1 raises where grad_norm("fc2") > 100'),
        ("break --clear", "no breakpoints cleared"),
        ("probe", "no probes"),
        ("probe fc1 rms", "each step reads fc1 rms"),
        ('probe "fc1.weight.grad" zeros', "each step reads fc1.weight.grad zeros"),
    ],
)
def test_the_words_of_the_debugger_say_what_they_do(run: Any, capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    run("%load_ext gradlab")
    capsys.readouterr()
    run(f"%gradlab {line}")
    assert said in capsys.readouterr().out
    run("%gradlab resume\n%gradlab break --clear\n%gradlab probe --clear")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pause now", "takes nothing more, not 'now'"),
        ("step 0", "'0' is no number of steps"),
        ("step -1", "'-1' is no number of steps"),
        ("break loss >", "expected a number or a word after '>'"),
        ("break loss > 3 --once", "no option --once"),
        ("break --clear x", "'x' is no number of a breakpoint"),
        ("probe fc1 median", "no measure 'median'"),
    ],
)
def test_what_the_words_of_the_debugger_can_t_read_is_a_usage_error(
    run: Any, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    run("%load_ext gradlab")
    run(f"%gradlab {line}", ok=False)
    assert said in capsys.readouterr().err


def test_breakpoints_are_listed_with_their_hits_and_cleared_one_by_one(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run("%load_ext gradlab\nimport gradlab as gl")
    run("%gradlab break op('exp') --raise\n%gradlab break step == 7")
    assert "BreakpointError" in type(run("gl.ones(3, requires_grad=True).exp()", ok=False).error_in_exec).__name__
    capsys.readouterr()
    run("%gradlab break --list")
    assert capsys.readouterr().out.splitlines() == ["  1  op('exp') --raise  (1 hit)", "  2  step == 7  (0 hits)"]
    run("%gradlab break --clear 1")
    assert "1 breakpoint cleared" in capsys.readouterr().out
    run("gl.ones(3, requires_grad=True).exp()")


def test_a_name_that_no_parameter_has_yet_is_worth_a_note(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run("%load_ext gradlab\nimport gradlab as gl\nmodel = gl.nn.Sequential(gl.nn.Linear(2, 2))\nmodel(gl.ones(1, 2)).sum().backward()")
    capsys.readouterr()
    run('%gradlab break grad_norm("0.wieght") > 1')
    assert "so far no parameter's name begins with '0.wieght'; there are 0.weight" in capsys.readouterr().out
    run('%gradlab break grad_norm("0") > 1')
    assert "so far" not in capsys.readouterr().out
