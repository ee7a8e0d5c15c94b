"""From a line to its ops and back: hints, footers, the way to a cell, and the cursor's line in the panels."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from labdriver import LOAD, PANEL, Lab, expect, more, training

if TYPE_CHECKING:
    from playwright.sync_api import Locator

IMPORTS = (
    "import numpy as np\nimport gradlab as gl\nfrom gradlab import nn, optim\nfrom gradlab.nn import functional as F\ngl.manual_seed(0)"
)
MODEL = """class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)
    def forward(self, x):
        h = F.gelu(self.fc1(x))
        h = F.gelu(self.fc2(h))
        return self.fc3(h)
model = MLP()
opt = optim.AdamW(model.parameters(), lr=3e-3)"""
DATA = "x = gl.randn(32, 64)\ny = gl.randint(0, 10, (32,))"
TRAIN = """for step in range(30):
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    right = logits.detach().argmax(1)"""


def view(lab: Lab, index: int, read: str, argument: Any = None) -> Any:
    """Evaluate an expression on the editor of a cell: `view` is its CodeMirror view, `argument` what is given."""
    return lab.page.evaluate(
        f"""([path, index, argument]) => {{
            const cell = {PANEL}(path).content.widgets[index];
            const view = cell.editor.editor;
            return {read};
        }}""",
        [lab.path, index, argument],
    )


def hints(lab: Lab, index: int) -> dict[int, str]:
    """The texts at the ends of a cell's lines, by line."""
    found = view(
        lab,
        index,
        """[...view.contentDOM.querySelectorAll('.gradlab-hint')].map(hint =>
            [view.state.doc.lineAt(view.posAtDOM(hint)).number, hint.textContent])""",
    )
    return dict(found)


def footer(lab: Lab, index: int) -> list[str]:
    """The lines under a cell's input."""
    return lab.page.evaluate(
        f"([path, index]) => [...{PANEL}(path).content.widgets[index].node.querySelectorAll('.gradlab-footer')].map(e => e.textContent)",
        [lab.path, index],
    )


def mark(lab: Lab, index: int) -> tuple[int, str, bool] | None:
    """The marked line of a cell, what its hint says, and whether it is marked stale."""
    return view(
        lab,
        index,
        """(line => line && [view.state.doc.lineAt(view.posAtDOM(line)).number, line.querySelector('.gradlab-hint').textContent,
                              line.classList.contains('gradlab-mod-stale')])(view.contentDOM.querySelector('.gradlab-line'))""",
    )


def in_sight(lab: Lab, index: int) -> bool:
    """Whether the marked line of a cell lies inside the notebook's view."""
    return view(
        lab,
        index,
        """(line => {
            const [box, room] = [line.getBoundingClientRect(), cell.node.closest('.jp-WindowedPanel-outer').getBoundingClientRect()];
            return box.top >= room.top && box.bottom <= room.bottom;
        })(view.contentDOM.querySelector('.gradlab-line'))""",
    )


def edit(lab: Lab, index: int, line: int, text: str) -> None:
    """Type at the end of a line of a cell."""
    view(lab, index, "view.dispatch({changes: {from: view.state.doc.line(argument[0]).to, insert: argument[1]}})", [line, text])


def cursor(lab: Lab, index: int, line: int) -> None:
    """Put the cursor of a cell on a line."""
    lab.page.evaluate(
        f"""([path, index, line]) => {{
            const nb = {PANEL}(path).content;
            nb.activeCellIndex = index;
            nb.mode = 'edit';
            nb.activeCell.editor.focus();
            nb.activeCell.editor.setCursorPosition({{ line: line - 1, column: 0 }});
        }}""",
        [lab.path, index, line],
    )


def node(lab: Lab, op: int) -> Locator:
    """A node of the graph in the dock."""
    return lab.panel("graph").locator(f'[data-op="{op}"]').first


CONTRAST = """selector => {
    const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    return Math.min(...[...document.querySelectorAll(selector)].map(element => {
        let ground = element;
        while ((numbers(getComputedStyle(ground).backgroundColor)[3] ?? 1) === 0) ground = ground.parentElement;
        const back = numbers(getComputedStyle(ground).backgroundColor);
        const [r, g, b, a = 1] = numbers(getComputedStyle(element).color);
        const front = [r, g, b].map((v, i) => a * v + (1 - a) * back[i]);
        const [x, y] = [light(front), light(back)].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05);
    }));
}"""


def contrast(lab: Lab) -> float:
    """The lowest contrast of a text of ours beside the code with what is behind it."""
    return min(lab.page.evaluate(CONTRAST, f".gradlab-{name}") for name in ("hint-text", "hint-op", "hint-others", "footer button"))


def open_digits(lab: Lab, name: str) -> None:
    """Open a notebook that trains a small network, and run it."""
    lab.open(name, LOAD, IMPORTS, MODEL, DATA, TRAIN)
    lab.run(0)
    lab.visible_dock()
    for i in range(1, 5):
        lab.run(i)
    lab.eventually(lambda: len(hints(lab, 4)) == 5 and len(hints(lab, 2)) == 8)


SHAPES = """
X, W = np.array(x.data), {name: np.array(p.data) for name, p in model.named_parameters()}
a = X @ W["fc1.weight"].T
b = a @ W["fc2.weight"].T
c = b @ W["fc3.weight"].T
sizes = [W[f"fc{i}.weight"].size + W[f"fc{i}.bias"].size for i in (1, 2, 3)]
print(json.dumps([[a.shape, b.shape, c.shape], sizes, c.argmax(1).shape]))
"""


def test_hints_and_footers_say_what_numpy_computes(lab: Lab) -> None:
    open_digits(lab, "hints.ipynb")
    lab.page.evaluate(f"path => {PANEL}(path).content.model.sharedModel.addCell({{cell_type: 'code', source: ''}})", lab.path)
    lab.source(5, "import json" + SHAPES)
    (a, b, c), sizes, classes = json.loads(lab.run(5))
    text = lambda shape: f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"  # noqa: E731
    assert hints(lab, 2) == {
        **{line: f"{size:,} parameters" for line, size in zip((4, 5, 6), sizes, strict=True)},
        8: f"{text(a)} f32",
        9: f"{text(b)} f32",
        10: f"{text(c)} f32",
        11: f"{sum(sizes):,} parameters",
        12: f"{sum(sizes):,} parameters, all held",
    }
    assert hints(lab, 3) == {1: "x (32, 64) f32", 2: "y (32,) i64"}
    shown = hints(lab, 4)
    assert shown.pop(5).startswith("‖g‖ ") and shown.pop(6) == "6 parameters moved"
    assert shown == {2: f"logits {text(c)} f32", 3: "loss () f32", 7: f"right {text(classes)} i64, no grad"}
    assert re.fullmatch(r"7 ops a step · 30 steps · \S+ ms a step · \S+ findings?", footer(lab, 4)[0])
    expect(lab.page.locator(".gradlab-status")).to_contain_text("gradlab: tracing")
    lab.shot("light")
    node(lab, 2).click()
    for theme, name in (("JupyterLab Light", "selected"), ("JupyterLab Dark", "dark"), ("JupyterLab Dark High Contrast", "contrast")):
        lab.theme(theme)
        lab.page.wait_for_timeout(1200)
        lab.shot(name)
        assert contrast(lab) >= 4.5, name
    node(lab, 2).click()
    lab.theme("JupyterLab Light")
    lab.page.set_viewport_size({"width": 900, "height": 700})
    lab.page.wait_for_timeout(500)
    lab.shot("narrow")
    lab.page.set_viewport_size({"width": 1440, "height": 900})

    # Edited lines lose their hint, the others keep it; the text of the cell and the file hold no trace.
    before = lab.sources()[2]
    edit(lab, 2, 9, "  # twice")
    assert 9 not in hints(lab, 2) and hints(lab, 2)[10] == f"{text(c)} f32"
    edit(lab, 2, 1, "\n    # a new line")
    assert hints(lab, 2)[11] == f"{text(c)} f32"
    lab.source(2, before)
    lab.eventually(lambda: len(hints(lab, 2)) == 8)
    lab.command("docmanager:save")
    saved = (lab.server.root / "hints.ipynb").read_text()
    assert "a step" not in saved and "gradlab-" not in saved and "all held" not in saved

    # Switched off they go, and come back.
    for command in ("gradlab:toggle-hints", "gradlab:toggle-footers"):
        lab.command(command)
    lab.eventually(lambda: hints(lab, 2) == {} and footer(lab, 4) == [])
    for command in ("gradlab:toggle-hints", "gradlab:toggle-footers"):
        lab.command(command)
    lab.eventually(lambda: len(hints(lab, 2)) == 8 and len(footer(lab, 4)) == 1)

    # A footer moves with its cell, and goes with its outputs.
    words = footer(lab, 4)
    lab.page.evaluate(f"path => {PANEL}(path).content.model.sharedModel.moveCell(4, 1)", lab.path)
    lab.eventually(lambda: footer(lab, 1) == words and len(hints(lab, 1)) == 5)
    lab.command("notebook:clear-all-cell-outputs")
    lab.eventually(lambda: all(footer(lab, i) == [] and hints(lab, i) == {} for i in range(5)))


@pytest.mark.slow
def test_a_node_leads_to_its_line_and_a_line_to_its_nodes(lab: Lab) -> None:
    open_digits(lab, "way.ipynb")
    node(lab, 2).click()
    lab.eventually(lambda: mark(lab, 2) == [9, "fc2 / linear · gelu(32, 64) f32", False] and in_sight(lab, 2))
    lab.panel("shapes").locator('tr[data-op="5"]').click()
    lab.eventually(lambda: mark(lab, 4) == [3, "cross_entropyloss () f32", False] and mark(lab, 2) is None)
    lab.panel("gradients").locator('[data-row="fc3.weight"]').click()
    lab.eventually(lambda: mark(lab, 2) == [10, "fc3 / linear(32, 10) f32", False])

    # The cursor's line is tinted in every panel.
    plain = colour(lab, node(lab, 2))
    cursor(lab, 2, 9)
    lab.eventually(lambda: colour(lab, node(lab, 3)) not in (plain, "") and colour(lab, node(lab, 2)) == colour(lab, node(lab, 3)))
    assert colour(lab, node(lab, 0)) == plain
    tinted = background(lab, lab.panel("shapes").locator('tr[data-op="2"] td').first)
    assert tinted != background(lab, lab.panel("shapes").locator('tr[data-op="0"] td').first)
    assert tinted == background(lab, lab.panel("gradients").locator('[data-row="fc2.weight"]'))
    assert tinted == background(lab, lab.panel("optimizer").locator('[data-param="fc2.bias"] td').first)
    lab.shot("cursor")

    # Edited since: the line is still found, and marked so.
    edit(lab, 2, 1, "\n    # a new line")
    node(lab, 1).click()
    lab.eventually(lambda: mark(lab, 2) == [9, "gelu · linear cell edited since(32, 128) f32", True])
    lab.shot("stale")
    edit(lab, 2, 10, " + 0")
    node(lab, 2).click()
    lab.eventually(lambda: (mark(lab, 2) or [0])[0] == 10)
    assert "line edited since" in mark(lab, 2)[1]
    # The cursor on a line that moved still means the line that ran; a new line means none.
    cursor(lab, 2, 11)
    lab.eventually(lambda: colour(lab, node(lab, 4)) != plain)
    cursor(lab, 2, 2)
    lab.eventually(lambda: colour(lab, node(lab, 4)) == plain)

    # Moved: the cell is found where it is now. Split: the part that holds the line.
    lab.source(2, MODEL)
    lab.page.evaluate(f"path => {PANEL}(path).content.model.sharedModel.moveCell(2, 4)", lab.path)
    node(lab, 1).click()
    lab.eventually(lambda: (mark(lab, 4) or [0])[0] == 8 and in_sight(lab, 4))
    cursor(lab, 4, 7)
    lab.command("notebook:split-cell-at-cursor")
    lab.eventually(lambda: len(lab.sources()) == 6)
    node(lab, 2).click()
    lab.eventually(lambda: (mark(lab, 5) or [0])[0] == 3)
    lab.eventually(lambda: hints(lab, 5).get(2) == "(32, 128) f32" and hints(lab, 4).get(4) == "8,320 parameters")
    lab.shot("split")


def colour(lab: Lab, element: Locator) -> str:
    """The colour that fills a node."""
    return element.locator(".gl-face").first.evaluate("face => getComputedStyle(face).fill")


def background(lab: Lab, element: Locator) -> str:
    """The colour behind a cell of a table."""
    return element.evaluate("cell => getComputedStyle(cell).backgroundColor")


@pytest.mark.slow
def test_an_op_that_fails_shows_its_operands_below_the_line(lab: Lab) -> None:
    lab.open("fails.ipynb", LOAD, IMPORTS + "\nx, w = gl.randn(8, 4), gl.randn(5, 4, requires_grad=True)", "h = x.tanh()\ny = h @ w\nz = y")
    lab.run(0)
    lab.run(1)
    lab.start(2)
    lab.finish()
    operands = "[...view.contentDOM.querySelectorAll('.gradlab-operands > *')].map(row => row.textContent)"
    lab.eventually(lambda: view(lab, 2, operands)[:3] == ["matmul", "h (8, 4) float32", "w (5, 4) float32"])
    assert "try: b.T" in view(lab, 2, operands)
    assert footer(lab, 2)[0].startswith("stopped by an error")
    expect(lab.panel("graph").locator(".gl-failed")).to_be_visible()
    expect(node(lab, 0)).to_contain_text("tanh")
    lab.shot("failed")
    lab.source(2, "h = x.tanh()\ny = h @ w.T\nz = y")
    lab.run(2)
    lab.eventually(lambda: view(lab, 2, operands) == [] and hints(lab, 2).get(2) == "y (8, 5) f32")


NET = "import gradlab as gl\n\n\ndef double(x):\n    return x * 2.0\n"


@pytest.mark.slow
def test_code_in_files_is_opened_where_the_server_has_it(lab: Lab, tmp_path: Path) -> None:
    (lab.server.root / "inside_net.py").write_text(NET)
    (tmp_path / "outside_net.py").write_text(NET)
    lab.open(
        "files.ipynb",
        LOAD,
        f"import sys\nsys.path.append({str(tmp_path)!r})\nimport gradlab as gl, inside_net, outside_net",
        "w = gl.ones(3, requires_grad=True)\na = inside_net.double(w)\nb = outside_net.double(a).sum()",
    )
    for i in range(3):
        lab.run(i)
    node(lab, 0).click()
    editor = "() => [...window.jupyterapp.shell.widgets('main')].find(w => w.context?.path === 'inside_net.py')?.content.editor.editor"
    lab.wait(f"() => ({editor})()?.contentDOM.querySelector('.gradlab-line')?.textContent.includes('return x * 2.0')")
    lab.shot("opened")
    lab.show("files.ipynb")
    node(lab, 1).click()
    lab.wait("() => document.querySelector('.jp-Notification-Status')?.textContent.trim() === '1'")
    lab.command("apputils:display-notifications")
    expect(lab.page.locator(".jp-Notification-List")).to_contain_text(f"{tmp_path}/outside_net.py:5 is not under")
    lab.shot("outside")


@pytest.mark.slow
def test_two_notebooks_and_kernels_are_not_mixed_up(lab: Lab) -> None:
    cells = [LOAD, "import gradlab as gl\nw = gl.ones({n}, requires_grad=True)\ny = w.exp()\nz = y.sum()"]
    for n, name in ((2, "two.ipynb"), (3, "three.ipynb")):
        lab.open(name, cells[0], cells[1].format(n=n))
        lab.run(0)
        lab.run(1)
        lab.eventually(lambda n=n: hints(lab, 1).get(3) == f"y ({n},) f32")
    node(lab, 0).click()
    lab.eventually(lambda: (mark(lab, 1) or [0])[0] == 3)
    lab.show("two.ipynb")
    assert hints(lab, 1)[3] == "y (2,) f32" and mark(lab, 1) is None
    expect(node(lab, 0)).to_contain_text("(2,)")
    node(lab, 1).click()
    lab.eventually(lambda: (mark(lab, 1) or [0])[0] == 4)
    lab.show("three.ipynb")
    assert hints(lab, 1)[3] == "y (3,) f32"

    # After another run lines are those of the new text, and nothing is stale.
    lab.source(1, "# above\n" + cells[1].format(n=4))
    node(lab, 1).click()
    lab.eventually(lambda: mark(lab, 1) == [5, "sum cell edited sincez () f32", True])
    lab.run(1)
    lab.eventually(lambda: hints(lab, 1).get(4) == "y (4,) f32")
    node(lab, 0).click()
    lab.eventually(lambda: mark(lab, 1) == [4, "expy (4,) f32", False])
    # Who does not want to be led stays where they are.
    lab.command("gradlab:toggle-follow")
    lab.eventually(lambda: mark(lab, 1) is None)
    node(lab, 1).click()
    expect(node(lab, 1)).to_have_class(re.compile("gl-selected"))
    assert mark(lab, 1) is None
    lab.command("gradlab:toggle-follow")


@pytest.mark.slow
def test_a_long_run_tells_its_lines_and_steps_while_it_runs_and_a_new_page_knows_them(lab: Lab) -> None:
    slow = more(steps=400).replace("optimizer.step()", "optimizer.step(); time.sleep(0.02)")
    lab.open("long.ipynb", LOAD, training(steps=1), "import time\n" + slow)
    lab.run(0)
    lab.visible_dock()
    lab.run(1)
    lab.start(2)
    lab.eventually(lambda: "running, step" in str(footer(lab, 2)) and hints(lab, 2).get(4) == "loss () f32")
    assert lab.kernel_status() == "busy"
    lab.shot("running")
    lab.finish()
    lab.eventually(lambda: "400 steps" in str(footer(lab, 2)))
    lab.layout_saved()
    lab.reload()
    lab.show("long.ipynb")
    lab.eventually(lambda: "400 steps" in str(footer(lab, 2)) and len(hints(lab, 2)) >= 3)


@pytest.mark.slow
def test_it_works_where_status_bar_palette_and_menu_are_missing(bare_lab: Lab) -> None:
    bare_lab.open("bare.ipynb", LOAD, "import gradlab as gl\nw = gl.ones(3, requires_grad=True)\ny = w.exp()")
    bare_lab.run(0)
    bare_lab.run(1)
    bare_lab.eventually(lambda: hints(bare_lab, 1).get(3) == "y (3,) f32")
    assert bare_lab.page.locator(".gradlab-status").count() == 0
