"""What is too much for a notebook: numbers that are none, large tensors, long graphs, many steps, and memory that stays taken."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from labdriver import LOAD, Lab, expect
from labsources import LARGE, TINY, UNROLLED

MEGABYTE = 1_000_000

EXPLODING = """
import warnings
import numpy as np
import gradlab as gl
from gradlab import nn
from gradlab.notebook.requests import answers
gl.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = gl.optim.SGD(model.parameters(), lr=1e-2)
x = gl.randn(16, 4)

@answers("test numbers")
def numbers(session):
    return {"half": np.float32(1.5), "large": np.int64(2**60), "true": np.bool_(True), "zero": -0.0, "array": np.array(2.5),
            "none": [float("nan"), np.float32("inf"), -np.inf]}

def step():
    loss = (model(x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
"""
EXPLODE = """
with np.errstate(all="ignore"):
    for i in range(40):
        if i == 20:
            optimizer.param_groups[0]["lr"] = 1e30
        loss = step()
print(loss.item())
"""


@pytest.mark.slow
def test_numbers_that_explode_are_named_and_every_message_stays_strict_json(lab: Lab) -> None:
    lab.open("explode.ipynb", LOAD, EXPLODING, EXPLODE)
    lab.run(0)
    lab.run(1)
    lab.listen()
    assert lab.run(2).strip() == "nan"
    lab.sees_step(40)
    expect(lab.panel("strip").locator('[data-field="loss"]')).to_have_text("NaN")
    expect(lab.panel("strip").locator('[data-field="grad_norm"]')).to_have_text("NaN")
    expect(lab.panel("graph").locator('[data-op="0"] .gl-v')).to_have_text(re.compile("NaN|Inf"))
    # The card says where it began: op, line, step.
    expect(lab.panel("findings")).to_contain_text("pow made the first Inf of step 22, forward; the last finite step is 21.")
    expect(lab.panel("findings")).to_contain_text("pow in In[2]:")
    # Twenty finite points are drawn, and no number that is none is in a path.
    lab.shot("nan")
    paths = lab.page.evaluate("() => [...document.querySelectorAll('#gradlab-dock path')].map(p => p.getAttribute('d') ?? '')")
    assert not any("NaN" in path or "Infinity" in path for path in paths)
    assert lab.points() >= 20
    assert {"frame"} <= {message.panel_kind for message in lab.received()}
    answer = lab.ask("test numbers")
    assert {name: answer[name] for name in ("half", "large", "true", "zero", "array", "none")} == {
        "half": 1.5,
        "large": str(2**60),
        "true": True,
        "zero": 0,
        "array": 2.5,
        "none": ["NaN", "Infinity", "-Infinity"],
    }
    assert "not JSON compliant" not in lab.server.log


@pytest.mark.slow
def test_of_a_gradient_of_400_megabytes_only_what_is_seen_travels(lab: Lab) -> None:
    corner = "w = model.weight\nprint([float(w.data[4999, 19999]), float(w.grad.data[4999, 19999])])"
    lab.open("large.ipynb", LOAD, LARGE, "train(3)", corner)
    lab.run(0)
    lab.listen()
    lab.run(1)
    lab.run(2)
    lab.sees_step(3)
    lab.panel("optimizer").locator('[data-param="weight"]').click()
    panel = lab.panel("detail")
    status = panel.get_by_text("showing 64 × 64 of 5000 × 20000").first
    status.wait_for(timeout=120_000)
    expect(panel.locator("svg[data-hist=value]")).to_be_attached()
    expect(panel.locator("svg[data-hist=gradient]")).to_be_attached()
    for k in range(2):
        panel.locator("input[type=range]").nth(k).focus()
        lab.page.keyboard.press("End")
    panel.get_by_text("from [4936, 19936]").first.wait_for(timeout=120_000)
    lab.shot("corner")
    value, gradient = json.loads(lab.run(3))
    for name, number in (("value", value), ("gradient", gradient)):
        canvas = panel.locator(f"canvas[data-map={name}]")
        box = canvas.evaluate(  # in one call: it is drawn anew when numbers come
            "canvas => { canvas.scrollIntoView({ block: 'center' }); return canvas.getBoundingClientRect().toJSON(); }"
        )
        lab.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2)
        tip = lab.page.locator(".gl-tip:visible")
        expect(tip.locator("b")).to_have_text("[4999, 19999]")
        assert float(tip.locator("dd").all_text_contents()[0 if name == "value" else 1]) == pytest.approx(number, rel=1e-5)
    sizes = [message.size_bytes for message in lab.received()]
    assert len(sizes) > 20 and max(sizes) < 256_000


@pytest.mark.slow
def test_a_graph_of_tens_of_thousands_of_ops_can_be_read(lab: Lab) -> None:
    lab.open("long.ipynb", LOAD, UNROLLED, "unroll(2000)", "unroll(12_500)")
    lab.run(0)
    lab.run(1)
    lab.run(2, 300)
    graph = lab.panel("graph")
    notice = graph.locator(".gl-notice")
    expect(notice).to_contain_text("ops folded in 1 group", timeout=60_000)
    assert graph.locator("[data-op], [data-leaf], [data-module]").count() < 1000
    expect(graph.get_by_role("slider", name="which time is shown").first).to_have_attribute("aria-valuemax", "2000")
    lab.shot("folded")
    graph.locator(".gl-search input").fill("op:tanh")
    lab.page.keyboard.press("Enter")
    lab.page.keyboard.press("Shift+Enter")
    lab.shot("found")
    graph.locator("[data-op]").first.click()
    expect(graph.locator(".gl-selected").first).to_be_visible()
    assert graph.locator("[data-op], [data-leaf], [data-module]").count() < 1000
    lab.run(3, 900)
    expect(notice).to_contain_text("counted, not kept", timeout=60_000)
    lab.shot("200000")
    graph.locator("[data-op]:not(.gl-selected)").first.click()  # the op that was selected is there too, and a click lets go of it
    expect(graph.locator(".gl-selected").first).to_be_visible()
    assert max(lab.message_sizes) < MEGABYTE


def loss_line(lab: Lab) -> list[tuple[float, float]]:
    """The points of the loss line in the strip, in pixels from the left and from the top."""
    path = lab.panel("strip").locator(".gl-sparkline").get_attribute("d") or ""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


def losses_of_tiny(steps: int, spike: int) -> np.ndarray:
    """The losses that `train` of TINY has, from the same steps in this process."""
    tiny: dict[str, Any] = {}
    exec(TINY, tiny)
    losses = []
    for t in range(steps):
        loss = ((tiny["model"](tiny["x"]) - tiny["y"]) ** 2).mean() + (1e6 if t == spike else 0.0)
        tiny["optimizer"].zero_grad()
        loss.backward()
        tiny["optimizer"].step()
        losses.append(loss.item())
    return np.array(losses)


@pytest.mark.parametrize("steps", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_of_any_number_of_steps_ten_messages_a_second_show_every_spike(lab: Lab, steps: int) -> None:
    lab.open("many.ipynb", LOAD, TINY, f"train({steps}, spike={steps // 2})")
    lab.run(0)
    lab.run(1)
    lab.listen()
    printed = lab.run(2, 900)
    assert printed.split() == [f"<{t}>" for t in range(0, steps, 10_000)]
    lab.sees_step(steps)
    got = lab.received()
    frames = [m for m in got if m.panel_kind == "frame"]
    lasted = frames[-1].sent - frames[0].sent
    assert 2 <= len(frames) <= 10 * lasted + 3  # the first and the last come at their time
    assert len([m for m in got if m.panel_kind]) < 3 * len(frames) + 10
    assert sum(m.size_bytes for m in frames) < 100 * steps + 3_000 * len(frames) + 500_000  # a row a step, and what is on show
    lab.shot("spike")
    points = loss_line(lab)
    top = min(y for _, y in points)
    highest = [x for x, y in points if y < top + 1]
    assert len(highest) == 1 and highest[0] / points[-1][0] == pytest.approx(0.5, abs=0.05)
    # Every point stands where the losses of its steps are, on a logarithmic scale 14 px high from the least loss to the spike.
    logs = np.log10(losses_of_tiny(steps, spike=steps // 2))
    heights = 15 - 14 * (logs - logs.min()) / (logs.max() - logs.min())
    a_pixel = (steps - 1) / (points[-1][0] - points[0][0])
    reach = round(0.05 * a_pixel + max(1, 2 * steps / 10_000))  # how a number is rounded, and the steps that one point stands for
    for x, y in points:
        at = round((x - points[0][0]) * a_pixel)
        near = heights[max(0, at - reach) : at + reach + 1]
        assert near.min() - 0.1 < y < near.max() + 0.1, (x, y)
    # Nothing is left in a queue: no frame comes any more.
    lab.listen()
    lab.page.wait_for_timeout(1500)
    assert not [m for m in lab.received() if m.panel_kind == "frame"]


HEAVY = """
import gc, os, psutil
import gradlab as gl
from gradlab import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 256), nn.Linear(256, 4)
    def forward(self, x):
        h = self.first(x).tanh()   # 12.5 MB each
        return self.last((h * h + h).sigmoid())

model = Net()
optimizer = gl.optim.SGD(model.parameters(), lr=0.01)
x = gl.randn(12_500, 64)

def resident():
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6

def train(n):
    sizes = []
    for _ in range(n):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sizes.append(psutil.Process().memory_info().rss / 1e6)
    return sizes

def evaluate(n):
    sizes = []
    with gl.no_grad():
        for _ in range(n):
            model(x)
            sizes.append(psutil.Process().memory_info().rss / 1e6)
    return sizes
"""
REPORT = """
import json
sizes = {name}(200)
print(json.dumps([max(sizes[:20]), max(sizes[-20:])]))
"""


@pytest.mark.slow
def test_neither_training_nor_evaluation_nor_errors_fill_the_memory(lab: Lab) -> None:
    wrong = "model(x)\nmodel(gl.ones(3, 3))"
    cells = (HEAVY, REPORT.format(name="train"), REPORT.format(name="evaluate"), "model(x)", wrong, "print(resident())")
    found = {}
    for watched in (True, False):
        lab.open(f"memory-{watched}.ipynb", LOAD if watched else "", *cells)
        lab.run(0)
        lab.run(1)
        for index in (2, 3):
            first, last = json.loads(lab.run(index, 300))
            assert last < 1.05 * first
        for _ in range(10):
            lab.run(4)
        out = float(lab.run(6))
        for _ in range(10):
            lab.start(5)
            lab.finish()
        found[watched] = out, float(lab.run(6))
        lab.shut_down()
    for watched, bare in zip(found[True], found[False], strict=True):
        assert watched < 1.05 * bare
