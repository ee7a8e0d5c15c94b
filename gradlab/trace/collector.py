"""Python's cyclic garbage collector, held back while very many small lists are made."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def uncollected(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Hold the collector back while `function` runs, which makes no cycles.

    It looks through all new lists whenever there are some more of them, in all as long as it takes to make them: of a graph of
    32,000 ops a third of the time.

    >>> uncollected(gc.isenabled)()
    False
    """

    @wraps(function)
    def held(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        on = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if on:
                gc.enable()

    return held
