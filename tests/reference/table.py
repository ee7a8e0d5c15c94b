"""Every op beside PyTorch's: what it is called with, and which function of PyTorch it is. Without PyTorch this is only names."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradlab import ops

from .chooser import Call, Chooser

Theirs = str | Callable[..., Any] | None


@dataclass(frozen=True)
class Row:
    """One op: `make` chooses a call; `theirs` is PyTorch's function where it is not the one of the same name.

    A function as `theirs` is called with the module torch first.
    """

    name: str
    make: Callable[[Chooser], Call]
    theirs: Theirs = None
    ours: Callable[..., Any] | None = None
    slack: float = 1e-9

    def function(self) -> Callable[..., Any]:
        """gradlab's function."""
        return self.ours or getattr(ops, self.name)

    def draws(self, n: int) -> list[Call]:
        """The first n calls of a fixed sequence."""
        return [self.make(Chooser(zlib.crc32(f"{self.name} {i}".encode()))) for i in range(n)]


TABLE: dict[str, Row] = {}


def rows(names: str, make: Callable[[Chooser], Call], theirs: Theirs = None, **options: Any) -> None:
    """Add a row for each of these names."""
    for name in names.split():
        if options.get("ours") is None and not hasattr(ops, name):
            continue
        key = name
        while key in TABLE:
            key += "'"
        TABLE[key] = Row(name, make, theirs, **options)
