"""One file a competitor; each function is named after a workload and returns a step to time.

A step returns one number (a loss or an output) that must agree between competitors.
"""

from __future__ import annotations

PEERS: dict[str, tuple[str, dict[str, str]]] = {
    "numpy": ("numpy_by_hand", {}),
    "gradlab": ("gradlab_tensors", {}),
    "gradlab+structure": ("gradlab_tensors", {"GRADLAB_BENCH_TRACE": "structure"}),
    "gradlab+norms": ("gradlab_tensors", {"GRADLAB_BENCH_TRACE": "norms"}),
    "torch": ("torch_tensors", {}),
}
