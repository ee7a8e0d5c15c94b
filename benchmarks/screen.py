"""How long a first step takes to be seen, in a real JupyterLab: `python -m benchmarks.screen`.

From the moment the first step of a training loop is over in the kernel to the moment its graph is in the page, while the
cell goes on training; and the size of what the page has to load. Needs what the browser tests need.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

ROOT = Path(__file__).parents[1]
ROUNDS = 5
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
    from labdriver import LOAD, Lab
    from labserver import serve

    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server:
        browser = launch(playwright)
        lab = Lab(browser.new_context(viewport={"width": 1440, "height": 900}).new_page(), server)
        lab.load()
        for i in range(ROUNDS):
            lab.open(f"first-{i}.ipynb", LOAD, MODEL, TRAINING)
            lab.run(0)
            lab.run(1)
            lab.page.evaluate(DRAWN)
            stepped = float(lab.run(2))
            found.append(lab.page.evaluate("() => window.drawn") - stepped * 1000)
        browser.close()
    return found


def main() -> None:
    """Print the figures."""
    for name in ("session.js", "panel.js"):
        print(f"gradlab/static/{name}: {(ROOT / 'gradlab' / 'static' / name).stat().st_size / 1000:.1f} kB")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        times = measure(playwright)
    print(f"first graph after the first step: {statistics.median(times):.0f} ms (median of {len(times)}, at most {max(times):.0f})")


if __name__ == "__main__":
    main()
