"""Keep a page of docs/ that a script writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def keep(page: Path, text: str, arguments: Sequence[str]) -> int:
    """Write the page, or with `--check` only say whether it is up to date; what the script exits with."""
    name, script = f"docs/{page.name}", f"docs/{page.stem}.py"
    if "--check" in arguments:
        same = page.exists() and page.read_text(encoding="utf-8") == text
        print(f"{name} is up to date" if same else f"{name} is old: python {script}")
        return 0 if same else 1
    page.write_text(text, encoding="utf-8")
    print(f"{page.name}: {len(text) / 1e3:.0f} kB")
    return 0
