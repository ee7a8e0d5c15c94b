"""Write docs/reference.md, the page of layers, optimizers, data and files, from their docstrings: `python docs/reference.py`.

With `--check` it only says whether it is so. Of every public name the page has the call, what it does, shapes, errors and source, and
of layers, optimizers and schedules what compares them with PyTorch. Nothing on the page is written twice; functions of tensors are on
docs/ops.md.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_suffix(".md")
ROOT = PAGE.parent.parent
sys.path.insert(0, str(ROOT))

from docs.written import anchor, keep, plain, signature  # noqa: E402
from gradlab import nn  # noqa: E402 (this checkout's)
from tests.nn import layer_rows  # noqa: E402
from tests.reference import modules, optimizers, schedules, sequences  # noqa: E402

assert sequences  # adds rows to `modules`

PACKAGES = {  # what the page is of, in its order, and what it is called there
    "gradlab.nn": "Layers and losses",
    "gradlab.nn.init": "First values of parameters",
    "gradlab.nn.utils": "Helpers around models",
    "gradlab.nn.utils.rnn": "Sequences of several lengths",
    "gradlab.optim": "Optimizers",
    "gradlab.optim.lr_scheduler": "Learning rates",
    "gradlab.train": "Training",
    "gradlab.metrics": "Metrics",
    "gradlab.autograd": "Gradients",
    "gradlab.autograd.functional": "Derivatives of functions",
    "gradlab.grad_mode": "With and without a graph",
    "gradlab.data": "Data",
    "gradlab.files": "Files",
    "gradlab.hub": "Published weights",
    "gradlab.models": "Models that read published weights",
    "gradlab.testing": "Checks of functions",
    "gradlab.learning": "Check that a model learns (also in `gradlab.testing`)",
    "gradlab.errors": "Errors",
}
COMPARED = ("gradlab.nn", "gradlab.optim", "gradlab.optim.lr_scheduler")
HOLDERS = {"Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "RNNBase", "GRU", "LSTM"}
"""Layers whose shapes are those of what they hold, or stand with what they are built on: GRU and LSTM read what RNN reads."""
SECTIONS = ("Args", "Shapes", "Attributes", "Returns", "Raises", "Source", "Units")


PACKAGES = {package: title for package, title in PACKAGES.items() if importlib.util.find_spec(package)}


def names(package: str) -> dict[str, Any]:
    """The public classes and functions of a package that are defined in gradlab, by name."""
    module = importlib.import_module(package)
    return {name: value for name, value in vars(module).items() if _is_public(name, value, package)}


def _is_public(name: str, value: Any, package: str) -> bool:
    """Of a package all that it gives away, of a single file only what is written there."""
    if name.startswith("_") or not (inspect.isclass(value) or isinstance(value, types.FunctionType)):
        return False
    if value.__module__ != package and value.__module__ in PACKAGES:
        return False  # it stands there
    whole = hasattr(sys.modules[package], "__path__") or package == "gradlab.nn.utils.rnn"
    return value.__module__.startswith("gradlab") if whole else value.__module__ == package


def parts(doc: str) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """The text before the sections, the lines of each section, and the example."""
    text: list[str] = []
    sections: dict[str, list[str]] = {}
    example: list[str] = []
    now = text
    for line in doc.splitlines():
        head, _, rest = line.partition(":")
        if line.startswith(">>>"):
            now = example
        elif now is not example and head in SECTIONS:
            now = sections.setdefault(head, [])
            line = rest.strip()
        if line or now is not sections.get(head):
            now.append(line)
    return text, sections, example


def entry(name: str, value: Any, package: str) -> Iterator[str]:
    """What the page says of one name."""
    text, sections, example = parts(inspect.getdoc(value) or "")
    yield f"### `{name}({signature(value)})`"
    yield ""
    yield from plain("\n".join(text).strip()).splitlines()
    yield ""
    for head, lines in sections.items():
        body = [line.strip() for line in lines if line.strip()]
        if not body:
            continue
        listed = head in ("Args", "Attributes", "Raises")
        yield (f"- **{head}.** " + ("" if listed else plain(" ".join(body)))).rstrip()
        for item in _items(body) if listed else ():
            yield f"  - {plain(item)}"
    if inspect.isclass(value):
        shown = set(names(package).values()) - {value}
        methods = {m: f for base in reversed(value.__mro__) if _explained_here(base, shown) for m, f in vars(base).items()}
        for method, f in methods.items():
            if isinstance(f, (types.FunctionType, classmethod)) and not method.startswith("_") and method not in ("forward", "extra_repr"):
                f = getattr(value, method)
                yield f"- `.{method}({signature(f)})`: {plain((inspect.getdoc(f) or '').partition(chr(10))[0])}"
    compared = comparisons().get(name) if package in COMPARED else None
    if compared:
        yield f"- **Compared with PyTorch** by {compared}."
    if example:
        yield from ("", "```python", *"\n".join(example).strip().splitlines(), "```")
    yield ""


def _explained_here(base: type, others: set[Any]) -> bool:
    """Whether the methods of a class or of what it is made of are to be listed with it: those of others have an entry of their own."""
    return base.__module__.startswith("gradlab") and base not in others and (not issubclass(nn.Module, base) or nn.Module not in others)


def _items(body: list[str]) -> list[str]:
    """One line an item: those that go on are joined to the one before."""
    found: list[str] = []
    for line in body:
        if re.match(r"[\w*, ]+: ", line) or not found:
            found.append(line)
        else:
            found[-1] += " " + line
    return found


def comparisons() -> dict[str, str]:
    """For each class of nn, what compares it with PyTorch."""
    found: dict[str, str] = {}
    tables = {
        "tests/nn/layer_rows.py": [row.name for row in layer_rows.TABLE.values()],
        "tests/reference/sequences.py": [row.name for row in modules.ROWS.values()],
        "tests/reference/optimizers.py": [name for name, _ in optimizers.OPTIMIZERS.values()],
        "tests/reference/schedules.py": [key.partition(",")[0] for key in schedules.SCHEDULES],
    }
    for file, rows in tables.items():
        found |= {name: f"{n} row{'s' if n > 1 else ''} of `{file}`" for name, n in Counter(rows).items()}
    test_layers = importlib.import_module("tests.nn.test_layers")
    return found | {name: f"`{test}`" for name, test in test_layers.ELSEWHERE.items()}


def page() -> str:
    """The whole page."""
    lines = [
        "# Layers, optimizers, gradients, data, files",
        "",
        f"{sum(len(names(package)) for package in PACKAGES)} names. Of each: the call, what it does, the shapes that go in and come out,",
        "the errors it raises and where it comes from. Functions of tensors are on [the page of ops](ops.md); most layers are one of",
        "them with parameters. This page is made by `python docs/reference.py` from the docstrings.",
        "",
    ]
    for package, title in PACKAGES.items():
        lines.append(f"- [{title}](#{anchor(title)}), `{package}`: {len(names(package))}")
    for package, title in PACKAGES.items():
        doc = inspect.getdoc(importlib.import_module(package)) or ""
        lines += ["", f"## {title}", "", f"`{package}`. {plain(doc.partition(chr(10))[0])}", ""]
        for name, value in sorted(names(package).items(), key=lambda item: item[0].lower()):
            lines += entry(name, value, package)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(keep(PAGE, page(), sys.argv[1:]))
