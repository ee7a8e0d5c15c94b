"""Make the pictures of the README and the guides anew: `python docs/pictures.py [guides]`.

Runs examples/01_digits.ipynb in a real JupyterLab, halts its kernel in the middle of the training, so that light and dark
show the same moment, and takes three pictures into docs/pictures/: inspector-light.png, inspector-dark.png and dock-light.png.
Then it runs the code of the guides as far as the step that each shows, and takes the panel; with `guides` only these.
Needs what the browser tests need: the `dev` dependencies, the installed extension and Chromium.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
NOTEBOOK = "01_digits.ipynb"
SIZE = {"width": 1440, "height": 900}
HALT_AT_STEP = 100
LARGEST_BYTES = 400_000

# Asked by the page in every frame it draws: a driver that asks from outside comes too late.
POINTS = "least => (document.querySelector('#gradlab-dock .gl-sparkline')?.getAttribute('d')?.match(/[ML]/g)?.length ?? 0) >= least"

GUIDES = {  # picture -> guide, code up to this text, panel, op to select
    "guide-nan": ("debug-a-nan", "model, loss = fit(nll)", "findings", None),
    "guide-dead": ("find-dead-relus", "model = fit(lr=1.0)", "findings", None),
    "guide-op": ("add-an-op", "Forgotten.apply(w)", "detail", 0),
}

sys.path[:0] = [str(ROOT / "tests" / "ui"), str(ROOT)]

from labbrowser import launch, missing  # noqa: E402

if reason := missing():
    sys.exit(f"docs/pictures.py: {reason}")

from labdriver import PANEL, Lab  # noqa: E402
from labserver import serve  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

from docs.guide import FOLDER, cells  # noqa: E402


def training_cell() -> int:
    """Return which cell of the example trains."""
    cells = json.loads((ROOT / "examples" / NOTEBOOK).read_text())["cells"]
    return next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code" and "optimizer.step()" in "".join(cell["source"]))


def kernel_process(lab: Lab) -> int:
    """Ask the kernel of the notebook for its process."""
    ask = f"""path => new Promise(answer => {{
        const kernel = {PANEL}(path).sessionContext.session.kernel;
        const request = kernel.requestExecute({{ code: 'import os; print(os.getpid())', store_history: false }});
        request.onIOPub = message => {{ if (message.header.msg_type === 'stream') answer(Number(message.content.text)); }};
    }})"""
    return lab.page.evaluate(ask, lab.path)


@contextmanager
def halted(process: int) -> Iterator[None]:
    """Let a process stand still in the block."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def arrange(lab: Lab) -> None:
    """Hide the file browser and bring the training cell into view."""
    lab.page.evaluate(
        f"""([path, index]) => {{
            window.jupyterapp.shell.collapseLeft();
            const notebook = {PANEL}(path).content;
            notebook.activeCellIndex = index;
            return notebook.scrollToItem(index, 'start');
        }}""",
        [lab.path, training_cell()],
    )


def settle(lab: Lab) -> None:
    """Wait for frames that are still on their way and for the layout that follows them."""
    lab.page.mouse.move(700, 5)
    lab.page.wait_for_timeout(1500)


def take(lab: Lab) -> None:
    """Take all pictures of the moment that the page shows."""
    # The dock with every panel open, as tall as that takes.
    inside = lab.dock.evaluate("dock => dock.querySelector('.gl-inspector').offsetHeight")
    lab.page.set_viewport_size({"width": SIZE["width"], "height": round(SIZE["height"] - lab.visible_dock()["height"] + inside)})
    settle(lab)
    lab.dock.screenshot(path=PICTURES / "dock-light.png")
    # The page: closed shapes leave room for the gradients, as a reader of the notebook would have it.
    lab.page.set_viewport_size(SIZE)
    lab.panel("shapes").locator(".gl-fold").click()
    arrange(lab)
    settle(lab)
    lab.page.screenshot(path=PICTURES / "inspector-light.png")
    lab.theme("JupyterLab Dark")
    settle(lab)
    lab.page.screenshot(path=PICTURES / "inspector-dark.png")


def take_readme(lab: Lab) -> None:
    """Train, halt in the middle, and take the pictures of that moment."""
    lab.show(NOTEBOOK)
    process = kernel_process(lab)
    lab.run_all(wait=False)
    lab.wait(POINTS, HALT_AT_STEP)
    with halted(process):
        if lab.prompt(training_cell()) != "[*]:":
            sys.exit("docs/pictures.py: the training was over before it could be halted; lower HALT_AT_STEP")
        take(lab)
    lab.finish()


def take_guides(lab: Lab) -> None:
    """Run the guides as far as their pictures, and take those."""
    lab.page.set_viewport_size({"width": SIZE["width"], "height": 1600})
    lab.theme("JupyterLab Light")
    for picture, (guide, last, panel, op) in GUIDES.items():
        sources = [cell.source.strip() for cell in cells(FOLDER / f"{guide}.md")]
        until = next(i for i, source in enumerate(sources) if last in source)
        lab.open(f"{guide}.ipynb", *sources[: until + 1])
        lab.run_all()
        if op is not None:
            lab.panel("shapes").locator(f'tr[data-op="{op}"]').click()
        settle(lab)
        lab.panel(panel).screenshot(path=PICTURES / f"{picture}.png")
        lab.close_everything()


def main() -> None:
    """Train, halt, take the pictures, and say how large they are."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server, sync_playwright() as playwright:
        shutil.copy(ROOT / "examples" / NOTEBOOK, folder)
        browser = launch(playwright)
        lab = Lab(browser.new_context(viewport=SIZE).new_page(), server)
        lab.load()
        if "guides" not in sys.argv[1:]:
            take_readme(lab)
            lab.close_everything()
        take_guides(lab)
        browser.close()
    for picture in sorted(PICTURES.glob("*.png")):
        size = picture.stat().st_size
        print(f"{picture.relative_to(ROOT)}  {size / 1000:.0f} kB{'' if size <= LARGEST_BYTES else ', too large'}")


if __name__ == "__main__":
    main()
