"""The competitors: a function is named after a workload and returns a step to time.

A step returns one number (a loss or an output) that must agree between competitors.
"""

from __future__ import annotations

GRADLAB = {"GRADLAB_BENCH_LIBRARY": "gradlab"}
PEERS: dict[str, tuple[str, dict[str, str]]] = {
    "numpy": ("numpy_by_hand", {}),
    "gradlab": ("tensors", GRADLAB),
    "gradlab+structure": ("tensors", GRADLAB | {"GRADLAB_BENCH_TRACE": "structure"}),
    "gradlab+norms": ("tensors", GRADLAB | {"GRADLAB_BENCH_TRACE": "norms"}),
    "torch": ("tensors", {"GRADLAB_BENCH_LIBRARY": "torch"}),
}
