"""From a line to its ops and back: hints, footers, the way to a cell, and the cursor's line in the panels."""

from __future__ import annotations

from typing import Any

from labdriver import LOAD, PANEL, Lab

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


def open_digits(lab: Lab, name: str) -> None:
    """Open a notebook that trains a small network, and run it."""
    lab.open(name, LOAD, IMPORTS, MODEL, DATA, TRAIN)
    lab.run(0)
    lab.visible_dock()
    lab.run_all()


def test_hints_and_footers_say_what_numpy_computes(lab: Lab) -> None:
    open_digits(lab, "hints.ipynb")
    lab.eventually(lambda: len(hints(lab, 4)) >= 5)
    lab.shot("light")
    print(hints(lab, 2), hints(lab, 3), hints(lab, 4), [footer(lab, i) for i in range(5)])
    lab.panel("graph").locator('[data-op="2"]').first.click()
    lab.page.wait_for_timeout(1500)
    lab.shot("selected")
    lab.theme("JupyterLab Dark")
    lab.page.wait_for_timeout(500)
    lab.shot("dark")
    lab.theme("JupyterLab Light")
