"""R7: parameters that are not trained: no gradient comes to them, no optimizer holds them, or the optimizer holds others."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence, Held, OptimizerFacts
from .finding import Finding, Number
from .rule import rule

_PATIENCE = 3  # complete steps: in the first ones a second optimizer may not have stepped yet
_NAMED = 3


@rule("R7", "parameters that are not trained", "warning", "updates", "optimizer")
def not_trained(e: Evidence) -> Iterator[Finding]:
    """Three ways to train nothing without an error: the way from a parameter to the loss is cut (detach, argmax, .data, a layer that is
    never called); it has a gradient, but was not given to the optimizer; or the optimizer was made for an older model of the same
    name. Sources: SageMaker's UnchangedTensor and torch-audit's TA104 and TA500 look at values; here it is known exactly.
    """
    if e.step < _PATIENCE:
        return
    stepped = [o for o in e.optimizers if o.stepped]
    for optimizer in stepped:
        held = [h for _, parameters in optimizer.groups for h in parameters]
        idle = [h for h in held if h.requires_grad and not h.trained]
        strangers = [label for label in e.trained_elsewhere if label]
        if held and strangers and _is_stale(optimizer):
            yield _stale(optimizer, held, strangers)
        elif idle:
            yield _idle(e, optimizer, idle)
    if stepped and not any(_is_stale(o) for o in stepped) and e.trained_elsewhere:
        yield _not_held(e, stepped)


def _is_stale(optimizer: OptimizerFacts) -> bool:
    held = [h for _, parameters in optimizer.groups for h in parameters]
    return not any(h.touched for h in held)


def _stale(optimizer: OptimizerFacts, held: list[Held], trained: list[str]) -> Finding:
    return Finding(
        "The optimizer holds another model",
        f"`{optimizer.label}` holds **{len(held)}** parameters, and none of them is in the graph of the loss.",
        f"The loss uses {_names(trained)}, which it doesn't hold: it was made for a model that has been built anew since.",
        "Make the optimizer after the model, in the same cell.",
        f"optimizer = optim.{optimizer.cls}(model.parameters(), lr=...)",
        numbers=(Number("parameters held", float(len(held))), Number("of them trained", 0.0)),
        parameter=trained[0],
        subject=f"stale {optimizer.label}",
        severity="error",
    )


def _idle(e: Evidence, optimizer: OptimizerFacts, idle: list[Held]) -> Finding:
    read = [h for h in idle if h.read]
    labels = [h.label for h in idle]
    leaf = e.leaf_of(labels[0])
    at = "" if leaf is None else next((e.graph.at(i) for i, op in enumerate(e.graph.ops) if ["leaf", leaf] in op["inputs"]), "")
    why = (
        f"The step reads {_names([h.label for h in read])}{f' ({at})' if at else ''}, but no way leads from there to the loss: it is cut."
        if read
        else "No op of the step reads them: the layer is never called, or is not the one that is."
    )
    return Finding(
        f"{len(idle)} parameter{'s' * (len(idle) != 1)} without a gradient",
        f"{_names(labels)} got **no gradient** in {e.step:,} steps, though `{optimizer.label}` holds {'it' if len(idle) == 1 else 'them'}.",
        why,
        "Look for detach(), argmax(), .data or no_grad() on the way." if read else "Call the layer in forward, or leave it out.",
        "for name, p in model.named_parameters():\n    print(name, p.grad is not None)",
        numbers=(Number("steps without a gradient", float(e.step), f"limit {_PATIENCE}"),),
        leaf=leaf,
        parameter=labels[0],
        subject=f"idle {optimizer.label} {labels[0]}",
    )


def _not_held(e: Evidence, stepped: list[OptimizerFacts]) -> Finding:
    labels = list(e.trained_elsewhere)
    names = " and ".join(f"`{o.label}`" for o in stepped)
    return Finding(
        f"{len(labels)} parameter{'s' * (len(labels) != 1)} in no optimizer",
        f"{_names(labels)} got a gradient, but **no optimizer** holds {'it' if len(labels) == 1 else 'them'}.",
        f"{names} {'was' if len(stepped) == 1 else 'were'} made without: the values never change.",
        "Give them to the optimizer, or freeze them, which saves their gradient.",
        "optimizer.add_param_group({'params': [...]})  # or p.requires_grad_(False)",
        numbers=(Number("steps", float(e.step), f"limit {_PATIENCE}"),),
        leaf=e.leaf_of(labels[0]),
        parameter=labels[0],
        subject=f"unheld {labels[0]}",
    )


def _names(labels: list[str]) -> str:
    """The first few labels, and how many more.

    >>> _names(["a", "b"]), _names(list("abcde"))
    ('`a` and `b`', '`a`, `b`, `c` and 2 more')
    """
    shown = [f"`{label}`" for label in labels[:_NAMED]]
    more = len(labels) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
