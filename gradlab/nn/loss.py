"""Losses as modules; the formulas are in `ops`.

Every one takes `reduction`: "mean", "sum", or "none" for one loss an entry or a row, and refuses shapes that would broadcast.
"""

from __future__ import annotations

import inspect
from typing import Literal

from .. import ops
from .._tensor import Tensor, TensorLike
from ..errors import ArgumentError, explain
from ..ops.argument import need_number, whole
from .module import Module

Reduction = Literal["mean", "sum", "none"]


class Loss(Module):
    """What losses share: how the losses of entries or rows become one."""

    reductions: tuple[str, ...] = ("mean", "sum", "none")

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        name = type(self).__name__
        if reduction not in self.reductions:
            words = ", ".join([repr(word) for word in self.reductions[:-1]])
            need = f"{words} or {self.reductions[-1]!r}"
            raise ArgumentError(explain(f"{name}: unknown reduction", got={"reduction": repr(reduction)}, need=need))
        self.reduction = reduction

    def extra_repr(self) -> str:
        options = inspect.signature(type(self).__init__).parameters.values()
        pairs = [(p.name, getattr(self, p.name, p.default), p.default) for p in options if p.default is not p.empty]
        return ", ".join([f"{name}={value!r}" for name, value, usual in pairs if not isinstance(value, Tensor) and value != usual])


class Weighted(Loss):
    """What losses share that take one factor a class, or an entry: a buffer, moved and saved with the module."""

    def __init__(self, weight: Tensor | None = None, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)


class CrossEntropyLoss(Weighted):
    """-log softmax(logits)[class]: how surprised the model is by the right class.

    Takes raw scores (logits), not probabilities.

    Args:
        weight: one factor a class.
        ignore_index: rows with this class id count for nothing.
        reduction: "mean" over the rows that count, "sum", or "none" for one loss a row.
        label_smoothing: the share of the target that is spread over all classes.

    Shapes: logits: (batch, classes, *), target: (batch, *) class ids or (batch, classes, *) probabilities

    Raises:
        LabelError: a class id that is none of the classes, nor `ignore_index`.

    >>> round(CrossEntropyLoss()(Tensor([[0.0, 0.0]]), [0]).item(), 4)
    0.6931
    """

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: Reduction = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(weight, reduction)
        need_number("CrossEntropyLoss", label_smoothing=label_smoothing)
        if not 0 <= label_smoothing <= 1:
            got = {"label_smoothing": label_smoothing}
            raise ArgumentError(explain("CrossEntropyLoss: label_smoothing is a share", got=got, need="0 <= label_smoothing <= 1"))
        self.ignore_index, self.label_smoothing = whole("ignore_index", ignore_index), label_smoothing

    def forward(self, logits: Tensor, target: TensorLike) -> Tensor:
        return ops.cross_entropy(logits, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(Weighted):
    """-log p[class], for log-probabilities, as LogSoftmax gives them.

    Args:
        weight: one factor a class.
        ignore_index: rows with this class id count for nothing.

    Shapes: log_probs: (batch, classes, *), target: (batch, *) class ids

    Raises:
        LabelError: a class id that is none of the classes, nor `ignore_index`.
    """

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: Reduction = "mean") -> None:
        super().__init__(weight, reduction)
        self.ignore_index = whole("ignore_index", ignore_index)

    def forward(self, log_probs: Tensor, target: TensorLike) -> Tensor:
        return ops.nll_loss(log_probs, target, self.weight, self.ignore_index, self.reduction)


class MSELoss(Loss):
    """(input - target)^2, averaged: both must have the same shape.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.

    >>> MSELoss()(Tensor([1.0, 3.0]), Tensor([1.0, 1.0])).item()
    2.0
    """

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.mse_loss(input, target, self.reduction)


class L1Loss(Loss):
    """|input - target|, averaged: both must have the same shape.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.l1_loss(input, target, self.reduction)


class SmoothL1Loss(Loss):
    """d^2 / (2 beta) where |d| = |input - target| is below `beta`, else |d| - beta / 2.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.

    Source: Girshick 2015, arXiv:1504.08083, eq. 3.
    """

    def __init__(self, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        need_number("SmoothL1Loss", beta=beta)
        self.beta = beta

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.smooth_l1_loss(input, target, self.reduction, self.beta)


class HuberLoss(Loss):
    """d^2 / 2 where |d| = |input - target| is below `delta`, else delta (|d| - delta / 2).

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.

    Source: Huber 1964, "Robust estimation of a location parameter".
    """

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        need_number("HuberLoss", delta=delta)
        self.delta = delta

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(Weighted):
    """-(t log p + (1 - t) log(1 - p)), for probabilities p: yes or no, entry by entry.

    Args:
        weight: one factor an entry, broadcast.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(Weighted):
    """BCELoss of sigmoid(input), in a form that doesn't overflow.

    Args:
        weight: one factor an entry, broadcast.
        pos_weight: how much more a yes counts, broadcast.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def __init__(self, weight: Tensor | None = None, reduction: Reduction = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(weight, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)
