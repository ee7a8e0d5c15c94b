"""R8: gradients that are added to those of the step before, since nobody reset them."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence
from .finding import Finding, Number, Trend
from .rule import rule

_PATIENCE = 2  # steps in a row


@rule("R8", "zero_grad is missing", "error", "updates", "gradients")
def zero_grad_is_missing(e: Evidence) -> Iterator[Finding]:
    """backward() adds to what is in .grad. Where it is not reset between two updates, each update moves along the sum of all gradients so
    far: like a momentum of 1, which grows and overshoots. Several backward calls before one update are accumulation, and right.
    Known exactly from the ledger: the first backward call of a step added to gradients that an update had used.
    """
    steps = e.unreset
    if steps < _PATIENCE:
        return
    labels = e.parameters
    count = e.contributions(labels[0]) if labels else 0
    points = e.column("grad_norm")
    numbers = (Number("steps in a row", float(steps), f"limit {_PATIENCE}"),)
    if count > 1:
        numbers += (Number(f"contributions in {labels[0]}.grad", float(count), "1 with zero_grad"),)
    yield Finding(
        "Gradients are never reset",
        f"**{steps:,}** steps in a row, `backward()` added to gradients that an update had used already.",
        "No `zero_grad()` between an update and the next `backward()`: each update follows the sum of all gradients since."
        + (f" `{labels[0]}.grad` holds {count:,} contributions." if count > 1 else ""),
        "Reset the gradients once a step.",
        _fix(e),
        trend=Trend.of("‖g‖", points) if len(points[0]) > 1 else None,
        numbers=numbers,
        parameter=labels[0] if labels else None,
        step=e.step,
        subject="zero_grad",
    )


def _fix(e: Evidence) -> str:
    """The lines of one step with the reset in its place; of what the user's code has, since nothing else has a name there."""
    if e.optimizers:
        return "optimizer.zero_grad()\nloss.backward()\noptimizer.step()"
    models, tensors = e.owners
    lines = [f"{model}.zero_grad()" for model in models if model.isidentifier()]
    named = [tensor for tensor in tensors if tensor.isidentifier()]
    if len(named) == 1:
        lines.append(f"{named[0]}.grad = None")
    elif named:
        lines.append(f"for p in ({', '.join(named)}):\n    p.grad = None")
    if len(named) < len(tensors) or not all(map(str.isidentifier, models)):
        lines.append("# p.grad = None, too, for each further parameter p" if lines else "# p.grad = None for each parameter p, and then")
    return "\n".join([*lines, "loss.backward()"])
