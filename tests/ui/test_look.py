"""How the dock looks: themes, narrow places, odd numbers and odd names."""

from __future__ import annotations

from labdriver import LOAD, Lab, expect

COLOURS = """() => {
    const strip = document.querySelector('#gradlab-dock [data-panel="strip"]');
    const fact = strip.querySelector('.gl-fact b');
    let ground = strip;
    while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
    return [getComputedStyle(ground).backgroundColor, getComputedStyle(fact).color];
}"""

# Text that does not fit: an element wider inside than outside, in a place that cannot scroll sideways.
SPILLS = """() => {
    const dock = document.querySelector('#gradlab-dock');
    const edge = dock.getBoundingClientRect().right;
    return [...dock.querySelectorAll('[data-panel] *')]
        .filter(e => e.getClientRects().length && !e.closest('svg') && !e.closest('.gl-scroll'))
        .filter(e => e.getBoundingClientRect().right > edge + 1)
        .map(e => `${e.tagName}.${e.className}`);
}"""

# The contrast of each text with what it stands on: of HTML the nearest ground, of a node in the graph its face.
CONTRASTS = """texts => {
    const numbers = text => {
        const [r, g, b, a = 1] = text.match(/[\\d.e-]+/g).map(Number);
        return text.startsWith('color(') ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
    };
    const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const grounds = element => {
        const face = element.closest('.gl-node')?.querySelector('.gl-face');
        if (face) return numbers(getComputedStyle(face).fill);
        let ground = element;
        while (numbers(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
        return numbers(getComputedStyle(ground).backgroundColor);
    };
    return texts.map(([selector, part]) => {
        const element = [...document.querySelectorAll(`#gradlab-dock ${selector}`)].find(e => e.getClientRects().length);
        if (!element) return [selector, 'is not there'];
        const style = getComputedStyle(element, part);
        const back = grounds(element);
        const [r, g, b, a] = numbers(element instanceof SVGElement ? style.fill : style.color);
        const front = [r, g, b].map((v, i) => a * v + (1 - a) * back[i]);
        const [x, y] = [light(front), light(back)].sort((p, q) => q - p);
        return [selector, (x + 0.05) / (y + 0.05)];
    });
}"""
TEXTS = [
    ('[data-panel="gradients"] .gl-row.gl-selected', None),
    ('[data-panel="graph"] .gl-node.gl-selected .gl-link', None),
    (".gl-live[aria-pressed='true']", None),
    (".gl-try input[aria-label='learning rate']", "::placeholder"),
    (".gl-capture span", None),
]
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")

MODEL = """
import gradlab as gl
from gradlab import nn
gl.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = gl.optim.AdamW(model.parameters(), lr=1e-2)
x, y = gl.randn(16, 64), gl.randint(0, 10, (16,))
for _ in range(40):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def brightness(colour: str) -> float:
    """Return how light an `rgb(...)` colour is, 0 to 255."""
    red, green, blue = (float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3])
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_the_dock_follows_the_theme_and_fits_narrow_places(lab: Lab) -> None:
    lab.open("look.ipynb", LOAD, MODEL)
    lab.run_all()
    lab.sees_step(40)
    light = [brightness(colour) for colour in lab.page.evaluate(COLOURS)]
    lab.shot("light")
    lab.theme("JupyterLab Dark")
    try:
        dark = [brightness(colour) for colour in lab.page.evaluate(COLOURS)]
        lab.shot("dark")
    finally:
        lab.theme("JupyterLab Light")
    assert light[0] > 200 > 100 > light[1]
    assert dark[0] < 100 < 150 < dark[1]

    lab.dock_width(400)
    assert 396 <= lab.visible_dock()["width"] <= 404
    lab.eventually(lambda: lab.page.evaluate(SPILLS) == [])
    for name in ("strip", "graph", "gradients", "shapes", "optimizer"):
        expect(lab.panel(name)).to_be_attached()
    lab.shot("400")

    lab.close_dock()
    lab.page.set_viewport_size({"width": 900, "height": 700})
    try:
        lab.palette("GradLab: Open Inspector")
        lab.sees_step(40)
        # The two share what the file browser leaves.
        lab.eventually(lambda: 270 <= lab.visible_dock()["width"] <= 310)
        notebook = lab.page.locator(".jp-NotebookPanel").bounding_box()
        assert notebook is not None and notebook["width"] > 250
        lab.eventually(lambda: lab.page.evaluate(SPILLS) == [])
        lab.shot("window-of-900")
    finally:
        lab.page.set_viewport_size({"width": 1440, "height": 900})


def test_texts_on_tints_contrast_in_every_theme(lab: Lab) -> None:
    lab.open("contrast.ipynb", LOAD, MODEL, "%gradlab capture", MODEL.partition("for _")[1] + MODEL.partition("for _")[2])
    lab.run_all()
    lab.sees_step(80)
    lab.panel("gradients").locator(".gl-row").first.click()  # marks the op that reads it too
    expect(lab.panel("detail").get_by_role("button", name="Release step 41")).to_be_visible()
    expect(lab.panel("detail")).to_contain_text("on captured step 41; the run is untouched")
    try:
        for theme in THEMES:
            lab.theme(theme)
            lab.page.wait_for_timeout(1200)
            lab.shot(f"contrast-{theme.split()[-1].lower()}")
            found = dict(lab.page.evaluate(CONTRASTS, TEXTS))
            assert all(isinstance(value, float) and value >= 4.5 for value in found.values()), (theme, found)
    finally:
        lab.theme("JupyterLab Light")


def test_names_with_html_are_text_and_odd_numbers_have_names(lab: Lab) -> None:
    name = "<img src=x onerror='pwned=1'>"
    lab.open(
        "odd.ipynb",
        LOAD,
        f"""
import gradlab as gl
class Model(gl.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = gl.nn.ModuleDict({{"{name}": gl.nn.Linear(3, 2)}})
    def forward(self, x):
        return self.layers["{name}"](x)
model = Model()
optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
loss = model(gl.randn(4, 3)).sum()
loss.backward()
optimizer.step()
""",
        """
import numpy as np
import gradlab as gl
w = gl.tensor([-1.0, 2.0], requires_grad=True)
with np.errstate(all="ignore"):
    a = gl.log(w)
    b = gl.exp(w * 1000.0)
    loss = (a * b).sum()
    loss.backward()
""",
    )
    lab.run(0)
    lab.run(1)
    lab.sees_step(1)
    expect(lab.panel("graph")).to_contain_text("<img src=x")
    expect(lab.panel("optimizer").locator(f'[data-param="layers.{name}.weight"]')).to_be_visible()
    assert lab.dock.locator("img").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None
    lab.shot("names")
    lab.run(2)
    graph = lab.panel("graph")
    expect(graph.locator('[data-op="0"] .gl-v')).to_have_text("NaN")
    expect(graph.locator('[data-op="0"] .gl-v')).to_have_attribute("data-value", "NaN")
    expect(graph.locator('[data-op="2"] .gl-v')).to_contain_text("Inf")
    expect(lab.panel("strip")).to_contain_text("NaN")
