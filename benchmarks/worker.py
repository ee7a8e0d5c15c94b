"""One competitor in a process of its own: reads the number of steps, answers with CPU seconds a step and memory as JSON."""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """`python -m benchmarks.worker WORKLOAD MODULE...`: the workload is looked for in the modules."""
    workload, *names = sys.argv[1:]

    def say(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    try:
        modules = [importlib.import_module(f"benchmarks.peers.{name}") for name in names]
        start = _peak_mb()
        build = next((getattr(m, workload) for m in modules if hasattr(m, workload)), None)
        if build is None:
            raise NotImplementedError("not written for this one")
        step = build()
        say(ok=True, first=step())
    except Exception as error:
        say(ok=False, why=f"{type(error).__name__}: {error}"[:200])
        return
    before = 0.0
    for line in sys.stdin:
        n = int(line)
        began = time.process_time()
        for _ in range(n):
            step()
        seconds = (time.process_time() - began) / n
        before = before or _resident_mb()
        say(seconds=seconds, peak_mb=_peak_mb() - start, grown_mb=_resident_mb() - before)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _resident_mb() -> float:
    """What is in memory now; NaN where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except OSError:
        return float("nan")


if __name__ == "__main__":
    main()
