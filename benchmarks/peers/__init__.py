"""The competitors: modules in which a function is named after a workload and returns a step to time, and environment variables.

A step returns one number (a loss or an output) that must agree between competitors.
"""

from __future__ import annotations

GRADLAB = {"GRADLAB_BENCH_LIBRARY": "gradlab"}
TENSORS = "tensors", "tensor_models"
PEERS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "numpy": (("numpy_by_hand", "numpy_images", "numpy_sequences"), {}),
    "gradlab": (TENSORS, GRADLAB),
    "gradlab+structure": (TENSORS, GRADLAB | {"GRADLAB_BENCH_TRACE": "structure"}),
    "gradlab+norms": (TENSORS, GRADLAB | {"GRADLAB_BENCH_TRACE": "norms"}),
    "gradlab+governed": (TENSORS, GRADLAB | {"GRADLAB_BENCH_TRACE": "governed"}),
    "torch": (TENSORS, {"GRADLAB_BENCH_LIBRARY": "torch"}),
    "autograd": (("hips_autograd",), {}),
    "mygrad": (("mygrad_tensors",), {}),
    "picodl": (("picodl_layers",), {}),
}
