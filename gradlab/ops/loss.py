"""Losses entry by entry: how far predictions are from targets, as one step each."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, on_host, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .argument import need_reduction, need_same_shape, reduced
from .dtype import wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class MSELoss(Function):
    """y = mean of (a - b)^2;  da = 2 g (a - b) / n, db = -da."""

    latex = r"y = \frac1n \sum_i (a_i - b_i)^2, \quad \bar a_i = \frac{2 \bar y}{n} (a_i - b_i), \quad \bar b = -\bar a"
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), reduction="sum"),
        Case(Draw((5,)), Draw((5,)), reduction="none"),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
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


def mse_loss(input: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Average the squared differences.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> float(mse_loss([1.0, 2.0], [1.0, 4.0]).data)
    2.0
    """
    need_reduction("mse_loss", reduction)
    need_same_shape("mse_loss", input, target)
    return MSELoss.apply(input, target) if reduction == "mean" else MSELoss.apply(input, target, reduction=reduction)


PROBABILITIES = (
    Case(Draw((3, 4), 0.1, 0.9), Draw((3, 4), 0.0, 1.0)),
    Case(Draw((2, 3, 4), 0.1, 0.9), Draw((2, 3, 4), 0.0, 1.0), reduction="sum"),
    Case(Draw((5,), 0.1, 0.9), Draw((5,), 0.0, 1.0), reduction="none"),
    Case(Draw((), 0.1, 0.9), Draw((), 0.0, 1.0)),
    Case(Draw((0, 3), 0.1, 0.9), Draw((0, 3), 0.0, 1.0), reduction="sum"),
)


class BinaryCrossEntropy(Function):
    """y = mean of -(t log p + (1 - t) log(1 - p));  dp = g (p - t) / (n p (1 - p)), dt = g (log(1 - p) - log p) / n."""

    latex = (
        r"y = -\frac1n \sum_i t_i \log p_i + (1 - t_i) \log (1 - p_i), \quad "
        r"\bar p_i = \frac{\bar y}{n} \frac{p_i - t_i}{p_i (1 - p_i)}, \quad \bar t_i = \frac{\bar y}{n} \log \frac{1 - p_i}{p_i}"
    )
    kind = "loss"
    cases = PROBABILITIES
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, p: Array, t: Array, reduction: str = "mean") -> Array:
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
        return reduced(-(t * self.yes + (1 - t) * self.no), reduction, self.n, p.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        g, p = g / max(self.n, 1), self.p
        dp = g * (p - self.t) / xp_of(g).maximum(p * (1 - p), 1e-12)
        return dp, g * (self.no - self.yes) if self.needs[1] else None


def binary_cross_entropy(input: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Compare probabilities with yes (1) or no (0). From scores, `binary_cross_entropy_with_logits` is more exact.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.
        ArgumentError: an entry of input that is no probability.

    >>> binary_cross_entropy([0.5, 0.75], [1.0, 1.0], reduction="none").data.round(3)
    array([0.693, 0.288], dtype=float32)
    """
    need_reduction("binary_cross_entropy", reduction)
    need_same_shape("binary_cross_entropy", input, target)
    return BinaryCrossEntropy.apply(input, target, reduction=reduction)


class BinaryCrossEntropyWithLogits(Function):
    """y = mean of (1 - t) x + w s, s = log(1 + e^-x), w = 1 + (p - 1) t;  dx = g (1 - t - w sigmoid(-x)) / n, dt = g ((p - 1) s - x) / n.

    p is pos_weight, or 1.
    """

    latex = (
        r"y = \frac1n \sum_i (1 - t_i)\,x_i + w_i \log(1 + e^{-x_i}), \quad w_i = 1 + (p - 1)\,t_i, \quad "
        r"\bar x_i = \frac{\bar y}{n} \left(1 - t_i - w_i\,\sigma(-x_i)\right)"
    )
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), 0.0, 1.0)),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4), 0.0, 1.0), reduction="sum", pos_weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((5,), -12.0, 12.0), Draw((5,), 0.0, 1.0), reduction="none"),
        Case(Draw(()), Draw((), 0.0, 1.0), pos_weight=3.0),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, t: Array, pos_weight: Any = None, reduction: str = "mean") -> Array:
        xp, dtype, x = xp_of(x), x.dtype, wide(x)
        e = xp.exp(-xp.abs(x))  # never overflows
        self.softplus = xp.maximum(-x, 0) + xp.log1p(e)
        self.extra = 0.0 if pos_weight is None else xp.asarray(pos_weight, dtype=x.dtype) - 1
        self.w = 1 + self.extra * t
        self.x, self.t, self.sigmoid = x, t, xp.where(x >= 0, e, 1.0) / (1 + e)
        self.n = prod(x.shape) if reduction == "mean" else 1
        return reduced((1 - t) * x + self.w * self.softplus, reduction, self.n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        g = g / max(self.n, 1)
        return g * (1 - self.t - self.w * self.sigmoid), g * (self.extra * self.softplus - self.x) if self.needs[1] else None


def binary_cross_entropy_with_logits(
    input: TensorLike, target: TensorLike, pos_weight: TensorLike | None = None, reduction: str = "mean"
) -> Tensor:
    """Compare scores with yes (1) or no (0), through a sigmoid that neither overflows nor loses digits.

    `pos_weight` weighs the yes side, as one number or per class (last axis).

    Shapes: input: (*), target: the same; pos_weight: broadcasts to them; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> binary_cross_entropy_with_logits([1000.0, -1000.0], [0.0, 1.0], reduction="none").data
    array([1000., 1000.], dtype=float32)
    """
    need_reduction("binary_cross_entropy_with_logits", reduction)
    need_same_shape("binary_cross_entropy_with_logits", input, target)
    params: dict[str, Any] = {} if reduction == "mean" else {"reduction": reduction}
    if pos_weight is not None:
        params["pos_weight"] = getattr(pos_weight, "data", pos_weight) if hasattr(pos_weight, "grad_fn") else pos_weight
    return BinaryCrossEntropyWithLogits.apply(input, target, **params)
