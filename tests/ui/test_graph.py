"""Reading a graph: keys, search, tracing, the backward pass, and graphs too large to be drawn as they are."""

from __future__ import annotations

import json
import re

import pytest
from labdriver import LOAD, Lab, expect
from labsources import UNROLLED

MODEL = """
import gradlab as gl
from gradlab import nn
gl.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 32), nn.Linear(32, 10)
    def forward(self, x):
        return self.fc2(self.fc1(x).relu())

model = Net()
optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
x, y = gl.randn(16, 64), gl.randint(0, 10, (16,))
"""

# Every op of the backward pass in the order in which the engine really takes it.
STEP = """
import json
from gradlab import observe

class Order:
    order = []
    def backward(self, fn, g, grads, began):
        self.order.append(type(fn).__name__.lower())

order = Order()
loss = nn.functional.cross_entropy(model(x), y)
observe.attach(order)
loss.backward()
observe.detach(order)
optimizer.step()
print(json.dumps(order.order))
"""


def selected(lab: Lab) -> str:
    """Return the op that is selected in the graph, by its number."""
    return lab.panel("graph").locator(".gl-node.gl-selected").first.get_attribute("data-op") or ""


@pytest.mark.slow
def test_a_graph_is_read_with_keys_and_search(lab: Lab) -> None:
    lab.open("graph.ipynb", LOAD, MODEL, STEP)
    lab.run(0)
    lab.run(1)
    order: list[str] = json.loads(lab.run(2))
    assert len(order) == 4
    graph = lab.panel("graph")
    viewport = graph.locator(".gl-viewport")
    expect(graph.locator('[data-op="3"] .gl-v')).to_have_attribute("data-value", re.compile(r"\d"))
    lab.shot("whole")

    # Arrows go in tape order, Escape lets go.
    viewport.focus()
    for expected in ("0", "1", "2"):
        lab.page.keyboard.press("ArrowDown")
        assert selected(lab) == expected
    lab.page.keyboard.press("ArrowUp")
    assert selected(lab) == "1"
    lab.page.keyboard.press("Escape")
    expect(graph.locator(".gl-node.gl-selected")).to_have_count(0)

    # Search: Enter goes from hit to hit and round.
    lab.page.keyboard.press("/")
    lab.page.keyboard.type("op:linear")
    expect(graph.locator(".gl-found")).to_have_text("2")
    seen = []
    for _ in range(3):
        lab.page.keyboard.press("Enter")
        seen.append(selected(lab))
    assert seen == ["0", "2", "0"]
    graph.locator(".gl-search input").fill("shape:16,10")
    lab.page.keyboard.press("Enter")
    assert selected(lab) == "2"
    graph.locator(".gl-search input").fill("op:conv")
    expect(graph.locator(".gl-found")).to_have_text("none")
    lab.page.keyboard.press("Escape")

    # Alt-click: what it was made of, and what was made of it, stay; the rest is muted.
    graph.locator('[data-op="0"]').click(modifiers=["Alt"])
    expect(graph.locator(".gl-node.gl-dim")).to_have_count(1)  # y
    lab.shot("traced")
    viewport.focus()
    lab.page.keyboard.press("Escape")
    expect(graph.locator(".gl-dim")).to_have_count(0)

    # The wheel scrolls the page, unless the graph has the focus.
    width = "() => document.querySelector('#gradlab-dock .gl-graph').getBoundingClientRect().width"
    lab.page.evaluate("() => document.activeElement?.blur()")
    before = lab.page.evaluate(width)
    viewport.hover()
    lab.page.mouse.wheel(0, -120)
    assert lab.page.evaluate(width) == before
    viewport.focus()
    lab.page.mouse.wheel(0, -120)
    lab.eventually(lambda: lab.page.evaluate(width) > before)
    lab.page.keyboard.press("f")

    # The backward pass: the order of the engine, gradients as they come.
    graph.get_by_role("button", name="Step through the chain rule").click()
    words = graph.locator(".gl-chainwords")
    passed = []
    for _ in order:
        passed.append(((words.text_content() or "").split(" · ")[1]).split(":")[0].replace("_", ""))
        viewport.focus()
        lab.page.keyboard.press("ArrowRight")
    assert passed == order
    expect(graph.locator(".gl-chip.gl-reached")).to_have_count(4)
    for _ in range(3):
        lab.page.keyboard.press("ArrowLeft")
    expect(graph.locator('[data-op="0"]')).to_contain_text("not reached")
    lab.shot("backward")
    lab.page.keyboard.press("Space")
    expect(graph.locator('[data-op="0"] .gl-g')).to_be_visible()  # it has played to the end
    lab.page.keyboard.press("Escape")
    expect(graph.locator(".gl-chain")).to_be_hidden()


@pytest.mark.slow
def test_an_unrolled_net_of_thousands_of_ops_is_told_once_and_every_time_can_be_seen(lab: Lab) -> None:
    lab.open("lstm.ipynb", LOAD, UNROLLED + "unroll(300)")
    lab.run_all()
    graph = lab.panel("graph")
    notice = graph.locator(".gl-notice")
    expect(notice).to_contain_text("ops folded in")
    assert max(lab.message_sizes) < 1_000_000
    assert graph.locator(".gl-node").count() < 60
    slider = graph.get_by_role("slider", name="which time is shown").first
    expect(slider).to_have_attribute("aria-valuemax", "300")
    lab.shot("folded")
    slider.focus()
    lab.page.keyboard.press("ArrowRight")
    expect(graph.get_by_role("slider", name="which time is shown").first).to_have_attribute("aria-valuenow", "2")

    # A search opens the way to the op, in the time it is of.
    graph.locator(".gl-search input").fill("op:tanh")
    expect(graph.locator(".gl-found")).to_have_text("600")
    lab.page.keyboard.press("Shift+Enter")
    expect(graph.get_by_role("slider", name="which time is shown").first).to_have_attribute("aria-valuenow", "300")
    assert selected(lab) != ""
    notice.get_by_role("button", name="Outline").click()
    expect(graph.get_by_role("treeitem").first).to_be_visible()
    lab.shot("outline")
