"""The formula and the source of a Function, as they were written."""

from __future__ import annotations

import inspect
import io
import keyword
import textwrap
import token
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_KINDS = {token.STRING: "string", token.NUMBER: "number", tokenize.COMMENT: "comment", token.OP: "operator"}
_PACKAGE = Path(__file__).resolve().parent.parent
_LINES_KEPT = 120


def formulas(cls: Any) -> list[str]:
    r"""The parts of a Function's `latex`: what stands between `, \quad ` outside of braces and environments.

    >>> class Square:
    ...     latex = r"y = x^2, \quad \bar x = 2 \bar y x"
    >>> formulas(Square)
    ['y = x^2', '\\bar x = 2 \\bar y x']
    """
    latex = str(getattr(cls, "latex", "") or "")
    if "\\begin" in latex:
        return [latex]
    parts, depth = [""], 0
    for i, letter in enumerate(latex):
        depth += (letter == "{") - (letter == "}")
        if depth == 0 and latex.startswith(r", \quad ", i):
            parts.append("")
        parts[-1] += letter
    return [part.removeprefix(r", \quad ").strip() for part in parts if part.strip()]


def written(cls: Any) -> list[dict[str, Any]]:
    """The source of a Function's `forward` and `backward`: the very text that Python compiled, also that of a notebook cell.

    Each is a dict with "name", "file", "line" and "tokens", pairs of a kind and a text; "error" where there is no source.
    """
    found: list[dict[str, Any]] = []
    for name in ("forward", "backward"):
        method = getattr(cls, name, None)
        if method is None or getattr(method, "__qualname__", "").startswith("Function."):
            continue  # the base's, which only says what is missing
        found.append(_of(name, method))
    return found


def _of(name: str, method: Any) -> dict[str, Any]:
    try:
        lines, first = inspect.getsourcelines(method)
        file = inspect.getsourcefile(method) or ""
    except (OSError, TypeError):
        return {"name": name, "error": "no source: it was not written in a file or a cell"}
    text = textwrap.dedent("".join(lines[:_LINES_KEPT])).rstrip()
    if len(lines) > _LINES_KEPT:
        text += f"\n# {len(lines) - _LINES_KEPT} more lines"
    path = Path(file)
    shown = path.relative_to(_PACKAGE.parent).as_posix() if _PACKAGE in path.parents else path.name
    return {"name": name, "file": shown, "line": first, "tokens": list(tokens(text))}


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Source cut into pieces that are coloured alike; put together they are the text.

    >>> list(tokens("return 2"))
    [('keyword', 'return'), ('', ' '), ('number', '2')]
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    done = 0
    try:
        for piece in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = _KINDS.get(piece.type, "")
            if piece.type == token.NAME:
                kind = "keyword" if keyword.iskeyword(piece.string) else "self" if piece.string == "self" else ""
            if not kind or not piece.string:
                continue
            begin, end = starts[piece.start[0] - 1] + piece.start[1], starts[piece.end[0] - 1] + piece.end[1]
            if begin > done:
                yield "", text[done:begin]
            yield kind, text[begin:end]
            done = end
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a cut text: the rest as it is
    if done < len(text):
        yield "", text[done:]
