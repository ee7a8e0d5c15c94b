"""Losses as modules; the formulas are in `ops.loss`."""

from __future__ import annotations

from typing import Literal

from .. import ops
from .._tensor import Tensor
from ..errors import ArgumentError, explain
from ..ops.argument import need_number
from .module import Module

Reduction = Literal["mean", "sum", "none"]


def _checked(name: str, reduction: Reduction) -> Reduction:
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(explain(f"{name}: unknown reduction", got={"reduction": reduction}, need="'mean', 'sum' or 'none'"))
    return reduction


class CrossEntropyLoss(Module):
    """-log softmax(logits)[class]: how surprised the model is by the right class.

    Takes raw scores (logits), not probabilities.

    Args:
        weight: one factor a class.
        ignore_index: rows with this class id count for nothing.
        reduction: "mean" over the rows that count, "sum", or "none" for one loss a row.
        label_smoothing: the share of the target that is spread over all classes.

    Shapes: logits: (batch, classes, *), target: (batch, *) class ids or (batch, classes, *) probabilities

    >>> round(CrossEntropyLoss()(Tensor([[0.0, 0.0]]), [0]).item(), 4)
    0.6931
    """

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: Reduction = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__()
        need_number("CrossEntropyLoss", label_smoothing=label_smoothing)
        if not 0 <= label_smoothing <= 1:
            raise ArgumentError(
                explain(
                    "CrossEntropyLoss: label_smoothing is a share",
                    got={"label_smoothing": label_smoothing},
                    need="0 <= label_smoothing <= 1",
                )
            )
        self.register_buffer("weight", weight)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.reduction: Reduction = _checked("CrossEntropyLoss", reduction)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        return ops.cross_entropy(
            logits,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )

    def extra_repr(self) -> str:
        options = {
            "ignore_index": (self.ignore_index, -100),
            "reduction": (self.reduction, "mean"),
            "label_smoothing": (self.label_smoothing, 0.0),
        }
        return ", ".join(f"{name}={value!r}" for name, (value, default) in options.items() if value != default)


class MSELoss(Module):
    """(input - target)^2, averaged: both must have the same shape.

    Args:
        reduction: "mean", "sum", or "none" for every squared difference.

    >>> MSELoss()(Tensor([1.0, 3.0]), Tensor([1.0, 1.0])).item()
    2.0
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.reduction: Reduction = _checked("MSELoss", reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return ops.mse_loss(input, target, reduction=self.reduction)

    def extra_repr(self) -> str:
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"
