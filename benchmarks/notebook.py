"""What the inspector costs in a notebook, and how soon it answers, in a real JupyterLab: `python -m benchmarks.notebook`.

Slowdowns compare blocks of steps with tracing on and off in turns, in CPU time of the kernel, with the panels open in the page;
figures are medians. Needs what the browser tests need.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

TURNS = """
import json, statistics, time
from gradlab.notebook import current_session

def turns(block, rounds, seconds=0.4):
    session, times = current_session(), {True: [], False: []}
    began = time.perf_counter(); block(1); once = time.perf_counter() - began
    steps = max(1, int(seconds / once))
    block(steps)
    for i in range(2 * rounds):
        on = i % 2 == 0
        session.trace(on)
        began = time.process_time()
        block(steps)
        times[on].append((time.process_time() - began) / steps)
    session.trace(True)
    return statistics.median(a / b for a, b in zip(times[True], times[False]))
"""
# Milliseconds from a press to the selection in the next picture.
CLICK = """() => new Promise(done => {
    const graph = document.querySelector('#gradlab-dock [data-panel="graph"]');
    const nodes = [...graph.querySelectorAll('[data-op]')];
    const node = nodes.find(n => !n.classList.contains('gl-selected')) ?? nodes[0];
    const began = performance.now();
    node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""
APPEARS = """words => {
    window.appeared = 0;
    const look = () => {
        const there = document.querySelector('#gradlab-dock')?.textContent.includes(words);
        if (there) window.appeared = Date.now();
        else requestAnimationFrame(look);
    };
    look();
}"""

Row = tuple[str, str, str]


def tiny(lab: Any) -> list[Row]:
    """Thousands of steps a second."""
    from labdriver import LOAD
    from labsources import TINY

    lab.open("tiny.ipynb", LOAD, TINY + TURNS, "print(turns(train, 5, 2.0))", "%gradlab budget off", "%gradlab budget 5", "train(20_000)")
    lab.run(0)
    lab.run(1)
    governed = last(lab.run(2, 600))
    lab.run(3)
    full = last(lab.run(2, 600))
    lab.run(4)
    lab.listen()
    lab.run(5, 600)
    done = time.monotonic()
    lab.eventually(lambda: lab.panel("strip").locator(".gl-fact b").first.inner_text().isdigit())
    step = json.loads(lab.page.evaluate("() => JSON.stringify(Object.values(globalThis[Symbol.for('gradlab')].sessions)[0].status().step)"))
    lab.sees_step(step)
    late = time.monotonic() - done
    frames = [m for m in lab.received() if m.panel_kind == "frame"]
    lasted = frames[-1].sent - frames[0].sent
    return [
        ("2-2-1 net, tracing with default settings: slowdown", "< 20 %", percent(governed)),
        ("2-2-1 net, every step read in full: slowdown", "stated", percent(full)),
        ("2-2-1 net, messages with numbers a second", "<= 10", f"{(len(frames) - 1) / max(lasted, 0.1):.1f}"),
        ("2-2-1 net, view up to date after the cell's end", "<= 1 s", f"{late:.2f} s"),
    ]


def again(lab: Any) -> list[Row]:
    """A step after the panel's cell ran five times, over one after it ran once."""
    from labdriver import LOAD
    from labsources import TINY

    timed = "t = time.process_time(); train(3000); print(time.process_time() - t)"
    lab.open("again.ipynb", LOAD, TINY + TURNS, "%gradlab budget off", "%gradlab panel gradients", timed)
    for index in range(4):
        lab.run(index)
    lab.run(4)
    ratios = []
    for _ in range(3):
        once = last(lab.run(4))
        for _ in range(5):
            lab.run(3)
        ratios.append(last(lab.run(4)) / once)
    return [("a step after the panel's cell ran five times more", "<= 120 %", f"{100 * statistics.median(ratios):.0f} %")]


def large(lab: Any) -> list[Row]:
    """A weight of 400 MB."""
    from labdriver import LOAD
    from labsources import LARGE

    lab.open("large.ipynb", LOAD, LARGE + "x = gl.randn(32, 20000)" + TURNS, "print(turns(train, 5, 3.0))")
    lab.run(0)
    lab.run(1)
    lab.listen()
    slower = last(lab.run(2, 600))
    largest = max(m.size_bytes for m in lab.received())
    return [
        ("Linear(20000, 5000): slowdown", "< 10 %", percent(slower)),
        ("Linear(20000, 5000): largest message", "<= 256 kB", f"{largest / 1000:.0f} kB"),
    ]


def unrolled(lab: Any) -> list[Row]:
    """A graph of 32,000 ops."""
    from labdriver import LOAD
    from labsources import UNROLLED

    lab.open("unrolled.ipynb", LOAD, UNROLLED, "unroll(2000)\nimport time; print(time.time())")
    lab.run(0)
    lab.run(1)
    lab.page.evaluate(APPEARS, "32,002 ops forward")
    ended = last(lab.run(2, 600))
    lab.wait("() => window.appeared > 0")
    drawn = lab.page.evaluate("() => window.appeared") / 1000 - ended
    clicks = [lab.page.evaluate(CLICK) for _ in range(7)]
    return [
        ("LSTM cell, 2,000 times: graph on screen after the cell's end", "<= 2 s", f"{max(drawn, 0):.2f} s"),
        ("the same: a click is answered after", "<= 200 ms", f"{statistics.median(clicks):.0f} ms"),
    ]


def live(lab: Any) -> list[Row]:
    """Loading, building and training in one cell."""
    from labdriver import LOAD
    from labsources import TINY

    source = f"""
{LOAD}
{TINY}
print(time.time(), flush=True)
ends = time.time() + 12
while time.time() < ends:
    train(1)
    time.sleep(0.01)
"""
    lab.open("live.ipynb", source)
    watch = """() => {
        window.shown = [];
        const look = () => {
            const step = document.querySelector('#gradlab-dock [data-panel="strip"] .gl-fact b')?.dataset.value;
            if (step > 0 && window.shown.at(-1)?.[1] !== step) window.shown.push([Date.now(), step]);
            requestAnimationFrame(look);
        };
        look();
    }"""
    lab.page.evaluate(watch)
    began = next(float(word) for word in lab.run(0, 120).split() if not word.startswith("<"))
    shown: list[Any] = lab.page.evaluate("() => window.shown")
    seconds = [at / 1000 - began for at, _ in shown if at / 1000 - began < 13]
    if len(seconds) < 2:
        return [("load, build and train in one cell: first point after the first step", "<= 1 s", "> 12 s")]
    return [
        ("load, build and train in one cell: first point after the first step", "<= 1 s", f"{seconds[0]:.2f} s"),
        ("the same: new points a second", ">= 2", f"{len(seconds) / (seconds[-1] - seconds[0]):.1f}"),
    ]


def last(printed: str) -> float:
    """The number that a cell printed last."""
    return float(printed.split()[-1])


def percent(ratio: float) -> str:
    """How much slower."""
    return f"{100 * (ratio - 1):.0f} %"


PARTS: dict[str, Callable[[Any], list[Row]]] = {"tiny": tiny, "again": again, "large": large, "unrolled": unrolled, "live": live}


def main() -> None:
    """Print the table; with names of parts only those."""
    sys.path.insert(0, str(ROOT / "tests" / "ui"))
    from labbrowser import launch
    from labdriver import loaded
    from labserver import serve
    from playwright.sync_api import sync_playwright

    chosen = sys.argv[1:] or list(PARTS)
    print("| quantity | target | measured |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server, sync_playwright() as playwright:
        browser = launch(playwright)
        lab = loaded(server, browser)
        for name in chosen:
            for row in PARTS[name](lab):
                print(f"| {' | '.join(row)} |", flush=True)
            lab.close_everything()
        browser.close()


if __name__ == "__main__":
    main()
