"""What scripts that write a page of docs/ share: calls and text in Markdown, and keeping the page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any


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


def signature(value: Any) -> str:
    """Names and defaults, without types."""
    bare, words = False, []
    try:
        both = inspect.isclass(value) and {"__new__", "__init__"} <= {*vars(value)}  # Python would take the first
        given = inspect.signature(value.__init__ if both else value).parameters.values()
    except ValueError:
        return ""
    for p in given:
        if p.name == "self" or (p.name.startswith("_") and p.kind is not p.VAR_POSITIONAL):
            continue
        if p.kind is p.KEYWORD_ONLY and not bare:
            words.append("*")
        bare |= p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        words.append(star + p.name + ("" if p.default is p.empty else f"={_shown(p.default)}"))
    return ", ".join(words)


def _shown(default: Any) -> str:
    return getattr(default, "__name__", None) or str(default) if callable(default) else repr(default)


def anchor(heading: str) -> str:
    """What a link to a heading is called, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain(text: str) -> str:
    """Text in which Markdown finds nothing to typeset, but what stands between backticks."""
    pieces = text.split("`")
    for i in range(0, len(pieces), 2):
        for mark in "\\*_<|[]":
            pieces[i] = pieces[i].replace(mark, "\\" + mark)
    return "`".join(pieces)
