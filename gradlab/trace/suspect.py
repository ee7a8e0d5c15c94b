"""Suspects: which op can have made a bad gradient in a step whose ops were not seen.

What is bad stays so on its way down: every parameter below the op that made it gets it, and one that got a finite gradient shows that
the way to it was clean. So of the ops that were seen in an earlier step only those are left from where everything below is bad.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .graph import VARIES, Node
from .structure import op_name
from .tape import Tape

_SINGULAR = {
    *("sqrt", "rsqrt", "norm", "std", "cdist", "pairwise_distance", "cosine_similarity", "normalize"),
    *("log", "log2", "log10", "log1p", "logit", "reciprocal", "div", "pow", "acos", "asin", "atanh", "acosh", "prod"),
    *("exp", "exp2", "expm1", "sinh", "cosh"),
}
"""Ops whose derivative is infinite somewhere, or too large for a float."""


class Suspects(NamedTuple):
    """What is left.

    Attributes:
        ops: places in the tape, the one nearest to the loss first.
        among: how many ops these were picked from, as those whose derivative can be infinite; as many as there are where none can.
        known: whether they were picked, or there is one alone.
    """

    ops: tuple[int, ...]
    among: int
    known: bool


def suspects(tape: Tape, nodes: list[Node], bad: Mapping[int, bool]) -> Suspects:
    """The ops of a step like this one that can have made the gradient bad that some leaves got; `bad` says it of each, by its serial."""
    leaves = {tape.refs[-serial]: is_bad for serial, is_bad in bad.items() if -serial in tape.refs}
    below: list[tuple[bool, bool]] = []  # whether a leaf below an op got a bad gradient, and whether one got a finite one
    found: list[int] = []
    for at, node in enumerate(nodes):
        sides: list[tuple[bool, bool]] = []
        for ref in node.inputs if node.graph else ():
            if ref.__class__ is int:
                sides.append(below[ref] if ref >= 0 else (leaves.get(ref) is True, leaves.get(ref) is False))
        below.append((any(b for b, _ in sides), any(good for _, good in sides)))
        if tape.grads[at] is not None and any(b and not good for b, good in sides):
            found.append(at)
    risky = [at for at in found if _is_singular(nodes[at])]
    return Suspects(tuple(risky or found)[::-1], len(found), bool(risky) or len(found) == 1)


def _is_singular(node: Node) -> bool:
    name, inputs = op_name(node.cls), node.inputs
    number = inputs[-1][0] if inputs and inputs[-1].__class__ is tuple else None
    if name == "div" and number is not None:
        return number == 0 or number is VARIES
    if name == "pow" and isinstance(number, (int, float)):
        return number < 1
    return name in _SINGULAR


def words(names: list[str], bad: list[str], step: int, nodes: list[Node], of: Suspects) -> str:
    """Why these are left, in words; `names` are those of the leaves with a finite gradient, `bad` of the others."""
    clue = f"The ops of that step were only glanced at. {_few(bad)} got it"
    clue += f", {_few(names)} did not" if names else ", and no parameter got a finite gradient"
    if not of.ops:
        return f"{clue}; no op of step {step:,}, the last that was read in full, explains that."
    if not of.known:
        left = f"that leaves {of.among:,} ops, of which none has a derivative that can be infinite"
    elif of.among == 1:
        left = "that leaves this op"
    else:
        picked = [op_name(nodes[at].cls) for at in of.ops]
        has = "has" if len(picked) == 1 else "have"
        left = f"of the {of.among:,} ops that leaves {_few(picked)} {has} a derivative that can be infinite"
    return f"{clue}: {left}. This is so if it did the same as step {step:,}, the last that was read in full."


def _few(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in dict.fromkeys(names[:3]))
    return f"{shown} and {len(names) - 3:,} more" if len(names) > 3 else shown
