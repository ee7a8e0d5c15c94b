"""Write layers.txt anew, with PyTorch: `python -m tests.nn.make_layers`."""

from __future__ import annotations

import json
import sys

from tests.nn.layer_rows import TABLE
from tests.nn.layers import FILE, first_values, line, result


def main() -> int:
    """Write the file."""
    import torch

    torch.manual_seed(0)
    lines = []
    for key, one in TABLE.items():
        entry = line(result(one, torch)) | {"first": first_values(one, torch, 200)}
        lines.append(json.dumps([key, entry], separators=(",", ":")))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(lines)} rows, {FILE.stat().st_size / 1e3:.0f} kB, PyTorch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
