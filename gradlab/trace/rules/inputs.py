"""R18 and R19: inputs of a scale that no layer is made for, and labels of which most are of few classes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, percent
from .rule import rule

_MEAN = 3.0  # standard deviations
_LARGE = 20.0
_BALANCED = 0.5
_SAMPLES = 5  # labels a class: drawn evenly, so many have a perplexity of nine tenths of the classes
_TOKENS = ("Embedding", "EmbeddingBag")
_SMALLEST = 2  # entries of an input that is judged


@rule("R18", "scale of the input", "info", "structure")
def input_scale(e: Evidence) -> Iterator[Finding]:
    """Layers are initialised for inputs of mean 0 and deviation 1: inputs of 0 to 255 make activations and gradients a hundred times as
    large, and an offset that is large beside the spread makes all units alike. Sources: LeCun et al. 1998, "Efficient BackProp";
    UMLAUT (Schoop et al. 2021) warns outside of -1 to 1.
    """
    for i, op in enumerate(e.graph.ops):
        if op["kind"] != "matmul" or op["error"]:
            continue
        for k in range(len(op["inputs"])):
            j = e.graph.leaf(e.graph.input(i, k))
            if j is None or e.graph.leaves[j]["kind"] == "parameter" or e.graph.leaves[j]["requires_grad"]:
                continue
            yield from _judged(e, i, j)


def _judged(e: Evidence, i: int, j: int) -> Iterator[Finding]:
    leaf, stats = e.graph.leaves[j], e.input_stats(j)
    if stats is None or stats.entries < _SMALLEST or len(leaf["shape"]) < 2:
        return
    name, at = leaf["name"], e.graph.at(i)
    whole = leaf["dtype"].startswith(("int", "uint"))
    largest = max(abs(stats.low), abs(stats.high))
    offset = abs(stats.mean) / stats.std if stats.std else np.inf
    if not (whole or largest > _LARGE or (offset > _MEAN and stats.mean)):
        return
    numbers = (
        Number("min", stats.low),
        Number("max", stats.high, f"up to {_LARGE:.0f}"),
        Number("mean", stats.mean),
        Number("std", stats.std),
    )
    bytes_ = whole or (stats.low >= 0 and stats.high <= 255 and stats.high > 100 and float(stats.high).is_integer())
    fix = f"{name} = {name}.astype('float32') / 255" if bytes_ else f"{name} = ({name} - {stats.mean:.3g}) / {stats.std or 1.0:.3g}"
    what = f"is of dtype {leaf['dtype']}" if whole else f"goes from {stats.low:.3g} to **{stats.high:.3g}**"
    if not whole and largest <= _LARGE:
        what = f"has mean **{stats.mean:.3g}**, {offset:.1f} times its deviation"
    yield Finding(
        "The input is not scaled",
        f"`{name}` {what}.",
        f"{at} reads it as it is; layers are initialised for mean 0 and deviation 1.",
        "Scale it before it goes in.",
        fix if name.isidentifier() and name != "input" else fix.replace(name, "x"),
        numbers=numbers,
        op=i,
        leaf=j,
        where=e.graph.where(i),
        subject=f"scale {name} {leaf['shape'][1:]}",
        severity="warning" if whole else "info",
    )


@rule("R19", "balance of the labels", "info", "structure")
def label_balance(e: Evidence) -> Iterator[Finding]:
    """Where most labels are of few classes, always answering these is nearly right, and a net learns that first. The perplexity of the
    labels, e to their entropy, is the number of classes there really are. Source: TheDeepChecker (Ben Braiek & Khomh 2022) warns
    below half of the classes. Text is left out: its tokens are far from even.
    """
    if any(op["function"] in _TOKENS for op in e.graph.ops):
        return
    for i in e.graph.find("CrossEntropy", "NLLLoss"):
        j, scores = e.graph.leaf(e.graph.input(i, 1)), e.graph.shape(e.graph.input(i, 0))
        stats = None if j is None else e.input_stats(j)
        if j is None or stats is None or stats.counts is None or len(scores) != 2 or scores[1] < 2:
            continue
        classes, total = scores[1], int(stats.counts.sum())
        if total < _SAMPLES * classes:
            continue
        parts = stats.counts[stats.counts > 0] / total
        perplexity = float(np.exp(-(parts * np.log(parts)).sum()))
        if perplexity / classes >= _BALANCED:
            continue
        most = int(stats.counts.argmax())
        yield Finding(
            "Labels of few classes",
            f"Of {total:,} labels **{percent(stats.counts[most] / total)}** are of class {most}: as few as {perplexity:.1f} of {classes}.",
            f"The targets of `{e.graph.title(i)}` over the first {stats.seen} batches. A net that always answers {most} looks good.",
            "Weigh the classes, and look at the accuracy of each; or check that the data are shuffled.",
            "loss = F.cross_entropy(scores, target, weight=1 / counts)",
            numbers=(Number("perplexity / classes", perplexity / classes, f"limit {_BALANCED}"),),
            op=i,
            leaf=j,
            where=e.graph.where(i),
            subject=f"labels {e.graph.title(i)}",
        )
