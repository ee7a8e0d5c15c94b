"""Drives a JupyterLab page: notebooks, cells, kernels and the dock, in words a test can read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labmessages import Received, received
from labserver import Server

if os.environ.get("GRADLAB_REQUIRE_UI") != "1":
    # Whatever imports the driver is skipped where there is no browser to drive.
    pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Error, FloatRect, Locator, Page, expect

__all__ = ["ENDLESS", "LOAD", "NET", "PANEL", "Lab", "expect", "loaded", "more", "notebook", "training"]

WAIT_MS = 60_000

LOAD = "%load_ext gradlab"

# A model small enough for a test: one linear layer, one backward pass and one update a step.
MODEL = """
import gradlab as gl
gl.manual_seed(0)
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.1)
"""
LOOP = """
for _ in range({steps}):
    loss = layer(gl.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

# A net with an optimizer and its data; `start` are the weights it begins with, for a check in float64.
NET = """
import json
import numpy as np
import gradlab as gl
from gradlab import nn, optim

gl.manual_seed({seed})

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 5)
        self.fc2 = nn.Linear(5, 3)

    def forward(self, x):
        return self.fc2(self.fc1(x).tanh())

model = Net()
optimizer = optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
x, y = gl.randn(8, 6), gl.tensor([0, 1, 2, 0, 1, 2, 0, 1])
start = {{name: np.array(p.data, dtype=np.float64) for name, p in model.named_parameters()}}
"""

# Ends when the test says so: what is read in between is read while the kernel is busy.
ENDLESS = """
import pathlib, time
import gradlab as gl
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.1)
while not pathlib.Path("{stop}").exists():
    loss = layer(gl.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.002)
print("ended")
"""

# The notebook panel with this path; cells are windowed in the page, so tests ask the model.
PANEL = "(path => [...window.jupyterapp.shell.widgets('main')].find(w => w.context?.path === path))"


def notebook(*sources: str) -> dict[str, Any]:
    """Return a notebook file of code cells."""
    cells = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for i, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def training(*, steps: int) -> str:
    """Return a cell that makes a small layer and trains it for some steps."""
    return MODEL + more(steps=steps)


def more(*, steps: int) -> str:
    """Return a cell that trains the layer of an earlier cell further."""
    return LOOP.format(steps=steps)


def loaded(server: Server, browser: Browser) -> Lab:
    """Load JupyterLab in a browser profile of its own."""
    lab = Lab(browser.new_context(viewport={"width": 1440, "height": 900}).new_page(), server)
    lab.load()
    return lab


class Lab:
    """One page on a JupyterLab server."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server, self.path = page, server, ""
        self.pictures: Path | None = None
        self.console_errors: list[str] = []
        page.on("console", lambda m: self.console_errors.append(f"{m.text} ({m.location.get('url')})") if m.type == "error" else None)
        page.on("pageerror", lambda e: self.console_errors.append(str(e)))
        self.message_sizes: list[int] = []
        self._listening = False
        self._payloads: list[bytes | str] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda payload: self._hear(socket.url, payload)))

    def _hear(self, url: str, payload: bytes | str) -> None:
        self.message_sizes.append(len(payload))
        if self._listening and "/channels" in url:
            self._payloads.append(payload)

    def listen(self, on: bool = True) -> None:
        """Keep what the kernel sends to the page from now on."""
        self._listening = on
        self._payloads.clear()

    def received(self) -> list[Received]:
        """Return what the kernel has sent since `listen`; a message that is no strict JSON fails the test."""
        return [received(payload) for payload in self._payloads]

    def load(self, workspace: str = "tests") -> None:
        """Load JupyterLab with an empty workspace."""
        self.page.goto(f"{self.server.url}/lab/workspaces/{workspace}?reset&token={self.server.token}")
        self._started()

    def reload(self) -> None:
        """Reload the page as a user would; the layout comes back from the workspace."""
        self.page.reload()
        self._started()

    def _started(self) -> None:
        self.page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)", timeout=WAIT_MS)
        self.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=WAIT_MS)

    # --- notebooks and cells

    def open(self, name: str, *sources: str) -> None:
        """Write a notebook of these cells, open it and wait for its kernel."""
        (self.server.root / name).write_text(json.dumps(notebook(*sources)))
        self.show(name)

    def show(self, path: str) -> None:
        """Bring the notebook at this path to the front, opening it where needed."""
        self.path = path
        self.command("docmanager:open", path=path, factory="Notebook")
        self.idle()

    def idle(self) -> None:
        """Wait until the kernel of the notebook in front has nothing to do."""
        self.wait(f"path => {PANEL}(path)?.sessionContext.session?.kernel?.status === 'idle'", self.path)

    def start(self, index: int) -> None:
        """Run a code cell without waiting for it."""
        self.page.evaluate(
            f"""([path, index]) => {{
                const nb = {PANEL}(path).content;
                nb.activeCellIndex = index;
                window.ran = false;
                void window.jupyterapp.commands.execute('notebook:run-cell').then(() => {{ window.ran = true; }});
            }}""",
            [self.path, index],
        )

    def run(self, index: int, patience_s: int = WAIT_MS // 1000) -> str:
        """Run a cell to its end and return the text it printed; an exception in it fails the test."""
        self.start(index)
        self.finish(patience_s)
        text = self.output(index)
        assert "Traceback" not in text, text
        return text

    def finish(self, patience_s: int = WAIT_MS // 1000) -> None:
        """Wait for the cell that was started last."""
        self.page.wait_for_function("() => window.ran", timeout=1000 * patience_s)
        self.idle()

    def run_all(self, *, wait: bool = True) -> None:
        """Run all cells of the notebook in front."""
        self.page.evaluate(
            """() => { window.ran = false;
                       void window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.ran = true; }); }"""
        )
        if wait:
            self.finish()

    def output(self, index: int) -> str:
        """Return the text outputs and tracebacks of a cell, without their colours."""
        outputs = self.page.evaluate(
            f"""([path, index]) => {{
                const outputs = {PANEL}(path).content.model.cells.get(index).outputs;
                return [...Array(outputs.length).keys()].map(i => outputs.get(i).toJSON());
            }}""",
            [self.path, index],
        )
        parts = [o.get("text") or "\n".join(o.get("traceback", [])) for o in outputs]
        text = "".join(p if isinstance(p, str) else "".join(p) for p in parts)
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def source(self, index: int, text: str) -> None:
        """Replace the source of a cell."""
        self.page.evaluate(
            f"([path, index, text]) => {PANEL}(path).content.model.cells.get(index).sharedModel.setSource(text)", [self.path, index, text]
        )

    def sources(self) -> list[str]:
        """Return the sources of all cells of the notebook in front."""
        return self.page.evaluate(f"path => {PANEL}(path).content.widgets.map(cell => cell.model.sharedModel.getSource())", self.path)

    def prompt(self, index: int) -> str:
        """Return what stands left of a cell: `[3]:`, or `[*]:` while it runs."""
        return self.page.evaluate(
            f"([path, index]) => {PANEL}(path).content.widgets[index].node.querySelector('.jp-InputPrompt').textContent", [self.path, index]
        )

    def kernel_status(self) -> str:
        """Return the status of the kernel of the notebook in front."""
        return self.page.evaluate(f"path => {PANEL}(path).sessionContext.session.kernel.status", self.path)

    def restart(self) -> None:
        """Restart the kernel, without the question that the menu asks."""
        self.page.evaluate(f"path => {PANEL}(path).sessionContext.session.kernel.restart()", self.path)
        self.idle()

    def shut_down(self) -> None:
        """Shut the kernel of the notebook in front down."""
        self.page.evaluate(f"path => {PANEL}(path).sessionContext.shutdown()", self.path)

    def wait_for_status(self, status: str) -> None:
        """Wait until the kernel has this status."""
        self.wait(f"([path, status]) => {PANEL}(path).sessionContext.session?.kernel?.status === status", [self.path, status])

    # --- the application

    def command(self, name: str, **arguments: Any) -> None:
        """Execute a command of JupyterLab."""
        self.page.evaluate("([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)", [name, arguments])

    def palette(self, label: str) -> None:
        """Choose a command in the palette by typing its label."""
        self.command("apputils:activate-command-palette")
        box = self.page.locator("#command-palette input, .lm-CommandPalette-input").first
        box.fill(label)
        self.page.locator(".lm-CommandPalette-item", has_text=label).first.click()

    def theme(self, name: str) -> None:
        """Switch the theme and wait until the page wears it."""
        self.command("apputils:change-theme", theme=name)
        self.wait("name => document.body.dataset.jpThemeName === name", name)

    @property
    def dock(self) -> Locator:
        """The dock, wherever it is."""
        return self.page.locator("#gradlab-dock")

    def visible_dock(self) -> FloatRect:
        """Wait for the dock and return where it is."""
        expect(self.dock).to_be_visible()
        box = self.dock.bounding_box()
        assert box is not None
        return box

    def close_dock(self) -> None:
        """Close the dock as its tab's menu does."""
        self.page.evaluate("() => [...window.jupyterapp.shell.widgets('right')].find(w => w.id === 'gradlab-dock').close()")

    def layout_saved(self) -> None:
        """Save the notebook and wait until the layout of the page, with the dock, is on the server."""
        self.command("docmanager:save")
        with self.page.expect_response(lambda r: "/lab/api/workspaces/" in r.url and r.request.method == "PUT"):
            # Any change of the layout makes JupyterLab save it; two in one turn leave the page as it was for the tests that follow.
            self.page.evaluate(
                "() => { for (let i = 0; i < 2; i++) void window.jupyterapp.commands.execute('application:toggle-left-area'); }"
            )

    def dock_width(self, width: int) -> None:
        """Drag the edge of the dock until it is this wide; a drag that the busy page has missed is made again."""

        def dragged() -> bool:
            box = self.visible_dock()
            if abs(box["width"] - width) <= 4:
                return True
            x, y = box["x"] - 2, box["y"] + box["height"] / 2
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            self.page.mouse.move(x + box["width"] - width, y, steps=4)
            self.page.mouse.up()
            return False

        self.eventually(dragged)

    def close_everything(self) -> None:
        """Close all documents and the dock and shut all kernels down."""
        self.page.evaluate(
            """async () => {
                const { shell, serviceManager } = window.jupyterapp;
                for (const dock of [...shell.widgets('right')].filter(w => w.id === 'gradlab-dock')) dock.close();
                for (const panel of [...shell.widgets('main')]) panel.dispose();
                await serviceManager.sessions.shutdownAll();
            }"""
        )

    # --- the panels

    def panel(self, name: str) -> Locator:
        """A panel in the dock: strip, graph, shapes, gradients or optimizer."""
        return self.dock.locator(f'[data-panel="{name}"]')

    def number(self, element: Locator) -> float:
        """Read the number of a trace that an element carries, in full precision."""
        value = element.get_attribute("data-value")
        assert value is not None, f"no number in {element}"
        return float(value)

    def ask(self, what: str) -> dict[str, Any]:
        """Ask the newest session what a panel would, and return the answer."""
        return self.page.evaluate(
            """what => {
                const session = Object.values(globalThis[Symbol.for("gradlab")].sessions).at(-1);
                return session.ask(what, {}).then(answer => answer.content);
            }""",
            what,
        )

    def sees_step(self, step: int) -> None:
        """Wait until the strip in the dock shows this step."""
        expect(self.panel("strip").locator(".gl-fact b").first).to_have_attribute("data-value", str(step), timeout=WAIT_MS)

    def points(self) -> int:
        """Count the points of the loss line in the strip: one a step."""
        path = self.panel("strip").locator(".gl-sparkline").get_attribute("d") or ""
        return len(re.findall("[ML]", path))

    # --- waiting and looking

    def wait(self, predicate: str, argument: Any = None) -> None:
        """Wait until a JavaScript predicate holds."""
        self.page.wait_for_function(predicate, arg=argument, timeout=WAIT_MS)

    def eventually(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition that reads the page holds."""
        for _ in range(WAIT_MS // 100):
            try:
                if holds():
                    return
            except (AssertionError, Error):
                pass
            self.page.wait_for_timeout(100)
        assert holds()

    def shot(self, name: str) -> Path:
        """Leave a picture of the page among those of the test."""
        assert self.pictures is not None
        self.pictures.parent.mkdir(parents=True, exist_ok=True)
        path = self.pictures.with_name(f"{self.pictures.name}{'-' if name else ''}{name}.png")
        self.page.screenshot(path=path)
        return path
