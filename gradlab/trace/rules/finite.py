"""R1: the first number that is not finite, with the op that made it, and what that op was given."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..alarm import Bad
from ..operand import Operand
from .evidence import Evidence
from .finding import Finding, Number, Trend
from .rule import rule

_EXP_MOST = 88.7  # e^x is above the largest float32 from here on
_ROOTS = {"log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "div", "pow", "norm", "std", "logit"}

_FIXES = {
    "log": "y = x.clamp(min=1e-12).log()",
    "sqrt": "y = (x + 1e-12).sqrt()",
    "rsqrt": "y = (x + 1e-12).rsqrt()",
    "norm": "y = ((x**2).sum() + 1e-12).sqrt()",
    "std": "y = (x.var() + 1e-12).sqrt()",
    "div": "y = a / (b + 1e-12)  # or b.clamp(min=1e-12)",
    "reciprocal": "y = 1 / (x + 1e-12)",
    "exp": "y = (x - x.max()).exp()  # or x.clamp(max=80).exp()",
    "pow": "y = x.clamp(min=1e-12) ** p",
}
_SMALLER_STEPS = "optimizer = optim.AdamW(model.parameters(), lr=lr / 10)"
_CHECK_DATA = "assert np.isfinite(x).all()"


@rule("R1", "the first NaN or Inf", "error", "structure")
def first_not_finite(e: Evidence) -> Iterator[Finding]:
    """One NaN makes everything NaN that is computed from it, so only the first op that made one tells where it came from: an operand at
    which the function or its derivative is infinite (log, sqrt and 1/x at 0, exp above 88 in float32), a sum that overflowed, or
    data that had one. Sources: DeepLocalize (Wardat et al. 2021) names layer and phase; here it is the op, its line and operands.
    """
    bads = [bad for bad in e.bad if not _mended(e, bad)]
    bads = [bad for bad in bads if not _follows(bad, bads)]
    for phase in ("forward", "backward"):
        bad = next((bad for bad in bads if bad.phase == phase), None)
        if bad is not None and not (phase == "backward" and any(b.phase == "forward" and b.tape == bad.tape for b in bads)):
            yield _finding(e, bad)
    if not bads:
        yield from _unseen(e)


def _finding(e: Evidence, bad: Bad) -> Finding:
    if bad.clue and not bad.op:
        return _nameless(e, bad)
    name = bad.op or "backward"
    op = bad.at if bad.op and e.is_op(bad.at, bad.op, bad.place) else None
    where = e.place(bad.place)
    title = f"{bad.module} / {name}" if bad.module else name
    at = f"`{title}`" + (f" in {where}" if where else "")
    several = "" if bad.candidates == 1 else " or another op" if bad.candidates == 2 else f" or one of {bad.candidates - 1} others"
    made = "gave" if bad.source else "probably made" if bad.clue else "made"
    last = e.last_finite(bad.step)
    since = f"; the last finite step is {last:,}" if last else ""
    numbers = [Number(f"{o.name} {word}", value) for o in bad.operands for word, value in _range(o)]
    return Finding(
        f"{bad.kind} came into {name}" if bad.source else f"{name} {made} the first {bad.kind}",
        f"`{title}`{several} {made} the first **{bad.kind}** of step {bad.step:,}, {bad.phase}{since}.",
        f"{at}: {_why(bad)}",
        _next(bad),
        _code(bad),
        trend=_trend(e),
        numbers=tuple(numbers[:6]),
        op=op,
        where=where,
        step=bad.step,
        subject=f"{bad.phase} {title} {where}",
        severity="error" if bad.kind == "NaN" or bad.phase == "backward" or not e.finite else "warning",
    )


def _nameless(e: Evidence, bad: Bad) -> Finding:
    """A bad gradient of which nothing says which op made it."""
    last = e.last_finite(bad.step)
    since = f"; the last finite step is {last:,}" if last else ""
    return Finding(
        f"A gradient is {bad.kind}",
        f"In step {bad.step:,} backward gave parameters a gradient with **{bad.kind}**{since}.",
        f"{bad.clue} Steps are traced in full from then on.",
        "Run it again with every step traced, to see which op it is.",
        "%gradlab budget off",
        trend=_trend(e),
        step=bad.step,
        subject="grad_norm",
    )


def _range(o: Operand) -> Iterator[tuple[str, float]]:
    if o.low == o.low and o.kind != "number":
        yield "min", o.low
        yield "max", o.high


def _why(bad: Bad) -> str:
    if bad.clue:
        return bad.clue
    if bad.source and not bad.op:
        return f"{bad.source} was not finite already."
    if bad.source:
        o = next(o for o in bad.operands if o.name == bad.source)
        what = {"parameter": "an earlier update made it so", "input": "the data had it", "constant": "it was made so"}
        count = f" ({o.nans or o.infinities} of its entries)" if o.low == o.low or math.prod(o.shape) > 1 else ""
        return f"`{o.name}` was not finite already{count}: {what.get(o.kind, 'an op before this step made it so')}."
    texts = [text for o in bad.operands if (text := _operand(bad, o))]
    if texts:
        return "all operands were finite, but " + "; ".join(texts) + "."
    norms = f", with a gradient of norm {bad.g:.3g}" if bad.phase == "backward" and bad.g == bad.g else ""
    ranges = [f"`{o.name}` goes from {o.low:.3g} to {o.high:.3g}" for o in bad.operands if o.low == o.low and o.kind != "number"]
    known = f" {'; '.join(ranges)}." if ranges else ""
    return f"all operands were finite{norms}, but the result is beyond the largest number of its dtype.{known}"


def _operand(bad: Bad, o: Operand) -> str:
    """What is wrong with an operand for this op."""
    divisor = bad.op != "div" or o is bad.operands[-1]
    if bad.op in _ROOTS and divisor and o.low <= 0 <= o.high and bad.op != "pow":
        what = "the derivative" if bad.phase == "backward" else bad.op
        below = o.low < 0 and bad.op not in ("div", "reciprocal", "norm", "std")
        way, fate = ("below", "not defined") if below else ("to", "infinite")
        low = f" ({o.low:.3g})" if o.low else ""
        return f"`{o.name}` goes {way} 0{low}, where {what} is {fate}"
    if bad.op in _ROOTS and o.high < 0 and bad.op not in ("div", "reciprocal"):
        return f"`{o.name}` is below 0 ({o.low:.3g}), where {bad.op} is not defined"
    if bad.op == "pow" and o is bad.operands[0] and o.low <= 0 and _is_root(bad):
        return f"`{o.name}` goes to {o.low:.3g}: powers below 1 have no finite derivative at 0, and most are not defined below it"
    if bad.op in ("exp", "expm1", "sinh", "cosh") and o.high > _EXP_MOST:
        return f"`{o.name}` goes up to {o.high:.3g}, and e^{_EXP_MOST} is the largest that float32 holds"
    return ""


def _is_root(bad: Bad) -> bool:
    """Whether the exponent is below 1 or no whole number."""
    exponent = bad.operands[1].low if len(bad.operands) > 1 else math.nan
    return exponent < 1 or exponent != exponent or not exponent.is_integer()


def _next(bad: Bad) -> str:
    if bad.source:
        kind = next((o.kind for o in bad.operands if o.name == bad.source), "")
        if kind == "parameter":
            return "The update of a step before went wrong: take smaller steps, or clip the gradient."
        return "Look at the data before it goes in." if kind in ("input", "constant") else "Look at what made it."
    if bad.op in _FIXES and (bad.op != "pow" or _is_root(bad)):
        return "Keep the operand where the op is defined."
    return "Take smaller steps, or scale what comes in."


def _code(bad: Bad) -> str:
    if bad.source:
        kind = next((o.kind for o in bad.operands if o.name == bad.source), "")
        return _CHECK_DATA if kind in ("input", "constant") else _SMALLER_STEPS if kind == "parameter" else ""
    return _SMALLER_STEPS if bad.op == "pow" and not _is_root(bad) else _FIXES.get(bad.op, _SMALLER_STEPS)


def _mended(e: Evidence, bad: Bad) -> bool:
    """Whether the cell ran again since, and is finite now."""
    if bad.place is None or bad.place.cell is None or bad.place.count is None or not e.finite:
        return False
    return any(c["id"] == bad.place.cell and (c["count"] or 0) > bad.place.count for c in e.structure["cells"])


def _follows(bad: Bad, bads: list[Bad]) -> bool:
    """Whether it is what an update made of a bad gradient of an earlier step."""
    kind = next((o.kind for o in bad.operands if o.name == bad.source), "")
    return kind == "parameter" and any(other.phase == "backward" and other.step < bad.step for other in bads)


def _trend(e: Evidence) -> Trend | None:
    points = e.column("grad_norm")
    return Trend.of("‖g‖", points) if len(points[0]) > 1 else None


def _unseen(e: Evidence) -> Iterator[Finding]:
    """A loss or gradient that is not finite in a step whose ops were not seen."""
    for name, text in (("loss", "The loss"), ("grad_norm", "The gradient")):
        steps, values = e.column(name)
        odd = [i for i in range(len(values)) if not math.isfinite(values[i])]
        if odd:
            step, value = int(steps[odd[0]]), float(values[odd[0]])
            kind = "NaN" if value != value else "Inf"
            last = e.last_finite(step)
            yield Finding(
                f"{text} is {kind}",
                f"{text} of step {step:,} is **{kind}**" + (f"; the last finite step is {last:,}." if last else "."),
                "The ops of that step were not seen: the tracer kept to its budget. Steps are traced in full from then on.",
                "Run it again with every step traced, to see which op it is.",
                "%gradlab budget off",
                trend=Trend.of(name, (steps, values)),
                step=step,
                subject=name,
            )
            return
