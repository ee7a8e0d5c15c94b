"""Take a picture of every panel of real nets, in every theme and width: `python docs/sheets.py FOLDER [SCENE ...]`.

Runs the scenes of docs/scenes.py in an IPython of this process, shows them in the gallery (js/gallery), which asks this
process as a page asks its kernel, and puts the pictures of one panel side by side on a sheet: one column a width, one
row a theme. Themes are JupyterLab's own. Needs what the browser tests need, and `npm ci`.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

from IPython.core.interactiveshell import InteractiveShell
from playwright.sync_api import Browser, ElementHandle, FloatRect, Page, sync_playwright
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "ui"), str(ROOT)]

from labbrowser import launch  # noqa: E402

from docs.scenes import SIZES, STATES, Scene  # noqa: E402
from gradlab.notebook import current_session, end_session  # noqa: E402
from gradlab.notebook.protocol import Message  # noqa: E402
from gradlab.notebook.session import Session  # noqa: E402

COLOURS = ROOT / "node_modules/@jupyterlab/apputils/style/materialcolors.css"
GALLERY = ROOT / "js" / "lib" / "gallery"
THEMES = {"light": "theme-light-extension", "dark": "theme-dark-extension", "contrast": "theme-dark-high-contrast-extension"}
NAMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark", "contrast": "JupyterLab Dark High Contrast"}
WIDTHS = (400, 600, 1000)
PANELS = ("graph", "shapes", "gradients", "optimizer", "detail", "findings")
WINDOW = 900  # pixels of height: the graph takes what JupyterLab would leave it
HIGHEST = 1500  # of one picture
TALLEST = 2400  # of a sheet
PATIENCE_MS = 180_000

STYLE = "<style>body{margin:0;background:#999;width:max-content}div{display:flex;gap:12px;padding:6px;align-items:flex-start}</style>"

OPEN_ALL = "() => document.querySelectorAll('.gl-foldout[aria-expanded=false]').forEach(button => button.click())"
SPILLS = """() => [...document.querySelectorAll('.gl')].flatMap(root => {
    const edge = root.getBoundingClientRect().right;
    return [...root.querySelectorAll('*')]
        .filter(e => e.getClientRects().length && !e.closest('.gl-viewport, .gl-scroll, .gl-source, .gl-formula, .gl-tip, math'))
        .filter(e => e.getBoundingClientRect().right > edge + 1 && getComputedStyle(e).visibility !== 'hidden')
        .filter(e => { for (let up = e.parentElement; up && up !== root; up = up.parentElement)
            if (getComputedStyle(up).overflowX !== 'visible' && up.getBoundingClientRect().right <= edge + 1) return false; return true; })
        .map(e => `${e.tagName}.${e.getAttribute('class')}: ${e.textContent.slice(0, 40)}`); })"""


class Wire:
    """Stands where the widget would: keeps what the session says until the page takes it."""

    def __init__(self) -> None:
        self.posted: list[Message] = []

    def post(self, message: Message) -> None:
        """Keep one message."""
        self.posted.append(message)

    def close(self) -> None:
        """Nothing is open."""

    def take(self) -> list[dict[str, Any]]:
        """What was posted since the last time, as the page reads it; the bundle's second part is in the gallery already."""
        rows, self.posted = [m for m in self.posted if m.content["kind"] != "code"], []
        return [{"content": m.content, "buffers": [base64.b64encode(b).decode() for b in m.buffers]} for m in rows]


@contextmanager
def notebook(scene: Scene) -> Iterator[tuple[Session, Wire]]:
    """Run the cells of a scene."""
    InteractiveShell.clear_instance()
    with tempfile.TemporaryDirectory() as home:
        config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"xmode": "Minimal", "colors": "nocolor"}})
        shell = InteractiveShell.instance(config=config, ipython_dir=home, user_module=ModuleType("notebook"))
        shell.run_cell("%load_ext gradlab", store_history=True, cell_id="load")
        session = current_session()
        assert session is not None
        wire = Wire()
        session.model = wire  # type: ignore[assignment]
        session.recorder.governor.budget = None
        session.stream.show("reader", True, "idle", None)  # somebody looks while it runs
        for i, source in enumerate(scene.cells):
            last = i == len(scene.cells) - 1
            if last and scene.capture:
                session.recorder.capture_next()
            shell.run_cell(source, store_history=True, cell_id=f"cell-{i}")
        wire.take()
        yield session, wire
        end_session()
        shell.user_ns.clear()  # else the next scene finds what this one keeps alive
    InteractiveShell.clear_instance()


def selection(scene: Scene, session: Session) -> str:
    """What the scene selects, as the page writes it."""
    ops = [i for i, op in enumerate(session.recorder.structure()["ops"]) if op["name"] == scene.select]
    return f"op:{ops[len(ops) // 2]}" if ops else scene.select


def opened(browser: Browser, session: Session, wire: Wire, scene: Scene, theme: str, width: int, panel: str) -> Page:
    """The gallery with the scene, drawn and at rest."""
    page = browser.new_page(viewport={"width": width, "height": WINDOW})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def hear(text: str) -> list[dict[str, Any]]:
        session._on_message(None, json.loads(text), [])
        return wire.take()

    page.expose_function("kernel", hear)
    query = {"live": 1, "bare": 1, "theme": "", "width": width, "panel": panel, "select": selection(scene, session)}
    query |= {name: value for name, value in (("at", scene.at), ("mark", scene.mark)) if value}
    themes = Path(sysconfig.get_path("data"), "share/jupyter/lab/themes/@jupyterlab")
    style = COLOURS.read_text() + (themes / THEMES[theme] / "index.css").read_text()
    # Later than what stands in the gallery's own page, which has the theme's values for where no JupyterLab is.
    dress = f"""addEventListener('DOMContentLoaded', () => {{
        document.body.dataset.jpThemeName = '{NAMES[theme]}';
        document.body.dataset.jpThemeLight = '{str(theme == "light").lower()}';
        document.body.append(Object.assign(document.createElement('style'), {{ textContent: {json.dumps(style)} }}));
    }})"""
    page.add_init_script(dress)
    page.goto(f"file://{GALLERY}/index.html?{urlencode(query)}")
    page.wait_for_selector("[data-ready]", timeout=PATIENCE_MS, state="attached")
    page.add_style_tag(content=".gl-strip, .gl-time { position: static !important }")  # nothing lies over what is photographed
    page.evaluate(OPEN_ALL)
    for _ in range(20):  # what was slow to answer, or answers what just came
        page.evaluate("rows => receive(rows)", wire.take())
        page.wait_for_timeout(100)
        if not (wire.posted or page.evaluate("waiting()")):
            break
    for error in errors:
        print(f"  {theme} {width} {panel}: {error}")
    for spill in sorted(set(page.evaluate(SPILLS)))[:8]:
        print(f"  {theme} {width} {panel}: over the edge: {spill}")
    return page


def shoot(page: Page, element: ElementHandle | None, path: Path) -> None:
    """One picture, cut where it is very tall."""
    box = None if element is None else element.bounding_box()
    if box is None or box["height"] < 2:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    clip: FloatRect = {**box, "height": min(box["height"], HIGHEST)}
    page.screenshot(path=path, clip=clip, animations="disabled", full_page=True)


def take(browser: Browser, scene: Scene, name: str, folder: Path) -> None:
    """All pictures of a scene: every panel of the inspector in the docks' widths, the inspector and each panel by itself in the last."""
    with notebook(scene) as (session, wire):
        print(f"{name}: {len(session.recorder.structure()['ops'])} ops, step {session.recorder.step}")
        for theme in THEMES:
            for width in WIDTHS:
                page = opened(browser, session, wire, scene, theme, width, "inspector")
                picture = folder / name / f"{theme}-{width}"
                if width == WIDTHS[-1]:
                    if not page.query_selector(".gl-broad"):  # the graph's column is as high as the window: one as high as the picture
                        page.set_viewport_size({"width": width, "height": HIGHEST})
                        page.wait_for_timeout(100)
                    shoot(page, page.query_selector("#place"), picture / "inspector.png")
                for part in ("strip", "compare", *PANELS):
                    shoot(page, page.query_selector(f"[data-panel='{part}']"), picture / f"{part}.png")
                shoot(page, page.query_selector(".gl-time"), picture / "time.png")
                page.close()


def _height(picture: Path) -> int:
    """Of a PNG, in pixels."""
    return int.from_bytes(picture.read_bytes()[20:24]) if picture.exists() else 0


def sheets(browser: Browser, folder: Path, name: str) -> None:
    """Put the pictures of one scene on sheets, a panel each."""
    root = folder / name
    rows = {path.stem for path in root.glob("*/*.png")}
    page = browser.new_page()
    for part in sorted(rows):
        widths = WIDTHS[-1:] if part == "inspector" else WIDTHS
        cell = "<img src='data:image/png;base64,{}'>"
        lines = []
        for theme in THEMES:
            files = [root / f"{theme}-{width}" / f"{part}.png" for width in widths]
            images = [cell.format(base64.b64encode(file.read_bytes()).decode()) for file in files if file.exists()]
            lines.append(f"<div>{''.join(images)}</div>")
        heights = [max(_height(root / f"{theme}-{width}" / f"{part}.png") for width in widths) for theme in THEMES]
        alone = sum(heights) > TALLEST  # each theme on a sheet of its own
        for i, group in enumerate([[line] for line in lines] if alone else [lines]):
            page.set_viewport_size({"width": 100, "height": 100})
            page.set_content(STYLE + "".join(group))
            wide, high = page.evaluate("[document.body.scrollWidth, document.body.scrollHeight]")
            page.set_viewport_size({"width": wide, "height": min(high, TALLEST)})
            page.screenshot(path=folder / f"{name}-{part}{f'-{list(THEMES)[i]}' if alone else ''}.png")
    page.close()


def main() -> None:
    """Take the pictures of the scenes that are named, or of all."""
    folder = Path(sys.argv[1]).resolve()
    scenes = SIZES | STATES
    subprocess.run(["node", "js/gallery/build.mjs"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name in sys.argv[2:] or scenes:
            shutil.rmtree(folder / name, ignore_errors=True)
            take(browser, scenes[name], name, folder)
            sheets(browser, folder, name)
        browser.close()
    print(f"{len(list(folder.glob('*/*/*.png')))} pictures on {len(list(folder.glob('*.png')))} sheets in {folder}")


if __name__ == "__main__":
    main()
