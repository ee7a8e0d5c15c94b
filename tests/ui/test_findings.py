"""Findings in a real JupyterLab: what the cards say equals what is computed another way, and they lead to the op."""

from __future__ import annotations

import math

import pytest
from labdriver import Lab

SETUP = """
%load_ext gradlab
import numpy as np
import gradlab as gl
from gradlab import nn, optim
from gradlab.nn import functional as F

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 64)
        self.fc2 = nn.Linear(64, 48)
        self.a_layer_of_a_long_name_that_is_never_called_at_all = nn.Linear(48, 7)
        self.head = nn.Linear(48, 7)

    def forward(self, x):
        return self.head(self.fc2(self.fc1(x)).tanh()).softmax(1)

gl.manual_seed(0)
model = Reader()
optimizer = optim.SGD(model.parameters(), lr=0.1)
x, y, t = gl.randn(32, 20), gl.tensor(np.arange(32) % 7), gl.randn(32, 1)
"""

TRAIN = """
for step in range(30):
    p = model(x)
    loss = F.cross_entropy(p, y) + 0.01 * ((p.sum(1) - t) ** 2).mean()
    loss.backward()
    optimizer.step()
"""

NAN = """
w = gl.tensor([0.0, 1.0, 4.0], requires_grad=True)
(w * w).sqrt().sum().backward()
"""


def titles(lab: Lab) -> list[str]:
    return lab.panel("findings").locator(".gl-card-title").all_inner_texts()


@pytest.mark.slow
def test_cards_name_what_was_planted_lead_to_the_op_and_can_be_muted(lab: Lab) -> None:
    lab.open("findings", SETUP, TRAIN, NAN, "%gradlab explain")
    lab.run(0)
    lab.run(1)
    lab.sees_step(30)
    panel = lab.panel("findings")
    card = panel.locator('[data-finding^="R9:"]')
    card.wait_for()
    floor = float(card.locator(".gl-measured span").first.get_attribute("data-value") or "nan")
    assert floor == pytest.approx(math.log(1 + 6 / math.e))
    rules = {one.split(":")[0] for one in panel.locator(".gl-card").evaluate_all("cards => cards.map(c => c.dataset.finding)")}
    assert {"R7", "R8", "R9", "R13", "R20"} <= rules
    panel.evaluate("p => p.scrollIntoView()")
    lab.shot("findings-400")
    panel.locator('[data-finding^="R13:"] .gl-card-title').click()
    selected = lab.panel("graph").locator(".gl-selected [data-op], [data-op].gl-selected").first
    selected.wait_for()
    assert "sub" in (selected.text_content() or "")
    copy = panel.locator('[data-finding^="R8:"] .gl-acts button').first
    copy.click()
    lab.eventually(lambda: copy.inner_text() == "Copied")
    panel.locator('[data-finding^="R8:"]').get_by_role("button", name="Learn").click()
    assert "momentum of 1" in panel.locator('[data-finding^="R8:"] .gl-learn').inner_text()
    panel.locator('[data-finding^="R20:"]').get_by_role("button", name="Mute").first.click()
    lab.eventually(lambda: panel.locator('[data-finding^="R20:"]').count() == 0)
    panel.locator(".gl-unasked button").click()
    lab.eventually(lambda: panel.locator('[data-finding^="R20:"]').count() > 0)
    lab.run(2)
    lab.eventually(lambda: any("sqrt" in title for title in titles(lab)))
    text = lab.run(3)
    assert "sqrt" in text
    assert "where the derivative is infinite" in text
    sizes: list[tuple[str, int, str]] = [("dark", 400, "JupyterLab Dark"), ("dark-600", 600, "JupyterLab Dark")]
    sizes += [("light-600", 600, "JupyterLab Light"), ("light-1000", 1000, "JupyterLab Light")]
    for name, width, theme in sizes:
        lab.theme(theme)
        lab.dock_width(width)
        panel.evaluate("p => p.scrollIntoView()")
        lab.shot(f"findings-{name}")


LARGE = """
%load_ext gradlab
import numpy as np
import gradlab as gl
gl.manual_seed(0)
w = gl.randn(8, 8, requires_grad=True)
turns = np.random.default_rng(0).integers(0, 3, 330)
"""
DEEP = """
h = gl.randn(16, 8) @ w
for turn in turns:
    h = h.tanh() if turn == 0 else h * 1.5 if turn == 1 else h + 0.1
loss = gl.cross_entropy(h.softmax(1), gl.tensor(np.arange(16) % 8))
loss.backward()
"""
# How many pixels of the picture have the colour of errors.
RED = """canvas => {
    const style = getComputedStyle(canvas.closest('.gl')).getPropertyValue('--gl-error').trim();
    const [r, g, b] = [1, 3, 5].map(at => parseInt(style.slice(at, at + 2), 16));
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) found += data[i] === r && data[i + 1] === g && data[i + 2] === b;
    return found;
}"""


@pytest.mark.slow
def test_a_finding_has_its_sign_on_the_node_of_a_large_graph_too(lab: Lab) -> None:
    lab.open("large.ipynb", LARGE, DEEP)
    lab.run(0)
    lab.run(1)
    card = lab.panel("findings").locator('[data-finding^="R9:"]')
    card.wait_for()
    graph = lab.panel("graph")
    canvas = graph.locator("canvas.gl-canvas")
    while not canvas.count():
        graph.locator(".gl-node[data-module]").first.dblclick()
    graph.locator(".gl-search input").fill("op:softmax")
    lab.page.keyboard.press("Enter")
    lab.eventually(lambda: 20 < canvas.evaluate(RED) < 150)  # one sign, 12 px wide and high
    lab.shot("sign")
    card.get_by_role("button", name="Mute").click()
    canvas.scroll_into_view_if_needed()  # what nobody sees is not drawn
    lab.eventually(lambda: canvas.evaluate(RED) == 0)
