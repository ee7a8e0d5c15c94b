"""R10 and R11: how a network begins: its first loss, and the sizes of what its layers make."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, prod, sqrt
from typing import Any

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, Severity
from .rule import rule
from .weight import LAYERS, layers, leads_to

_FINE, _ODD = 0.15, 0.5  # relative distance of the first loss from ln C
_REGRESSION = 10.0  # first squared error over the mean square of the targets
_SPREAD, _BAND = (10.0, 50.0), ((0.1, 10.0), (0.02, 50.0))  # of layers' outputs: a remark, a warning
_ROWS = 64  # rows of a weight that are compared
_BENT = frozenset({"ReLU", "LeakyReLU", "Tanh", "Sigmoid", "GELU", "ELU", "SiLU", "Softplus", "Add", "Dropout", "MaxPool", "AvgPool",
                   "Reshape", "Flatten", "Transpose", "Permute", "BatchNorm", "LayerNorm", "Mul"})  # fmt: skip


@rule("R10", "bad initial loss", "warning", "structure", "loss")
def initial_loss(e: Evidence) -> Iterator[Finding]:
    """A network that knows nothing should say so: with C classes each gets 1/C, and cross-entropy is ln C. A first loss far above
    that comes from scores that are too large, and the first hundred steps only shrink them. For a squared error the measure is that
    of answering 0. Sources: A. Karpathy, A Recipe for Training Neural Networks; CS231n, notes on neural networks 3.
    """
    graph, _ = e.first
    steps, losses = e.early("loss")
    if len(losses) and steps[0] != e.since:
        return  # tracing began later
    first = float(losses[0]) if len(losses) else e.numbers.loss
    if first is None or not np.isfinite(first):
        return
    roots = set(graph.roots())
    for i in graph.find("CrossEntropy"):
        shape = graph.shape(graph.input(i))
        classes = shape[1] if len(shape) > 1 else shape[0] if shape else 0
        if i not in roots or classes < 2:
            continue
        at, samples = log(classes), prod(shape) // classes
        if samples > 1 and abs(first / samples / at - 1) < _ODD:
            continue  # a sum over the batch
        off = first / at - 1
        if abs(off) < _FINE:
            continue
        high = off > 0
        maker = graph.maker(graph.input(i))
        yield Finding(
            "The first loss is too high" if high else "The first loss is low already",
            f"It is **{first:.3g}**; with {classes} classes and no knowledge it is ln {classes} = {at:.3f}.",
            ("The first scores are too large" if high else "The network was trained before, or its input holds the answer")
            + ("." if maker is None else f": {graph.at(maker)} makes them."),
            "Begin the last layer with small weights and a bias of zero." if high else "Fine for a network that was loaded.",
            _smaller(graph, maker) if high else "",
            numbers=(
                Number("first loss", first, f"ln C = {at:.3f} ± {_FINE * 100:.0f} %"),
                Number("relative distance", off, f"warned of above {_ODD:g}"),
            ),
            where="" if maker is None else graph.where(maker),
            step=e.since,
            severity="warning" if off > _ODD else "info",
        )
        return
    for i in graph.find("MSELoss"):
        size = _mean_square(e, graph.input(i, 1))
        if i in roots and size and first > _REGRESSION * size:
            yield Finding(
                "The first loss is too high",
                f"It is **{first:.3g}**; answering 0 every time would cost {size:.3g}.",
                f"{graph.at(i)}: the first predictions are far larger than the targets.",
                "Begin the last layer with small weights and a bias of zero, and scale the inputs.",
                "",
                numbers=(Number("first loss", first, f"at most {_REGRESSION:g} times the targets' mean square {size:.3g}"),),
                where=graph.where(i),
                step=e.since,
            )
            return


@rule("R11", "bad initialisation", "warning", "structure")
def initialisation(e: Evidence) -> Iterator[Finding]:
    """What layers make should have about the same size at every depth: if each is half as large as the one before, nothing of the
    input arrives at the end, and no gradient at the start. And rows of a weight must differ: units that begin alike get the same
    gradient and stay alike, so that a layer of 100 is a layer of one. Sources: Glorot and Bengio 2010; He et al. 2015, arXiv:1502.01852.
    """
    yield from _alike(e)
    yield from _uneven(e)


def _alike(e: Evidence) -> Iterator[Finding]:
    graph = e.graph
    for i, j in layers(graph):
        leaf = graph.leaves[j]
        if leaf["column"] is None and e.step > 0:
            continue
        hidden = leads_to(graph, i, LAYERS, through=_BENT)
        tensor = e.tensor(leaf["name"]) if hidden is not None else None
        if tensor is None:
            continue
        units = _units_alike(tensor._data, turned=_turned(leaf["shape"], graph.ops[i]))
        if units is None:
            continue
        # Zeros may come apart in the first steps, by the weights behind them; what is alike after two updates stays alike.
        settled = e.step >= 2
        value = "" if units else " They are all zero."
        if not settled and not units:
            continue
        yield Finding(
            "All units of a layer are alike",
            f"The **{graph.ops[i]['shape'][-1] if len(graph.ops[i]['shape']) < 3 else leaf['shape'][0]}** units of `{leaf['name']}` have"
            f" the same weights{f' after {e.step} steps' if settled else ''}: they count as one.{value}",
            f"{graph.at(i)} makes the same number in every unit, and each gets the same gradient.",
            "Draw the first weights at random.",
            f"nn.init.kaiming_uniform_({_path(leaf['name'])}, nonlinearity='relu')",
            op=i,
            leaf=j,
            parameter=leaf["name"],
            where=graph.where(i),
            step=e.step,
            subject=f"alike {leaf['name']}",
            severity="error",
        )


def _units_alike(array: Any, *, turned: bool) -> bool | None:
    """Whether all units have the same weights: None where they differ, False where those are all zero, True otherwise."""
    rows = array.T if turned else array
    rows = rows.reshape(len(rows), -1) if rows.ndim > 2 else rows
    if len(rows) < 2 or not bool((rows[:_ROWS, :_ROWS] == rows[0, :_ROWS]).all()) or not bool((rows == rows[0]).all()):
        return None
    return bool((rows[0] != 0).any())


def _turned(shape: list[int], op: dict[str, Any]) -> bool:
    """Whether the units of a weight are its columns: `x @ w`, where `linear` and `conv` have them as rows."""
    if op["function"] not in ("MatMul", "AddMM") or len(shape) != 2:
        return False
    return shape[1] == op["shape"][-1]


def _uneven(e: Evidence) -> Iterator[Finding]:
    graph, numbers = e.first
    sizes: list[tuple[float, int]] = []
    for i, _ in layers(graph):
        if i < len(numbers.ops) and numbers.op_has[i] & 1 and leads_to(graph, i, LAYERS, through=_BENT) is not None:
            size = prod(graph.ops[i]["shape"])
            made = _with_bias(graph, i, len(numbers.ops))
            if size:
                sizes.append((float(numbers.ops[made, 0]) / sqrt(size), i))
    sizes = [(rms, i) for rms, i in sizes if np.isfinite(rms)]
    if not sizes or len({graph.ops[i]["module"] for _, i in sizes}) > 64:
        return
    low, high = min(sizes), max(sizes)
    spread = high[0] / max(low[0], 1e-45)
    for k, severity in ((1, "warning"), (0, "info")):
        grade: Severity = "warning" if severity == "warning" else "info"
        bounds = _BAND[k]
        if spread > _SPREAD[k] or low[0] < bounds[0] or high[0] > bounds[1]:
            worst = high if high[0] > bounds[1] else low
            yield Finding(
                "Layers begin at uneven sizes",
                f"`{graph.title(worst[1])}` makes numbers of size **{worst[0]:.2g}** in the first step; over all layers"
                f" they go from {low[0]:.2g} to {high[0]:.2g}.",
                f"{graph.at(worst[1])}: its weights are too {'large' if worst is high else 'small'} for what comes in.",
                "Scale the first weights by the number of inputs, as He or Glorot initialisation does, and scale the inputs.",
                "for p in model.parameters():\n    if p.ndim > 1:\n        nn.init.kaiming_normal_(p, nonlinearity='relu')",
                numbers=(
                    Number("largest : smallest", spread, f"at most {_SPREAD[k]:g}"),
                    Number("size", worst[0], f"{bounds[0]:g} to {bounds[1]:g}"),
                ),
                where=graph.where(worst[1]),
                step=e.since,
                subject="sizes",
                severity=grade,
            )
            return


def _with_bias(graph: Any, i: int, n: int) -> int:
    """The op that adds a bias to what op `i` made, if there is one."""
    readers = [r for r in graph.readers[i] if r < n]
    if len(readers) == 1 and graph.ops[readers[0]]["function"] == "Add" and graph.ops[readers[0]]["shape"] == graph.ops[i]["shape"]:
        other = [graph.parameter(graph.input(readers[0], k)) for k in range(2)]
        if any(j is not None for j in other):
            return readers[0]
    return i


def _mean_square(e: Evidence, source: tuple[str, Any]) -> float | None:
    graph, numbers = e.first
    kind, of = source
    values, known = (numbers.ops, numbers.op_has) if kind == "op" else (numbers.leaves, numbers.leaf_has)
    size = prod(graph.shape(source))
    if kind not in ("op", "leaf") or not size or of >= len(values) or not known[of] & 1:
        return None
    return float(values[of, 0]) ** 2 / size


def _smaller(graph: Any, maker: int | None) -> str:
    module = None if maker is None else graph.ops[maker]["module"]
    if module is None:
        return "w.data *= 0.01  # w: the last weight, before training"
    path = graph.modules[module]["path"]
    return f"nn.init.normal_({_path(path)}.weight, 0.0, 0.01)\nnn.init.zeros_({_path(path)}.bias)"


def _path(label: str) -> str:
    """A path as code: `0.weight` is `model[0].weight`."""
    out = "model"
    for part in label.split("."):
        out += f"[{part}]" if part.isdigit() else f".{part}"
    return out if "." in label or label.isdigit() else label
