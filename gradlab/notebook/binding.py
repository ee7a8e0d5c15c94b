"""Which line of a cell binds which variable, and which line calls a method of one: read from the text alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC = re.compile(r"^(\s*)[%!?].*$|^(\s*)(?=\S)[^#'\"\n]*\?{1,2}\s*$", re.MULTILINE)
_LARGEST = 20_000  # letters; longer cells are not read


class Binding(NamedTuple):
    """A cell's own variables: by name the last line that binds it, and (line, variable, method) of each call that stands alone."""

    names: dict[str, int]
    calls: list[tuple[int, str, str]]


def bindings(source: str) -> Binding:
    """Read a cell; function and class bodies have variables of their own and are left out.

    >>> bindings("for x, y in batches:\\n    loss = model(x)\\n    loss.backward()")
    Binding(names={'x': 1, 'y': 1, 'loss': 2}, calls=[(3, 'loss', 'backward')])
    """
    found = Binding({}, [])
    if len(source) > _LARGEST or source.lstrip().startswith("%%"):
        return found
    try:
        tree = ast.parse(_MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError):
        return found
    for node in _statements(tree):
        for target in _targets(node):
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    found.names[part.id] = getattr(node, "end_lineno", node.lineno) if isinstance(node, ast.Assign) else node.lineno
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            found.calls.append((node.lineno, call.func.value.id, call.func.attr))
    return found


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            yield from _statements(node)


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        return [node.target]
    return []
