"""Experiments on a captured step in a real JupyterLab: what they say is what NumPy says, and the run goes on untouched."""

from __future__ import annotations

import json

import pytest
from labdriver import Lab
from playwright.sync_api import Locator

SETUP = """
%load_ext gradlab
import json
import numpy as np
import gradlab as gl
from gradlab import nn, optim
from gradlab.function import Function
gl.manual_seed(0)

class Squash(Function):
    \"\"\"y = tanh x, with its gradient off by a factor.\"\"\"
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y
    def backward(self, g):
        return 1.5 * g * (1 - self.y ** 2)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 30)
        self.drop = nn.Dropout(0.5)
        self.fc2 = nn.Linear(30, 10)

    def forward(self, x):
        return self.fc2(self.drop(Squash.apply(self.fc1(x))))

model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.1)
x, y = gl.randn(32, 20), gl.tensor(np.arange(32) % 10)
"""

TRAIN = """
for i in range(3):
    optimizer.zero_grad()
    if i == 0:
        before = {n: p.data.astype(np.float64) for n, p in model.named_parameters()}
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    if i == 0:
        first, grads = loss.item(), {n: p.grad.data.astype(np.float64) for n, p in model.named_parameters()}
    optimizer.step()
"""

CHECK = """
X = x.data.astype(np.float64)
w = before["fc1.weight"]
products = X[3] * w[5]
update = 0.1 * np.linalg.norm(grads["fc2.weight"])
print(json.dumps({"sum": float(products.sum() + before["fc1.bias"][5]), "largest": float(products[np.abs(products).argmax()]),
    "k": int(np.abs(products).argmax()), "loss": first, "update": update}))
"""

STATE = """
import hashlib
print(hashlib.sha256(repr([p.data.tobytes() for p in model.parameters()] + [p.grad.data.tobytes() for p in model.parameters()]
    + [gl.get_rng_state()]).encode()).hexdigest())
"""


def point(panel: Locator, row: int, column: int, shape: tuple[int, int]) -> None:
    """Pick an entry of the map of values by a click."""
    canvas = panel.locator("canvas[data-map=value]")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.click(position={"x": (column + 0.5) * box["width"] / shape[1], "y": (row + 0.5) * box["height"] / shape[0]})


@pytest.mark.slow
def test_experiments_on_a_captured_step(lab: Lab) -> None:
    lab.open("experiments.ipynb", SETUP, TRAIN, CHECK, STATE)
    lab.run(0)
    lab.run(1)
    panel = lab.panel("detail")
    ops = lab.panel("shapes")
    ops.locator('tr[data-op="0"]').click()
    panel.get_by_role("button", name="Capture next step").click()
    panel.get_by_text("waiting for the next step").wait_for()
    lab.run(1)
    expected = json.loads(lab.run(2))
    untouched = lab.run(3)
    panel.get_by_role("button", name="Check this gradient").click()
    verdict = panel.locator("[data-outcome=verdict]")
    lab.eventually(lambda: "agrees with finite differences" in verdict.text_content())
    assert verdict.locator("b").get_attribute("data-state") == "good"

    point(panel, 3, 5, (32, 30))
    terms = panel.locator("[data-outcome=terms]")
    terms.get_by_text("sum of 20 products").wait_for()
    assert "entry [3, 5], picked" in panel.text_content()
    first = terms.locator("tbody tr").first.locator("td").all_text_contents()
    assert f"[3, {expected['k']}]" in first[0]
    assert float(first[1].replace("\u2212", "-")) == pytest.approx(expected["largest"], rel=1e-5)
    rows = {tds[0]: tds[1] for tds in (tr.locator("td").all_text_contents() for tr in terms.locator("tbody tr").all())}
    assert float(rows["together"].replace("\u2212", "-")) == pytest.approx(expected["sum"], rel=1e-5)
    assert float(rows["stored"].replace("\u2212", "-")) == pytest.approx(expected["sum"], rel=1e-5)
    lab.shot("terms")

    ops.locator('tr[data-op="1"]').click()
    panel.get_by_role("button", name="Check this gradient").click()
    lab.eventually(lambda: "disagrees with finite differences" in verdict.text_content())
    lab.shot("wrong")

    lab.panel("optimizer").get_by_text("fc2.weight").first.click()
    panel.get_by_text("as it is now, after step 6").wait_for()
    lab.eventually(lambda: panel.locator("canvas[data-map=value]").count() == 1)
    point(panel, 2, 7, (10, 30))
    panel.get_by_role("button", name="Nudge it").click()
    nudged = panel.locator("[data-outcome=nudge]")
    nudged.locator("tbody tr").first.wait_for()
    up = [float(text.replace("\u2212", "-")) for text in nudged.locator("tbody tr").first.locator("td").all_text_contents()[1:3]]
    assert up[0] == pytest.approx(up[1], rel=0.05)

    panel.get_by_role("button", name="lr × 2").click()
    again = panel.locator("[data-outcome=counterfactual]")
    again.locator("tbody tr").first.wait_for()
    rows = {tds[0]: tds[1:] for tds in (tr.locator("td").all_text_contents() for tr in again.locator("tbody tr").all())}
    assert float(rows["loss before"][0]) == pytest.approx(expected["loss"], rel=1e-5)
    assert rows["lr"] == ["0.1", "0.2"] and rows["fc2.weight"][2] == "\u00d7 2"
    assert float(rows["fc2.weight"][0]) == pytest.approx(expected["update"], rel=0.02)
    lab.shot("again")
    panel.get_by_role("button", name="no dropout").click()
    lab.eventually(lambda: len(set(again.locator("tbody tr").first.locator("td").all_text_contents()[1:])) == 2)
    assert lab.run(3) == untouched
    lab.dock_width(400)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)
        panel.get_by_role("button", name="Check this gradient").evaluate("e => e.scrollIntoView({ block: 'start' })")
        lab.shot(theme.split()[1].lower())
    lab.theme("JupyterLab Light")
