"""Losses for yes and no: from probabilities, or from the scores before the sigmoid."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, asarray_like, on_host, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import need_reduction, need_same_shape, reduced
from .dtype import wide
from .loss import values_of

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

PROBABILITIES = (
    Case(Draw((3, 4), 0.1, 0.9), Draw((3, 4), 0.0, 1.0)),
    Case(Draw((2, 3, 4), 0.1, 0.9), Draw((2, 3, 4), 0.0, 1.0), reduction="sum"),
    Case(Draw((5,), 0.1, 0.9), Draw((5,), 0.0, 1.0), reduction="none"),
    Case(Draw((), 0.1, 0.9), Draw((), 0.0, 1.0)),
    Case(Draw((0, 3), 0.1, 0.9), Draw((0, 3), 0.0, 1.0), reduction="sum"),
)


class BinaryCrossEntropy(Function):
    """y = mean of -w (t log p + (1 - t) log(1 - p));  dp = g w (p - t) / (n p (1 - p)), dt = g w (log(1 - p) - log p) / n.

    w is weight, or 1.
    """

    latex = (
        r"y = -\frac1n \sum_i w_i \left(t_i \log p_i + (1 - t_i) \log (1 - p_i)\right), \quad "
        r"\bar p_i = \frac{\bar y w_i}{n} \frac{p_i - t_i}{p_i (1 - p_i)}, \quad \bar t_i = \frac{\bar y w_i}{n} \log \frac{1 - p_i}{p_i}"
    )
    kind = "loss"
    cases = (*PROBABILITIES, Case(Draw((3, 4), 0.1, 0.9), Draw((3, 4), 0.0, 1.0), weight=[1.0, 2.0, 0.0, 0.5]))
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, p: Array, t: Array, weight: Any = None, reduction: str = "mean") -> Array:
        xp, dtype, p = xp_of(p), p.dtype, wide(p)
        if on_host(p) and not xp.all((p >= 0) & (p <= 1)):  # a device would have to be waited for
            raise ArgumentError(
                explain(
                    "binary_cross_entropy: an entry of input is no probability",
                    got={"smallest": xp.min(p), "largest": xp.max(p)},
                    need="0 to 1",
                    fix="input.sigmoid()",
                )
            )
        # As in PyTorch no logarithm is below -100, so that a wrong 0 or 1 costs 100 and not infinity.
        self.yes, self.no = [xp.where(q > 0, xp.maximum(xp.log(xp.where(q > 0, q, 1.0)), -100.0), -100.0) for q in (p, 1 - p)]
        self.p, self.t, self.n = p, t, prod(p.shape) if reduction == "mean" else 1
        self.weight = -1.0 if weight is None else -asarray_like(weight, p, p.dtype)
        return reduced(self.weight * (t * self.yes + (1 - t) * self.no), reduction, self.n, p.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        g, p = self.weight * (g / max(self.n, 1)), self.p
        dp = g * (self.t - p) / xp_of(g).maximum(p * (1 - p), 1e-12) if self.needs[0] else None
        return dp, g * (self.yes - self.no) if self.needs[1] else None


def binary_cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean") -> Tensor:
    """Compare probabilities with yes (1) or no (0). From scores, `binary_cross_entropy_with_logits` is more exact.

    `weight` multiplies the losses; the mean still divides by their number. It gets no gradient.

    Shapes: input: (*), target: the same; weight: broadcasts to them; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.
        ArgumentError: an entry of input that is no probability.

    >>> binary_cross_entropy([0.5, 0.75], [1.0, 1.0], reduction="none").data.round(3)
    array([0.693, 0.288], dtype=float32)
    """
    need_reduction("binary_cross_entropy", reduction)
    need_same_shape("binary_cross_entropy", input, target)
    params: dict[str, Any] = {} if reduction == "mean" else {"reduction": reduction}
    if weight is not None:
        params["weight"] = values_of("binary_cross_entropy", "weight", weight, input)
    return BinaryCrossEntropy.apply(input, target, **params)


class BinaryCrossEntropyWithLogits(Function):
    """y = mean of w ((1 - t) x + v s);  dx = g w (1 - t - v sigmoid(-x)) / n, dt = g w ((p - 1) s - x) / n.

    s = log(1 + e^-x), v = 1 + (p - 1) t; p is pos_weight, or 1; w is weight, or 1.
    """

    latex = (
        r"y = \frac1n \sum_i w_i \left((1 - t_i)\,x_i + v_i \log(1 + e^{-x_i})\right), \quad v_i = 1 + (p - 1)\,t_i, \quad "
        r"\bar x_i = \frac{\bar y w_i}{n} \left(1 - t_i - v_i\,\sigma(-x_i)\right)"
    )
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), 0.0, 1.0)),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4), 0.0, 1.0), reduction="sum", pos_weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((5,), -12.0, 12.0), Draw((5,), 0.0, 1.0), reduction="none"),
        Case(Draw(()), Draw((), 0.0, 1.0), pos_weight=3.0),
        Case(Draw((3, 4)), Draw((3, 4), 0.0, 1.0), weight=[[1.0], [0.0], [2.0]], pos_weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, t: Array, weight: Any = None, pos_weight: Any = None, reduction: str = "mean") -> Array:
        xp, dtype, x = xp_of(x), x.dtype, wide(x)
        e = xp.exp(-xp.abs(x))  # never overflows
        self.softplus = xp.maximum(-x, 0) + xp.log1p(e)
        self.extra = 0.0 if pos_weight is None else asarray_like(pos_weight, x, x.dtype) - 1
        self.weight = 1.0 if weight is None else asarray_like(weight, x, x.dtype)
        self.yes = 1 + self.extra * t
        self.x, self.t, self.sigmoid = x, t, xp.where(x >= 0, e, 1.0) / (1 + e)
        self.n = prod(x.shape) if reduction == "mean" else 1
        return reduced(self.weight * ((1 - t) * x + self.yes * self.softplus), reduction, self.n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        g = self.weight * (g / max(self.n, 1))
        dx = g * (1 - self.t - self.yes * self.sigmoid) if self.needs[0] else None
        return dx, g * (self.extra * self.softplus - self.x) if self.needs[1] else None


def binary_cross_entropy_with_logits(
    input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean", pos_weight: TensorLike | None = None
) -> Tensor:
    """Compare scores with yes (1) or no (0), through a sigmoid that neither overflows nor loses digits.

    `weight` multiplies the losses; `pos_weight` weighs the yes side, as one number or per class (last axis). Neither gets a gradient.

    Shapes: input: (*), target: the same; weight, pos_weight: broadcast to them; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> binary_cross_entropy_with_logits([1000.0, -1000.0], [0.0, 1.0], reduction="none").data
    array([1000., 1000.], dtype=float32)
    """
    need_reduction("binary_cross_entropy_with_logits", reduction)
    need_same_shape("binary_cross_entropy_with_logits", input, target)
    params: dict[str, Any] = {} if reduction == "mean" else {"reduction": reduction}
    if weight is not None:
        params["weight"] = values_of("binary_cross_entropy_with_logits", "weight", weight, input)
    if pos_weight is not None:
        params["pos_weight"] = values_of("binary_cross_entropy_with_logits", "pos_weight", pos_weight, input)
    return BinaryCrossEntropyWithLogits.apply(input, target, **params)


def multilabel_soft_margin_loss(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean") -> Tensor:
    """Compare the scores of every class with yes (1) or no (0), averaged over the classes (last axis).

    Shapes: input: (*, class), target: the same; weight: broadcasts to them; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ, or there is no axis of classes.

    >>> multilabel_soft_margin_loss([[0.0, 0.0]], [[1.0, 0.0]], reduction="none").data.round(3)
    array([0.693], dtype=float32)
    """
    need_reduction("multilabel_soft_margin_loss", reduction)
    losses = binary_cross_entropy_with_logits(input, target, weight, reduction="none")
    if not losses.ndim:
        raise ShapeError(explain("multilabel_soft_margin_loss: there are no classes", got={"input": ()}, need="(*, class)"))
    y = losses.mean(-1)
    return y if reduction == "none" else y.sum() if reduction == "sum" else y.mean()
