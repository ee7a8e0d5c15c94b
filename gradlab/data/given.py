"""How arguments that count are read."""

from __future__ import annotations

from operator import index
from typing import Any

from ..errors import DataError, explain


def count_of(name: str, argument: str, value: Any, least: int = 1) -> int:
    """A whole number, `least` or more.

    Raises:
        DataError: it is none.
    """
    try:
        n = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        n = -1
    if n < least:
        what = "items" if argument == "batch_size" else "what there is"
        raise DataError(explain(f"{name}: {argument} counts {what}", got={argument: value}, need=f"a whole number, {least} or more"))
    return n
