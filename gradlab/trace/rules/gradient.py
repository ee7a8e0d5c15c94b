"""R2 and R3: gradients that fade on the way down, and gradients that grow."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, Trend
from .rule import graded, rule
from .weight import Weight, weights

_FADES = 1e-3  # RMS of the first layer's gradient over that of the last
_SMALL = 1e-6  # RMS of the first layer's gradient; where the optimizer divides by it, 10 times its usual eps of 1e-8
_SMALL_SCALE_FREE = 1e-7
_LOOKED_AT, _ENOUGH = 10, 5  # of so many observations, in so many

_LEAPS = 10.0  # times the running mean
_LARGE = 1e3
_DOUBLES, _IN_A_ROW = 2.0, 5
_MEMORY = 50  # steps of the running mean
_PACE = 1e-2  # of update:weight: where the parameters move less, a large gradient does no harm


@rule("R2", "vanishing gradient", "warning", "gradients")
def vanishing(e: Evidence) -> Iterator[Finding]:
    """Each layer multiplies the gradient on its way to the first one. Where the factors are below one, a deep network's first layers
    get nothing to learn from. A sigmoid takes at least three quarters away, and so does a weight that is too small. Sources: Glorot
    and Bengio 2010; He et al. 2015, arXiv:1502.01852, which keeps the factor at one; thresholds after SageMaker Debugger and AUTOTRAINER.
    """
    found = weights(e)
    if len(found) < 2:
        return
    first, last = found[0], found[-1]
    steps, low = _rms(e, first)
    others, high = _rms(e, last)
    both = np.intersect1d(steps, others)[-_LOOKED_AT:]
    if len(both) < _ENOUGH:
        return
    low, high = low[np.isin(steps, both)], high[np.isin(others, both)]
    limit = _SMALL_SCALE_FREE if first.scale_free else _SMALL
    hits = int(((low < limit) & (low < _FADES * high)).sum())
    if hits < _ENOUGH:
        return
    size, ratio = float(np.median(low)), float(np.median(low / np.maximum(high, 1e-45)))
    edge = _edge(e, smallest=True)
    way = f"From `{last.label}` to `{first.label}` the gradient"
    why = f"{way} fades by a factor of {1 / ratio:.1e}." if ratio else f"{way} becomes so small that float32 holds nothing of it."
    if edge is not None:
        i, gain = edge
        why += f" The steepest way is through {e.graph.at(i)}, which hands on {f'{gain:.2g}' if gain else 'nothing'} of it."
    bend = "" if edge is None else e.graph.ops[edge[0]]["name"]
    yield Finding(
        "Gradients vanish",
        f"`{first.label}` gets a gradient of **{size:.1e}** an entry, {ratio:.0e} of that of `{last.label}`."
        if size
        else f"`{first.label}` gets a gradient of exactly **0**, `{last.label}` one of {float(np.median(high)):.1e} an entry.",
        why,
        "Let the layers hand gradients on: ReLU or GELU with He initialisation, a norm, or a way around each block.",
        _gentler(bend),
        trend=Trend.of(f"rms gradient of {first.label}", (both, low), low=limit),
        numbers=(
            Number("rms gradient, first layer", size, f"at least {limit:.0e}"),
            Number("first : last", ratio, f"at least {_FADES:.0e}"),
        ),
        op=None if edge is None else edge[0],
        leaf=first.leaf,
        parameter=first.label,
        where="" if edge is None else e.graph.where(edge[0]),
        step=int(both[-1]),
    )


@rule("R3", "exploding gradient", "warning", "gradients")
def exploding(e: Evidence) -> Iterator[Finding]:
    """Where the layers' factors are above one, or a recurrent weight is applied many times, gradients grow; one such step throws the
    parameters far off. Clipping the norm keeps the direction and limits the length. Sources: Pascanu et al. 2013, arXiv:1211.5063;
    thresholds after TheDeepChecker and torchmortem. Leaps are held against the first steps too: late in training the mean is so small
    that a single hard example leaps over it.
    """
    steps, norms = e.column("grad_norm")
    finite = np.isfinite(norms)
    overflown = int((~finite[-10:]).sum())
    steps, norms = steps[finite], norms[finite]
    if len(norms) + overflown < 2 or not len(norms):
        return
    usual = max(float(np.median(norms)), 1e-45)
    p90 = float(np.percentile(norms, 90))
    start = e.early("grad_norm")[1][:20]
    start = start[np.isfinite(start)]
    least = float(np.median(start)) if len(start) else 0.0
    mean, leaps = float(norms[0]), []
    for k, g in enumerate(norms.tolist()):
        if k >= 5 and g > _LEAPS * max(mean, least):
            leaps.append(k)
        mean += (min(g, _LEAPS * mean) - mean) * 2 / (min(k + 1, _MEMORY) + 1)
    leaps = [k for k in leaps if k >= len(norms) - 100]
    large = int((norms[-10:] > _LARGE).sum()) if _moves_much(e) else 0
    large += overflown if large else 0
    tail = norms[-_IN_A_ROW - 1 :]
    doubles = len(tail) == _IN_A_ROW + 1 and bool((tail[1:] > _DOUBLES * tail[:-1]).all())
    severity = "warning" if doubles else graded(max(len(leaps), large), "warning")
    if severity is None:
        return
    peak = float(norms[leaps].max()) if leaps else float(norms[-10:].max())
    if doubles:
        verdict = f"The norm of all gradients at least doubled in each of the last {_IN_A_ROW} steps, to **{tail[-1]:.3g}**."
    elif leaps:
        many = f", {len(leaps)} times in the last {min(len(norms), 100)} steps" if len(leaps) > 1 else ""
        verdict = f"The norm of all gradients leapt to **{peak:.3g}**, usual is {usual:.3g}{many}."
    else:
        verdict = f"The norm of all gradients is **{peak:.3g}**."
    edge = _edge(e, smallest=False)
    yield Finding(
        "Gradients explode",
        verdict,
        "" if edge is None else f"On the way back it grows most through {e.graph.at(edge[0])}: {edge[1]:.3g} times.",
        f"Clip the norm, for instance at {_round(p90 if leaps else usual)}, and see to the learning rate and to the first weights.",
        _clip(p90 if leaps and not large else min(usual, 1.0)),
        trend=Trend.of("norm of all gradients", (steps, norms), high=_LEAPS * usual if leaps else _LARGE),
        numbers=(
            Number("largest norm", peak, f"at most {_LEAPS:.0f} times the usual {usual:.3g}" if leaps else f"at most {_LARGE:.0f}"),
            Number("90 % of steps are below", p90),
        ),
        op=None if edge is None else edge[0],
        where="" if edge is None else e.graph.where(edge[0]),
        step=int(steps[leaps[-1]] if leaps else steps[-1]),
        severity=severity,
    )


def _rms(e: Evidence, weight: Weight) -> tuple[np.ndarray, np.ndarray]:
    steps, norms = e.measured(f"g/{weight.label}")
    return steps, norms / sqrt(weight.size)


def _moves_much(e: Evidence) -> bool:
    """Whether updates are large too, or unknown: Adam's do not depend on the size of gradients."""
    found = [e.measured(f"u/{w.label}")[1][-10:] for w in weights(e)]
    seen = [float(np.median(u)) for u in found if len(u)]
    return not seen or max(seen) > _PACE


def _edge(e: Evidence, *, smallest: bool) -> tuple[int, float] | None:
    """The op of the step on show that lets through the smallest, or largest, part of the gradient that comes to it, per entry."""
    numbers, graph, best = e.numbers, e.graph, None
    known = numbers.op_has & 2
    rms = [float(g) / sqrt(max(prod(op["shape"]), 1)) for g, op in zip(numbers.ops[:, 1], graph.ops, strict=False)]
    for i, op in enumerate(graph.ops[: len(rms)]):
        if not known[i] or not rms[i] > 0 or op["kind"] == "loss":
            continue
        # A reduction spreads one gradient over many entries, and a product with many rows sums: only what bends or multiplies counts.
        if op["kind"] not in ("elementwise", "matmul") or prod(op["shape"]) == 1:
            continue
        for kind, of in op["inputs"]:
            if kind == "op" and of < len(rms) and known[of] and np.isfinite(rms[of]) and len(graph.readers[of]) == 1:
                gain = rms[of] / rms[i]
                if best is None or ((gain < best[1]) == smallest and gain != best[1]):
                    best = i, gain
    return best


def _gentler(name: str) -> str:
    if name in ("sigmoid", "tanh"):
        return f"h = F.relu(self.fc(x))  # in place of {name}"
    return "for p in model.parameters():\n    if p.ndim > 1:\n        nn.init.kaiming_normal_(p, nonlinearity='relu')"


def _round(value: float) -> str:
    return f"{value:.2g}"


def _clip(at: float) -> str:
    return f"loss.backward()\nnn.utils.clip_grad_norm_(model.parameters(), {_round(at)})\noptimizer.step()"
