"""Experiments on a captured step, as the page asks for them: check a gradient, terms of an entry, a nudge, a counterfactual step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..trace.capture import Capture
from ..trace.counterfactual import Counterfactual, counterfactual
from ..trace.differences import Check, Entry, check_leaf, check_op
from ..trace.nudge import Nudge, nudge
from ..trace.terms import Factor, terms_of
from .reading import plain
from .requests import Reply, answers
from .subject import captured_at, subject, table

if TYPE_CHECKING:
    from .session import Session

_ROWS = 24
_STATES = ("good", "kinks", "uneasy", "wrong")
_VERDICTS = {
    "good": ("\u2713 agrees", "with finite differences"),
    "kinks": ("\u2713 agrees", "with finite differences, as far as kinks nearby let it"),
    "uneasy": ("\u26a0 nearly agrees", "with finite differences: look at the worst entry"),
    "wrong": ("\u2717 disagrees", "with finite differences: the gradient is wrong"),
}


@answers("check", evaluates=True)
def check(session: Session, select: str, key: str) -> Reply:
    """Compare the gradient of an op, or of the step's loss by a leaf, with differences."""
    kept, structure, ref = _kept(session, select, key)
    if ref >= 0:
        checks, operands = check_op(kept, ref), _operands(structure, ref)
        names = [operands[int(one.what.split()[1])] for one in checks]
    else:
        checks, names = [check_leaf(kept, -1 - ref)], [structure["leaves"][-1 - ref]["name"]]
    rows = [_row(name, one) for name, one in zip(names, checks, strict=True)]
    worst = max(checks, key=lambda one: (_STATES.index(one.state), one.error))
    word, rest = _VERDICTS[worst.state]
    said = [f"rel. error {plain(worst.error)}"]
    said += [f"{one.coarse}, so differences have three digits" for one in checks[:1] if one.coarse]
    notes = [_kink(name, one.kink, one.kinks) for name, one in zip(names, checks, strict=True) if one.kink is not None]
    head = ("worst entry", "backward", "differences", "rel. error", "checked")
    tables = [table("finite differences in float64", "central, a random cotangent" if ref >= 0 else "of the loss", head, rows)]
    return {"state": worst.state, "word": word, "text": " \u00b7 ".join([rest, *said]), "notes": notes, "tables": tables}


@answers("terms")
def terms(session: Session, select: str, key: str, at: Sequence[int]) -> Reply:
    """The numbers behind one entry of an op's output."""
    kept, structure, ref = _kept(session, select, key)
    if ref < 0:
        raise ArgumentError("a leaf is given, not computed")
    found = terms_of(kept, ref, [int(i) for i in at])
    names = _operands(structure, ref)
    rows = [[_factors(names, factors), _exact(term)] for term, factors in found.terms]
    if found.number > len(rows):
        rows.append([f"{found.number - len(rows):,} smaller terms", ""])
    rows.append(["together", _exact(found.total)])
    rows.append(["stored", _exact(found.stored)])
    apart = abs(found.total - found.stored)
    size = max(abs(found.total), abs(found.stored))
    said = "equal" if found.total == found.stored else f"apart by {plain(apart)}, {plain(apart / size)} of it" if size else "equal"
    tables = [table(f"behind {list(found.at)}", said, ("largest first", ""), rows)]
    largest = max((abs(term) for term, _ in found.terms if math.isfinite(term)), default=0.0)
    bars = [term / largest if largest and math.isfinite(term) else None for term, _ in found.terms]
    return {"text": found.rule, "tables": tables, "bars": bars}


@answers("nudge", evaluates=True)
def nudged(session: Session, select: str, key: str, at: Sequence[int], eps: float | None = None) -> Reply:
    """The loss where one entry is a little more and a little less."""
    kept, structure, ref = _kept(session, select, key)
    if eps is not None and not (isinstance(eps, (int, float)) and math.isfinite(eps) and eps != 0):
        raise ArgumentError(f"eps has to be a number other than 0, not {eps!r}")
    done = nudge(kept, ref, [int(i) for i in at], eps)
    name = structure["ops"][ref]["name"] if ref >= 0 else structure["leaves"][-1 - ref]["name"]
    return {"text": f"{name[:80]}{list(done.at)} = {_exact(done.value)}", "tables": [_nudge_table(done)]}


@answers("counterfactual", evaluates=True)
def again(session: Session, lr_times: float = 1.0, lr: float | None = None, clip: float | None = None, dropout: bool = True) -> Reply:
    """The captured step once more with something else in it."""
    kept = session.recorder.captured
    if kept is None:
        raise ArgumentError("no step is captured")
    for name, value in {"lr_times": lr_times, "lr": lr, "clip": clip}.items():
        if value is not None and not (isinstance(value, (int, float)) and math.isfinite(value) and value >= 0):
            raise ArgumentError(f"{name} has to be a number, 0 or more, not {value!r}")
    done = counterfactual(kept, lr_times=lr_times, lr=lr, clip=clip or None, dropout=bool(dropout))
    lost = done.other - done.real
    apart = f"{'lower' if lost < 0 else 'higher'} by {plain(abs(lost))} than" if lost else "the same as"
    text = f"loss on this batch after it {_exact(done.other)}, {apart} after the real step"
    return {"text": text, "tables": _counterfactual_tables(kept, done)}


def _kept(session: Session, select: str, key: str) -> tuple[Capture, dict[str, Any], int]:
    """The captured step, the structure on show and what is selected in it."""
    structure, ref, label = subject(session.recorder, select, key)
    kept = captured_at(session.recorder, ref)
    if kept is None or kept is not session.recorder.captured or (label and all(leaf["name"] != label for leaf in structure["leaves"])):
        raise ArgumentError("no step with this in it is captured")
    return kept, structure, ref


def _operands(structure: dict[str, Any], at: int) -> list[str]:
    """What the inputs of an op are called."""
    names: list[str] = []
    for kind, what in structure["ops"][at]["inputs"]:
        known = structure["ops"] if kind == "op" else structure["leaves"] if kind == "leaf" else None
        names.append(str(known[what]["name"] if known is not None else what)[:40])
    return names


def _row(name: str, one: Check) -> list[str]:
    counted = f"{one.checked:,} of {one.size:,}" if one.checked < one.size else f"all {one.size:,}"
    if one.worst is None:
        return [name, "", "", "at kinks" if one.kinks else "", counted]
    worst = one.worst
    return [f"{name}{list(worst.at)}", _exact(worst.backward), _exact(worst.differences), plain(worst.error), counted]


def _kink(name: str, kink: Entry, count: int) -> str:
    others = f" (and at {count - 1} more)" if count > 1 else ""
    says = f"backward says {plain(kink.backward)}"
    low, high = sorted((kink.left, kink.right))
    fits = low - abs(low) * 1e-6 <= kink.backward <= high + abs(high) * 1e-6
    choice = "a slope between the two" if fits else "neither of them, nor between"
    return (
        f"not differentiable at {name}{list(kink.at)}{others}: slope {plain(kink.left)} from below, "
        f"{plain(kink.right)} from above; {says}, {choice}"
    )


def _factors(names: list[str], factors: list[Factor]) -> str:
    def said(factor: Factor) -> str:
        name = names[factor.operand] if factor.operand >= 0 else "weight"
        return f"{name}{list(factor.at) if factor.at else ''} {plain(factor.value)}"

    return " \u00d7 ".join(map(said, factors))


def _nudge_table(done: Nudge) -> dict[str, Any]:
    rows: list[list[str]] = []
    for sign, change in ((1.0, done.up), (-1.0, done.down)):
        expected = None if done.gradient is None else done.gradient * done.eps * sign
        off = "" if expected is None or expected == change else plain((change - expected) / expected) if expected else "\u221e"
        by = f"+{plain(done.eps)}" if sign > 0 else f"\u2212{plain(done.eps)}"
        rows.append([by, _exact(change), "no gradient came" if expected is None else _exact(expected), off])
    return table("nudge", f"loss {_exact(done.loss)}", ("by", "loss changes", "gradient \u00d7 eps", "apart"), rows)


def _counterfactual_tables(kept: Capture, done: Counterfactual) -> list[dict[str, Any]]:
    divided = f" (\u00f7 {plain(done.clipped)})" if done.clipped > 1 else ""
    rows = [
        ["loss before", _exact(done.before), _exact(done.other_before)],
        ["loss after, same batch", _exact(done.real), _exact(done.other)],
        ["\u2016gradient\u2016", plain(done.real_norm), plain(done.other_norm) + divided],
        *([["lr", f"{done.lr[0]:.6g}", f"{done.lr[1]:.6g}"]] if done.lr[0] is not None and done.lr[1] is not None else []),
    ]
    node = kept.node
    names = [leaf.name for one in (node.path() if node is not None else ()) for leaf in one.leaves]
    moved = sorted(done.rows, key=lambda row: row.leaf)
    updates = [[names[row.leaf][:60], plain(row.real), plain(row.other), _times(row.real, row.other)] for row in moved[:_ROWS]]
    side = f"{len(moved) - _ROWS:,} more parameters" if len(moved) > _ROWS else "the run is untouched"
    return [
        table("this step once more", f"step {kept.step}", ("", "real", "this"), rows),
        table("\u2016update\u2016 of each parameter", side, ("", "real", "this", ""), updates),
    ]


def _times(real: float, other: float) -> str:
    return f"\u00d7 {other / real:.3g}" if real else ""


def _exact(x: float) -> str:
    """Six digits."""
    if not math.isfinite(x):
        return plain(x)
    mantissa, e, exponent = f"{x:.6g}".partition("e")
    return f"{mantissa}{e}{int(exponent) if e else ''}".replace("-", "\u2212")
