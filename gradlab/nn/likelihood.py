"""Losses that are the likelihood of a distribution, as modules; the formulas are in `ops`."""

from __future__ import annotations

from typing import Any, Literal

from .. import ops
from .._tensor import Tensor, TensorLike
from ..ops.argument import need_number, whole
from .loss import Loss, Reduction


class KLDivLoss(Loss):
    """t (log t - input), for log-probabilities as input: how far they are from the distribution t.

    Args:
        reduction: "batchmean" is the definition; "mean" divides by all entries.
        log_target: the target holds log-probabilities too.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.

    Source: Kullback and Leibler 1951, "On information and sufficiency".
    """

    reductions = ("mean", "batchmean", "sum", "none")

    def __init__(self, reduction: Literal["mean", "batchmean", "sum", "none"] = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)  # pyright: ignore[reportArgumentType]  # one of its own `reductions`
        self.log_target = log_target

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.kl_div(input, target, self.reduction, self.log_target)


class PoissonNLLLoss(Loss):
    """e^input - target input, for the logarithm of a rate and counts; without `log_input` the rate itself.

    Args:
        full: whether Stirling's approximation of log(target!) is added.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        need_number("PoissonNLLLoss", eps=eps)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.poisson_nll_loss(input, target, self.log_input, self.full, self.eps, self.reduction)


class GaussianNLLLoss(Loss):
    """(log var + (input - target)^2 / var) / 2: for a mean and a variance that are both learned.

    Args:
        full: whether log(2 pi) / 2 is added.
        eps: the least variance.

    Shapes: input and target: (*), alike, var: as input, or with a last axis of 1 or none, or one number; y: ()

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.

    Source: Nix and Weigend 1994, "Estimating the mean and variance of the target probability distribution".
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        need_number("GaussianNLLLoss", eps=eps)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: TensorLike, var: TensorLike | float) -> Tensor:
        return ops.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class CTCLoss(Loss):
    """-log of the probability of all ways to read the labels from a longer sequence, blanks and repeats left out.

    Args:
        blank: the class id of the blank.
        zero_infinity: make impossible readings, too short sequences, count for nothing.

    Shapes: log_probs: (time, batch, classes), targets: (batch, labels) or all in one row; lengths: (batch,)

    Raises:
        LabelError: a class id that is none of the classes.
        ArgumentError: an unknown reduction.

    Source: Graves et al. 2006, "Connectionist temporal classification".
    """

    def __init__(self, blank: int = 0, reduction: Reduction = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = whole("blank", blank), zero_infinity

    def forward(self, log_probs: Tensor, targets: TensorLike, input_lengths: Any, target_lengths: Any) -> Tensor:
        return ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)
