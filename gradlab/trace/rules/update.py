"""R6 and R23: how far a step moves the weights, and where their size goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, Trend, percent
from .rule import rule
from .weight import Weight, weights

TOO_FAR, TOO_LITTLE = 1e-1, 1e-5
"""Of a weight's own size in one step; 1e-3 is a good pace, 3e-4 to 5e-3 usual."""

_SETTLED = 10  # steps at the start that are not looked at
_LOOKED_AT, _ENOUGH = 16, 5
_BORN_SMALL = 0.05  # of 1 / sqrt(fan in): a weight that starts below that is as good as zero
_GROWN = 5.0
_SHRUNK = 0.5
_DECAY_WINS, _DECAY_STEPS = 1.0, 20
_LOW, _WARMS_OVER = 0.1, 20
_USUAL = {"SGD": 1.0, "Adagrad": 0.1, "RMSprop": 0.01}  # of Adam and the like 1e-3
_LEARNED = 0.5  # of the first loss: below it training goes well enough not to speak of decay


def paces(e: Evidence) -> list[tuple[Weight, float]]:
    """Per weight the median of update:weight over the newest observations; those left out that began at zero or were seen too seldom."""
    found = []
    for weight in weights(e):
        steps, ratios = e.measured(f"u/{weight.label}")
        ratios = ratios[(steps > _SETTLED) & np.isfinite(ratios)][-_LOOKED_AT:]
        if len(ratios) >= _ENOUGH and not _began_at_zero(e, weight):
            found.append((weight, float(np.median(ratios))))
    return found


def progress(e: Evidence) -> float | None:
    """The loss of the newest steps as a share of that of the first; None where either is unknown or not above 0."""
    start, now = e.early("loss")[1][:5], e.losses[1][-20:]
    start, now = start[np.isfinite(start)], now[np.isfinite(now)]
    if not len(start) or not len(now) or np.median(start) <= 0:
        return None
    return float(np.median(now) / np.median(start))


def rates(e: Evidence) -> list[np.ndarray]:
    """The learning rates of the newest steps, an array for each optimizer that has one."""
    found = [e.column(f"lr/{facts.label}")[1] for facts in e.optimizers]
    return [rates for rates in found if len(rates) and np.isfinite(rates).all()]


def held_low(e: Evidence) -> bool:
    """Whether a schedule has brought a rate to less than a tenth of its largest, or is on its way up: then short steps are meant."""
    largest = [
        max(float(e.early(f"lr/{facts.label}")[1].max(initial=0.0)), *(_largest(options) for options, _ in facts.groups), 0.0)
        for facts in e.optimizers
    ]
    now = rates(e)
    return any(r[-1] < _LOW * max(r.max(), *largest) or r[-1] > r[max(-len(r), -_WARMS_OVER)] for r in now)


def usual_rate(weight: Weight) -> float:
    """The largest learning rate that one begins with."""
    return _USUAL.get(weight.optimizer, 1e-3)


def _largest(options: Mapping[str, Any]) -> float:
    noted = [options.get(key) for key in ("initial_lr", "max_lr")]
    return max([float(rate) for rate in noted if isinstance(rate, (int, float))], default=0.0)


@rule("R6", "update:weight out of range", "warning", "updates", "optimizer")
def pace(e: Evidence) -> Iterator[Finding]:
    """How far a step moves a weight, as a share of its size: about a thousandth is a good pace. Far more, and a step overwrites what
    the weight knew; far less, and it learns nothing. It is the real change that is measured, after momentum, Adam's division and decay.
    Weights that begin at zero and the first 10 steps are left out, and short steps that a schedule of the rate asks for. Sources:
    CS231n, notes on neural networks 3; makemore part 3.
    """
    found = paces(e)
    if not found:
        return
    gone = progress(e)
    learns = gone is not None and gone < _LEARNED  # then long steps are a rate that is still high, as at the start of a run
    far = [(w, u) for w, u in found if u > (3 if learns else 1) * TOO_FAR]
    little = [(w, u) for w, u in found if u < TOO_LITTLE]
    if far:
        weight, u = max(far, key=lambda one: one[1])
        how = "" if len(far) == 1 else f", and {len(far) - 1} more of {len(found)} matrices likewise"
        text = f"The latest steps move `{weight.label}` by **{percent(u)}** of its size{how}."
        yield _finding(e, weight, u, "Updates are too large", text, True)
    elif len(little) * 2 > len(found) and (gone is None or gone > _LEARNED) and not held_low(e) and not e.asleep:
        weight, u = min(little, key=lambda one: one[1])
        text = f"The latest steps move `{weight.label}` by only **{u:.1e}** of its size, {len(little)} of {len(found)} matrices likewise."
        yield _finding(e, weight, u, "Updates are tiny", text, False)


def _finding(e: Evidence, weight: Weight, u: float, title: str, verdict: str, high: bool) -> Finding:
    lr = weight.options.get("lr")
    code, limit = "", f"good 3e-4 to 5e-3, at {f'most {TOO_FAR:g}' if high else f'least {TOO_LITTLE:g}'}"
    if isinstance(lr, (int, float)) and lr > 0 and u > 0 and (high or lr < usual_rate(weight)):
        new = lr * 2e-3 / u if high else min(lr * 2e-3 / u, usual_rate(weight))
        code = f"# lr is {lr:g} now\noptimizer = gl.optim.{weight.optimizer}(model.parameters(), lr={new:.1g})"
    return Finding(
        title,
        verdict,
        "A step of this length overwrites what the weight has learned." if high else "At this pace the weights stay as they were made.",
        "Lower the learning rate." if high else "Raise the learning rate, and see that gradients arrive.",
        code,
        trend=Trend.of(
            f"update : weight of {weight.label}",
            e.measured(f"u/{weight.label}"),
            low=None if high else TOO_LITTLE,
            high=TOO_FAR if high else None,
        ),
        numbers=(Number("update : weight", u, limit),),
        leaf=weight.leaf,
        parameter=weight.label,
        step=e.step,
        subject="large" if high else "tiny",
        severity="error" if high and u > 1 else "warning",
    )


@rule("R23", "weights grow, or decay wins", "warning", "updates")
def growth(e: Evidence) -> Iterator[Finding]:
    """Weights that grow to many times their first size are driven by steps that are too large, or by a loss without a bound. The
    opposite is decay: where it pulls more than the gradient does, the network forgets faster than it learns. Sources: torchmortem
    (norm 10 times the start), TheDeepChecker; Loshchilov and Hutter 2019, arXiv:1711.05101, on decay beside Adam.
    """
    yield from _grown(e)
    yield from _decayed(e)


def _grown(e: Evidence) -> Iterator[Finding]:
    grown = []
    for weight in weights(e):
        first, now = _first(e, weight), e.measured(f"w/{weight.label}")[1]
        if first and len(now) >= 2 and not _began_at_zero(e, weight):
            times = float(min(now[-2:]) / max(first, sqrt(weight.size / _fan_in(weight))))
            if times > _GROWN:
                grown.append((times, weight))
    if grown:
        times, weight = max(grown)[0], max(grown, key=lambda one: one[0])[1]
        yield Finding(
            "Weights have blown up",
            f"`{weight.label}` is **{times:.3g} times** as large as at the start, or as is usual for its inputs"
            + ("." if len(grown) == 1 else f", {len(grown)} matrices more than {_GROWN:g} times."),
            "Steps that are too large, or a loss that falls for ever as weights grow.",
            "Lower the learning rate; a little weight decay bounds the weights.",
            _with(weight, "lr", 0.1) or _with(weight, "weight_decay", None),
            trend=Trend.of(f"size of {weight.label}", e.measured(f"w/{weight.label}"), high=_GROWN * (_first(e, weight) or 0.0)),
            numbers=(Number("size : usual size", times, f"at most {_GROWN:g}"),),
            leaf=weight.leaf,
            parameter=weight.label,
            step=e.step,
            subject="grown",
        )


def _decayed(e: Evidence) -> Iterator[Finding]:
    gone = progress(e)
    if gone is not None and gone < _LEARNED:
        return
    for weight in weights(e):
        first, (steps, sizes) = _first(e, weight), e.measured(f"w/{weight.label}")
        if not first or len(sizes) < 3 or sizes[-1] > _SHRUNK * first or steps[-1] - steps[0] < _DECAY_STEPS:
            continue
        ratio = _decay_ratio(e, weight)
        if ratio is not None and ratio > _DECAY_WINS:
            decay = weight.options["weight_decay"]
            yield Finding(
                "Weight decay wins",
                f"Decay moves `{weight.label}` **{ratio:.2g} times** as far as the gradient does.",
                f"weight_decay={decay:g} pulls every weight to zero faster than the loss pulls it anywhere.",
                "Make weight_decay smaller; 0.01 is usual for AdamW, 1e-4 for SGD.",
                _with(weight, "weight_decay", 0.01 if weight.scale_free else 1e-4),
                trend=Trend.of(f"size of {weight.label}", (steps, sizes), low=_SHRUNK * first),
                numbers=(
                    Number("decay : gradient", ratio, f"at most {_DECAY_WINS:g}"),
                    Number("size : first size", float(sizes[-1] / first)),
                ),
                leaf=weight.leaf,
                parameter=weight.label,
                step=e.step,
                subject="decay",
            )
            return


def _decay_ratio(e: Evidence, weight: Weight) -> float | None:
    """What decay adds to an update over what the gradient adds, in the middle of the newest observations."""
    decay, lr = weight.options.get("weight_decay"), weight.options.get("lr")
    if not isinstance(decay, (int, float)) or not decay or not isinstance(lr, (int, float)):
        return None
    if weight.options.get("decoupled_weight_decay"):
        u = e.measured(f"u/{weight.label}")[1][-10:]
        u = u[np.isfinite(u)]
        # All of an update is decay and gradient part: where it is no longer than twice the decay, the gradient's part is shorter.
        return None if len(u) < 3 else lr * decay / max(abs(float(np.median(u)) - lr * decay), 1e-3 * lr * decay)
    at, g = e.measured(f"g/{weight.label}")
    steps, w = e.measured(f"w/{weight.label}")
    both = np.intersect1d(at, steps)[-10:]
    if len(both) < 3:
        return None
    g, w = g[np.isin(at, both)], w[np.isin(steps, both)]
    return float(np.median(decay * w / np.maximum(g, 1e-45)))


def _first(e: Evidence, weight: Weight) -> float | None:
    sizes = e.early(f"w/{weight.label}")[1]
    return float(sizes[0]) if len(sizes) and np.isfinite(sizes[0]) and sizes[0] > 0 else None


def _began_at_zero(e: Evidence, weight: Weight) -> bool:
    """Whether the weight began so small that any step is a large one."""
    first = _first(e, weight)
    return first is None or first / sqrt(weight.size) < _BORN_SMALL / sqrt(_fan_in(weight))


def _fan_in(weight: Weight) -> float:
    """How many inputs a unit has: of a matrix, which may lie either way, the larger side."""
    return max(weight.size / max(weight.shape[0], 1), weight.shape[0])


def _with(weight: Weight, option: str, value: float | None) -> str:
    now = weight.options.get(option)
    if not weight.optimizer or not isinstance(now, (int, float)):
        return ""
    new = now * value if option == "lr" and value else value
    if new is None:
        return ""
    return f"# {option} is {now:g} now\noptimizer = gl.optim.{weight.optimizer}(model.parameters(), {option}={new:.2g})"
