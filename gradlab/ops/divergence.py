"""How unlikely what came is to a distribution that was predicted."""

from __future__ import annotations

from math import log, pi, prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, on_host, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import need_reduction, need_same_shape, reduced
from .dtype import as_pytorch, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class KLDiv(Function):
    """y = mean of t (log t - x), x the logarithm predicted;  dx = -g t / n, dt = g (log t - x + 1) / n.

    With log_target t is given by its logarithm l: dl = g e^l (l - x + 1) / n. What has no probability costs nothing.
    """

    latex = (r"y = \frac1n \sum_i t_i (\log t_i - x_i), \quad \bar x_i = -\frac{\bar y}{n} t_i, "
             r"\quad \bar t_i = \frac{\bar y}{n} (\log t_i - x_i + 1)")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), 0.1, 1.0)),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4), 0.1, 1.0), reduction="sum"),
        Case(Draw((5,)), Draw((5,), 0.1, 1.0), reduction="none"),
        Case(Draw((3, 4)), Draw((3, 4)), log_target=True, reduction="batchmean"),
        Case(Draw(()), Draw((), 0.1, 1.0)),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array, t: Array, reduction: str = "mean", log_target: bool = False) -> Array:
        xp, dtype, x, t = xp_of(x), x.dtype, wide(x), wide(t)
        self.t = xp.exp(t) if log_target else t
        self.gap = (t if log_target else xp.log(t)) - x
        # 0 log 0 is 0; a negative share has no logarithm, but then it is no share.
        losses = self.t * self.gap if log_target else xp.where(t == 0, -x * t, t * self.gap)
        n = prod(x.shape[:1]) if reduction == "batchmean" else prod(x.shape)
        self.log_target, self.n = log_target, n if reduction in ("mean", "batchmean") and n else 1
        return reduced(losses, "mean" if reduction == "batchmean" else reduction, n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        g = g / self.n
        slope = g * (self.gap + 1)
        return -g * self.t, slope if not self.log_target else slope * self.t


def kl_div(input: TensorLike, target: TensorLike, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Compare the logarithms of predicted probabilities with the right ones (Kullback-Leibler divergence).

    Only reduction="batchmean" is the divergence itself, averaged over rows; "mean" divides by the number of entries.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> round(kl_div([[-1.0, -0.5]], [[0.5, 0.5]], reduction="batchmean").item(), 4)
    0.0569
    """
    if reduction != "batchmean":
        need_reduction("kl_div", reduction)
    need_same_shape("kl_div", input, target)
    return KLDiv.apply(input, target, reduction=reduction, log_target=log_target)


class PoissonNLLLoss(Function):
    """y = mean of e^x - t x, or x - t log(x + eps) where x is no logarithm;  dx = g (e^x - t) / n, or g (1 - t / (x + eps)) / n.

    dt = -g x / n, or -g log(x + eps) / n. With full, t log t - t + log(2 pi t) / 2 is added where t > 1 (Stirling's log t!).
    """

    latex = (r"y = \frac1n \sum_i e^{x_i} - t_i x_i, \quad \bar x_i = \frac{\bar y}{n} (e^{x_i} - t_i), "
             r"\quad \bar t_i = -\frac{\bar y}{n} x_i")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), 0.0, 5.0)),
        Case(Draw((2, 3, 4), 0.1, 3.0), Draw((2, 3, 4), 0.0, 5.0), log_input=False, reduction="sum"),
        Case(Draw((5,)), Given([0.0, 0.5, 0.9, 1.5, 4.0]), full=True, reduction="none"),
        Case(Draw(()), Draw((), 0.0, 5.0)),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array, t: Array, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> Array:
        xp, dtype, x, t = xp_of(x), x.dtype, wide(x), wide(t)
        self.logs = x if log_input else xp.log(x + eps)
        mean = xp.exp(x) if log_input else x
        losses, n = mean - t * self.logs, prod(x.shape)
        self.slope = mean - t if log_input else 1 - t / (x + eps)
        self.t, self.full, self.n = t, full, n if reduction == "mean" and n else 1
        if full:
            many = xp.where(t > 1, t, 1.0)
            losses = losses + xp.where(t > 1, many * xp.log(many) - many + 0.5 * xp.log(2 * pi * many), 0.0)
        return reduced(losses, reduction, n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, g, t = xp_of(g), g / self.n, self.t
        if not self.needs[1]:
            return g * self.slope, None
        many = xp.where(t > 1, t, 1.0)
        return g * self.slope, g * ((xp.where(t > 1, xp.log(many) + 0.5 / many, 0.0) if self.full else 0.0) - self.logs)


def poisson_nll_loss(
    input: TensorLike, target: TensorLike, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
) -> Tensor:
    """Compare counts with their predicted mean, or with its logarithm: -log of their probability under a Poisson distribution.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> poisson_nll_loss([0.0, 1.0], [1.0, 2.0], reduction="none").data.round(3)
    array([1.   , 0.718], dtype=float32)
    """
    need_reduction("poisson_nll_loss", reduction)
    need_same_shape("poisson_nll_loss", input, target)
    return PoissonNLLLoss.apply(input, target, log_input=log_input, full=full, eps=eps, reduction=reduction)


class GaussianNLLLoss(Function):
    """y = mean of (log v + d^2 / v) / 2, d = x - t;  dx = g d / (n v), dt = -dx, dv = g (1 / v - d^2 / v^2) / 2n.

    v is the variance, or eps where that is smaller. With full, log(2 pi) / 2 is added.
    """

    latex = (r"y = \frac{1}{2n} \sum_i \log v_i + \frac{(x_i - t_i)^2}{v_i}, \quad \bar x_i = \frac{\bar y}{n} \frac{x_i - t_i}{v_i}, "
             r"\quad \bar t = -\bar x, "
             r"\quad \bar v_i = \frac{\bar y}{2n} \left(\frac{1}{v_i} - \frac{(x_i - t_i)^2}{v_i^2}\right)")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), Draw((3, 4), 0.5, 2.0)),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), Draw((2, 3, 1), 0.5, 2.0), reduction="sum", full=True),
        Case(Draw((5,)), Draw((5,)), Draw((1,), 0.5, 2.0), reduction="none"),
        Case(Draw(()), Draw(()), Draw((), 0.5, 2.0)),
        Case(Draw((0, 3)), Draw((0, 3)), Draw((0, 1)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, t: Array, v: Array, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Array:
        xp, dtype, x, t = xp_of(x), x.dtype, wide(x), wide(t)
        v = wide(v) if hasattr(v, "dtype") else xp.asarray(v, dtype=x.dtype)
        self.d, self.v, n = x - t, xp.maximum(v, eps), prod(x.shape)
        losses = 0.5 * (xp.log(self.v) + self.d * self.d / self.v) + (0.5 * log(2 * pi) if full else 0.0)
        self.n = n if reduction == "mean" and n else 1
        return reduced(losses, reduction, n, x.shape, dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        scaled = self.d / self.v
        dx = (g / self.n) * scaled
        return dx, -dx if self.needs[1] else None, (g / self.n) * (0.5 / self.v - 0.5 * scaled * scaled) if self.needs[2] else None


def gaussian_nll_loss(
    input: TensorLike,
    target: TensorLike,
    var: TensorLike | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Compare numbers with a predicted mean and variance: -log of their density under a normal distribution.

    Where `var` is below `eps`, `eps` counts; its gradient flows as if it had not been cut.

    Shapes: input: (*), target: the same, var: the same, or 1 in place of the last axis, or without it; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes don't fit.
        ArgumentError: a variance or eps below 0.

    >>> gaussian_nll_loss([1.0, 1.0], [1.0, 3.0], [1.0, 1.0], reduction="none").data
    array([0., 2.], dtype=float32)
    """
    need_reduction("gaussian_nll_loss", reduction)
    need_same_shape("gaussian_nll_loss", input, target)
    if not eps >= 0:
        raise ArgumentError(explain("gaussian_nll_loss: the least variance", got={"eps": eps}, need="an eps of 0 or more"))
    x: Any = input if hasattr(input, "dtype") else as_array(input)
    v: Any = var if hasattr(var, "shape") or isinstance(var, (int, float)) else as_array(var)
    shape, extent = x.shape, getattr(v, "shape", ())
    if extent not in (shape, (*shape[:-1], 1), ()) and extent == shape[:-1]:
        v, extent = v[..., None], (*extent, 1)
    if extent not in (shape, (*shape[:-1], 1), ()):
        need = "var: the input's shape, or 1 in place of its last axis, or without that axis"
        raise ShapeError(explain("gaussian_nll_loss: the variance does not fit", got={"input": shape, "var": extent}, need=need))
    values = v.data if hasattr(v, "grad_fn") else v
    low = values if isinstance(values, (int, float)) else values.min() if on_host(values) and values.size else 0.0
    if low < 0:
        raise ArgumentError(explain("gaussian_nll_loss: a variance is negative", got={"smallest": low}, need="0 or more", fix="var.exp()"))
    return GaussianNLLLoss.apply(x, target, v, full=full, eps=eps, reduction=reduction)
