"""Losses that are 0 once a score is right by a margin."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given, Ints
from ..function import Function
from .argument import need_reduction, need_same_shape, reduced
from .dtype import wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _count(reduction: str, n: int) -> int:
    """What the gradient is divided by."""
    return n if reduction == "mean" and n else 1


class HingeEmbeddingLoss(Function):
    """y = mean of x where t = 1, max(0, margin - x) where t = -1;  dx = g / n where t = 1, -g / n where t = -1 and x <= margin."""

    latex = (r"y = \frac1n \sum_i \begin{cases} x_i & t_i = 1 \\ \max(0, m - x_i) & t_i = -1 \end{cases}, \quad "
             r"\bar x_i = \frac{\bar y}{n} \begin{cases} 1 & t_i = 1 \\ -[x_i \le m] & t_i = -1 \end{cases}")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((2, 3)), Given([[1, -1, 1], [-1, -1, 1]], "int64")),
        Case(Draw((2, 1, 3)), Given([[[1, -1, 1]], [[-1, -1, 1]]], "int64"), margin=0.5, reduction="sum"),
        Case(Draw((4,)), Given([1, -1, -1, 1], "int64"), reduction="none"),
        Case(Draw(()), Given(1, "int64")),
        Case(Draw((0, 3)), Ints((0, 3)), reduction="sum"),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, t: Array, margin: float = 1.0, reduction: str = "mean") -> Array:
        xp, dtype, x = xp_of(x), x.dtype, wide(x)
        apart, together, n = t != 1, t != -1, prod(x.shape)
        self.slope = xp.asarray(together, dtype=x.dtype) - xp.asarray(apart & (x <= margin), dtype=x.dtype)
        self.n = _count(reduction, n)
        return reduced(xp.where(apart, xp.maximum(margin - x, 0.0), 0.0) + xp.where(together, x, 0.0), reduction, n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, None]:
        return self.slope * (g / self.n), None


def hinge_embedding_loss(input: TensorLike, target: TensorLike, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """Charge distances: what belongs together (target 1) its distance, what does not (-1) what it lacks to `margin`.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> hinge_embedding_loss([0.5, 0.25, 3.0], [1, -1, -1], reduction="none").data
    array([0.5 , 0.75, 0.  ], dtype=float32)
    """
    need_reduction("hinge_embedding_loss", reduction)
    need_same_shape("hinge_embedding_loss", input, target)
    return HingeEmbeddingLoss.apply(input, target, margin=margin, reduction=reduction)


class MarginRankingLoss(Function):
    """y = mean of max(0, margin - t (a - b));  da = -g t / n where that is not 0, db = -da, dt = -g (a - b) / n there."""

    latex = (r"y = \frac1n \sum_i \max(0, m - t_i (a_i - b_i)), \quad \bar a_i = -\frac{\bar y}{n} t_i [m > t_i (a_i - b_i)], "
             r"\quad \bar b = -\bar a")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), Draw((2, 3, 4)), margin=0.5, reduction="sum"),
        Case(Draw((4,)), Draw((4,)), Given([1.0, -1.0, -1.0, 1.0]), reduction="none"),
        Case(Draw(()), Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)

    def forward(self, a: Array, b: Array, t: Array, margin: float = 0.0, reduction: str = "mean") -> Array:
        xp, dtype, self.t = xp_of(a), a.dtype, wide(t)
        self.d = wide(a) - b
        losses, n = margin - self.t * self.d, prod(a.shape)
        self.some, self.n = losses >= 0, _count(reduction, n)
        return reduced(xp.maximum(losses, 0.0), reduction, n, a.shape, dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        g = self.some * (g / self.n)
        da = g * self.t
        return -da, da, -g * self.d if self.needs[2] else None


def margin_ranking_loss(input1: TensorLike, input2: TensorLike, target: TensorLike, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """Charge pairs in the wrong order: `input1` is to be larger by `margin` where target is 1, smaller where it is -1.

    Shapes: input1, input2, target: (*); y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> margin_ranking_loss([1.0, 2.0], [3.0, 1.0], [1.0, 1.0], reduction="none").data
    array([2., 0.], dtype=float32)
    """
    need_reduction("margin_ranking_loss", reduction)
    need_same_shape("margin_ranking_loss", input1, input2)
    need_same_shape("margin_ranking_loss", input1, target)
    return MarginRankingLoss.apply(input1, input2, target, margin=margin, reduction=reduction)


class SoftMarginLoss(Function):
    """y = mean of log(1 + e^(-t x));  dx = -g t / (n (1 + e^(t x))), dt = -g x / (n (1 + e^(t x)))."""

    latex = r"y = \frac1n \sum_i \log(1 + e^{-t_i x_i}), \quad \bar x_i = -\frac{\bar y}{n} \frac{t_i}{1 + e^{t_i x_i}}"
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), reduction="sum"),
        Case(Draw((4,), -30.0, 30.0), Given([1.0, -1.0, -1.0, 1.0]), reduction="none"),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, t: Array, reduction: str = "mean") -> Array:
        xp, dtype, self.x, self.t = xp_of(x), x.dtype, wide(x), wide(t)
        z, n = self.t * self.x, prod(x.shape)
        e = xp.exp(-xp.abs(z))  # never overflows
        self.slope, self.n = xp.where(z >= 0, e, 1.0) / (1 + e), _count(reduction, n)
        return reduced(xp.maximum(-z, 0.0) + xp.log1p(e), reduction, n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        g = self.slope * (g / -self.n)
        return g * self.t, g * self.x if self.needs[1] else None


def soft_margin_loss(input: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Compare scores with their sign wanted, 1 or -1, through log(1 + e^(-target input)).

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> soft_margin_loss([0.0, 1000.0], [1.0, -1.0], reduction="none").data.astype("int")
    array([   0, 1000])
    """
    need_reduction("soft_margin_loss", reduction)
    need_same_shape("soft_margin_loss", input, target)
    return SoftMarginLoss.apply(input, target, reduction=reduction)
