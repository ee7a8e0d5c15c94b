"""The panels after each cell of examples/02_cell_by_cell.ipynb, run one at a time."""

from __future__ import annotations

import json
from pathlib import Path

from labdriver import Lab, expect

EXAMPLE = Path(__file__).parents[2] / "examples" / "02_cell_by_cell.ipynb"


def code_cells() -> list[str]:
    """Return the sources of the code cells of the example."""
    cells = json.loads(EXAMPLE.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def index(sources: list[str], beginning: str, nth: int = 0) -> int:
    """Find the nth cell that begins with this text."""
    return [i for i, source in enumerate(sources) if source.startswith(beginning)][nth]


def ops(lab: Lab) -> list[str]:
    """Return the ops that the shapes panel lists."""
    return [name.strip() for name in lab.panel("shapes").locator("[data-op] td:first-child").all_inner_texts()]


def gradients(lab: Lab) -> int:
    """Count the ops of the graph that show the norm of a gradient."""
    return lab.panel("graph").locator("[data-op] .gl-g[data-value]").count()


def test_each_cell_of_the_example_shows_what_it_did(lab: Lab) -> None:
    sources = code_cells()
    lab.open("02_cell_by_cell.ipynb", *sources)
    forward, backward, update = index(sources, "h = gl.tanh"), index(sources, "loss.backward()"), index(sources, "W1.data -=")
    for i in range(forward):
        lab.run(i)

    lab.run(forward)
    made = ["matmul", "add", "tanh", "matmul", "add", "cross_entropy"]
    lab.eventually(lambda: ops(lab) == made)
    shapes = lab.panel("shapes").locator("[data-op]")
    assert ["(32, 32)" in text for text in shapes.all_inner_texts()] == [True, True, True, True, False, False]
    assert gradients(lab) == 0
    expect(lab.panel("graph").locator("[data-op]").last).to_contain_text("cross_entropy")
    lab.shot("1-forward")

    lab.run(backward)
    lab.eventually(lambda: gradients(lab) == len(made))
    assert lab.number(lab.panel("graph").locator('[data-op="5"] .gl-g')) == 1.0
    expect(lab.panel("gradients").locator('[data-row="W1"] .gl-g[data-value]')).to_have_count(1)
    lab.shot("2-backward")

    lab.run(backward + 1)
    lab.run(update)
    lab.run(index(sources, "W1.grad = b1.grad"))
    lab.run(index(sources, "loss = gl.cross_entropy"))
    lab.eventually(lambda: ops(lab) == made and gradients(lab) == 0)
    lab.shot("3-updated-by-hand")

    lab.run(index(sources, "for _ in range(100):"))
    lab.eventually(lambda: lab.panel("gradients").locator('[data-row="W1"] .gl-g[data-value]').count() == 1)
    lab.shot("4-loop-by-hand")

    model = index(sources, "model = nn.Sequential")
    lab.run(model)
    lab.run(model + 1)
    lab.eventually(lambda: ops(lab) == ["linear", "tanh", "linear", "cross_entropy"] and gradients(lab) == 0)
    lab.run(index(sources, "loss.backward()", 1))
    lab.eventually(lambda: gradients(lab) == 4)
    expect(lab.panel("optimizer")).to_contain_text("No optimizer has stepped yet.")
    lab.shot("5-model-backward")

    lab.run(index(sources, "optimizer.step()"))
    expect(lab.panel("optimizer").locator('[data-param="0.weight"] [data-col="m_hat"][data-value]')).to_have_count(1)
    expect(lab.panel("optimizer").locator("[data-param]")).to_have_count(4)
    expect(lab.panel("optimizer")).to_contain_text("AdamW")
    lab.shot("6-adamw-step")

    lab.run(index(sources, "optimizer.zero_grad()"))
    lab.run(index(sources, "for _ in range(100):", 1))
    lab.eventually(lambda: lab.points() >= 101)
    lab.shot("7-loop-with-adamw")
