"""Runs competitors in turns: a shuffled turn each a round, CPU time of the process, medians of the rounds' ratios."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .peers import PEERS

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ROOT = Path(__file__).parents[1]


@dataclass
class Result:
    """What one competitor did on one workload."""

    peer: str
    seconds: list[float] = field(default_factory=list)
    first: float = float("nan")
    peak_mb: float = 0.0  # over what the imports took
    grown_mb: float = 0.0  # from the first turn to the last
    why: str = ""  # why it can't, where it can't

    def ratio(self, other: Result) -> float:
        """The median of the rounds' ratios to another competitor."""
        return statistics.median(a / b for a, b in zip(self.seconds, other.seconds, strict=True))

    def over(self, results: list[Result], peer: str) -> float | None:
        """The ratio to the competitor of that name, if it ran."""
        base = next((r for r in results if r.peer == peer and r.seconds), None)
        return self.ratio(base) if base is not None and self.seconds else None

    def figures(self, results: list[Result]) -> dict[str, Any]:
        """What is written as JSON."""
        if not self.seconds:
            return {"why": self.why}
        return {
            "ms": statistics.median(self.seconds) * 1e3,
            "x numpy": self.over(results, "numpy"),
            "x gradlab": self.over(results, "gradlab"),
            "peak MB": self.peak_mb,
            "grown MB": self.grown_mb,
            "first": self.first,
            "rounds": self.seconds,
        }


def machine() -> dict[str, str]:
    """What the figures were made on."""
    names = {"numpy": "numpy", "torch": "torch", "picodl": "picodl-nn", "mygrad": "mygrad", "autograd": "autograd"}
    found = {package: version(package) for name, package in names.items() if importlib.util.find_spec(name)}
    return {"python": platform.python_version(), "system": platform.platform(), "cores": str(os.cpu_count()), **found}


class _Worker:
    def __init__(self, peer: str, workload: str) -> None:
        modules, variables = PEERS[peer]
        env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")} | ONE_THREAD | variables
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", workload, *modules],
            cwd=ROOT,
            env=env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def answer(self) -> dict[str, object]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"ok": False, "why": f"died with {self.process.wait()}"}

    def run(self, steps: int) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return self.answer()  # type: ignore[return-value]

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(workload: str, peers: list[str], rounds: int, seconds: float) -> list[Result]:
    """Time a workload; each turn lasts about `seconds`."""
    results, workers, steps = {peer: Result(peer) for peer in peers}, {}, {}
    for peer, result in results.items():
        worker = _Worker(peer, workload)
        answer = worker.answer()
        if answer["ok"]:
            workers[peer], result.first = worker, float(str(answer["first"]))
            steps[peer] = max(1, min(20_000, int(seconds / max(1e-7, worker.run(2)["seconds"]))))
        else:
            result.why = str(answer["why"])
    for _ in range(rounds):
        order = list(workers)
        random.shuffle(order)
        for peer in order:
            answer = workers[peer].run(steps[peer])
            results[peer].seconds.append(answer["seconds"])
            results[peer].peak_mb, results[peer].grown_mb = answer["peak_mb"], answer["grown_mb"]
    for worker in workers.values():
        worker.close()
    return list(results.values())
