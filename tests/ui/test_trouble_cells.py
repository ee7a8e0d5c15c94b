"""What people do to cells: run them again and again, stop them, let them fail, and watch from inside the one that trains."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from labdriver import ENDLESS, LOAD, PANEL, Lab, expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

MODEL = """
import gc, json, os, pathlib, weakref
import numpy as np
import gradlab as gl
from gradlab import nn, observe
from gradlab.autograd import hook
from gradlab.notebook import current_session
gl.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
x, y = gl.randn(8, 6), gl.tensor([0, 1, 2, 0, 1, 2, 0, 1])
def step():
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
STEPS = """
for _ in range(10):
    step()
"""
# Who watches the engine, which hooks there are, and what is open to the page.
COUNT = """
gc.collect()
print(json.dumps({
    "watchers": len(observe._attached),
    "hooks": len(hook.living),
    "comms": len(get_ipython().kernel.comm_manager.comms),
    "step": current_session().recorder.step if current_session() else None,
    "grad": gl.is_grad_enabled(),
}))
"""


def counted(lab: Lab, index: int) -> dict[str, Any]:
    """Run the cell that counts and return what it found."""
    return json.loads(lab.run(index))


def in_notebook(lab: Lab, name: str) -> Locator:
    """Panels of this name that stand in outputs of the notebook."""
    return lab.page.locator(f'.jp-Notebook [data-panel="{name}"]')


@pytest.mark.slow
def test_the_cell_that_opens_a_panel_may_run_again_as_often_as_one_likes(lab: Lab) -> None:
    norms = "print(json.dumps([float(np.linalg.norm(p.grad.data)) for p in model.parameters()]))"
    old = "old = [weakref.ref(o) for o in (model, model[0], model[0].weight, optimizer)]"
    gone = "gc.collect(); print(json.dumps([o() is None for o in old]))"
    lab.open("again.ipynb", LOAD + "\n%gradlab budget off", MODEL, "%gradlab panel gradients", STEPS, COUNT, norms, old, gone)
    for index in range(3):
        lab.run(index)
    first = counted(lab, 4)
    for _ in range(4):
        lab.run(2)
    expect(in_notebook(lab, "gradients")).to_have_count(1)
    assert counted(lab, 4) == first
    lab.run(3)
    lab.sees_step(10)
    assert lab.points() == 10
    assert counted(lab, 4) == {**first, "step": 10}
    expect(in_notebook(lab, "gradients").locator("[data-row]")).to_have_count(4)

    # A new model under the same name: the panels go over to it, and the old one can be collected.
    lab.run(6)
    lab.run(1)
    lab.run(2)
    assert json.loads(lab.run(7)) == [True] * 4
    lab.run(3)
    lab.sees_step(10)
    assert lab.points() == 10
    norm = json.loads(lab.run(5))[0]
    assert lab.number(lab.panel("graph").locator('[data-leaf="1"] .gl-g')) == pytest.approx(norm, rel=1e-5)
    assert counted(lab, 4) == {**first, "step": 10}
    expect(in_notebook(lab, "gradients")).to_have_count(1)


@pytest.mark.slow
def test_twenty_runs_of_the_panel_s_cell_cost_what_one_does(lab: Lab) -> None:
    panel = "%load_ext gradlab\nfrom gradlab.notebook import GraphPanel\npanel = GraphPanel()\npanel"
    resident = "import psutil; print(psutil.Process().memory_info().rss)"
    lab.open("pile.ipynb", MODEL, COUNT, panel, STEPS, resident, "panel.close()", "%unload_ext gradlab")
    lab.run(0)
    before = counted(lab, 1)
    comms, memory = [], []
    lab.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    try:
        for _ in range(20):
            lab.run(2)
            lab.run(3)
            comms.append(counted(lab, 1)["comms"])
            memory.append(int(lab.run(4)))
        expect(in_notebook(lab, "graph").locator('[data-op="0"]')).to_have_count(1)
        lab.command("docmanager:save")
        saved = (lab.server.root / "pile.ipynb").read_text()
    finally:
        lab.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    assert set(comms) == {comms[0]} and 0 < comms[0] - before["comms"] <= 4  # session and panel, each with a layout
    assert memory[-1] - memory[1] < 10e6
    state = json.loads(saved)["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert [one["state"]["panel"] for one in state if "panel" in one["state"]] == ["graph"]
    assert len(saved) < 1_000_000
    lab.run(5)
    assert counted(lab, 1)["comms"] == before["comms"] + 2
    lab.run(6)
    assert counted(lab, 1) == before


FAILING = {
    "forward": "h = model(x)\nmodel[0](h)",
    "backward": """loss = nn.functional.cross_entropy(model(x), y)
def refuse(g):
    raise ValueError("no such gradient")
h = model[0](x).tanh()
with h.register_hook(refuse):
    h.sum().backward()""",
}
ALIVE = """
gc.collect()
print(json.dumps(sum(isinstance(o, gl.Function) for o in gc.get_objects())))
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", FAILING)
def test_a_cell_that_fails_leaves_nothing_behind_but_its_own_error(lab: Lab, where: str) -> None:
    lab.open(
        f"failing-{where}.ipynb",
        LOAD,
        MODEL,
        STEPS,
        FAILING[where],
        COUNT,
        ALIVE,
        "%gradlab off",
        "model(x).sum().backward()",
        "%gradlab on",
    )
    for index in range(3):
        lab.run(index)
    before, alive = counted(lab, 4), None
    for _ in range(4):
        lab.start(3)
        lab.finish()
        error = lab.output(3)
        assert error.count("Traceback") == 1 and "gradlab/trace" not in error and "gradlab/notebook" not in error
        assert ("the number of features differs" if where == "forward" else "no such gradient") in error
        expect(lab.panel("strip")).to_contain_text("stopped by an error")
        lab.shot("failed")
        # What IPython keeps of the last error is there from the first time on.
        living = json.loads(lab.run(5))
        alive = living if alive is None else alive
        assert living == alive
        assert {**counted(lab, 4), "step": 0} == {**before, "step": 0}
    # What was recorded up to there is on show, with the op that failed, or the one whose gradient the hook got.
    assert set(lab.panel("shapes").locator("[data-op] td:first-child").all_inner_texts()) >= {"linear", "tanh"}
    expect(lab.panel("graph").locator(".gl-failed")).to_contain_text("linear" if where == "forward" else "tanh")
    expect(lab.panel("graph")).to_contain_text("the number of features differs" if where == "forward" else "no such gradient")
    recorded = counted(lab, 4)["step"]
    lab.run(6)
    lab.run(7)
    lab.run(8)
    assert counted(lab, 4)["step"] == recorded
    lab.run(2)
    lab.sees_step(recorded + 10)


@pytest.mark.slow
def test_stop_at_any_moment_is_one_interrupt_and_nothing_else(lab: Lab) -> None:
    compare = """
other = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
other.load_state_dict(model.state_dict())
grads = []
for net in (model, other):
    for p in net.parameters():
        p.grad = None
    nn.functional.cross_entropy(net(x), y).backward()
    grads.append([p.grad.data for p in net.parameters()])
print(all(np.array_equal(a, b) and np.isfinite(a).all() for a, b in zip(*grads)))
"""
    lab.open("stop.ipynb", LOAD, MODEL, "while True:\n    step()", COUNT, compare)
    lab.run(0)
    lab.run(1)
    before = counted(lab, 3)
    moments = random.Random(0)
    strip = lab.panel("strip")
    seen = 0
    for _ in range(10):
        lab.start(2)
        lab.eventually(lambda: lab.prompt(2) == "[*]:")
        lab.page.wait_for_timeout(moments.uniform(0, 700))
        lab.page.evaluate(f"path => {PANEL}(path).sessionContext.session.kernel.interrupt()", lab.path)
        lab.finish()
        error = lab.output(2)
        if "Unexpected exception formatting exception" in error:  # IPython can't print a frame that Python gives no line
            ours, _, its_own = error.partition("During handling")
            assert ours.count("Traceback") == 1 and ours.rstrip().endswith("KeyboardInterrupt") and "gradlab/trace" not in its_own
        else:
            assert error.count("Traceback") == 1 and error.count("KeyboardInterrupt") == 2
            assert error.rstrip().endswith("KeyboardInterrupt:") and "During handling" not in error
        assert "gradlab/trace" not in error.splitlines()[0]
        expect(strip.locator(".gl-cell").first).to_contain_text("interrupted")
        now = counted(lab, 3)
        assert {**now, "step": None} == {**before, "step": None}
        assert now["step"] >= seen
        seen = now["step"]
    assert seen > 0
    expect(strip.locator(".gl-cell").first).to_contain_text(str(seen))
    assert lab.run(4).strip() == "True"
    lab.run(3)


@pytest.mark.parametrize("cells", ["one", pytest.param("two", marks=pytest.mark.slow)])
def test_points_grow_while_the_cell_that_trains_runs(lab: Lab, cells: str) -> None:
    stop = f"stop-{cells}"
    parts = [LOAD, ENDLESS.format(stop=stop)]
    lab.open(f"live-{cells}.ipynb", *(["\n".join(parts)] if cells == "one" else parts))
    last = 0 if cells == "one" else 1
    if last:
        lab.run(0)
    lab.start(last)
    counts = [0]
    for _ in range(4):
        lab.eventually(lambda: lab.points() > counts[-1])
        counts.append(lab.points())
        assert lab.prompt(last) == "[*]:"
    # The button acts at the next step, while the cell runs.
    pause, resume = (lab.dock.locator(f'.gl-control button[aria-label="{word}"]') for word in ("Pause", "Resume"))
    pause.click()
    expect(lab.dock.locator(".gl-held b")).to_contain_text("Paused at step")
    assert lab.prompt(last) == "[*]:"
    resume.click()
    (lab.server.root / stop).touch()
    lab.finish()
    assert "ended" in lab.output(last)
