"""How arguments that count are read."""

from __future__ import annotations

from typing import Any

from ..errors import DataError, KeywordError, explain
from ..ops.argument import whole


def count_of(name: str, argument: str, value: Any, least: int = 1) -> int:
    """A whole number, `least` or more.

    Raises:
        DataError: it is none.
    """
    try:
        n = whole(argument, value)
    except KeywordError:
        n = -1
    if n < least:
        what = "items" if argument == "batch_size" else "what there is"
        raise DataError(explain(f"{name}: {argument} counts {what}", got={argument: value}, need=f"a whole number, {least} or more"))
    return n
