"""R24: the gradient of an op of the user's own, against differences."""

from __future__ import annotations

from collections.abc import Iterator

from .difference import ENTRIES, STEP
from .evidence import Evidence
from .finding import Finding, Number
from .rule import rule

_WRONG, _DOUBTFUL = 1e-2, 1e-4


@rule("R24", "a wrong gradient", "error", "structure")
def wrong_gradient(e: Evidence) -> Iterator[Finding]:
    """An op of your own is right if its backward is the derivative of its forward. That is checked once, between cells, on what it was
    given: ten entries, moved by 1e-5 of their size, in float64. A relative error above 1e-2 is wrong, 1e-4 to 1e-2 doubtful, below
    1e-4 right where there are kinks, and below 1e-7 right. Source: cs231n, Neural networks part 3, gradient checks.
    """
    for stranger, error in e.custom_ops:
        if error is None or error <= _DOUBTFUL:
            continue
        name = stranger.cls.__name__
        at = next(e.graph.find(name), None)
        wrong = error > _WRONG
        yield Finding(
            f"{name}: the gradient is {'wrong' if wrong else 'doubtful'}",
            f"`{name}.backward` differs from differences of its forward by a relative error of **{error:.2g}**.",
            (f"{e.graph.at(at)} uses it. " if at is not None else "")
            + f"{ENTRIES} entries were moved by {STEP:g} of their size in float64.",
            "Check the derivative, and which input each gradient belongs to.",
            f"gl.testing.check_function({name})",
            numbers=(Number("relative error", error, f"wrong above {_WRONG:g}"),),
            op=at,
            where="" if at is None else e.graph.where(at),
            subject=name,
            severity="error" if wrong else "info",
        )
