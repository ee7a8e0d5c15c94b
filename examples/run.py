"""Run the example notebooks, all or some, and print what came of them: `python examples/run.py [NAME ...]`.

    python examples/run.py                         all, in full: up to 20 minutes each on two cores
    python examples/run.py 03 05_mnist_mlp         those two
    python examples/run.py --small                 all at the reduced size that CI runs: seconds each
    python examples/run.py 05 --device cuda        on a GPU
    python examples/run.py 05 --keep build         leave the notebook with its outputs in build/

Each runs in a kernel of its own, its parameters overwritten and the inspector on. The table has what the notebook printed in
lines that begin with `data: ` and `result: `. The exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
CELL_TIMEOUT_S = 3 * 3600
REDUCED = {"SMALL": True, "SEEDS": (0,)}
COLUMNS = ("example", "data", "seconds", "CPU seconds", "result", "inspector")
ASKED = ("%gradlab status", "%gradlab explain", "import time\nprint(time.process_time())")


class Outcome(NamedTuple):
    """What came of one notebook.

    Attributes:
        name: of the file, without its ending.
        data: what it learned from, as it printed it.
        seconds: from the first cell to the last.
        cpu_seconds: that its kernel computed, on all cores together; less than `seconds` where it had to share them.
        result: what it reached, as it printed it.
        steps: how many the inspector saw.
        findings: what the rules found, by rule: "info", "warning" or "error".
        error: the traceback of the cell that failed, or that it took too long or its kernel died; or nothing.
        book: the notebook with its outputs.
    """

    name: str
    data: str
    seconds: float
    cpu_seconds: float
    result: str
    steps: int
    findings: dict[str, str]
    error: str
    book: Any


def found(names: Iterable[str]) -> list[Path]:
    """The notebooks that these names begin, or all, in their order.

    Raises: SystemExit where a name begins none.
    """
    books = sorted(FOLDER.glob("[0-9]*.ipynb"))
    wanted = [Path(name).stem for name in names]
    for name in wanted:
        if not any(book.stem.startswith(name) for book in books):
            raise SystemExit(f"run.py: no example begins with {name!r}; there are {', '.join(book.stem for book in books)}")
    return [book for book in books if not wanted or book.stem.startswith(tuple(wanted))]


def run(path: Path, parameters: Mapping[str, object], environment: Mapping[str, str] | None = None, cwd: Path | None = None) -> Outcome:
    """Run all cells of a notebook with these parameters, then ask the inspector what it saw."""
    book = nbformat.read(path, as_version=4)
    cell = next((cell for cell in book.cells if "parameters" in cell.metadata.get("tags", ())), None)
    if cell is None:
        raise ValueError(f"{path.name} has no cell with the tag parameters")
    cell.source += "".join(f"\n{name} = {value!r}" for name, value in parameters.items())
    asked = [nbformat.v4.new_code_cell(source) for source in ASKED]
    book.cells += asked
    resources = {"metadata": {"path": str(cwd or Path.cwd())}}
    client = NotebookClient(book, timeout=CELL_TIMEOUT_S, kernel_name="python3", resources=resources)
    start, error = time.perf_counter(), ""
    try:
        client.execute(env=dict(environment or {**os.environ, "PYTHONPATH": str(ROOT)}))
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as failure:  # the others run all the same
        error = str(failure)
    seconds = time.perf_counter() - start
    book.cells = book.cells[: -len(asked)]
    text = "".join(map(printed, book.cells))
    status, explained, spent = map(printed, asked)
    cpu_seconds = float(spent or "nan")
    return Outcome(path.stem, said(text, "data"), seconds, cpu_seconds, said(text, "result"), *seen(status, explained), error, book)


def printed(cell: Any) -> str:
    """What a cell wrote to stdout."""
    return "".join(o.text for o in cell.get("outputs", ()) if o.output_type == "stream" and o.name == "stdout")


def said(text: str, word: str) -> str:
    """The lines that begin with a word and a colon, without it."""
    return "; ".join(re.findall(rf"^{word}: (.+)$", text, re.MULTILINE))


def seen(status: str, explained: str) -> tuple[int, dict[str, str]]:
    """How many steps the inspector saw, and how severe each finding of the rules is."""
    steps = re.search(r"([\d,]+) steps?", status)
    findings = re.findall(r"^(info|warning|error)  (R\d+)", explained, re.MULTILINE)
    return int(steps[1].replace(",", "")) if steps else 0, {rule: severity for severity, rule in findings}


def table(outcomes: Iterable[Outcome]) -> str:
    """The outcomes as a table in Markdown."""
    rows = []
    for o in outcomes:
        findings = ", ".join(f"{severity} {rule}" for rule, severity in o.findings.items()) or "no findings"
        times = f"{o.seconds:.0f}", f"{o.cpu_seconds:.0f}"
        rows.append((o.name, o.data, *times, "**failed**" if o.error else o.result, f"{o.steps:,} steps, {findings}"))
    return "\n".join("| " + " | ".join(row) + " |" for row in (COLUMNS, ["---"] * len(COLUMNS), *rows))


def main(arguments: list[str]) -> int:
    """Run what is asked for; return 1 if something failed."""
    parser = argparse.ArgumentParser(description="Run the example notebooks and print a table of what came of them.")
    parser.add_argument("names", nargs="*", help="how the names begin (03, 05_mnist_mlp); all if none is given")
    parser.add_argument("--small", action="store_true", help="at reduced size, with one seed: seconds each")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="where to train, in place of what the notebook says")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the notebooks with their outputs there")
    chosen = parser.parse_args(arguments)
    parameters: dict[str, object] = dict(REDUCED) if chosen.small else {}
    if chosen.device:
        parameters["DEVICE"] = chosen.device
    outcomes = []
    for path in found(chosen.names):
        print(f"{path.stem} ...", file=sys.stderr, flush=True)
        outcomes.append(run(path, parameters))
        print(outcomes[-1].error, end="", file=sys.stderr, flush=True)
        if chosen.keep:
            chosen.keep.mkdir(parents=True, exist_ok=True)
            nbformat.write(outcomes[-1].book, chosen.keep / path.name)
    print(table(outcomes))
    return int(any(o.error for o in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
