"""Whatever gradlab asks of `xp` is something that CuPy has too, with those keywords: read from the syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gradlab
from gradlab.sim import recorded

ROOT = Path(gradlab.__file__).parent
FILES = sorted(p for p in ROOT.rglob("*.py") if p.parent.name not in ("sim", "notebook"))


def asked_of_xp(node):
    """`xp.linalg.inv` as "linalg.inv"; None for anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "xp_of"
    return ".".join(reversed(names)) if names and (is_call or (isinstance(node, ast.Name) and node.id == "xp")) else None


def faults(tree):
    """What CuPy lacks, as "line: name"."""
    table = recorded.table()["functions"]
    ufunc_methods = {"at", "outer", "reduce", "accumulate", "reduceat"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = asked_of_xp(node)
            if name and name not in recorded.PARTS and name not in table:
                owner, _, last = name.rpartition(".")
                if not (table.get(owner) == "ufunc" and last in ufunc_methods) and name != "cuda":
                    yield f"line {node.lineno}: xp.{name}"
        if isinstance(node, ast.Call):
            name = asked_of_xp(node.func)
            if name in table:
                for keyword in node.keywords:
                    try:
                        recorded.check_keywords(name, [keyword.arg] if keyword.arg else [])
                    except TypeError:
                        yield f"line {node.lineno}: xp.{name}({keyword.arg}=)"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_xp_is_asked_only_for_what_cupy_has(path):
    assert list(faults(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "code",
    ["xp.vecdot(a, b)", "xp.sum(a, where=m)", "xp.random", "xp_of(x).block([a])", "xp.add(a, where=m)", "xp.linalg.vector_norm(a)",
      "xp.sort(a, stable=True)", "xp.errstate()", "xp.zeros(3, device=d)", "xp.add.foo(a)", "xp.clip(x, min=0)"],
)  # fmt: skip
def test_the_test_finds_what_cupy_lacks(code):
    assert len(list(faults(ast.parse(code)))) == 1


@pytest.mark.parametrize("code", ["xp.add.at(a, i, b)", "xp.linalg.inv(a)", "xp.einsum('i', a, optimize=True)", "np.vecdot(a, b)", "xp.pi",
                                  "xp.lib.stride_tricks.as_strided(x, shape=s)", "xp.zeros(3, dtype=int)"])  # fmt: skip
def test_the_test_lets_pass_what_cupy_has(code):
    assert not list(faults(ast.parse(code)))
