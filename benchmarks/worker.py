"""One competitor in a process of its own: reads `run N` lines, answers with CPU seconds a step as JSON."""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from typing import Any


def main() -> None:
    """`python -m benchmarks.worker MODULE WORKLOAD`."""
    module, workload = sys.argv[1:]

    def say(**what: Any) -> None:
        print(json.dumps(what), flush=True)

    try:
        step = getattr(importlib.import_module(f"benchmarks.peers.{module}"), workload)()
        start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        say(ok=True, first=step())
    except Exception as error:
        say(ok=False, why=f"{type(error).__name__}: {error}"[:200])
        return
    for line in sys.stdin:
        n = int(line)
        began = time.process_time()
        for _ in range(n):
            step()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        say(seconds=(time.process_time() - began) / n, peak_mb=(peak - start) / 1024)


if __name__ == "__main__":
    main()
