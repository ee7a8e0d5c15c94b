"""The detail panel shows NumPy's numbers: of parameters any time, of every op once a step is captured."""

from __future__ import annotations

import json
from typing import Any

import pytest
from labdriver import Lab
from playwright.sync_api import Locator

SETUP = """
%load_ext gradlab
import json
import numpy as np
import gradlab as gl
from gradlab import nn, optim
gl.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 100)

    def forward(self, x):
        h = self.fc1(x).relu()
        return self.fc2(h)

model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.01)
x, y = gl.randn(32, 64), gl.tensor(np.arange(32) % 10)
"""

TRAIN = """
for i in range(3):
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    if i == 0:
        first = {n: p.data.astype(np.float64) for n, p in model.named_parameters()}
    optimizer.step()
"""

# One step in float64 from the weights it began with. No gradlab in it.
CHECK = """
X, Y = x.data.astype(np.float64), y.data
z = X @ first["fc1.weight"].T + first["fc1.bias"]
h = np.maximum(z, 0)
s = h @ first["fc2.weight"].T + first["fc2.bias"]
q = np.exp(s - s.max(1, keepdims=True)); q /= q.sum(1, keepdims=True)
ds = (q - np.eye(100)[Y]) / 32
dh = ds @ first["fc2.weight"]
w = dict(model.named_parameters())["fc2.weight"]
print(json.dumps({
    "h": h.tolist(), "dh": dh.tolist(), "zeros": int((h.astype(np.float32) == 0).sum()),
    "counts": np.histogram(h.astype(np.float32).astype(float), 64)[0].tolist(),
    "w": w.data.astype(float).tolist(), "dw": w.grad.data.astype(float).tolist()}))
"""


def hover(lab: Lab, panel: Locator, name: str, row: int, column: int, shape: tuple[int, int]) -> dict[str, Any]:
    """What the tip over one cell of a map says."""
    canvas = panel.locator(f"canvas[data-map={name}]")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    lab.page.mouse.move(box["x"] + (column + 0.5) * box["width"] / shape[1], box["y"] + (row + 0.5) * box["height"] / shape[0])
    tip = lab.page.locator(".gl-tip:visible")
    tip.wait_for()
    names, numbers = tip.locator("dt").all_text_contents(), tip.locator("dd").all_text_contents()
    return {"place": tip.locator("b").text_content(), **dict(zip(names, map(float, numbers), strict=True))}


def test_it_shows_the_numbers_that_numpy_computes(lab: Lab) -> None:
    lab.open("detail.ipynb", SETUP, TRAIN, CHECK)
    lab.run(0)
    lab.run(1)
    panel = lab.panel("detail")
    panel.scroll_into_view_if_needed()
    assert "Select an op or a line." in panel.text_content()
    lab.panel("shapes").locator('tr[data-op="1"]').click()
    panel.get_by_text("capture the next step").wait_for()
    lab.shot("gone")
    panel.get_by_role("button", name="Capture next step").click()
    panel.get_by_text("waiting for the next step").wait_for()
    lab.run(1)
    panel.get_by_text("captured at step 4").wait_for()
    expected = json.loads(lab.run(2))
    assert panel.locator(".gl-formula math").count() == 2
    assert panel.locator(".gl-source").first.text_content().startswith("def forward(self, x")
    assert "h = self.fc1(x).relu()" in panel.locator(".gl-made").text_content()
    for row, column in ((0, 0), (13, 41), (31, 63)):
        seen = hover(lab, panel, "value", row, column, (32, 64))
        assert seen["place"] == f"[{row}, {column}]"
        assert seen["value"] == pytest.approx(expected["h"][row][column], rel=1e-5, abs=1e-6)
        assert seen["gradient"] == pytest.approx(expected["dh"][row][column], rel=1e-4, abs=1e-7)
    assert "showing 32 × 64 of 32 × 128 from [0, 0]" in panel.text_content()
    lab.shot("captured")
    panel.locator("input[type=range]").first.focus()
    lab.page.keyboard.press("End")
    panel.get_by_text("from [0, 64]").wait_for()
    seen = hover(lab, panel, "gradient", 5, 63, (32, 64))
    assert seen["place"] == "[5, 127]" and seen["gradient"] == pytest.approx(expected["dh"][5][127], rel=1e-4, abs=1e-7)
    assert f"{expected['zeros']:,} exact zeros" in panel.text_content()
    bins = panel.locator("svg[data-hist=value]")
    bins.scroll_into_view_if_needed()
    box = bins.bounding_box()
    for k in (0, 20):
        lab.page.mouse.move(box["x"] + (k + 0.5) * box["width"] / 64, box["y"] + 20)
        lab.eventually(lambda k=k: lab.page.locator(".gl-tip:visible dd").all_text_contents() == [f"{expected['counts'][k]:,}"])
    panel.get_by_role("button", name="Release").click()
    panel.get_by_text("keeps every value").wait_for()

    lab.panel("optimizer").get_by_text("fc2.weight").first.click()
    panel.get_by_text("as it is now, after step 6").wait_for()
    seen = hover(lab, panel, "value", 7, 9, (64, 64))
    assert seen["value"] == pytest.approx(expected["w"][7][9], rel=1e-6)
    assert seen["gradient"] == pytest.approx(expected["dw"][7][9], rel=1e-6)
    assert "ledger of fc2.weight.grad" in panel.text_content()
    lab.shot("parameter")


LONG = """
import time
for i in range(20000):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.002)
"""


@pytest.mark.slow
def test_while_a_cell_trains_values_move_and_a_step_can_be_captured(lab: Lab) -> None:
    lab.open("detail-live.ipynb", SETUP, TRAIN, LONG)
    lab.run(0)
    lab.run(1)
    lab.start(2)
    panel = lab.panel("detail")
    lab.panel("optimizer").get_by_text("fc1.bias").first.click()
    canvas = panel.locator("canvas[data-map=value]")
    canvas.wait_for()
    status = panel.locator(".gl-status")
    first = status.text_content()
    lab.eventually(lambda: status.text_content() not in (first, "Read when this step ends."))
    lab.panel("shapes").locator('tr[data-op="1"]').click()
    panel.get_by_text("capture the next step").wait_for()
    panel.get_by_role("button", name="Capture next step").click()
    panel.get_by_text("captured at step").wait_for()
    assert panel.locator("canvas").count() == 2
    assert "kept" in panel.locator(".gl-capture").text_content()
    lab.command("notebook:interrupt-kernel")
    lab.finish()
