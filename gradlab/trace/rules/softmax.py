"""R9: a softmax too many, or one too few, in front of the loss."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, Trend
from .rule import rule

_ON_SCORES = ("CrossEntropy", "SoftCrossEntropy")
_FLAT = 0.02  # the loss stays within so much of its floor


@rule("R9", "softmax twice or missing", "error", "structure")
def softmax_twice(e: Evidence) -> Iterator[Finding]:
    """cross_entropy takes scores and applies log-softmax itself. Probabilities in its place lie between 0 and 1, so the softmax over
    them is nearly flat: the loss can't fall below ln(1 + (C - 1) / e), and gradients are small. nll_loss is the other way round: it
    takes log-probabilities. Source: PyTorch's documentation of CrossEntropyLoss; the floor is the loss of scores (1, 0, ..., 0).
    """
    for i in e.graph.find(*_ON_SCORES):
        maker = e.graph.maker(e.graph.input(i))
        function = "" if maker is None else e.graph.ops[maker]["function"]
        if maker is not None and function in ("Softmax", "Sigmoid"):
            yield _twice(e, i, maker)
        elif maker is not None and function == "LogSoftmax":
            yield Finding(
                "Log_softmax twice",
                f"`cross_entropy` gets what `{e.graph.title(maker)}` made, and applies `log_softmax` itself.",
                f"{e.graph.at(maker)}. A `log_softmax` of a `log_softmax` is the same again: right, but one op for nothing.",
                "Give it the scores, or use `nll_loss` on log-probabilities.",
                _fix(e, maker, i),
                op=maker,
                where=e.graph.where(maker),
                subject=e.graph.title(i),
                severity="info",
            )
    for i in e.graph.find("BinaryCrossEntropyWithLogits"):
        maker = e.graph.maker(e.graph.input(i))
        if maker is not None and e.graph.ops[maker]["function"] in ("Sigmoid", "Softmax", "LogSigmoid"):
            yield _twice(e, i, maker)
    yield from _missing(e)


def _twice(e: Evidence, loss: int, maker: int) -> Finding:
    name, taker = e.graph.ops[maker]["name"], e.graph.ops[loss]["name"]
    classes = (e.graph.shape(e.graph.input(loss)) or (2,))[1 if len(e.graph.shape(e.graph.input(loss))) > 1 else 0]
    binary = taker.startswith("binary")
    floor = math.log1p(math.exp(-1.0)) if binary else math.log1p((classes - 1) / math.e)
    # A loss of several terms is another number than what this op made of the probabilities.
    alone = e.graph.roots() == [loss]
    what = "loss" if alone else taker
    points = e.column("loss") if alone else e.values(loss) if not e.graph.ops[loss]["shape"] else (np.empty(0, int), np.empty(0))
    values = points[1][-20:]
    flat = len(values) == 20 and bool((abs(values / floor - 1) < _FLAT).all())
    numbers = (Number(f"floor of the {what}" if alone else f"floor of {what}", floor, "0 with scores"),)
    if len(values):
        numbers += (Number(what, float(values[-1])),)
    stuck = f" It has been within 2 % of it in the {len(values)} latest steps that were read." if flat else ""
    of = "" if binary else f" for {classes} classes"
    return Finding(
        f"{name.capitalize()} twice" if name == "softmax" else f"{name.capitalize()} before {taker}",
        f"`{taker}` gets probabilities, so {'the loss' if alone else 'its part of the loss'} can't fall below **{floor:.3f}**{of}.{stuck}",
        f"{e.graph.at(maker)} feeds `{taker}`, which applies {'the sigmoid' if binary else '`log_softmax`'} itself.",
        "Give the loss the scores; apply `softmax` only where you read probabilities.",
        _fix(e, maker, loss),
        trend=Trend.of(what, points, low=floor) if len(points[0]) > 1 else None,
        numbers=numbers,
        op=maker,
        where=e.graph.where(maker),
        subject=e.graph.title(loss),
    )


def _missing(e: Evidence) -> Iterator[Finding]:
    for i in e.graph.find("NLLLoss"):
        maker = e.graph.maker(e.graph.input(i))
        op = None if maker is None else e.graph.ops[maker]
        if maker is not None and op is not None and op["grad"] and (op["kind"] == "matmul" or op["function"] in ("Softmax", "Add")):
            what = "probabilities" if op["function"] == "Softmax" else "scores"
            yield Finding(
                "The log_softmax is missing",
                f"`nll_loss` takes log-probabilities; it gets the {what} of `{e.graph.title(maker)}`.",
                f"{e.graph.at(maker)} feeds `nll_loss` directly, so the loss has no lower bound and is no likelihood.",
                "Use `cross_entropy`, which applies `log_softmax`, on the scores.",
                "loss = F.cross_entropy(scores, target)",
                op=maker,
                where=e.graph.where(maker),
                subject=e.graph.title(i),
            )
    for i in e.graph.find("BinaryCrossEntropy"):
        maker = e.graph.maker(e.graph.input(i))
        op = None if maker is None else e.graph.ops[maker]
        if maker is not None and op is not None and op["grad"] and op["kind"] == "matmul":
            yield Finding(
                "The sigmoid is missing",
                f"`binary_cross_entropy` takes probabilities; it gets the scores of `{e.graph.title(maker)}`.",
                f"{e.graph.at(maker)} feeds the loss directly; scores below 0 or above 1 have no logarithm there.",
                "Use the form that takes scores.",
                "loss = F.binary_cross_entropy_with_logits(scores, target)",
                op=maker,
                where=e.graph.where(maker),
                subject=e.graph.title(i),
            )


def _fix(e: Evidence, maker: int, loss: int) -> str:
    name = e.graph.ops[maker]["name"]
    return f"# scores: what {name} was given\nloss = F.{e.graph.ops[loss]['name']}(scores, target)"
