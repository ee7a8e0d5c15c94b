"""Losses that ask for a distance: between scores, between classes, between examples; the formulas are in `ops`."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops
from .._tensor import Tensor, TensorLike
from ..ops.argument import need_number, whole
from .loss import Loss, Reduction, Weighted


class Margin(Loss):
    """What losses share that have a margin."""

    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        need_number(type(self).__name__, margin=margin)
        self.margin = margin


class HingeEmbeddingLoss(Margin):
    """input where the target is 1, max(0, margin - input) where it is -1.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def __init__(self, margin: float = 1.0, reduction: Reduction = "mean") -> None:
        super().__init__(margin, reduction)

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.hinge_embedding_loss(input, target, self.margin, self.reduction)


class MarginRankingLoss(Margin):
    """max(0, margin - target (input1 - input2)): the target says by 1 or -1 which of the two should be larger.

    Shapes: input1, input2 and target: (*), alike, y: ()

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input1: Tensor, input2: TensorLike, target: TensorLike) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class CosineEmbeddingLoss(Margin):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1; cos that of the angle between two rows.

    Shapes: input1 and input2: (batch, n), target: (batch,); or without batch

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input1: Tensor, input2: TensorLike, target: TensorLike) -> Tensor:
        return ops.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + e^(-target input)), for targets 1 and -1.

    Shapes: input and target: (*), alike, y: () or, with reduction="none", as input

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.soft_margin_loss(input, target, self.reduction)


class MultiMarginLoss(Weighted):
    """The mean over the other classes of max(0, margin - input[class] + input[other])^p.

    Args:
        p: 1 or 2.
        weight: one factor a class.

    Shapes: input: (batch, classes), target: (batch,) class ids; or without batch

    Raises:
        LabelError: a class id that is none of the classes.
        ArgumentError: an unknown reduction.
    """

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: Reduction = "mean") -> None:
        super().__init__(weight, reduction)
        need_number("MultiMarginLoss", margin=margin)
        self.p, self.margin = whole("p", p), margin

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.multi_margin_loss(input, target, self.p, self.margin, self.weight, self.reduction)


class MultiLabelMarginLoss(Loss):
    """The sum of max(0, 1 - input[right] + input[wrong]) over all pairs of a right and a wrong class, over the classes.

    Shapes: input: (batch, classes), target: (batch, classes), the right class ids and then -1; or without batch

    Raises:
        LabelError: a class id that is none of the classes.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.multilabel_margin_loss(input, target, self.reduction)


class MultiLabelSoftMarginLoss(Weighted):
    """The mean over the classes of BCEWithLogitsLoss.

    Args:
        weight: one factor a class.

    Shapes: input and target: (batch, classes)

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def forward(self, input: Tensor, target: TensorLike) -> Tensor:
        return ops.multilabel_soft_margin_loss(input, target, self.weight, self.reduction)


class TripletMarginLoss(Margin):
    """max(0, |anchor - positive| - |anchor - negative| + margin): an example is to be nearer to one of its kind than to another.

    Args:
        p: of the norm.
        swap: take the distance of positive and negative where that is less than the one of anchor and negative.

    Shapes: anchor, positive and negative: (batch, n) or (n,)

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.

    Source: Balntas et al. 2016, "Learning local feature descriptors with triplets and shallow convolutional neural networks".
    """

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: Reduction = "mean") -> None:
        super().__init__(margin, reduction)
        need_number("TripletMarginLoss", p=p, eps=eps)
        self.p, self.eps, self.swap = p, eps, swap

    def forward(self, anchor: Tensor, positive: TensorLike, negative: TensorLike) -> Tensor:
        return ops.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction)


class TripletMarginWithDistanceLoss(Margin):
    """TripletMarginLoss with a distance of your own.

    Args:
        distance_function: of two tensors; PairwiseDistance without.

    Shapes: anchor, positive and negative: what the distance takes, y: ()

    Raises:
        ShapeError: shapes that differ, also where they would broadcast.
        ArgumentError: an unknown reduction.
    """

    def __init__(
        self, *, distance_function: Callable[..., Tensor] | None = None, margin: float = 1.0, swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:  # fmt: skip
        super().__init__(margin, reduction)
        self.distance_function, self.swap = distance_function, swap

    def forward(self, anchor: Tensor, positive: TensorLike, negative: TensorLike) -> Tensor:
        return ops.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip
