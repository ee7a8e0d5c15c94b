"""How it is called: tests/keywords.txt lists the arguments that PyTorch's functions and methods take, by the names they take.

`python -m tests.names` writes it, from the signatures of PyTorch's Python functions and from the stubs of the others: they say what a
call takes, also where its page calls an argument otherwise. An overload is a line of its own. What gradlab offers of none of them is
left out, see NOT_OFFERED.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import gradlab as gl
import gradlab.nn.functional as F
from gradlab import linalg

FILE = Path(__file__).with_suffix(".txt")
PLACES = {"gl": gl, "F": F, "linalg": linalg, "Tensor": gl.Tensor}
NOT_OFFERED = {
    **dict.fromkeys(("out", "out_dtype"), "a result is always a new tensor"),
    **dict.fromkeys(("layout", "memory_format", "pin_memory", "sparse_grad", "implicit"), "there is one layout"),
    **dict.fromkeys(("size_average", "reduce"), "the old words for reduction"),
    **dict.fromkeys(("driver", "compute_mode", "hermitian", "_stacklevel"), "how it is done, not what"),
    "names": "axes have no names",
}
REDUCE = {"scatter_reduce", "scatter_reduce_", "index_reduce"}  # theirs is no old word
GIVEN_UP = {("gl", "qr"), ("gl", "solve"), ("Tensor", "qr"), ("Tensor", "solve")}  # for those of torch.linalg
Arguments = list[tuple[str, str, str]]  # name; "=" by place or name, "/" by name alone, "*" any number; default as it is written


def demanded() -> list[tuple[str, Arguments]]:
    """The lines of the file: the name, and its arguments."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition("(")
        found.append((name, _of(f"def f({rest}: pass")))
    return found


def _of(function: str | ast.FunctionDef) -> Arguments:
    a = (ast.parse(function).body[0] if isinstance(function, str) else function).args  # type: ignore[attr-defined]
    places = a.posonlyargs + a.args
    defaults = [None] * (len(places) - len(a.defaults)) + a.defaults
    found = [(p.arg, "=", ast.unparse(d) if d else "") for p, d in zip(places, defaults, strict=True)]
    found += [(a.vararg.arg, "*", "")] if a.vararg else []
    return found + [(p.arg, "/", ast.unparse(d) if d else "") for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]


def _line(name: str, arguments: Arguments) -> str:
    words = ["*" + name if kind == "*" else name + (default and f"={default}") for name, kind, default in arguments]
    kinds = [kind for _, kind, _ in arguments]
    if "/" in kinds and "*" not in kinds:
        words.insert(kinds.index("/"), "*")
    return f"{name}({', '.join(words)})"


# -- what follows reads PyTorch, and runs where that is installed


def lines() -> list[str]:
    """The file anew: what is in gradlab and in PyTorch."""
    found: dict[str, None] = {}
    for place, here in PLACES.items():
        for name in sorted(dir(here) if inspect.isclass(here) else vars(here)):
            if name[0] != "_" and inspect.isfunction(getattr(here, name)):
                found |= dict.fromkeys(_line(f"{place}.{name}", arguments) for arguments in _theirs(place, name))
    return list(found)


def _theirs(place: str, name: str) -> list[Arguments]:
    """The overloads of PyTorch's function, without what is not offered; for `gl` of the one elsewhere, where torch has or tells none."""
    import torch

    modules: dict[str, Any] = {
        "gl": torch,
        "F": torch.nn.functional,
        "special": torch.special,
        "linalg": torch.linalg,
        "Tensor": torch.Tensor,
    }
    first = "self"
    if (place, name) in GIVEN_UP or (place == "gl" and not getattr(getattr(torch, name, None), "__doc__", None)):
        place = next((p for p in ("F", "special", "linalg", "Tensor") if hasattr(modules[p], name) and (p, name) not in GIVEN_UP), "")
        first = "input"
    f = getattr(modules.get(place), name, None)
    found: dict[Any, Arguments] = {}
    for overload in [] if f is None else _inspected(f) or _stub(place, name) or _documented(place, f) or _schema(place, name):
        kept = [a for a in overload if a[0] not in NOT_OFFERED or (a[0] == "reduce" and name in REDUCE)]
        if place == "Tensor":
            kept[0] = (first, "=", "")
        elif any(a[0] == "self" for a in kept):
            continue  # an old order of the arguments
        named = tuple([a[:2] if a[1] != "*" else (a[0], "=") for a in kept])
        if named not in found or sum(bool(a[2]) for a in found[named]) < sum(bool(a[2]) for a in kept):
            found[named] = kept  # of two for two types, the one that asks for less
    return list(found.values())


def _inspected(f: Any) -> list[Arguments]:
    """What a Python function says; none for one that only hands on."""
    try:
        given = inspect.signature(f).parameters.values()
    except ValueError:
        return []
    kinds = {"KEYWORD_ONLY": "/", "VAR_POSITIONAL": "*"}
    found = [(p.name, kinds.get(p.kind.name, "="), "" if p.default is p.empty else repr(p.default)) for p in given]
    return [] if any(p.kind is p.VAR_KEYWORD for p in given) else [found]


def _stub(place: str, name: str) -> list[Arguments]:
    """What the stubs of torch and of its Tensor say."""
    return _stubs(place).get(name, []) if place in ("gl", "Tensor") else []


@cache
def _stubs(place: str) -> dict[str, list[Arguments]]:
    import torch

    file = {"gl": "_VariableFunctions.pyi", "Tensor": "__init__.pyi"}[place]
    nodes = ast.parse((Path(torch.__file__).parent / "_C" / file).read_text(encoding="utf-8")).body
    if place == "Tensor":
        nodes = next(node.body for node in nodes if isinstance(node, ast.ClassDef) and node.name == "TensorBase")
    found: dict[str, list[Arguments]] = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and "ellipsis" not in ast.unparse(node.args):  # of axes that have names
            found.setdefault(node.name, []).append(_of(node))
    return found


def _documented(place: str, f: Any) -> list[Arguments]:
    """What the first line of a page in F says; elsewhere, and of one_hot, pages and calls differ."""
    text = "" if place != "F" or f.__name__ == "one_hot" else (inspect.getdoc(f) or "").lstrip()
    line = re.match(r"\w+(\((?:[^()]|\([^()]*\))*\))", text)
    return [_of(f"def f{line[1]}: pass")] if line else []


def _schema(place: str, name: str) -> list[Arguments]:
    """What the operator behind a function of F, linalg or special says."""
    import torch

    operator = name if place == "F" else f"{place}_{name}"
    return [
        [
            (a.name.replace("self", "input"), "/" if a.kwarg_only else "=", repr(a.default_value) if a.has_default_value() else "")
            for a in given
        ]
        for given in (s.arguments for s in torch._C._jit_get_schemas_for_operator(f"aten::{operator}"))
        if not any(a.is_out for a in given)
    ]
