"""Write docs/performance.md from a run of the benchmarks: `python docs/performance.py`, with `--check` only say whether it is current.

python -m benchmarks -r 5 --json docs/performance.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_suffix(".md")
FIGURES = PAGE.with_suffix(".json")
sys.path.insert(0, str(PAGE.parent.parent))

from benchmarks.problems import WORKLOADS  # noqa: E402
from docs.written import keep  # noqa: E402

PEERS = ("gradlab", "torch", "picodl", "mygrad", "autograd")
TARGETS = {
    "digits": 1.5,
    "infer1": 1.5,
    "infer128": 1.1,
    "mlp": 1.2,
    "chain_400": 1.5,
    "cnn": 1.25,
    "residual": 1.2,
    "gpt": 1.15,
    "lstm": 1.25,
}
"""The most that gradlab may take, over hand-written NumPy."""
MEMORY = {"cnn": 35, "residual": 150, "gpt": 220}
"""MB over what importing takes, at most."""
DEEP_SECONDS, DEEP_OVER_TORCH = 1.2, 0.55
WATCHED = {"governed": "gradlab+governed", "structure": "gradlab+structure", "structure and norms": "gradlab+norms"}
STEPS = ("gpt", "mlp8", "mlp", "digits", "tiny")
"""Workloads with an optimizer: what is a step to the tracer."""
FIRST = """\
# Performance

What a training step costs beside the same step in NumPy by hand, which has no tape, no checks and no tensors: the limit. Measured by
`python -m benchmarks -r 5 --json docs/performance.json`, which takes ten minutes; `python docs/performance.py` makes this page of it.

CPU time of the process, one thread, the competitors in shuffled turns, medians of the ratios within a round. All start from the same
weights and have to arrive at the same first number. **Bold**: gradlab misses its target. The machine is a shared one: from run to run
the ratios of the small workloads move by a tenth, now and then by a fifth.
"""
TRACED = """\
## With the tracer

Over the same step with tracing off. *governed* is what a notebook has: tracing is allowed 5 % of a step's time, and reads in full as
many steps as that pays for. What that means for small nets is in [budgets](budgets.md).
"""
NOTES = """\
## Where the time goes

Large arrays are at the limit, or below it where an operation is fused that the hand-written step does in several. What is missed are
the workloads whose arrays are so small that NumPy itself takes microseconds, in a CPython whose calls take tenths of one. The step of the
digits net (W1) in microseconds, by `python -m benchmarks.parts`:

| part | gradlab | by hand | difference |
|---|---|---|---|
| batch: two arrays picked, made tensors | 12 | 7 | 5 |
| forward: 3 linear, 2 GELU | 143 | 79 | 64 |
| loss | 60 | 46 | 15 |
| backward: 6 operations, 6 leaves | 173 | 101 | 73 |
| AdamW: 6 parameters | 110 | 47 | 63 |
| all | 516 | 300 | 215 |

* **An operation** takes some 3 us before its arithmetic begins: the node, its place in the order of steps, the tensor it makes, whether
  a gradient is wanted and whether memory is shared. Checks of shapes and dtypes that say what is wrong before anything is computed take
  1 to 2 us, a module call and the function that it calls 1 to 2 us. That is 5 to 7 us for each of the five layers, forward, and 5 us for
  each rule and leaf, backward. In inference with a batch of one, where NumPy by hand takes 25 us for everything, it is three
  quarters of the time; picodl has a shorter way there, and HIPS autograd differentiates nothing unless asked and so has none.
* **GELU** keeps its values for backward, which the hand-written step does too, and is right for values beyond the range of `exp`: that
  and two more arrays make 5 us each.
* **AdamW** moves six parameters as one long array. The hand-written step has its parameters and gradients in that array to begin with.
  Here they stay arrays of their own, so that `p.data = ...`, a loaded state and a second optimizer work as in PyTorch: gathering and
  scattering take 30 us, and as many go to the look whether all is still as it was in the step before.
* **A chain of operations on one number** is the tape alone: 11 us an operation, forward and backward, of which NumPy's own
  multiplication and addition of arrays with one number are the half.
"""
Rows = dict[str, dict[str, Any]]


def page() -> str:
    """The whole page."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    found: dict[str, Rows] = figures["workloads"]
    machine = ", ".join(f"{key} {value}" for key, value in figures["machine"].items())
    lines = [*FIRST.splitlines(), "", f"Machine: {machine}.", ""]
    lines += ["## Time over NumPy by hand", "", *_head("workload", *PEERS, "target")]
    for name, target in TARGETS.items():
        lines.append(_row(WORKLOADS[name], *(_ratio(found[name], peer, target) for peer in PEERS), target))
    for name in ("mlp8", "tiny"):
        lines.append(_row(WORKLOADS[name], *(_ratio(found[name], peer) for peer in PEERS), ""))
    lines += ["", "## A chain of 100,000 operations", "", *_head("", "CPU seconds", "over torch")]
    torch = found["deep"]["torch"]["ms"]
    for peer in PEERS:
        row = found["deep"][peer]
        if "why" in row:
            lines.append(_row(peer, f"can't: {row['why'].partition(': ')[2]}", ""))
        else:
            seconds, over = row["ms"] / 1e3, row["ms"] / torch
            missed = peer == "gradlab"
            lines.append(
                _row(
                    peer,
                    _bold(f"{seconds:.2f}", missed and seconds > DEEP_SECONDS),
                    _bold(f"{over:.2f}", missed and over > DEEP_OVER_TORCH),
                )
            )
    lines += ["", f"Targets: {DEEP_SECONDS} s, and {DEEP_OVER_TORCH} times torch.", "", "## Memory", ""]
    lines += ["Peak over what importing takes, in MB; it does not grow from round to round.", "", *_head("workload", *PEERS, "target")]
    for name, most in MEMORY.items():
        cells = [f"{row['peak MB']:.0f}" if "peak MB" in (row := found[name][peer]) else "" for peer in PEERS]
        lines.append(_row(WORKLOADS[name], *cells, most))
    lines += ["", *TRACED.splitlines(), "", *_head("workload", *WATCHED)]
    for name in STEPS:
        lines.append(_row(WORKLOADS[name], *(f"{found[name][peer]['x gradlab']:.2f}" for peer in WATCHED.values())))
    return "\n".join(lines) + "\n\n" + NOTES


def _head(*names: object) -> list[str]:
    return [_row(*names), "|---" * len(names) + "|"]


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text


def _ratio(rows: Rows, peer: str, target: float | None = None) -> str:
    row = rows[peer]
    if "why" in row:
        return "can't"
    return _bold(f"{row['x numpy']:.2f}", peer == "gradlab" and target is not None and row["x numpy"] > target)


if __name__ == "__main__":
    sys.exit(keep(PAGE, page(), sys.argv[1:]))
