"""The guides as notebooks: their Python blocks are cells, and a block of text after one is what it prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "guides"
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Cell(NamedTuple):
    """Code of a guide, and lines that its output contains."""

    source: str
    printed: tuple[str, ...]


def cells(guide: Path) -> list[Cell]:
    """The cells of a guide, in their order."""
    found: list[Cell] = []
    for kind, text in _BLOCK.findall(guide.read_text(encoding="utf-8")):
        if kind == "python":
            found.append(Cell(text, ()))
        else:
            found[-1] = found[-1]._replace(printed=tuple(text.splitlines()))
    return found


def guides() -> list[Path]:
    """All guides."""
    return sorted(FOLDER.glob("*.md"))
