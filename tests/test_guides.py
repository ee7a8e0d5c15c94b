"""The guides do what they say: their code runs in a real kernel with the inspector on, and prints what stands below it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from docs import guide


@pytest.mark.notebooks
@pytest.mark.skipif(sys.platform == "win32", reason="kernels on Windows need another event loop than pytest has")
@pytest.mark.parametrize("path", guide.guides(), ids=lambda path: path.stem)
def test_a_guide_runs_and_prints_what_it_says(path: Path) -> None:
    cells = guide.cells(path)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.source) for cell in cells])
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    assert any(cell.printed for cell in cells)
    for cell, ran in zip(cells, book.cells, strict=True):
        said = "".join(str(output.get("text", output.get("data", ""))) for output in ran.outputs)
        for line in cell.printed:
            assert line in said, f"{line!r} is not among what this cell prints:\n{cell.source}\n{said}"


@pytest.mark.parametrize("path", guide.guides(), ids=lambda path: path.stem)
def test_pictures_and_pages_of_a_guide_are_there(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).is_file(), target
