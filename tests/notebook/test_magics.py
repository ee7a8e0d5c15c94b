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
