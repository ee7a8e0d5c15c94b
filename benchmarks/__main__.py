"""`python -m benchmarks`: tables of ratios; optional competitors that are not installed are named and passed over."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from .comparison import compared
from .harness import Result, compare, machine
from .peers import PEERS
from .problems import WORKLOADS


def main() -> int:
    """Read the command line, run, print one table a workload; 1 where `--compare` finds something worse."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("-w", "--workloads", default=",".join(WORKLOADS), help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("-p", "--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("-r", "--rounds", type=int, default=7)
    parser.add_argument("-s", "--seconds", type=float, default=0.3, help="length of one turn")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="name what is more than 10 %% worse than in this JSON of before")
    args = parser.parse_args()
    for kind, known in (("workloads", WORKLOADS), ("peers", PEERS)):
        if unknown := [name for name in getattr(args, kind).split(",") if name not in known]:
            parser.error(f"no {kind} {', '.join(unknown)}: there are {', '.join(known)}")
    before = json.loads(args.compare.read_text(encoding="utf-8")) if args.compare else None
    figures: dict[str, Any] = {"machine": machine(), "workloads": {}}
    for workload in args.workloads.split(","):
        results = compare(workload, args.peers.split(","), args.rounds, args.seconds)
        print(table(workload, results), flush=True)
        figures["workloads"][workload] = {result.peer: result.figures(results) for result in results}
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if before is None:
        return 0
    worse = compared(before, figures)
    print("\n" + ("\n".join(worse) or "nothing is more than 10 % worse than before"))
    return 1 if worse else 0


def table(workload: str, results: list[Result]) -> str:
    """A Markdown table: time a step, the ratios to hand-written NumPy and to gradlab, peak memory over import, agreement."""
    lines = [
        f"\n### {workload}: {WORKLOADS[workload]}",
        "| competitor | ms a step | x numpy | x gradlab | peak MB | grown MB | first number |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        if not result.seconds:
            lines.append(f"| {result.peer} | can't: {result.why} | | | | | |")
            continue
        ratios = [f"{ratio:.2f}" if ratio else "" for ratio in (result.over(results, "numpy"), result.over(results, "gradlab"))]
        lines.append(
            f"| {result.peer} | {statistics.median(result.seconds) * 1e3:.4g} | {ratios[0]} | {ratios[1]} | {result.peak_mb:.0f} "
            f"| {result.grown_mb:.1f} | {result.first:.6g} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
