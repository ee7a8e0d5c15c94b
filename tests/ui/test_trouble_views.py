"""Where panels stand: odd names in them, several views of one, and notebooks whose kernel is gone or never was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from labdriver import LOAD, PANEL, Lab, expect, loaded, more, training

if TYPE_CHECKING:
    from labserver import Server
    from playwright.sync_api import Browser

PICTURE = "img[src*='data-gradlab']"

NAMES = [
    '<img src=x onerror="window.pwned=1">',
    "a|b{c}>d",
    "\"quote'",
    "\n",
    "</script><script>window.pwned=2</script>",
    "名前",
    "a.b",
    "",
    "n" * 4990 + "-the-end-1",
    "n" * 4990 + "-the-end-2",
]
ODD = f"""
import gradlab as gl
from gradlab import nn
from gradlab.notebook import Inspector

names = {NAMES!r}

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        for name in names:
            setattr(self, name, nn.Linear(3, 3))

    def forward(self, x):
        for name in names:
            x = getattr(self, name)(x).tanh()
        return x

model = Odd()
optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(gl.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


TIPS = """([root, index]) => new Promise(done => {
    const node = document.querySelectorAll(`${root} [data-panel="graph"] [data-op]`)[index];
    const { x, y, width, height } = node.getBoundingClientRect();
    node.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: x + width / 2, clientY: y + height / 2 }));
    requestAnimationFrame(() => done(document.querySelector(`${root} .gl-tip:not([hidden])`)?.textContent ?? ''));
})"""


@pytest.mark.slow
def test_any_name_is_text_wherever_it_is_shown(lab: Lab) -> None:
    lab.open("odd.ipynb", LOAD, ODD, "model", "%gradlab explain")
    lab.run_all()
    lab.sees_step(2)
    written = {name: {"\n": "\\n"}.get(name, name) for name in NAMES}  # as Python writes what leaves no mark
    parameters = {f"{name}.{what}".lstrip(".") for name in written.values() for what in ("weight", "bias")}
    for panel, of in (("gradients", "row"), ("optimizer", "param")):
        rows = lab.panel(panel).locator(f"[data-{of}]")
        assert set(rows.evaluate_all(f"rows => rows.map(row => row.dataset.{of})")) == parameters
    # The graph is complete: a box for each layer, whatever it is called; on hover all of a name, or both its ends.
    graph = lab.panel("graph")
    assert graph.locator("[data-op]").count() == 2 * len(NAMES) + 2
    text = graph.inner_text()
    tips = [lab.page.evaluate(TIPS, ["#gradlab-dock", 2 * i]) for i in range(len(NAMES))]
    for name, tip in zip(NAMES, tips, strict=True):
        assert (written[name] or "''")[:20] in text
        assert f"module{written[name] or chr(39) * 2} Linear(" in tip if len(name) < 1000 else name[:500] in tip and name[-20:] in tip
    assert len(set(tips)) == len(tips)
    # A click tells them apart too.
    detail = lab.panel("detail")
    for i in (16, 18):
        graph.locator(f'[data-op="{i}"]').click()
        expect(detail).to_contain_text("linear")
    printed = lab.page.locator(".jp-Notebook").inner_text()
    assert all(f"({name}): Linear(" in printed for name in NAMES if name.strip() and len(name) < 100)
    lab.shot("names")
    assert lab.page.evaluate("() => window.pwned") is None
    assert lab.page.locator("img[src='x']").count() == 0


def views_in_memory(lab: Lab) -> int:
    """The views of panels that the browser's memory holds, those in the page and any that were left behind."""
    devtools = lab.page.context.new_cdp_session(lab.page)
    devtools.send("HeapProfiler.collectGarbage")
    kind = devtools.send("Runtime.evaluate", {"expression": "HTMLDivElement.prototype"})["result"]["objectId"]
    found = devtools.send("Runtime.queryObjects", {"prototypeObjectId": kind})["objects"]["objectId"]
    count = "function () { return this.filter(e => e.classList.contains('gl')).length; }"
    answer = devtools.send("Runtime.callFunctionOn", {"objectId": found, "functionDeclaration": count, "returnByValue": True})
    devtools.detach()
    return int(answer["result"]["value"])


def test_a_notebook_that_is_closed_leaves_nothing_in_the_page(lab_of_its_own: Lab) -> None:
    lab = lab_of_its_own
    sessions = "() => Object.keys(globalThis[Symbol.for('gradlab')].sessions).length"
    lab.open("first.ipynb", LOAD, training(steps=2), "print(layer(gl.randn(1, 3)).shape)")
    lab.run(0)
    lab.run(1)
    lab.sees_step(2)
    lab.panel("graph").locator('[data-op="0"]').click()
    lab.run(2)  # what the panels ask now is never answered: the kernel is gone before
    lab.close_everything()
    assert lab.page.evaluate(sessions) == 0
    lab.eventually(lambda: views_in_memory(lab) == 0)
    # Closed and opened again while its kernel lives, it has all of it back.
    lab.open("second.ipynb", LOAD, training(steps=3), more(steps=2))
    lab.run(0)
    lab.run(1)
    lab.sees_step(3)
    lab.page.evaluate(f"path => {PANEL}(path).dispose()", lab.path)
    lab.eventually(lambda: lab.page.evaluate(sessions) == 0)
    lab.page.evaluate("path => { window.jupyterapp.commands.execute('docmanager:open', { path }); }", lab.path)
    lab.sees_step(3)
    lab.run(2)
    lab.sees_step(5)
    assert lab.page.evaluate(sessions) == 1


@pytest.mark.slow
def test_a_panel_that_is_shown_several_times_is_one_panel(lab_of_its_own: Lab) -> None:
    lab = lab_of_its_own
    count = """
from gradlab.notebook import GraphPanel, current_session
session, sent, send = current_session(), [], current_session().stream._send
def counting(message):
    sent.append(message.content["kind"])
    send(message)
session.stream._send = counting
panel = GraphPanel()
"""
    ask = "print(sent.count('frame'), len(session.stream._pages)); sent.clear()"
    lab.open("views.ipynb", LOAD, training(steps=2), count, "panel", "panel", more(steps=5), ask)
    for index in range(4):
        lab.run(index)

    def trained() -> None:
        lab.listen()
        lab.run(6)
        lab.run(5)
        frames = sum(m.panel_kind == "frame" for m in lab.received())
        posted, pages = map(int, lab.run(6).split())
        assert (frames, pages) == (posted, 1)

    outputs = lab.page.locator('.jp-Notebook [data-panel="graph"]')
    expect(outputs.locator('[data-op="0"]')).to_have_count(1)
    assert views_in_memory(lab) == 2
    lab.run(4)
    lab.page.evaluate(f"path => {{ {PANEL}(path).content.activeCellIndex = 4; }}", lab.path)
    lab.command("notebook:create-output-view")
    views = lab.page.locator('[data-panel="graph"]')
    expect(views.locator('[data-op="0"]')).to_have_count(4)  # the dock's, two outputs, the new view
    lab.shot("views")
    trained()
    lab.sees_step(7)
    numbers = "views => views.map(v => [...v.querySelectorAll('[data-value]')].map(e => e.dataset.value).join())"
    lab.eventually(lambda: len(set(views.evaluate_all(numbers))) == 1)
    assert views.first.locator("[data-value]").count() > 3
    assert lab.points() == 7
    # One selection goes through all of them, each has a zoom of its own.
    linked = lab.page.locator('.jp-LinkedOutputView [data-panel="graph"]')
    linked.locator('[data-op="1"]').click()
    expect(views.locator('[data-op="1"].gl-selected')).to_have_count(4)
    widths = "views => views.map(v => v.querySelector('.gl-graph').getBoundingClientRect().width)"
    first = views.evaluate_all(widths)
    linked.locator(".gl-viewport").hover()
    lab.page.keyboard.down("Control")
    lab.page.mouse.wheel(0, -120)
    lab.page.keyboard.up("Control")
    lab.eventually(lambda: sum(a != b for a, b in zip(first, views.evaluate_all(widths), strict=True)) == 1)
    assert views_in_memory(lab) == 4
    # The second output goes, and with it its copy; the others go on.
    lab.page.evaluate(f"path => {{ {PANEL}(path).content.activeCellIndex = 4; }}", lab.path)
    lab.command("notebook:clear-cell-output")
    lab.page.evaluate(
        """() => [...window.jupyterapp.shell.widgets('main')]
            .filter(w => w.content?.hasClass?.('jp-LinkedOutputView')).forEach(w => w.close())"""
    )
    expect(views.locator('[data-op="0"]')).to_have_count(2)
    trained()
    lab.sees_step(12)
    lab.eventually(lambda: len(set(views.evaluate_all(numbers))) == 1)
    lab.eventually(lambda: views_in_memory(lab) == 2)


@pytest.mark.slow
def test_pictures_take_the_place_of_panels_whose_kernel_is_gone(lab: Lab, browser: Browser) -> None:
    lab.open("pictures.ipynb", LOAD, "%gradlab panel graph", training(steps=3))
    lab.run_all()
    outputs = lab.page.locator(".jp-Notebook")
    expect(outputs.locator('[data-panel="graph"] [data-op="0"]')).to_be_visible()
    expect(outputs.locator(PICTURE)).to_have_count(2)
    for i in range(2):
        expect(outputs.locator(PICTURE).nth(i)).to_be_hidden()
    # No empty line is left where a picture will be.
    assert outputs.locator(".jp-OutputArea-child:visible").count() == 2
    lab.command("docmanager:save")
    lab.restart()
    expect(outputs.locator(PICTURE).first).to_be_visible()
    expect(lab.dock).to_contain_text("Kernel restarted. Last step kept: 3.")
    lab.shot("restarted")
    lab.shut_down()
    lab.close_everything()
    lab.show("pictures.ipynb")
    words_of_trouble = ("model not found", "Loading widget", "inspector docked")
    for i in range(2):
        expect(outputs.locator(PICTURE).nth(i)).to_be_visible()
    for words in words_of_trouble:
        expect(outputs.get_by_text(words).locator("visible=true")).to_have_count(0)
    text = lab.page.locator(PICTURE).nth(1).evaluate("image => decodeURIComponent(image.src)")
    assert re.search(r"A picture of \d{4}-\d\d-\d\d \d\d:\d\d, not connected to a kernel. To see it live, run In\[2\] again", text)
    assert ">step</text>" in text and ">3</text>" in text
    lab.shot("reopened")
    lab.run_all()
    expect(outputs.locator('[data-panel="graph"] [data-op="0"]')).to_be_visible()
    expect(outputs.locator(PICTURE).first).to_be_hidden()
    # What ipywidgets says of the model that went with its kernel.
    lab.console_errors[:] = [e for e in lab.console_errors if "widget model not found" not in e]

    # A page that only reads the file: no kernel, no widgets, no scripts.
    from nbconvert import HTMLExporter

    rendered, _ = HTMLExporter().from_filename(str(lab.server.root / "pictures.ipynb"))
    page = browser.new_context(java_script_enabled=False).new_page()
    page.set_content(rendered)
    pictures = page.locator("img[src^='data:image/svg+xml']")
    expect(pictures).to_have_count(2)
    assert lab.pictures is not None
    page.screenshot(path=lab.pictures.with_name("pictures-static.png"))
    for words in words_of_trouble[:2]:
        expect(page.get_by_text(words)).to_have_count(0)
    page.context.close()


@pytest.mark.slow
def test_without_gradlab_a_notebook_shows_its_pictures(lab: Lab, server: Server, browser: Browser) -> None:
    lab.open("elsewhere.ipynb", LOAD, "%gradlab panel graph", training(steps=3))
    lab.run_all()
    lab.command("docmanager:save")
    lab.close_everything()
    with server.disabled("gradlab"):
        other = loaded(server, browser)
        other.show("elsewhere.ipynb")
        # Above the second one stands what ipywidgets says of a widget that it can't find: nobody hides it here.
        for i in range(2):
            expect(other.page.locator(PICTURE).nth(i)).to_be_visible()
        other.page.context.close()
