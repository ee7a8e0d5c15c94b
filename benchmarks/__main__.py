"""`python -m benchmarks`: tables of ratios; optional competitors that are not installed are named and passed over."""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from .harness import Result, compare
from .peers import PEERS
from .problems import WORKLOADS


def main() -> None:
    """Read the command line, run, print one table a workload."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("-w", "--workloads", default=",".join(WORKLOADS), help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument("-p", "--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument("-r", "--rounds", type=int, default=7)
    parser.add_argument("-s", "--seconds", type=float, default=0.3, help="length of one turn")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    args = parser.parse_args()
    figures = {}
    for workload in args.workloads.split(","):
        results = compare(workload, args.peers.split(","), args.rounds, args.seconds)
        print(table(workload, results), flush=True)
        figures[workload] = [vars(result) for result in results]
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1))


def table(workload: str, results: list[Result]) -> str:
    """A Markdown table: time a step, the ratios to hand-written NumPy and to gradlab, peak memory, agreement."""
    lines = [
        f"\n### {workload}: {WORKLOADS[workload]}",
        "| competitor | ms a step | x numpy | x gradlab | peak MB | first number |",
        "|---|---|---|---|---|---|",
    ]
    bases = [next((r for r in results if r.peer == name and r.seconds), None) for name in ("numpy", "gradlab")]
    for result in results:
        if not result.seconds:
            lines.append(f"| {result.peer} | can't: {result.why} | | | | |")
            continue
        ratios = [f"{result.ratio(base):.2f}" if base else "" for base in bases]
        lines.append(
            f"| {result.peer} | {statistics.median(result.seconds) * 1e3:.4g} | {ratios[0]} | {ratios[1]} | {result.peak_mb:.0f} "
            f"| {result.first:.6g} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
