"""What can be written: tests/names.txt lists every public op by file, and where it is found. `python -m tests.names` writes it anew,
and with it tests/keywords.txt, see tests/keywords.py.

`gl` is the package, `F` is gradlab.nn.functional, `Tensor` the methods. A name stands under F and Tensor where PyTorch has it there,
so writing needs PyTorch; a name once listed stays until somebody takes it out of the file by hand.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from pathlib import Path

import gradlab as gl
import gradlab.nn.functional as F
from gradlab import ops
from tests import keywords

FILE = Path(__file__).with_suffix(".txt")
PLACES = {"gl": gl, "F": F, "Tensor": gl.Tensor}
ELSEWHERE = {("Tensor", "solve")}  # PyTorch has it, and says that it is gone
BY_OTHER_MEANS = {"getitem", "set_index", "raw_index", "cast"}  # x[i], x[i] = v, x.to(dtype)


def listed() -> dict[tuple[str, str], list[str]]:
    """The names of the file, by (group, place)."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        group, place, names = line.split(maxsplit=2)
        found.setdefault((group, place), []).extend(names.split())
    return found


def exported() -> dict[str, str]:
    """Every public function of the ops and of `create`, with the file it is in."""
    create = importlib.import_module("gradlab.create")
    functions = {**vars(ops), **{n: f for n, f in vars(create).items() if getattr(f, "__module__", "") == create.__name__}}
    return {
        name: f.__module__.rpartition(".")[2]
        for name, f in functions.items()
        if inspect.isfunction(f) and not name.startswith("_") and name not in BY_OTHER_MEANS
    }


def main() -> int:
    """Write the file: what is exported, everywhere PyTorch has it, and what was listed before."""
    import torch

    theirs = {"gl": torch, "F": torch.nn.functional, "Tensor": torch.Tensor}
    names = listed() if FILE.exists() else {}
    for name, group in exported().items():
        for place, there in theirs.items():
            if place == "gl" or (callable(getattr(there, name, None)) and (place, name) not in ELSEWHERE):
                names.setdefault((group, place), []).append(name)
    with FILE.open("w", encoding="utf-8") as out:
        for (group, place), words in sorted(names.items(), key=lambda item: (item[0][0], list(PLACES).index(item[0][1]))):
            for line in textwrap.wrap(" ".join(sorted(set(words))), 100):
                out.write(f"{group:<20} {place:<7} {line}\n")
    keywords.FILE.write_text("\n".join(keywords.lines()) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
