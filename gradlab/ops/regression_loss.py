"""How far numbers are from the numbers wanted: squared, absolute, and what lies between. Each is one step with its mean."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, explain
from ..function import Function
from .argument import need_reduction, need_same_shape, reduced
from .dtype import wide
from .loss import weighted

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

PAIRS = (
    Case(Draw((3, 4)), Draw((3, 4))),
    Case(Draw((2, 3, 4)), Draw((2, 3, 4)), reduction="sum"),
    Case(Draw((5,)), Draw((5,)), reduction="none"),
    Case(Draw(()), Draw(())),
    Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
)


class MSELoss(Function):
    """y = mean of (a - b)^2;  da = 2 g (a - b) / n, db = -da."""

    latex = r"y = \frac1n \sum_i (a_i - b_i)^2, \quad \bar a_i = \frac{2 \bar y}{n} (a_i - b_i), \quad \bar b = -\bar a"
    kind = "loss"
    cases = PAIRS
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array, reduction: str = "mean") -> Array:
        self.d = d = wide(a - b)
        n = prod(d.shape)
        self.scale = 2.0 / n if reduction == "mean" and n else 2.0
        return reduced(d * d, reduction, n, d.shape, a.dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = self.d * (g * self.scale)
        return da, -da if self.needs[1] else None


def mse_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", weight: TensorLike | None = None) -> Tensor:
    """Average the squared differences; with `weight`, one an entry, the weighted ones.

    Shapes: input: (*), target: the same, weight: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> float(mse_loss([1.0, 2.0], [1.0, 4.0]).data)
    2.0
    """
    need_reduction("mse_loss", reduction)
    need_same_shape("mse_loss", input, target)
    if weight is not None:
        return weighted("mse_loss", MSELoss.apply(input, target, reduction="none"), weight, reduction)
    return MSELoss.apply(input, target) if reduction == "mean" else MSELoss.apply(input, target, reduction=reduction)


class L1Loss(Function):
    """y = mean of |a - b|;  da = g sign(a - b) / n, db = -da."""

    latex = r"y = \frac1n \sum_i |a_i - b_i|, \quad \bar a_i = \frac{\bar y}{n}\, \mathrm{sign}(a_i - b_i), \quad \bar b = -\bar a"
    kind = "loss"
    cases = PAIRS
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array, reduction: str = "mean") -> Array:
        d = a - b
        xp, dtype, d = xp_of(d), d.dtype, wide(d)
        n = prod(d.shape)
        self.sign, self.n = xp.sign(d), n if reduction == "mean" and n else 1
        return reduced(xp.abs(d), reduction, n, d.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = self.sign * (g / self.n)
        return da, -da if self.needs[1] else None


def l1_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", weight: TensorLike | None = None) -> Tensor:
    """Average the absolute differences; with `weight`, one an entry, the weighted ones. The gradient where both are equal is 0.

    Shapes: input: (*), target: the same, weight: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> float(l1_loss([1.0, 2.0], [1.0, 4.0]).data)
    1.0
    """
    need_reduction("l1_loss", reduction)
    need_same_shape("l1_loss", input, target)
    if weight is not None:
        return weighted("l1_loss", L1Loss.apply(input, target, reduction="none"), weight, reduction)
    return L1Loss.apply(input, target) if reduction == "mean" else L1Loss.apply(input, target, reduction=reduction)


class HuberLoss(Function):
    """y = mean of d^2 / 2 where |d| < delta, else delta (|d| - delta / 2), d = a - b;  da = g d clipped to +-delta / n, db = -da.

    Source: Huber (1964), Robust estimation of a location parameter, doi 10.1214/aoms/1177703732.
    """

    latex = (r"y = \frac1n \sum_i \begin{cases} d_i^2 / 2 & |d_i| < \delta \\ \delta\,(|d_i| - \delta / 2) & \text{else} \end{cases}, "
             r"\quad d = a - b, \quad \bar a_i = \frac{\bar y}{n} \min(\max(d_i, -\delta), \delta), \quad \bar b = -\bar a")  # fmt: skip
    kind = "loss"
    cases = (*PAIRS, Case(Draw((3, 4)), Draw((3, 4)), delta=0.5), Case(Given([0.0, 3.0, -3.0]), Given([0.0, 1.5, 1.0]), delta=2.5))
    aligns = True
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(a: Array, b: Array, delta: float = 1.0, reduction: str = "mean") -> Array:
        """The formula as printed."""
        xp, d = xp_of(a), a - b
        losses = xp.where(xp.abs(d) < delta, 0.5 * d * d, delta * (xp.abs(d) - 0.5 * delta))
        return reduced(losses, reduction, prod(d.shape), d.shape, d.dtype)

    def forward(self, a: Array, b: Array, delta: float = 1.0, reduction: str = "mean") -> Array:
        d = a - b
        xp, dtype, d = xp_of(d), d.dtype, wide(d)
        n = prod(d.shape)
        self.slope, self.n = xp.minimum(xp.maximum(d, -delta), delta), n if reduction == "mean" and n else 1
        # With s the clipped d both pieces are s (d - s / 2).
        return reduced(self.slope * (d - 0.5 * self.slope), reduction, n, d.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = self.slope * (g / self.n)
        return da, -da if self.needs[1] else None


def huber_loss(
    input: TensorLike, target: TensorLike, reduction: str = "mean", delta: float = 1.0, weight: TensorLike | None = None
) -> Tensor:
    """Average the squared differences up to `delta`, the absolute ones (times `delta`) beyond.

    With `weight`, one an entry, the losses are multiplied; as in PyTorch the mean still divides by their number here.

    Shapes: input: (*), target: the same, weight: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.
        ArgumentError: delta is not above 0.

    >>> huber_loss([0.5, 3.0], [0.0, 0.0], reduction="none").data
    array([0.125, 2.5  ], dtype=float32)
    """
    need_reduction("huber_loss", reduction)
    need_same_shape("huber_loss", input, target)
    if not delta > 0:
        raise ArgumentError(explain("huber_loss: where does it turn linear?", got={"delta": delta}, need="a delta above 0"))
    if weight is not None:
        losses = weighted("huber_loss", HuberLoss.apply(input, target, delta=delta, reduction="none"), weight, "none")
        return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
    return HuberLoss.apply(input, target, delta=delta, reduction=reduction)


class SmoothL1Loss(Function):
    """y = mean of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, d = a - b;  da = g d / beta clipped to +-1 / n, db = -da.

    Source: Girshick (2015), Fast R-CNN, arXiv 1504.08083, equation 3, with beta for the point where the pieces meet.
    """

    latex = (r"y = \frac1n \sum_i \begin{cases} d_i^2 / 2\beta & |d_i| < \beta \\ |d_i| - \beta / 2 & \text{else} \end{cases}, "
             r"\quad d = a - b, \quad \bar a_i = \frac{\bar y}{n} \min(\max(d_i / \beta, -1), 1), \quad \bar b = -\bar a")  # fmt: skip
    kind = "loss"
    cases = (*PAIRS, Case(Draw((3, 4)), Draw((3, 4)), beta=0.5), Case(Given([0.0, 3.0, -3.0]), Given([0.0, 1.5, 1.0]), beta=2.5))
    aligns = True
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(a: Array, b: Array, beta: float = 1.0, reduction: str = "mean") -> Array:
        """The formula as printed."""
        xp, d = xp_of(a), a - b
        losses = xp.where(xp.abs(d) < beta, 0.5 * d * d / beta, xp.abs(d) - 0.5 * beta)
        return reduced(losses, reduction, prod(d.shape), d.shape, d.dtype)

    def forward(self, a: Array, b: Array, beta: float = 1.0, reduction: str = "mean") -> Array:
        d = a - b
        xp, dtype, d = xp_of(d), d.dtype, wide(d)
        n = prod(d.shape)
        self.slope, self.n = xp.minimum(xp.maximum(d / beta, -1.0), 1.0), n if reduction == "mean" and n else 1
        # With s the slope both pieces are s (d - s beta / 2).
        return reduced(self.slope * (d - (0.5 * beta) * self.slope), reduction, n, d.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = self.slope * (g / self.n)
        return da, -da if self.needs[1] else None


def smooth_l1_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Average the absolute differences, with a parabola in place of the kink: within `beta` of 0. For beta=0 the kink stays.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.
        ArgumentError: beta is below 0.

    >>> smooth_l1_loss([0.5, 3.0], [0.0, 0.0], reduction="none").data
    array([0.125, 2.5  ], dtype=float32)
    """
    need_reduction("smooth_l1_loss", reduction)
    need_same_shape("smooth_l1_loss", input, target)
    if not beta >= 0:
        raise ArgumentError(explain("smooth_l1_loss: where does it turn linear?", got={"beta": beta}, need="a beta of 0 or more"))
    return SmoothL1Loss.apply(input, target, beta=beta, reduction=reduction) if beta else L1Loss.apply(input, target, reduction=reduction)
