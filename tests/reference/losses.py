"""Calls of the losses, with each reduction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradlab import ops

from .chooser import Call, Chooser, call, still
from .table import rows


def reduction(c: Chooser) -> str | None:
    """mean by default, or by name."""
    return c.pick(None, "mean", "sum", "none")


def pair(lo: float = -2.0, hi: float = 2.0, tlo: float = -2.0, thi: float = 2.0) -> Callable[[Chooser], Call]:
    """Input and target of one shape."""
    return lambda c: call(c.floats(*(s := c.shape()), lo=lo, hi=hi), c.floats(*s, lo=tlo, hi=thi), reduction=reduction(c))


def sided(c: Chooser) -> Any:
    """Targets of -1 and 1."""
    return still(np.where(c.bools(4), 1.0, -1.0))


def classes(c: Chooser) -> Call:
    """(N, C, d...) logits and class ids, weighted, with an id to leave out, smoothed."""
    n, size, rest = c.whole(1, 3), c.whole(2, 4), c.shape(0, 2, side=2, empty=False)
    batch = c.pick((n,), (n,), ())
    rest = rest if batch else ()
    return call(
        c.floats(*batch, size, *rest), c.ints(*batch, *rest, hi=size), weight=c.pick(None, still(c.floats(size, lo=0.2))),
        ignore_index=c.pick(None, None, 0), reduction=reduction(c), label_smoothing=c.pick(None, 0.1),
    )  # fmt: skip


def soft(c: Chooser) -> Call:
    """Class probabilities as targets."""
    shape = (c.whole(1, 3), 3, *c.shape(0, 1, empty=False))
    p = np.exp(c.floats(*shape))
    return call(
        c.floats(*shape),
        p / p.sum(1, keepdims=True),
        weight=c.pick(None, still(c.floats(3, lo=0.2))),
        reduction=reduction(c),
        label_smoothing=c.pick(None, 0.1),
    )


def likely(c: Chooser) -> Call:
    """Log-probabilities and class ids."""
    n, size, rest = c.whole(1, 3), c.whole(2, 4), c.shape(0, 2, side=2, empty=False)
    return call(
        c.floats(n, size, *rest),
        c.ints(n, *rest, hi=size),
        weight=c.pick(None, still(c.floats(size, lo=0.2))),
        ignore_index=c.pick(None, 0),
        reduction=reduction(c),
    )


rows("mse_loss l1_loss", pair())
rows(
    "smooth_l1_loss",
    lambda c: call(c.floats(*(s := c.shape())), c.floats(*s), beta=c.pick(None, 0.5, 0.0), reduction=reduction(c)),
)
rows(
    "huber_loss",
    lambda c: call(c.floats(*(s := c.shape())), c.floats(*s), delta=c.pick(None, 0.5), reduction=reduction(c)),
)
rows("binary_cross_entropy", pair(0.05, 0.95, 0.0, 1.0))
rows(
    "binary_cross_entropy",
    lambda c: (
        lambda s: call(
            c.floats(*s, lo=0.1, hi=0.9), c.floats(*s, lo=0.0, hi=1.0), weight=still(c.floats(*s, lo=0.1)), reduction=reduction(c)
        )
    )(c.shape()),
)
rows("binary_cross_entropy_with_logits", pair(-4.0, 4.0, 0.0, 1.0))
rows(
    "binary_cross_entropy_with_logits",
    lambda c: (
        lambda s: call(c.floats(*s), c.floats(*s, lo=0.0, hi=1.0), pos_weight=still(c.floats(s[-1], lo=0.5)), reduction=reduction(c))
    )(c.shape(1)),
)
rows("cross_entropy", classes)
rows("cross_entropy", soft)
rows("nll_loss", likely)
rows(
    "kl_div",
    lambda c: (
        lambda s: call(
            c.floats(*s, hi=0.0), c.floats(*s, lo=0.1), reduction=c.pick(None, "batchmean", "sum", "none"), log_target=c.pick(None, False)
        )
    )(c.shape(1, empty=False)),
)
rows(
    "kl_div",
    lambda c: (lambda s: call(c.floats(*s, hi=0.0), c.floats(*s, hi=0.0), reduction=c.pick("batchmean", "sum", "none"), log_target=True))(
        c.shape(1, empty=False)
    ),
)
rows(
    "poisson_nll_loss",
    lambda c: (lambda s: call(c.floats(*s), c.floats(*s, lo=0.1, hi=3.0), log_input=c.flag(), full=c.flag(), reduction=reduction(c)))(
        c.shape()
    ),
)
rows(
    "gaussian_nll_loss",
    lambda c: call(c.floats(*(s := c.shape(1))), c.floats(*s), c.floats(*s, lo=0.2), full=c.flag(), reduction=reduction(c)),
)
rows("soft_margin_loss", lambda c: call(c.floats(4), sided(c), reduction=reduction(c)))
rows("hinge_embedding_loss", lambda c: call(c.floats(4), sided(c), margin=c.pick(None, 0.5), reduction=reduction(c)))
rows("margin_ranking_loss", lambda c: call(c.floats(4), c.floats(4), sided(c), margin=c.pick(None, 0.5), reduction=reduction(c)))
rows(
    "multi_margin_loss",
    lambda c: call(c.floats(4, 3), c.ints(4, hi=3), p=c.pick(None, 2), margin=c.pick(None, 0.5), reduction=reduction(c)),
)
rows(
    "multilabel_margin_loss",
    lambda c: call(c.floats(2, 3), np.array(c.pick([[0, 2, -1], [1, -1, 0]], [[2, 1, 0], [-1, 0, 1]])), reduction=reduction(c)),
)
rows(
    "multilabel_soft_margin_loss",
    lambda c: call(c.floats(3, 2), still(np.floor(c.floats(3, 2, lo=0.0))), reduction=reduction(c)),
)
rows(
    "cosine_embedding_loss",
    lambda c: call(c.floats(4, 3), c.floats(4, 3), sided(c), margin=c.pick(None, 0.2), reduction=reduction(c)),
)
rows(
    "triplet_margin_loss",
    lambda c: call(
        c.floats(4, 3), c.floats(4, 3), c.floats(4, 3), margin=c.pick(None, 0.5), swap=c.pick(None, True), reduction=reduction(c)
    ),
)
rows("cosine_similarity", lambda c: call(c.floats(*(s := c.shape(1, empty=False)), gap=0.1), c.floats(*s, gap=0.1), dim=c.dim(s)))
rows(
    "pairwise_distance",
    lambda c: call(c.floats(*(s := (c.whole(1, 3), 3))), c.floats(*s), p=c.pick(None, 1.0, 3.0), keepdim=c.pick(None, True)),
)
rows("cdist", lambda c: call(c.floats(c.whole(1, 3), 2), c.floats(c.whole(1, 3), 2), p=c.pick(2.0, 1.0, 3.0)))


def _theirs_of_scores(torch: Any, x: Any, *rest: Any, **options: Any) -> Any:
    return torch.nn.functional.ctc_loss(x.log_softmax(-1), *rest, **options)


def aligned(c: Chooser) -> Call:
    """Sequences of classes shorter than the steps that may say them."""
    steps, batch, size = c.whole(3, 5), c.whole(1, 2), 3
    return call(
        c.floats(steps, batch, size), 1 + c.ints(batch, 2, hi=size - 1), [steps] * batch, [2] * batch,
        reduction=c.pick(None, "sum", "none"), zero_infinity=True,
    )  # fmt: skip


# PyTorch's gradient takes the log-probabilities for those of a softmax, so that only what is before one can be compared.
rows("ctc_loss", aligned, _theirs_of_scores, ours=lambda x, *rest, **options: ops.ctc_loss(ops.log_softmax(x, -1), *rest, **options))
rows(
    "triplet_margin_with_distance_loss",
    lambda c: call(c.floats(4, 3), c.floats(4, 3), c.floats(4, 3), margin=c.pick(None, 0.5), reduction=reduction(c)),
)
