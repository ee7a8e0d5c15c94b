"""R27: weight decay where it does harm or not what it says, and a bias that has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence
from .finding import Finding, Number
from .rule import rule

_STRONG = 0.05  # AdamW's 0.01 on everything is common and does little
_NORMS = ("BatchNorm",)


@rule("R27", "weight decay and useless biases", "info", "updates")
def decay(e: Evidence) -> Iterator[Finding]:
    """Decay pulls weights to 0. On the scale of a normalisation, or on a bias, it only fights what these are for. In Adam decay is added to
    the gradient and divided by its size, so weights with large gradients decay least; AdamW decays all alike. And a bias in front of
    a batch normalisation is taken away with the mean. Sources: Loshchilov & Hutter 2019, arXiv 1711.05101; Ioffe & Szegedy 2015.
    """
    for optimizer in e.optimizers:
        for options, held in optimizer.groups:
            wd = options.get("weight_decay", 0.0)
            vectors = [h for h in held if len(h.shape) <= 1 and h.requires_grad]
            if optimizer.cls == "Adam" and wd > 0 and not options.get("decoupled_weight_decay"):
                yield Finding(
                    "Adam's decay is not decoupled",
                    f"`{optimizer.label}` has weight_decay **{wd:g}**, which Adam adds to the gradient and then scales with it.",
                    "Weights with large gradients decay least, whatever the number says.",
                    "Use AdamW, and a decay of about 0.01 to 0.1.",
                    f"optimizer = optim.AdamW(model.parameters(), lr={options.get('lr', 1e-3):g}, weight_decay=0.01)",
                    numbers=(Number("weight_decay", float(wd)),),
                    subject=f"adam {optimizer.label}",
                )
            if wd >= _STRONG and vectors and len(vectors) < len(held):
                yield Finding(
                    "Decay on biases and scales",
                    f"`{optimizer.label}` decays **{len(vectors)}** biases and scales with {wd:g}.",
                    f"For instance `{vectors[0].label}`: pulling it to 0 works against what it is for, and regularises little.",
                    "Put them in a group without decay.",
                    "flat = [p for p in model.parameters() if p.ndim < 2]\nmats = [p for p in model.parameters() if p.ndim > 1]\n"
                    f"optim.{optimizer.cls}([{{'params': mats}}, {{'params': flat, 'weight_decay': 0.0}}], lr=..., weight_decay={wd:g})",
                    numbers=(Number("weight_decay", float(wd), f"limit {_STRONG} on these"),),
                    parameter=vectors[0].label,
                    subject=f"decay {optimizer.label} {vectors[0].label}",
                )
    yield from _useless_bias(e)


def _useless_bias(e: Evidence) -> Iterator[Finding]:
    graph = e.graph
    for i in graph.find(*_NORMS):
        maker = graph.maker(graph.input(i))
        if maker is None:
            continue
        sources = [graph.input(maker, k) for k in range(len(graph.ops[maker]["inputs"]))]
        biases = [j for s in sources if (j := graph.parameter(s)) is not None and len(graph.leaves[j]["shape"]) == 1]
        if graph.ops[maker]["function"] in ("Linear", "Conv", "Add", "AddMM") and biases:
            name = graph.leaves[biases[0]]["name"]
            yield Finding(
                "A bias without effect",
                f"`{name}` has **no effect**: `{graph.title(i)}` takes away the mean of what it is added to.",
                f"{graph.at(i)} follows {graph.at(maker)}.",
                "Leave it out; the normalisation has a bias of its own.",
                "nn.Linear(n, m, bias=False)",
                op=maker,
                leaf=biases[0],
                parameter=name,
                where=graph.where(maker),
                subject=f"bias {name}",
            )
