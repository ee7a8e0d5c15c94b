"""Two runs side by side: what got worse. Times are compared as ratios to NumPy, which a slower machine does not change."""

from __future__ import annotations

from typing import Any

SLACK = 1.1  # what is less than this many times as much is not worse
SMALL_MB = 2.0  # nor is memory of that size


def compared(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """A line for every figure of now that is more than 10 % above what it was; rows that only one run has are passed over.

    >>> run = lambda ratio: {"workloads": {"mlp": {"gradlab": {"x numpy": ratio, "ms": 1.0, "peak MB": 9.0}}}}
    >>> compared(run(1.0), run(1.05)), compared(run(1.0), run(1.2))
    ([], ['mlp gradlab: x numpy 1.00 -> 1.20 (+20 %)'])
    """
    worse: list[str] = []
    for workload, peers in now["workloads"].items():
        for peer, figures in peers.items():
            old = before["workloads"].get(workload, {}).get(peer, {})
            time = "x numpy" if figures.get("x numpy") and old.get("x numpy") else "ms"
            for name in (time, "peak MB"):
                a, b = old.get(name), figures.get(name)
                if a and b and b > SLACK * a and (name != "peak MB" or b - a > SMALL_MB):
                    worse.append(f"{workload} {peer}: {name} {a:.2f} -> {b:.2f} (+{100 * (b / a - 1):.0f} %)")
    return worse
