"""Make the reference values anew, with PyTorch: `python -m tests.reference.make`; gradlab is compared with them where PyTorch is not.

values.npz holds `numbers`, all values and gradients in one array, and `index`, JSON: the versions, and per row of the table its
calls, each with a fingerprint, the shapes and dtypes of what came out, and for each variant of the call only dtypes and shapes, or
"error".
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .all import TABLE
from .apart import set_apart
from .chooser import Call, arrays_in
from .compare import Outcome, kernel_missing, variants

FILE = Path(__file__).parent / "values.npz"
CALLS = 3  # of every row


def fingerprint(call: Call) -> str:
    """Differs when the call does."""
    return f"{call} {zlib.crc32(b''.join(a.tobytes() for a in arrays_in(call))):08x}"


def forms(arrays: list[np.ndarray]) -> list[list[Any]]:
    """Dtype and shape of each."""
    return [[str(a.dtype), list(a.shape)] for a in arrays]


def main() -> int:
    """Write the file."""
    import torch

    from .theirs import of_torch

    numbers: list[np.ndarray] = []
    rows: dict[str, Any] = {}
    for key, row in TABLE.items():
        rows[key] = []
        for call in row.draws(CALLS):
            out = of_torch(row, call)
            if out.error:
                raise RuntimeError(f"{key}{call}: PyTorch refuses") from out.error
            entry: dict[str, Any] = {"call": fingerprint(call), "values": forms(out.values), "grads": forms(out.grads), "variants": {}}
            numbers += [a.astype("float64").ravel() for a in (*out.values, *out.grads)]
            for name, variant in variants(call):
                if not set_apart(row.name, name):
                    other: Outcome = of_torch(row, variant)
                    if not kernel_missing(other):
                        entry["variants"][name] = "error" if other.error else forms(other.values)
            rows[key].append(entry)
    index = {"torch": torch.__version__, "numpy": np.__version__, "rows": rows}
    text = np.frombuffer(json.dumps(index, separators=(",", ":")).encode(), np.uint8)
    np.savez_compressed(FILE, numbers=np.concatenate(numbers), index=text)
    print(f"{FILE.name}: {len(rows)} rows, {sum(n.size for n in numbers)} numbers, {FILE.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
