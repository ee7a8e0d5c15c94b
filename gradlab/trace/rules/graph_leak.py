"""R26: results of finished steps that somebody keeps, with the graph behind them."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence
from .finding import Finding, Number
from .rule import rule

_MOST = 2  # finished steps


@rule("R26", "a graph leak", "warning", "updates")
def graph_leak(e: Evidence) -> Iterator[Finding]:
    """A tensor that was computed keeps the graph it came from: a list of losses keeps every step's. backward() frees what the graph saved,
    unless it was told to retain it, but the nodes stay; with retain_graph=True, or without a backward call, all arrays stay too.
    loss.item() is a number and keeps nothing. Known exactly: weak references to where backward calls of finished steps began.
    """
    kept, whole = e.kept_roots
    if kept <= _MOST:
        return
    holder = e.holder_of_roots
    name = f"`{holder}`" if holder else "Something"
    code = f"{holder}.append(loss.item())" if holder and holder.isidentifier() else "losses.append(loss.item())"
    yield Finding(
        f"{kept} finished steps are kept",
        f"{name} keeps the losses of **{kept}** finished steps"
        + (f", {whole} of them with their whole graph and all its arrays." if whole else ", each with a node of its graph."),
        "A loss that is kept as a tensor keeps the graph that it came from" + (", here not freed by `backward()`." if whole else "."),
        "Keep numbers.",
        code,
        numbers=(Number("finished steps alive", float(kept), f"limit {_MOST}"),),
        subject="roots",
        severity="warning" if whole else "info",
    )
