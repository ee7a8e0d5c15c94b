"""Questions and commands reach the kernel while the training cell runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from labdriver import ENDLESS, LOAD, PANEL, Lab, expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

HANDLER = """
from gradlab.notebook.requests import answers
@answers("test state")
def state(session):
    import threading
    return {"state": session.state, "step": session.recorder.step, "thread": threading.current_thread().name}
"""


@pytest.mark.slow
def test_a_question_is_answered_while_the_training_cell_runs(lab: Lab) -> None:
    lab.open("ask.ipynb", LOAD, HANDLER, ENDLESS.format(stop="stop-ask"))
    lab.run(0)
    lab.run(1)
    lab.start(2)
    lab.eventually(lambda: lab.points() > 0)
    first = lab.ask("test state")
    second = lab.ask("test state")
    assert lab.prompt(2) == "[*]:"
    assert (first["state"], second["state"]) == ("running", "running")
    assert second["step"] > first["step"] > 0
    assert first["thread"] != "MainThread"
    (lab.server.root / "stop-ask").touch()
    lab.finish()


LOOP = """
import time
import gradlab as gl
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.01)
done = 0
for _ in range({steps}):
    optimizer.zero_grad()
    loss = (layer(gl.ones(4, 3)).exp() + 1.0).log().mean()
    loss.backward()
    optimizer.step()
    done += 1
    time.sleep(0.002)
print("done", done)
"""


def button(lab: Lab, label: str) -> Locator:
    return lab.dock.locator(f'.gl-control button[aria-label="{label}"]')


def held(lab: Lab) -> str:
    """Wait until training is held, and return what the line says."""
    line = lab.dock.locator(".gl-held.gl-now")
    expect(line).to_be_visible(timeout=30_000)
    return line.inner_text().replace("\n", " ")


def step_shown(lab: Lab) -> int:
    return int(lab.number(lab.panel("strip").locator(".gl-fact b").first))


def test_pause_step_three_times_step_ops_and_resume(lab: Lab) -> None:
    lab.open("pause.ipynb", LOAD, LOOP.format(steps=4000), "print(done)")
    lab.run(0)
    lab.start(1)
    lab.eventually(lambda: lab.points() > 3)
    button(lab, "Pause").click()
    first = step_shown(lab) if held(lab) else 0
    assert held(lab) == f"Paused at step {first}"
    lab.page.wait_for_timeout(500)
    assert step_shown(lab) == first
    assert (lab.kernel_status(), lab.prompt(1)) == ("busy", "[*]:")
    lab.shot("held")
    for n in range(1, 4):
        button(lab, "Step").click()
        lab.sees_step(first + n)
        expect(lab.dock.locator(".gl-held b")).to_have_text(f"Paused at step {first + n}")
    for op, k in [("linear", 0), ("exp", 1), ("add", 2), ("log", 3), ("mean", 4)]:
        button(lab, "Step op").click()
        expect(lab.dock.locator(".gl-held span")).to_have_text(f"op {op}, In[2]:9")
        expect(lab.panel("graph").locator(f'[data-op="{k}"].gl-selected')).to_be_visible()
    button(lab, "Step op").click()
    expect(lab.dock.locator(".gl-held span")).to_have_text("backward of mean, In[2]:9")
    lab.shot("op")
    lab.theme("JupyterLab Dark")
    lab.shot("op-dark")
    lab.theme("JupyterLab Light")
    button(lab, "Resume").click()
    expect(lab.dock.locator(".gl-held")).to_be_hidden()
    lab.eventually(lambda: step_shown(lab) > first + 20)
    lab.finish()
    assert "done 4000" in lab.output(1)
    assert button(lab, "Pause").is_visible()


@pytest.mark.slow
def test_a_breakpoint_pauses_an_interrupt_ends_it_and_the_kernel_restarts_while_paused(lab: Lab) -> None:
    lab.open("break.ipynb", LOAD, '%gradlab break op("log") and step == 40', LOOP.format(steps=10**7))
    lab.run(0)
    lab.run(1)
    lab.start(2)
    assert held(lab) == 'Paused at step 40 op log, In[3]:9 · op("log") and step == 40'
    lab.dock_width(400)
    lab.shot("narrow")
    lab.page.evaluate(f"path => {PANEL}(path).sessionContext.session.kernel.interrupt()", lab.path)
    lab.finish()
    assert "KeyboardInterrupt" in lab.output(2)
    expect(lab.dock.locator(".gl-held")).to_be_hidden()
    lab.start(2)
    assert "step == 40" in held(lab)
    lab.restart()
    expect(lab.dock).to_contain_text("Kernel restarted")
    lab.run(0)
    lab.source(2, LOOP.format(steps=5))
    assert "done 5" in lab.run(2)


@pytest.mark.slow
def test_without_the_extension_the_buttons_act_over_the_comm(lab_without_extension: Lab) -> None:
    lab = lab_without_extension
    lab.open("comm.ipynb", LOAD, LOOP.format(steps=3000))
    lab.run(0)
    lab.start(1)
    page = lab.page
    strip = page.locator('[data-panel="strip"]')
    expect(strip.locator(".gl-fact b").first).not_to_have_text("–", timeout=30_000)
    strip.locator('button[aria-label="Pause"]').click()
    expect(page.locator(".gl-held b")).to_contain_text("Paused at step", timeout=30_000)
    lab.shot("held")
    strip.locator('button[aria-label="Resume"]').click()
    lab.finish()
    assert "done 3000" in lab.output(1)


@pytest.mark.slow
def test_a_page_that_is_loaded_again_lets_a_paused_training_go(lab: Lab) -> None:
    lab.open("reload.ipynb", LOAD, LOOP.format(steps=1500))
    lab.run(0)
    lab.start(1)
    lab.eventually(lambda: lab.points() > 3)
    button(lab, "Pause").click()
    held(lab)
    lab.layout_saved()
    lab.reload()
    resume = lab.dock.get_by_text("Resume if paused")
    expect(resume).to_be_visible(timeout=30_000)
    lab.page.wait_for_timeout(1000)
    lab.shot("busy")
    resume.click()
    lab.idle()
    lab.sees_step(1500)


@pytest.mark.slow
def test_a_probe_is_a_line_with_numpy_s_number(lab: Lab) -> None:
    check = (
        "import numpy as np, json\nprint(json.dumps([float(np.linalg.norm(layer.weight.data)), float(np.abs(layer.bias.grad.data).max())]))"
    )
    lab.open("probe.ipynb", LOAD, "%gradlab probe layer.weight norm\n%gradlab probe bias.grad max", LOOP.format(steps=60), check)
    lab.run(0)
    lab.run(1)
    lab.run(2)
    chart = lab.dock.locator("[data-probe]")
    expect(chart).to_have_count(2, timeout=30_000)
    chart.first.scroll_into_view_if_needed()
    lab.shot("probes")
    largest = json.loads(lab.run(3))[1]
    assert lab.number(lab.dock.locator('[data-probe="bias.grad max"] b')) == pytest.approx(largest, rel=1e-5)
