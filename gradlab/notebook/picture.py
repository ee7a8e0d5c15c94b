"""A picture of the last step, for a notebook that is read without its kernel: an SVG that needs nothing beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from time import strftime
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from ..trace import Recorder, is_missing
from .reading import plain, size

PICTURE_BYTES = 60_000
"""What one picture may take in the notebook's file."""

_WIDTH = 720
_ROW = 18
_ROWS = 30  # of a table; further ones are counted
_TEXT, _QUIET, _LINE, _TRACK, _HEAD = "#212121", "#5f6368", "#e0e0e0", "#e3e5e8", "#f3f4f5"
_VALUE, _GRADIENT, _LOSS, _ODD = "#4a6fa5", "#c26a00", "#0072b2", "#c2188b"
_KINDS = {"matmul": "#0072b2", "elementwise": "#009e73", "reduce": "#c06a99", "shape": "#80868c", "loss": "#d55e00"}
_LOWEST, _HIGHEST = -8.0, 4.0  # log10 of what the bars show
_SANS = "system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
_MONO = "Menlo,Consolas,DejaVu Sans Mono,monospace"


class _Page:
    """Draws from top to bottom."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.y = 0.0

    def text(
        self, x: float, text: str, colour: str = _TEXT, *, mono: bool = False, end: bool = False, bold: bool = False, y: float = 0
    ) -> None:
        style = f' font-family="{_MONO}"' * mono + ' text-anchor="end"' * end + ' font-weight="600"' * bold
        self.parts.append(f'<text x="{x:g}" y="{(y or self.y):g}" fill="{colour}"{style}>{escape(text)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, colour: str, radius: float = 0) -> None:
        round_ = f' rx="{radius:g}"' if radius else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:g}" fill="{colour}"{round_}/>')

    def bar(self, x: float, width: float, number: float | None, colour: str) -> None:
        """A magnitude on a logarithmic track, and the number beside it."""
        if number is None:
            return
        self.rect(x, self.y - 7, width, 4, _TRACK, 2)
        if number == number and 0 < abs(number) < math.inf:
            share = (math.log10(abs(number)) - _LOWEST) / (_HIGHEST - _LOWEST)
            self.rect(x, self.y - 7, width * min(max(share, 0.02), 1.0), 4, colour, 2)
        self.text(x + width + 62, plain(number), _TEXT if math.isfinite(number) else _ODD, mono=True, end=True)

    def heading(self, title: str, note: str) -> None:
        self.y += 12
        self.rect(0, self.y, _WIDTH, 24, _HEAD)
        self.y += 16
        self.text(12, title, bold=True)
        self.text(_WIDTH - 12, note, _QUIET, end=True)
        self.y += 8

    def more(self, count: int, what: str) -> None:
        if count > 0:
            self.y += _ROW
            self.text(12, f"and {count:,} more {what}", _QUIET)


def picture(recorder: Recorder, view: str, cell: int | None = None) -> str:
    """The last step as an SVG of at most `PICTURE_BYTES`: what `view` shows, or of "inspector" and "output" everything.

    Args:
        cell: the execution count of the cell that would bring the panel to life again.
    """
    with recorder.lock:
        structure, numbers = recorder.structure(), recorder.numbers()
        step, timeline = step_of(recorder), recorder.timeline
        _, rows = timeline.rows(0)
        columns = timeline.columns()
    page = _Page()
    everything = view in ("inspector", "output", "strip")
    _strip(page, step, numbers, rows[:, columns.index("loss")] if rows.size and "loss" in columns else np.empty(0))
    if everything or view in ("graph", "shapes", "detail"):
        _ops(page, structure, numbers)
    if everything or view == "gradients":
        _parameters(page, structure, numbers)
    if everything or view == "optimizer":
        _optimizers(page, structure, numbers.optimizers, columns)
    again = f"run In[{cell}] again" if cell is not None else "run %load_ext gradlab and the cells again"
    page.y += 24
    page.text(12, f"A picture of {strftime('%Y-%m-%d %H:%M')}, not connected to a kernel. To see it live, {again}.", _QUIET)
    height = page.y + 12
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" data-gradlab="picture" width="{_WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH} {height:g}" font-family="{_SANS}" font-size="12" role="img" aria-label="gradlab: step {step}">'
    )
    frame = f'<rect width="{_WIDTH}" height="{height:g}" rx="6" fill="#fff" stroke="{_LINE}"/>'
    return head + frame + "".join(page.parts) + "</svg>"


def step_of(recorder: Recorder) -> int:
    """The step on show as the panels count it: an open one from its first gradient on, which makes a row of the timeline."""
    first, rows = recorder.timeline.rows(recorder.step)
    return first + len(rows) - 1 if recorder.open and len(rows) else recorder.step


def _strip(page: _Page, step: int, numbers: Any, losses: np.ndarray) -> None:
    page.y = 22
    page.text(12, "gradlab", _QUIET, bold=True)
    x = 80.0
    for name, value in (
        ("step", f"{step:,}"),
        ("loss", "-" if numbers.loss is None else plain(numbers.loss)),
        ("‖grad‖", "-" if numbers.grad_norm is None else plain(numbers.grad_norm)),
    ):
        page.text(x, name, _QUIET)
        page.text(x + 8 + 7 * len(name), value, bold=True)
        x += 110
    page.parts.append(_sparkline(losses, 420, 8, 288, 20))
    page.y += 4
    if numbers.of is not None:
        page.y += 18
        page.text(80, f"ops and leaves as they were in step {numbers.of:,}, the last that was read in full", _QUIET)


def _sparkline(values: np.ndarray, x: float, y: float, width: float, height: float) -> str:
    """The loss so far: of each stretch of steps its smallest and largest value."""
    finite = values[np.isfinite(values)].astype(np.float64)
    if len(finite) < 2:
        return ""
    parts = np.array_split(finite, min(len(finite), 120))
    low, high = finite.min(), finite.max()
    scale = height / (high - low) if high > low else 0.0
    across = width / (len(parts) - 1)
    points = [
        f"{x + i * across:.1f},{y + (high - v) * scale:.1f}"
        for i, part in enumerate(parts)
        for v in dict.fromkeys((part.max(), part.min()))
    ]
    return f'<polyline points="{" ".join(points)}" fill="none" stroke="{_LOSS}" stroke-width="1.2"/>'


def _ops(page: _Page, structure: Any, numbers: Any) -> None:
    ops, modules = structure["ops"], structure["modules"]
    total_bytes = sum(op["bytes"] for op in ops)
    total = len(ops) + structure["folded"]
    page.heading("Graph", f"{total:,} op{'s' * (total != 1)} · {size(total_bytes)}" if ops else "no op was traced yet")
    _labels(page, [(12, "op"), (150, "made at"), (250, "output"), (420, "‖value‖"), (580, "‖gradient‖")])
    before = None
    shown = drawn = 0
    for i, op in enumerate(ops):
        if shown >= _ROWS:
            break
        if op["module"] != before:
            before = op["module"]
            if before is not None:
                page.y += _ROW
                path = _clip(modules[before]["path"], 50)
                page.text(12, path, bold=True)
                page.text(20 + 7.5 * len(path), _clip(modules[before]["repr"], 95 - len(path)), _QUIET)
                shown += 1
        page.y += _ROW
        shown += 1
        page.rect(14, page.y - 11, 3, 13, _KINDS.get(op["kind"], _KINDS["elementwise"]))
        page.text(22, _clip(op["name"], 20), _ODD if op["error"] else _TEXT)
        page.text(150, _clip(_place(structure, op), 16), _QUIET)
        page.text(250, _clip(str(tuple(op["shape"])), 24), mono=True)
        has = int(numbers.op_has[i]) if i < len(numbers.op_has) else 0
        page.bar(420, 80, float(numbers.ops[i, 0]) if has & 1 else None, _VALUE)
        page.bar(580, 60, float(numbers.ops[i, 1]) if has & 2 else None, _GRADIENT)
        if op["error"]:
            page.y += _ROW
            page.text(22, _clip(op["error"].splitlines()[0], 110), _ODD)
        drawn = i + 1
    page.more(total - drawn, "ops")


def _parameters(page: _Page, structure: Any, numbers: Any) -> None:
    parameters = [(j, leaf) for j, leaf in enumerate(structure["leaves"]) if leaf["requires_grad"]]
    page.heading("Gradients", f"{len(parameters):,} parameter{'s' * (len(parameters) != 1)}")
    _labels(page, [(12, "parameter"), (250, "shape"), (420, "‖value‖"), (580, "‖gradient‖")])
    for j, leaf in parameters[:_ROWS]:
        page.y += _ROW
        page.text(12, _clip(leaf["name"], 34))
        page.text(250, _clip(str(tuple(leaf["shape"])), 24), mono=True)
        has = int(numbers.leaf_has[j])
        page.bar(420, 80, float(numbers.leaves[j, 0]) if has & 1 else None, _VALUE)
        page.bar(580, 60, float(numbers.leaves[j, 1]) if has & 2 else None, _GRADIENT)
    page.more(len(parameters) - _ROWS, "parameters")


def _optimizers(page: _Page, structure: Any, optimizers: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    names = [name.removeprefix("g/") for name in columns if name.startswith("g/")]
    for optimizer in optimizers:
        lr = optimizer["lr"]
        of = f" · numbers of step {optimizer['of']:,}" if "of" in optimizer else ""
        page.heading("Optimizer", f"{optimizer['label']} · lr {f'{lr:g}' if lr == lr else '-'}{of}")
        titles = optimizer["columns"][:5]
        places = [708 - 105 * k for k in range(len(titles))][::-1]
        _labels(page, [(12, "parameter")], list(zip(places, titles, strict=True)))
        blank = is_missing(optimizer["values"])
        for row, values, unknown in list(zip(optimizer["rows"], optimizer["values"], blank, strict=True))[:_ROWS]:
            page.y += _ROW
            page.text(12, _clip(names[row] if row < len(names) else "?", 34))
            for x, value, missing in zip(places, values, unknown, strict=False):
                number = float(value)
                page.text(x, "-" if missing else plain(number), _TEXT if math.isfinite(number) else _ODD, mono=True, end=True)
        page.more(len(optimizer["rows"]) - _ROWS, "parameters")


def _labels(page: _Page, left: Sequence[tuple[float, str]], right: Sequence[tuple[float, str]] = ()) -> None:
    page.y += _ROW - 2
    for x, label in left:
        page.text(x, label, _QUIET)
    for x, label in right:
        page.text(x, label, _QUIET, end=True)


def _place(structure: Any, op: Any) -> str:
    cell = None if op["cell"] is None else structure["cells"][op["cell"]]
    if cell is None:
        return ""
    where = cell["file"] or ("" if cell["count"] is None else f"In[{cell['count']}]")
    return where if op["line"] is None else f"{where}:{op['line']}"


def _clip(text: str, length: int) -> str:
    text = "".join(c if c.isprintable() else "\N{SYMBOL FOR NEWLINE}" if c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= length else text[: length - 1] + "…"
