"""R16 and R17: what a trainer's validation says: a model that learns by heart, and one that is too good to be true."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .evidence import Evidence
from .finding import Finding, Number, Trend, percent
from .rule import rule

_EVALS = 3  # in which validation was worse than it had been, and training better
_GAP = 0.2  # of the loss in training
_RISE = 0.1  # of the best loss of validation
_FELT = 0.02  # of the first loss: less is nothing to act on
_EARLY = 3  # epochs in which numbers say little
_PERFECT, _AHEAD = 0.999, 0.05


@rule("R16", "overfitting", "warning", "validation")
def overfitting(e: Evidence) -> Iterator[Finding]:
    """A model that goes on to become better on what it learns from and worse on what it never saw learns the samples by heart, noise and
    all. The turning point is what early stopping looks for. That validation is worse than training is normal; that it becomes worse is
    not. Sources: SageMaker Debugger's Overfit (a gap of 0.1 of the training loss) and UMLAUT (validation up, training not); AUTOTRAINER.
    Here the gap has to be 0.2, and the last three validations 10 % above the best one while the training loss fell.
    """
    steps, train, val = e.validated("loss")
    if len(val) <= _EVALS or not (np.isfinite(train).all() and np.isfinite(val).all()):
        return
    best = int(val.argmin())
    tail_train, tail_val = train[-_EVALS:], val[-_EVALS:]
    gap = (float(tail_val.mean()) - float(tail_train.mean())) / max(abs(float(tail_train.mean())), 1e-45)
    level = float(val[best])
    rise = float(tail_val.mean()) - level
    if len(val) - 1 - best < _EVALS or gap <= _GAP or not (tail_val > level).all() or not tail_train.mean() < train[best]:
        return
    share = rise / max(abs(level), 1e-45)
    clear = share > _RISE and rise > _FELT * abs(float(train[0]))
    if not clear and not (np.diff(val[-_EVALS - 1 :]) > 0).all():
        return
    yield Finding(
        "It learns by heart",
        f"Since epoch {best + 1} the loss in validation rose from {level:.3g} to **{tail_val[-1]:.3g}**, while in training it fell"
        f" from {train[best]:.3g} to {tail_train[-1]:.3g}.",
        "What it learns from then on holds for the samples that it learns from, not for others: there are too few of them for so many"
        " parameters, or labels are wrong.",
        "Keep the model of the best epoch; more data, augmentation, dropout or weight decay move the turning point.",
        'callbacks=[gl.EarlyStopping("val_loss", patience=3, restore_best=True)]',
        trend=Trend.of("loss in validation", (steps, val), high=level * (1 + _RISE)),
        numbers=(
            Number("validation above its best", share, f"at most {_RISE:g}"),
            Number("validation above training", gap, f"at most {_GAP:g}"),
        ),
        step=int(steps[-1]),
        severity=None if clear else "info",
    )


@rule("R17", "suspiciously good", "info", "validation")
def too_good(e: Evidence) -> Iterator[Finding]:
    """Results that are too good come from a validation that is not one: samples that are in both parts, an input that holds the answer,
    a part that is easier than the other. Source: UMLAUT remarks on a validation accuracy above 0.95, or 0.05 above the one in training,
    after the third epoch. On MNIST every sound model is above 0.95, so here it has to be 0.999; dropout makes training harder, and
    excuses the rest.
    """
    dropout = any(True for _ in e.graph.find("Dropout", "AlphaDropout", "FeatureDropout"))
    for name in e.validated_names:
        if not name.endswith("accuracy"):
            continue
        steps, train, val = e.validated(name)
        if len(val) <= _EARLY or not np.isfinite(val[-1]):
            continue
        right, ahead = float(val[-1]), float(val[-2:].min() - train[-2:].max())
        if right < _PERFECT and (dropout or not ahead > _AHEAD):
            continue
        perfect = right >= _PERFECT
        yield Finding(
            "Suspiciously good",
            f"`{name}` in validation is **{percent(right, 1)}**"
            + ("." if perfect else f", {percent(ahead, 1)} above the one in training."),
            "Samples may be in both parts, the input may hold the answer, or validation may be the easier part: sorted data cut in two.",
            "Look for samples of validation among those of training, and at what single features say about the target.",
            "seen = {x.tobytes() for x in train_x}\nprint(sum(x.tobytes() in seen for x in val_x), 'of', len(val_x))",
            trend=Trend.of(f"{name} in validation", (steps, val)),
            numbers=(
                Number("in validation", right, f"below {_PERFECT:g}"),
                Number("above training", ahead, f"at most {_AHEAD:g}"),
            ),
            step=int(steps[-1]),
            subject=name,
        )
