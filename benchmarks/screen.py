"""How long things take to be seen, in Chromium: `python -m benchmarks.screen [drawing]`.

The drawing figures come from the panels' own code in an empty page: layout, the first graph, moving and zooming a canvas,
new numbers. The last one is measured in a real JupyterLab: from the moment the first step of a training loop is over in the
kernel to the moment its graph is in the page, while the cell goes on training. Needs what the browser tests need, and Node.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

ROOT = Path(__file__).parents[1]
ROUNDS = 5
DRAWING = {  # what `js/gallery/drawing.ts` measures: in words, its unit, and what it should be
    "layout 100": ("layout of 100 ops", "ms", 5),
    "layout 1000": ("layout of 1,000 ops", "ms", 50),
    "layout 10000": ("layout of 10,000 ops, none folded", "ms", 400),
    "pan 1000": ("pan, 1,000 nodes", "FPS", 60),
    "zoom 1000": ("zoom, 1,000 nodes", "FPS", 60),
    "pan 10000": ("pan, 10,000 nodes", "FPS", 30),
    "zoom 10000": ("zoom, 10,000 nodes", "FPS", 30),
    "pan ms 1000": ("drawing one frame of a pan, 1,000 nodes", "ms", 16),
    "pan ms 10000": ("drawing one frame of a pan, 10,000 nodes", "ms", 33),
    "recolour 1000": ("new numbers on 1,000 nodes", "ms", 16),
    "step gradients": ("one more step in the gradients, 1,000 parameters, 700 steps", "ms", 100),
    "step optimizer": ("one more step in the optimizer, 1,000 parameters", "ms", 100),
    "step inspector": ("one more step in the whole inspector, 1,000 parameters, 700 steps", "ms", 100),
    "step long": ("one more step in the gradients, 6 parameters, 10,000 steps", "ms", 100),
    "first 300": ("first graph, 300 ops", "ms", 300),
    "first 1000": ("first graph, 1,000 ops", "ms", None),
    "first 10000": ("first graph, 10,000 ops", "ms", None),
}
DRAWN = """() => {
    window.drawn = 0;
    const look = () => {
        if (document.querySelector('#gradlab-dock [data-op]')) window.drawn = Date.now();
        else requestAnimationFrame(look);
    };
    look();
}"""
MODEL = """
import time
import gradlab as gl
from gradlab import nn
x, y = gl.randn(32, 64), gl.randint(0, 10, 32)
model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10))
optimizer = gl.optim.AdamW(model.parameters())
"""
TRAINING = """
ends, first = time.time() + 2, None
while time.time() < ends:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first = first or time.time()
print(first)
"""


def measure(playwright: Playwright) -> list[float]:
    """Milliseconds from the first step to its graph, a fresh kernel each time."""
    sys.path.insert(0, str(ROOT / "tests" / "ui"))
    from labbrowser import launch
    from labdriver import LOAD, loaded
    from labserver import serve

    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server:
        browser = launch(playwright)
        lab = loaded(server, browser)
        for i in range(ROUNDS):
            lab.open(f"first-{i}.ipynb", LOAD, MODEL, TRAINING)
            lab.run(0)
            lab.run(1)
            lab.page.evaluate(DRAWN)
            stepped = float(lab.run(2))
            found.append(lab.page.evaluate("() => window.drawn") - stepped * 1000)
        browser.close()
    return found


def drawing(playwright: Playwright) -> dict[str, float]:
    """What the panels' own code takes to lay out and draw, in an empty page."""
    sys.path.insert(0, str(ROOT / "tests" / "ui"))
    from labbrowser import launch

    subprocess.run(["node", "js/gallery/build.mjs"], cwd=ROOT, check=True, capture_output=True)
    browser = launch(playwright)
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.set_content("<body></body>")
    page.add_script_tag(path=ROOT / "js" / "lib" / "gallery" / "drawing.js")
    found: dict[str, float] = page.evaluate("measure()")
    browser.close()
    return found


def table(found: dict[str, float]) -> str:
    """A Markdown table of targets and figures."""
    lines = ["| quantity | target | measured |", "|---|---|---|"]
    for key, (words, unit, target) in DRAWING.items():
        bound = "" if target is None else f"{'>=' if unit == 'FPS' else '<='} {target} {unit}"
        lines.append(f"| {words} | {bound} | {found[key]:.3g} {unit} |")
    return "\n".join(lines)


def main() -> None:
    """Print the figures; with `drawing` only those that need no JupyterLab."""
    for name in ("session.js", "more.js", "panel.js"):
        print(f"gradlab/static/{name}: {(ROOT / 'gradlab' / 'static' / name).stat().st_size / 1000:.1f} kB")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        print(table(drawing(playwright)))
        if "drawing" in sys.argv:
            return
        times = measure(playwright)
    print(f"first graph after the first step: {statistics.median(times):.0f} ms (median of {len(times)}, at most {max(times):.0f})")


if __name__ == "__main__":
    main()
