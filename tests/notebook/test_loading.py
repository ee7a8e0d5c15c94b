"""Loading, unloading and re-running leave one session or none, and no widgets behind."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

import gradlab as gl
from gradlab import observe
from gradlab.notebook import GraphPanel, Inspector, bundle, current_session, end_session, load_ipython_extension
from gradlab.notebook.model import hear_while_busy

TRAIN = """
import gradlab as gl
w = gl.ones(3, requires_grad=True)
optimizer = gl.optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = (w * w).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def hooks(shell: Any) -> int:
    return sum(map(len, shell.events.callbacks.values()))


def test_loading_traces_and_unloading_leaves_the_shell_as_it_was(shell: Any, run: Any, widgets: Any) -> None:
    before = hooks(shell), widgets()
    run("%load_ext gradlab")
    assert current_session().recorder.on
    assert "gradlab" in shell.magics_manager.magics["line"]
    run("%unload_ext gradlab")
    assert current_session() is None
    assert observe.current is None
    assert "gradlab" not in shell.magics_manager.magics["line"]
    assert (hooks(shell), widgets()) == before


def test_loading_says_one_line(run: Any, capsys: Any) -> None:
    run("%load_ext gradlab")
    assert capsys.readouterr().out.strip() == "gradlab: tracing on"


def test_a_traced_cell_prints_nothing_of_its_own(run: Any, capsys: Any) -> None:
    run("%load_ext gradlab")
    capsys.readouterr()
    run(TRAIN)
    assert capsys.readouterr().out == ""


def test_any_order_of_load_reload_and_unload_leaves_exactly_one_session(shell: Any, run: Any, widgets: Any) -> None:
    run("%load_ext gradlab", "load")
    count = hooks(shell), widgets()
    for line in ("%load_ext gradlab", "%reload_ext gradlab", "%load_ext gradlab", "%unload_ext gradlab", "%load_ext gradlab"):
        run(line, "load")
    assert (hooks(shell), widgets()) == count
    run(TRAIN)
    assert current_session().recorder.step == 3


def test_running_the_loading_cell_again_renews_its_output(shell: Any, run: Any, widgets: Any, capsys: Any) -> None:
    run("%load_ext gradlab", "load")
    session, first, count = current_session(), current_session().output, widgets()
    capsys.readouterr()
    for _ in range(20):
        run("%load_ext gradlab", "load")
    assert current_session() is session
    assert session.output is not first
    assert widgets() == count
    assert set(capsys.readouterr().out.split("\n")) == {"gradlab: tracing on", ""}


def test_twenty_runs_of_a_cell_that_shows_panels_leave_as_many_widgets_as_one(run: Any, widgets: Any, capsys: Any) -> None:
    run("%load_ext gradlab", "load")
    run("import gradlab.notebook as n\nfrom IPython.display import display", "import")
    counts = set()
    for _ in range(20):
        run("%gradlab panel graph\ndisplay(n.StripPanel())\nn.Inspector()", "panels")
        counts.add(widgets())
    assert len(counts) == 1


def test_a_panel_kept_and_shown_in_another_cell_stays(run: Any, shell: Any, capsys: Any) -> None:
    run("%load_ext gradlab", "load")
    run("import gradlab.notebook as n\nkept = kept if 'kept' in dir() else n.GraphPanel()", "make")
    run("kept", "show")
    run("import gradlab.notebook as n\nkept = kept if 'kept' in dir() else n.GraphPanel()", "make")
    assert shell.user_ns["kept"].comm is not None


def test_panels_that_no_output_shows_any_more_go_when_their_cell_runs_again(run: Any, widgets: Any, capsys: Any) -> None:
    run("%load_ext gradlab", "load")
    run("import gradlab.notebook as n\nfrom IPython.display import display", "import")
    counts = []
    for _ in range(20):
        run("unseen = n.GraphPanel()", "unseen")
        run("made = n.GraphPanel()", "make")
        run("display(made)", "show")
        counts.append(widgets())
    assert set(counts[2:]) == {counts[2]}


def test_a_model_hears_the_page_in_kernels_whose_comms_know_no_subshells() -> None:
    comm = SimpleNamespace()
    hear_while_busy(SimpleNamespace(comm=comm))
    hear_while_busy(SimpleNamespace(comm=None))
    assert not vars(comm)


def test_a_panel_made_without_loading_begins_the_session(run: Any, shell: Any) -> None:
    panel = GraphPanel()
    assert current_session().recorder.on
    assert (panel.panel, panel.session) == ("graph", current_session().model.model_ref)


def test_a_panel_without_ipython_traces_by_file_and_line(static: Any) -> None:
    try:
        Inspector()
        gl.ones(2, requires_grad=True).exp()
        tape = current_session().recorder.structure()
        assert tape["cells"][tape["ops"][-1]["cell"]]["file"] == "test_loading.py"
    finally:
        end_session()


def test_without_the_bundle_loading_says_how_to_get_it_and_changes_nothing(shell: Any, static: Any) -> None:
    before = hooks(shell)
    (static / "session.js").unlink()
    with pytest.raises(bundle.BundleError, match=r"session\.js is missing\n  try:  pip install -e"):
        load_ipython_extension(shell)
    assert current_session() is None
    assert hooks(shell) == before
    assert observe.current is None


def test_in_a_terminal_loading_prints_one_line_and_needs_no_bundle(environment: dict[str, str]) -> None:
    code = "%load_ext gradlab\nimport gradlab as gl\nx = gl.ones(2, requires_grad=True).exp()\n%gradlab"
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    said = done.stdout.strip().split("\n")
    assert said == ["gradlab: tracing on", "gradlab: tracing on · run 1 · 0 steps · 1 op on show"], done.stderr


def test_no_tensor_outlives_its_cell_on_the_notebook_side(shell: Any, run: Any) -> None:
    run("%load_ext gradlab", "load")
    run(TRAIN, "train")
    alive = weakref.ref(shell.user_ns["loss"])
    loss_data = weakref.ref(shell.user_ns["w"])
    run("del w, loss, optimizer", "delete")
    gc.collect()
    assert alive() is None
    assert loss_data() is None


def test_the_users_names_win_over_ipythons(shell: Any, run: Any) -> None:
    run("%load_ext gradlab", "load")
    run("import gradlab as gl\n_hidden = gl.ones(2)\nshown = _hidden\n_alone = gl.ones(3)\nshown", "a")
    names = current_session().names()
    assert names[id(shell.user_ns["shown"])] == "shown"
    assert names[id(shell.user_ns["_alone"])] == "_alone"
    assert not {"_", "Out", "In"} & set(names.values())
