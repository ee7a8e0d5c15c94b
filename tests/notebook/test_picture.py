"""The picture beside a panel: what a notebook shows that is read without kernel and without gradlab."""

from __future__ import annotations

import base64
import os
import re
import xml.etree.ElementTree as ET
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

import gradlab as gl
from gradlab import nn, optim
from gradlab.notebook.picture import PICTURE_BYTES, picture, step_of
from gradlab.notebook.reading import plain
from gradlab.trace import recording

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    """Everything that is written in a picture; reading it shows that it is well-formed."""
    return ["".join(t.itertext()).strip() for t in ET.fromstring(svg).iter(f"{SVG}text")]


def trained(steps: int = 5) -> tuple[Any, Any, list[float]]:
    gl.manual_seed(1)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    x, y = gl.randn(6, 3), gl.randn(6, 2)
    losses = []
    with recording() as recorder:
        for _ in range(steps):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            losses.append(loss.item())
            optimizer.step()
    return recorder, model, losses


def test_it_shows_the_numbers_of_the_last_step():
    recorder, model, losses = trained()
    found = texts(picture(recorder, "inspector", 3))
    assert plain(losses[-1]) in found and "5" in found
    square = sum(float((p.grad.numpy() ** 2).sum()) for p in model.parameters())
    assert plain(float(np.float32(square**0.5))) in found
    for name, parameter in model.named_parameters():
        at = found.index(name)
        assert found[at + 1] == str(parameter.shape)
        assert found[at + 3] == plain(float(np.linalg.norm(parameter.grad.numpy())))
    assert "AdamW · lr 0.01" in found
    assert any("not connected" in text and "In[3]" in text for text in found)


@pytest.mark.parametrize(
    "view, there, not_there",
    [
        ("graph", "Graph", "Optimizer"),
        ("gradients", "Gradients", "Graph"),
        ("optimizer", "Optimizer", "Gradients"),
        ("inspector", "Graph", None),
    ],
)
def test_a_panel_has_a_picture_of_what_it_shows(view, there, not_there):
    found = texts(picture(trained()[0], view))
    assert there in found and not_there not in found


def test_the_line_of_losses_has_the_smallest_and_the_largest():
    recorder, _, losses = trained(40)
    points = re.search(r'<polyline points="([^"]*)"', picture(recorder, "strip"))
    heights = [float(point.split(",")[1]) for point in points[1].split()]
    assert (min(heights), max(heights)) == (8.0, 28.0)
    assert heights.index(min(heights)) == int(np.argmax(losses)) and heights.index(max(heights)) == int(np.argmin(losses))


def test_nan_and_infinity_have_their_words():
    w = gl.ones(2, requires_grad=True)
    with recording() as recorder:
        (w * float("inf")).sum().log().sin().sum().backward()
    found = texts(picture(recorder, "inspector"))
    assert found[found.index("loss") + 1] == "NaN" and "Inf" in found


def test_of_a_thousand_layers_it_stays_small_and_counts_what_it_leaves_out():
    model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(1000)])
    optimizer = optim.AdamW(model.parameters(), lr=0.1)
    with recording() as recorder:
        model(gl.randn(2, 2)).sum().backward()
        optimizer.step()
    drawn = picture(recorder, "inspector")
    assert len(drawn.encode()) <= PICTURE_BYTES
    assert "and 1,970 more parameters" in texts(drawn)


def test_names_are_written_as_they_are_and_long_ones_shortened():
    odd = '<img src=x onerror="window.pwned=1">&\n\x1b' + "a" * 5000
    model = nn.Sequential()
    setattr(model, odd, nn.Linear(2, 2))
    with recording(lambda: {id(model): "net"}) as recorder:
        model(gl.randn(1, 2)).sum().backward()
    drawn = picture(recorder, "inspector")
    assert "<img" not in drawn and len(drawn) < 20_000
    assert any(text.startswith("<img src=x") and text.endswith("…") for text in texts(drawn))


def test_a_step_without_an_update_has_the_number_that_the_panels_give_it():
    with recording() as recorder:
        w = gl.tensor([1.0, 2.0], requires_grad=True)
        loss = (w * w).sum()
        assert step_of(recorder) == 0
        loss.backward()
    assert step_of(recorder) == 1 and 'aria-label="gradlab: step 1"' in picture(recorder, "strip")


def test_nothing_traced_is_no_error():
    with recording() as recorder:
        pass
    assert "no op was traced yet" in texts(picture(recorder, "inspector"))


def book(*sources: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


TRAIN = """
import gradlab as gl
w = gl.tensor([3.0, -2.0], requires_grad=True)
opt = gl.optim.SGD([w], lr=0.1)
for _ in range(7):
    opt.zero_grad()
    loss = (w * w).sum()
    loss.backward()
    opt.step()
print(loss.item())
"""


def test_a_saved_notebook_shows_the_picture_where_neither_kernel_nor_gradlab_is(environment: dict[str, str]) -> None:
    old = dict(os.environ)
    os.environ.update(environment)
    try:
        client = NotebookClient(book("%load_ext gradlab", "%gradlab panel gradients", TRAIN), timeout=120, kernel_name="python3")
        run = client.execute()
    finally:
        os.environ.clear()
        os.environ.update(old)
    loss = float(run.cells[2].outputs[0].text)
    run.metadata.pop("widgets", None)  # as JupyterLab saves it unless told otherwise
    for cell in run.cells[:2]:
        svg = next(o.data["image/svg+xml"] for o in cell.outputs if "image/svg+xml" in o.get("data", {}))
        assert plain(loss) in texts(svg) and "7" in texts(svg) and len(svg.encode()) <= PICTURE_BYTES
    html, _ = HTMLExporter().from_notebook_node(run)
    inside = [base64.b64decode(code).decode() for code in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", html)]
    pictures = [svg for svg in inside if "data-gradlab" in svg]
    assert len(pictures) == 2 and all(plain(loss) in texts(svg) for svg in pictures)
    assert "model not found" not in html


def test_a_cell_that_runs_again_leaves_one_picture(kernel: Any) -> None:
    kernel.run("%load_ext gradlab", "load")
    try:
        for _ in range(3):
            assert kernel.run("%gradlab panel graph", "panel").status == "ok"
        places = "[p.view for p in __import__('gradlab').notebook.current_session().pictures._places]"
        assert kernel.value(places) == ["output", "graph"]
        drawn = [m["content"]["data"] for m in kernel.run(TRAIN).messages if m["msg_type"] == "update_display_data"]
        assert [data["text/plain"].split()[2] for data in drawn] == ["output", "graph"]
        assert not any(m["msg_type"] == "update_display_data" for m in kernel.run("1 + 1").messages)
    finally:
        kernel.run("%unload_ext gradlab")
