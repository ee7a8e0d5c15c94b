"""R13: two operands that stretch each other, (64, 1) - (64,) -> (64, 64), on the way to a reduction."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from .evidence import Evidence
from .finding import Finding, Number
from .graph import Graph
from .rule import rule

_GROWS = 4  # times the larger operand
_FAR = 64  # ops between the broadcast and what it feeds


@rule("R13", "silent broadcast", "error", "structure", once=True)
def silent_broadcast(e: Evidence) -> Iterator[Finding]:
    """Shapes are lined up from the right, and axes that are missing or 1 are stretched. That makes (64, 1) and (64,) a table of
    all 64 x 64 pairs: a prediction is then compared with every target, the mean of which is still a number, and training goes
    on with a wrong loss. Source: NumPy's broadcasting rules; PyTorch's mse_loss warns of it.
    """
    graph = e.graph
    for i, op in enumerate(graph.ops):
        sources = [graph.input(i, k) for k in range(len(op["inputs"]))]
        shapes = [graph.shape(s) for s in sources]
        pair = [k for k, (kind, _) in enumerate(sources) if kind in ("op", "leaf")][:2]
        if len(pair) < 2 or op["error"] or op["kind"] not in ("elementwise", "loss"):
            continue
        a, b = shapes[pair[0]], shapes[pair[1]]
        out = _together(a, b)
        if out is None or len(a) == len(b) or prod(a) != prod(b) or out in (a, b) or prod(out) <= _GROWS * prod(a):
            continue
        loss = op["kind"] == "loss" or _feeds(graph, i)
        if loss is None:
            continue
        names = [graph.named(sources[k]) for k in pair]
        flat, tall = (0, 1) if len(a) < len(b) else (1, 0)
        yield Finding(
            f"{_text(a)} and {_text(b)} make {_text(out)}",
            f"`{op['name']}` compares each of the {prod(a):,} entries with every other: **{prod(out):,}** entries, {prod(out) // prod(a):,}"
            " times as many as either operand.",
            f"{graph.at(i)} stretches both `{names[0]}` {_text(a)} and `{names[1]}` {_text(b)}"
            + (", and the result goes into the loss." if loss else ", and the result is reduced."),
            "Give both the same shape.",
            f"{_name(names[flat], 'target')} = {_name(names[flat], 'target')}.reshape({', '.join(map(str, (-1, *(a, b)[tall][1:])))})",
            numbers=(Number("entries", float(prod(out)), f"{prod(a):,} in each operand"),),
            op=i,
            where=graph.where(i),
            subject=f"{graph.title(i)} {graph.where(i).rpartition(':')[2]}",
            severity="error" if loss else "warning",
        )


def _together(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that two shapes broadcast to.

    >>> _together((64, 1), (64,)), _together((3,), (4,))
    ((64, 64), None)
    """
    n = max(len(a), len(b))
    wide = [(1,) * (n - len(s)) + s for s in (a, b)]
    if any(p != q and 1 not in (p, q) for p, q in zip(*wide, strict=True)):
        return None
    return tuple(max(p, q) if 0 not in (p, q) else 0 for p, q in zip(*wide, strict=True))


def _feeds(graph: Graph, i: int) -> bool | None:
    """True where the result goes, entry by entry, into a reduction to one number; False into another one; None into neither."""
    seen, todo, reduced = {i}, [i], False
    while todo and len(seen) < _FAR:
        for r in graph.readers[todo.pop()]:
            op = graph.ops[r]
            if op["kind"] in ("reduce", "loss"):
                if prod(op["shape"]) == 1:
                    return True
                reduced = True
            if r not in seen and op["kind"] in ("elementwise", "shape", "reduce"):
                seen.add(r)
                todo.append(r)
    return False if reduced else None


def _text(shape: tuple[int, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def _name(name: str, otherwise: str) -> str:
    return name if name.isidentifier() and name != "input" else otherwise
