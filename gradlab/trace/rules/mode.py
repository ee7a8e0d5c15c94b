"""R12: dropout or batch statistics where a model is evaluated, and training in eval mode."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence
from .finding import Finding, Number
from .graph import Graph
from .rule import rule

_PATIENCE = 2  # steps in a row in eval mode


@rule("R12", "wrong mode", "warning", "structure")
def wrong_mode(e: Evidence) -> Iterator[Finding]:
    """Dropout and batch normalisation do one thing in training and another in evaluation, and model.train() and model.eval() switch
    them; no_grad() does not. Without eval() a test has noise in it, and moves the running statistics of batch normalisation.
    TheDeepChecker compares the outputs of both modes; here the mode is seen. Wanted noise (Monte Carlo dropout) can be muted.
    """
    yield from _training_in_evaluation(e)
    for label, steps in e.in_eval.items():
        if steps >= _PATIENCE:
            yield Finding(
                "Training in eval mode",
                f"`{label}` was in **eval mode** in the last {steps:,} steps that had an update.",
                "Its dropout drops nothing, and its batch normalisation uses old statistics and keeps them.",
                "Switch it back before training.",
                f"{label if label.isidentifier() else 'model'}.train()",
                numbers=(Number("steps in a row", float(steps), f"limit {_PATIENCE}"),),
                step=e.step,
                subject=f"eval {label}",
            )


def _training_in_evaluation(e: Evidence) -> Iterator[Finding]:
    graph = e.graph
    # Under no_grad what reads a parameter has no graph.
    unrecorded = [
        i
        for i, op in enumerate(graph.ops)
        if not op["grad"] and not op["error"] and any(k == "leaf" and graph.leaves[j]["requires_grad"] for k, j in op["inputs"])
    ]
    if not unrecorded:
        return
    roots = {_root(graph, i) for i in unrecorded}
    for i in graph.find("Dropout", "AlphaDropout", "FeatureDropout", "BatchNorm"):
        if graph.ops[i]["grad"] or _root(graph, i) not in roots:
            continue
        name = graph.ops[i]["name"]
        effect = "uses the statistics of this batch and moves the running ones" if "norm" in name else "drops entries at random"
        yield Finding(
            f"{name} in training mode under no_grad",
            f"`{graph.title(i)}` {effect}, in a pass **without gradients**.",
            f"{graph.at(i)} ran under no_grad() with its module in training mode: no_grad() doesn't switch it.",
            "Switch the mode around the evaluation.",
            "model.eval()\nwith gl.no_grad():\n    ...\nmodel.train()",
            op=i,
            where=graph.where(i),
            subject=f"train {graph.title(i)}",
        )
        return


def _root(graph: Graph, i: int) -> int | None:
    """The outermost module call that op `i` is in."""
    module = graph.ops[i]["module"]
    while module is not None and graph.modules[module]["parent"] is not None:
        module = graph.modules[module]["parent"]
    return module
