"""R4 and R5: ReLU units that never wake, and tanhs and sigmoids at their ends."""

from __future__ import annotations

from collections.abc import Iterator

from ..units import AT_THE_END
from .evidence import Evidence
from .finding import Finding, Number, Severity, percent
from .graph import Graph
from .rule import rule
from .weight import LAYERS, leads_to

_DEAD: tuple[tuple[float, Severity], ...] = ((0.7, "error"), (0.4, "warning"), (0.1, "info"))
_ENDS: tuple[tuple[float, Severity], ...] = ((0.5, "error"), (0.2, "warning"), (0.05, "info"))
_SEEN = 3  # readings before it is said of a tanh
_STRAIGHT = frozenset({"Dropout", "Reshape", "Flatten", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Cast", "Concatenate", "Stack"})


@rule("R4", "dead ReLU units", "warning", "structure", "gradients")
def dead_units(e: Evidence) -> Iterator[Finding]:
    """A ReLU unit that is zero for every sample hands on no gradient, so that it never comes back. That half the entries of a batch
    are zero is as it should be; a unit counts as dead when it was zero on every sample of 10 batches, and of 512 samples. Some are dead
    as they are made, up to a quarter where inputs are never negative, and no harm is done; many mean that they died. The usual cause is
    one update that was too large and left a large negative bias. Sources: CS231n, notes on neural networks 1; Lu et al. 2019,
    arXiv:1903.06733.
    """
    for i in e.graph.find("ReLU"):
        unit = e.unit(i)
        if unit is None or unit.idle is None or unit.readings < unit.needed:
            continue
        severity = _graded(unit.dead, _DEAD)
        if severity is None:
            continue
        count = round(unit.dead * len(unit.idle))
        below = _layer_below(e.graph, i)
        yield Finding(
            f"{count} of {len(unit.idle)} ReLU units are dead",
            f"**{percent(unit.dead)}** of the units were zero on every sample of the last {unit.needed} batches that were looked at.",
            f"{e.graph.at(i)}" + ("" if below is None else f", fed by `{e.graph.title(below)}`") + ": no gradient passes these units.",
            "Begin with a smaller learning rate and biases of zero, or let negative values through a little.",
            f"h = F.leaky_relu({_short(e.graph, below)}(x), 0.01)",
            numbers=(Number("dead units", unit.dead, "good up to 0.1, 0.4 is much"), Number("batches looked at", float(unit.readings))),
            op=i,
            where=e.graph.where(i),
            step=e.step,
            subject=f"{e.graph.title(i)} {i}",
            severity=severity,
        )


@rule("R5", "saturated tanh or sigmoid", "warning", "structure", "gradients")
def saturated(e: Evidence) -> Iterator[Finding]:
    """At its ends a tanh or a sigmoid is flat, and hands on next to no gradient: at 0.97, 6 % of it. The input there is too large:
    weights too large at the start, inputs that were not scaled, or a learning rate too high. A sigmoid that is a gate or gives a
    probability may well be at its ends, so only those count that feed a layer. Sources: A. Karpathy, makemore part 3; SageMaker Debugger.
    """
    for i in e.graph.find("Tanh", "Sigmoid"):
        unit = e.unit(i)
        if unit is None or unit.readings < _SEEN or leads_to(e.graph, i, LAYERS, through=_STRAIGHT) is None:
            continue
        share = sum(unit.ends) / len(unit.ends)
        severity = _graded(share, _ENDS)
        if severity is None:
            continue
        name = e.graph.ops[i]["name"]
        ends = f"beyond +-{AT_THE_END}" if name == "tanh" else f"below {1 - AT_THE_END:.2f} or above {AT_THE_END}"
        below = _layer_below(e.graph, i)
        yield Finding(
            f"{name.capitalize()} is at its ends",
            f"**{percent(share)}** of what `{e.graph.title(i)}` makes is {ends}, where hardly a gradient passes.",
            f"{e.graph.at(i)}" + ("" if below is None else f": `{e.graph.title(below)}` gives it inputs that are too large."),
            "Make its input smaller: smaller first weights, scaled inputs, a norm before it, a lower learning rate.",
            f"h = F.{name}(F.layer_norm({_short(e.graph, below)}(x), (units,)))",
            numbers=(Number("at the ends", share, "good up to 0.05, 0.2 is much"),),
            op=i,
            where=e.graph.where(i),
            step=e.step,
            subject=f"{e.graph.title(i)} {i}",
            severity=severity,
        )


def _graded(share: float, levels: tuple[tuple[float, Severity], ...]) -> Severity | None:
    return next((severity for limit, severity in levels if share > limit), None)


def _layer_below(graph: Graph, i: int) -> int | None:
    """The layer whose output op `i` bends, past biases and norms."""
    source = graph.input(i)
    for _ in range(6):
        below = graph.maker(source)
        if below is None or graph.ops[below]["function"] in LAYERS:
            return below
        source = graph.input(below)
    return None


def _short(graph: Graph, i: int | None) -> str:
    module = None if i is None else graph.ops[i]["module"]
    name = "" if module is None else graph.modules[module]["name"]
    return f"self.{name}" if name.isidentifier() else "layer"
