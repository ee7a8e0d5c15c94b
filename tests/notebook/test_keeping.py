"""Stale optimizers and graphs that stay alive, in a notebook's words."""

from __future__ import annotations

from typing import Any

from gradlab.notebook import current_session

SETUP = """
import gradlab as gl
from gradlab import nn, optim
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
x = gl.ones(5, 3)
"""
STEPS = """
for _ in range(3):
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    optimizer.step()
"""


def holdings() -> Any:
    session = current_session()
    assert session is not None
    return session.recorder.holdings(session.births.parameters)


def test_an_optimizer_of_the_right_model_holds_what_the_graph_reads(run: Any) -> None:
    run("%load_ext gradlab")
    run(SETUP)
    run("optimizer = optim.Adam(model.parameters())")
    run(STEPS)
    (held,) = holdings()
    assert (held.label, held.held, held.unread, held.unheld, held.stale) == ("Adam", 4, [], [], "")


def test_a_model_made_anew_leaves_a_stale_optimizer_and_both_cells_are_named(run: Any) -> None:
    run("%load_ext gradlab")
    run(SETUP)
    run("optimizer = optim.Adam(model.parameters())")
    run(STEPS)
    run(SETUP)
    run(STEPS)
    (held,) = holdings()
    assert held.unread == [f"model.{name} (In[2])" for name in ("0.weight", "0.bias", "2.weight", "2.bias")]
    assert held.unheld == [name.replace("[2]", "[5]") for name in held.unread]
    assert held.stale.startswith("Adam holds the parameters of the `model` made in In[2]; the loss uses the `model` of In[5].")


def test_a_layer_that_was_forgotten_is_named_and_is_not_stale(run: Any) -> None:
    run("%load_ext gradlab")
    run(SETUP)
    run("optimizer = optim.SGD(model[0].parameters(), lr=0.1)")
    run(STEPS)
    (held,) = holdings()
    assert (held.held, held.unread, held.stale) == (2, [], "")
    assert held.unheld == ["model.2.weight (In[2])", "model.2.bias (In[2])"]


def test_models_made_before_loading_have_no_cell(run: Any) -> None:
    run(SETUP)
    run("%load_ext gradlab")
    run("optimizer = optim.SGD(model[0].parameters(), lr=0.1)")
    run(STEPS)
    (held,) = holdings()
    assert held.unheld == ["model.2.weight", "model.2.bias"]


def test_alive_names_the_list_its_cell_and_what_to_append(run: Any, capsys: Any) -> None:
    run("%load_ext gradlab")
    run(SETUP)
    run("losses = []")
    run("for _ in range(31): losses.append((model(x) ** 2).mean())")
    capsys.readouterr()
    run("%gradlab alive")
    out = capsys.readouterr().out
    assert "`losses` (In[3]) keeps 31 graphs, " in out and ": append `loss.item()`, or `loss.detach()` for a tensor.\n" in out


def test_bytes_are_counted_as_in_the_rest_of_the_page(run: Any, ask: Any) -> None:
    run(SETUP)
    run("kept = [gl.ones(2048, requires_grad=True).exp() for _ in range(9)]")
    (answer,) = [m.content for m in ask("alive") if m.content["kind"] == "answer" and "keepers" in m.content]
    (keeper,) = [keeper for keeper in answer["keepers"] if keeper["name"] == "kept"]
    held = 9 * 2048 * 4  # each keeps its own values, of which the gradient of exp is made
    assert keeper["size_bytes"] == held and f" graphs, {held // 1024} KiB: " in keeper["said"] and keeper["said"].endswith(".")


def test_the_page_gets_the_same_when_nothing_runs(run: Any, ask: Any) -> None:
    run(SETUP)
    run("class Log: pass")
    run("log = Log(); log.history = [(model(x) ** 2).mean() for _ in range(4)]")
    (answer,) = [m.content for m in ask("alive") if m.content["kind"] == "answer" and "keepers" in m.content]
    (keeper,) = [keeper for keeper in answer["keepers"] if keeper["name"].startswith("log")]  # modules of tests may keep some, too
    assert (keeper["name"], keeper["graphs"]) == ("log.history", 4) and keeper["said"].startswith("`log.history` (In[4]) keeps 4 graphs")


def test_the_microscope_answers_with_a_row_for_every_parameter_and_what_is_held(run: Any, ask: Any) -> None:
    run(SETUP)
    run("optimizer = optim.AdamW(model.parameters())")
    run(STEPS)
    answer = ask("microscope")[-1]
    (table,) = answer.content["optimizers"]
    assert (table["label"], table["step"], table["names"]) == ("AdamW", 3, ["0.weight", "0.bias", "2.weight", "2.bias"])
    assert len(answer.buffers[0]) == 4 * 4 * len(answer.content["columns"])
    assert answer.content["holdings"] == [{"label": "AdamW", "held": 4, "unread": [], "unheld": [], "stale": "", "more": 0}]
