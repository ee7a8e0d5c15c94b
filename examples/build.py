"""Build the example notebooks from their .py files: `python examples/build.py`; with `--check` only say which are out of date."""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext
import nbformat

FOLDER = Path(__file__).parent
PARAMETERS = "parameters"
"""The tag of the cell whose values `run.py` overwrites."""


def sources() -> list[Path]:
    """The examples, in their order."""
    return sorted(FOLDER.glob("[0-9]*.py"))


def notebook(source: Path) -> str:
    """The .ipynb text for one example: no outputs, ids that stay the same from build to build, of the tags `parameters` alone."""
    book = jupytext.read(source)
    book.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    book.nbformat, book.nbformat_minor = 4, 5
    for number, cell in enumerate(book.cells):
        cell.id = f"{source.stem}-{number:02}"
        cell.metadata = nbformat.from_dict({"tags": [PARAMETERS]} if PARAMETERS in cell.metadata.get("tags", []) else {})
    nbformat.validate(book)
    return nbformat.writes(book) + "\n"


def main(arguments: list[str]) -> int:
    """Write what has changed; with `--check` write nothing and return 1 if something has."""
    changed = [s for s in sources() if not s.with_suffix(".ipynb").exists() or s.with_suffix(".ipynb").read_text("utf-8") != notebook(s)]
    for source in changed:
        print(source.with_suffix(".ipynb").name, "is out of date" if "--check" in arguments else "built")
        if "--check" not in arguments:
            source.with_suffix(".ipynb").write_text(notebook(source), "utf-8")
    return int("--check" in arguments and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
