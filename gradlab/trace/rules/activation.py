"""R20: layers that could be one, since nothing bends between them, and a bend where the scores should be free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from .evidence import Evidence
from .finding import Finding, Number, percent
from .graph import Graph
from .rule import rule

_LAYERS = ("Linear", "MatMul", "AddMM", "Conv", "Einsum")
_STRAIGHT = frozenset({"Add", "Sub", "Neg", "Mul", "Div", "Dropout", "AvgPool", "AdaptiveAvgPool", "Mean", "Pad", "PadFromInside"})
"""Ops that bend nothing where all but one operand are numbers or parameters."""

_BENDS = {"ReLU": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "GELU": "gelu", "LeakyReLU": "leaky_relu", "ELU": "elu"}
_MOST_DROPPED = 0.5
_BETWEEN = 12


@rule("R20", "layers without an activation", "warning", "structure", once=True)
def no_activation(e: Evidence) -> Iterator[Finding]:
    """A linear map of a linear map is a linear map: two layers with nothing bent in between can say no more than one, and train
    worse. A layer that is narrower than both its neighbours is exempt: it limits the rank, which is what it is for. Source: UMLAUT
    (Schoop et al. 2021) has the checks of activations and of dropout.
    """
    yield from _straight(e.graph)
    yield from _bent_scores(e.graph)
    yield from _much_dropout(e.graph)


def _straight(graph: Graph) -> Iterator[Finding]:
    for i in graph.find(*_LAYERS):
        weight = _weight(graph, i)
        if weight is None:
            continue
        below = _layer_below(graph, i)
        if below is None:
            continue
        first, second = _widths(graph, below), _widths(graph, i)
        if first is None or second is None or first[1] < min(first[0], second[1]):
            continue
        names = [_layer_name(graph, k) for k in (below, i)]
        yield Finding(
            "Two layers with no activation between",
            f"`{names[0]}` and `{names[1]}` together are one linear map **{first[0]} to {second[1]}**:"
            f" {first[1]} units in between add nothing.",
            f"{graph.at(i)} reads what {graph.at(below)} made, and no op between them bends it.",
            "Put an activation between them, or keep one of the two.",
            _bend(*names),
            numbers=(Number("units between", float(first[1]), f"a rank of at most {min(first[0], second[1])}"),),
            op=i,
            leaf=weight,
            where=graph.where(i),
            subject=f"{names[0]} {names[1]}",
        )


def _layer_below(graph: Graph, i: int) -> int | None:
    """The layer whose output comes to layer `i` unbent."""
    source = next(s for s in _operands(graph, i) if graph.parameter(s) is None)
    for _ in range(_BETWEEN):
        below = graph.maker(source)
        if below is None or not graph.ops[below]["grad"]:
            return None
        if graph.ops[below]["function"] in _LAYERS:
            return below if _weight(graph, below) is not None else None
        if graph.ops[below]["function"] not in _STRAIGHT:
            return None
        varying = [s for s in _operands(graph, below) if graph.parameter(s) is None]
        if len(varying) != 1 or _reads_elsewhere(graph, below):
            return None
        source = varying[0]
    return None


def _reads_elsewhere(graph: Graph, i: int) -> bool:
    """Whether a bent way leads on from here too, as around a residual block."""
    return len([r for r in graph.readers[i] if graph.ops[r]["grad"]]) > 1


def _operands(graph: Graph, i: int) -> list[tuple[str, object]]:
    """The inputs that are tensors."""
    sources = [graph.input(i, k) for k in range(len(graph.ops[i]["inputs"]))]
    return [s for s in sources if s[0] in ("op", "leaf", "past")]


def _weight(graph: Graph, i: int) -> int | None:
    """The weight of a layer: the one parameter of two or more axes beside one input that isn't a parameter."""
    parameters = [graph.parameter(s) for s in _operands(graph, i)]
    weights = [j for j in parameters if j is not None and len(graph.leaves[j]["shape"]) > 1]
    return weights[0] if len(weights) == 1 and parameters.count(None) == 1 else None


def _widths(graph: Graph, i: int) -> tuple[int, int] | None:
    """How many numbers go into a layer, at one place, and how many come out; None for a convolution of each channel by itself."""
    weight = _weight(graph, i)
    if weight is None or not graph.ops[i]["shape"]:
        return None
    shape = graph.leaves[weight]["shape"]
    if graph.ops[i]["function"] == "Conv":
        return None if shape[1] == 1 and shape[0] > 1 else (prod(shape[1:]), shape[0])
    out = graph.ops[i]["shape"][-1]
    return max(prod(shape) // max(out, 1), 1), out


def _layer_name(graph: Graph, i: int) -> str:
    op = graph.ops[i]
    if op["module"] is not None:
        return graph.modules[op["module"]]["path"]
    weight = _weight(graph, i)
    return graph.leaves[weight]["name"] if weight is not None else op["name"]


def _bend(first: str, second: str) -> str:
    if first.isidentifier() and second.isidentifier():
        return f"h = F.relu(self.{first}(x))\nh = self.{second}(h)"
    return f"nn.ReLU(),  # between {first} and {second}"


def _bent_scores(graph: Graph) -> Iterator[Finding]:
    for i in graph.find("CrossEntropy", "BinaryCrossEntropyWithLogits"):
        maker = graph.maker(graph.input(i))
        function = "" if maker is None else graph.ops[maker]["function"]
        if maker is None or function not in ("ReLU", "Tanh", "LeakyReLU", "ELU", "GELU"):
            continue
        bound = {"ReLU": "no score can be below 0", "Tanh": "every score is between -1 and 1"}.get(function, "low scores are cut off")
        yield Finding(
            f"{_BENDS[function].capitalize()} after the last layer",
            f"`{graph.ops[i]['name']}` gets scores that went through `{_BENDS[function]}`: **{bound}**.",
            f"{graph.at(maker)} stands between the last layer and the loss.",
            "Leave it out: the scores of the last layer are free.",
            "return self.last(h)  # no activation",
            op=maker,
            where=graph.where(maker),
            subject=f"scores {graph.title(i)}",
        )


def _much_dropout(graph: Graph) -> Iterator[Finding]:
    for module in graph.modules:
        found = re.match(r"(?:Alpha)?Dropout\w*\(p=([\d.]+)", module["repr"])
        if found and float(found[1]) > _MOST_DROPPED:
            p = float(found[1])
            yield Finding(
                "Much dropout",
                f"`{module['path']}` drops **{percent(p)}** of what comes to it.",
                "More than half is rarely of use, and slows training down.",
                "Try 0.1 to 0.5.",
                f"nn.Dropout({_MOST_DROPPED})",
                numbers=(Number("p", p, f"usual up to {_MOST_DROPPED}"),),
                subject=f"dropout {module['path']}",
                severity="info",
            )
