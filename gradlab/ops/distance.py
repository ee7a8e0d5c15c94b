"""How far apart vectors are."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import need_reduction, need_same_shape, tensor_of
from .dtype import as_pytorch, need_floats, need_one_dtype, times, wide
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _length(d: Array, p: float, keepdim: bool) -> Array:
    """The p-norm along the last axis."""
    xp, size = xp_of(d), xp_of(d).abs(d)
    if p == inf:
        return xp.max(size, axis=-1, keepdims=keepdim)
    if p == 0:
        return xp.sum(size != 0, axis=-1, keepdims=keepdim, dtype=d.dtype)
    if p == 1:
        return total(size, -1, keepdim)
    return xp.sqrt(total(d * d, -1, keepdim)) if p == 2 else total(size**p, -1, keepdim) ** (1 / p)


def _slope(d: Array, y: Array, p: float) -> Array:
    """The derivative of that norm, y with its axis kept; 0 where it is 0."""
    xp, size = xp_of(d), xp_of(d).abs(d)
    if p == inf:
        hit = size == y
        return xp.sign(d) * hit / xp.sum(hit, axis=-1, keepdims=True, dtype=d.dtype)
    if p == 0:
        return d * 0.0
    if p == 1:
        return xp.sign(d)
    y = xp.where(y == 0, 1.0, y)
    return d / y if p == 2 else xp.sign(d) * xp.where(size == 0, 1.0 if p < 1 else 0.0, size / y) ** (p - 1)


class PairwiseDistance(Broadcasting):
    """y = (sum of |a - b + eps|^p)^(1/p) over the last axis;  da = g sign(d) (|d| / y)^(p-1), d = a - b + eps, db = -da."""

    latex = (r"y = \Bigl(\sum_i |d_i|^p\Bigr)^{1/p}, \quad d = a - b + \epsilon, "
             r"\quad \bar a_i = \bar y\, \mathrm{sign}(d_i) \Bigl(\frac{|d_i|}{y}\Bigr)^{p-1}, \quad \bar b = -\bar a")  # fmt: skip
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), p=1.0, keepdim=True),
        Case(Draw((3, 1, 4)), Draw((2, 4)), p=3.0),
        Case(Draw((4,)), Draw((3, 4)), p=inf),
        Case(Draw((4,)), Draw((4,)), p=0.5),
        Case(Draw((0, 3)), Draw((0, 3))),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, a: Array, b: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Array:
        need_floats("pairwise_distance", a)
        if not a.ndim or not b.ndim:
            raise ShapeError(explain("pairwise_distance: takes vectors", got={"x1": a.shape, "x2": b.shape}, need="(*, n)"))
        self.d, self.p, self.keepdim = wide(a) - wide(b) + eps, p, keepdim
        self.y = _length(self.d, p, True)
        return xp_of(a).asarray(self.y if keepdim else self.y[..., 0], dtype=a.dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = (g if self.keepdim else g[..., None]) * _slope(self.d, self.y, self.p)
        return da, -da if self.needs[1] else None


def pairwise_distance(x1: TensorLike, x2: TensorLike, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """Measure the p-norm of x1 - x2 + eps along the last axis, row by row.

    Shapes: x1, x2: (*, n), broadcast; y: (*), or (*, 1) with keepdim

    Raises:
        ShapeError: the shapes don't broadcast.

    >>> pairwise_distance([[0.0, 0.0]], [[3.0, 4.0]]).data.round(3)
    array([5.], dtype=float32)
    """
    x1, x2 = tensor_of(x1), tensor_of(x2)
    params: dict[str, Any] = {"p": float(p)} if eps == 1e-6 else {"p": float(p), "eps": eps}
    return PairwiseDistance.apply(x1, x2, keepdim=True, **params) if keepdim else PairwiseDistance.apply(x1, x2, **params)


class CDist(Function):
    """y_ij = (sum of |a_i - b_j|^p)^(1/p);  da_i = sum over j of g_ij sign(d) (|d| / y_ij)^(p-1), d = a_i - b_j, db_j = -(over i)."""

    latex = (r"y_{ij} = \Bigl(\sum_k |a_{ik} - b_{jk}|^p\Bigr)^{1/p}, \quad \bar a_{ik} = \sum_j \bar y_{ij}\, s_{ijk}, "
             r"\quad \bar b_{jk} = -\sum_i \bar y_{ij}\, s_{ijk}, "
             r"\quad s_{ijk} = \mathrm{sign}(a_{ik} - b_{jk}) \Bigl(\frac{|a_{ik} - b_{jk}|}{y_{ij}}\Bigr)^{p-1}")  # fmt: skip
    kind = "matmul"
    cases = (
        Case(Draw((3, 4)), Draw((2, 4))),
        Case(Draw((2, 3, 4)), Draw((2, 2, 4)), p=1.0),
        Case(Draw((2, 1, 3, 2)), Draw((3, 2, 2)), p=3.0),
        Case(Draw((3, 2)), Draw((2, 2)), p=inf),
        Case(Given([[0.0, 0.0]]), Given([[1.0, -1.0], [2.0, 0.5]]), p=inf),
        Case(Draw((30, 2)), Draw((2, 2))),
        Case(Draw((0, 3)), Draw((2, 3))),
    )
    reads = ("inputs",)

    @staticmethod
    def reference(a: Array, b: Array, p: float = 2.0) -> Array:
        """The formula as printed."""
        d = xp_of(a).abs(a[..., :, None, :] - b[..., None, :, :])
        return xp_of(a).max(d, axis=-1) if p == inf else xp_of(a).sum(d**p, axis=-1) ** (1 / p)

    @as_pytorch
    def forward(self, a: Array, b: Array, p: float = 2.0) -> Array:
        need_floats("cdist", a)
        need_one_dtype("cdist", x1=a, x2=b)
        xp = xp_of(a)
        self.a, self.b, self.p = wide(a), wide(b), p
        if p == 2 and max(a.shape[-2], b.shape[-2]) > 25:
            # (a - b)^2 = a^2 - 2 a b + b^2: one product of matrices in place of an array of all differences, at the price of digits.
            squares = total(self.a * self.a, -1)[..., :, None] + total(self.b * self.b, -1)[..., None, :]
            self.y = xp.sqrt(xp.maximum(squares - 2 * times(self.a, xp.swapaxes(self.b, -1, -2)), 0.0))
        else:
            self.y = _length(self.a[..., :, None, :] - self.b[..., None, :, :], p, False)
        return xp.asarray(self.y, dtype=a.dtype)

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, a, b, y = xp_of(g), self.a, self.b, self.y
        if self.p == 2:  # sum over j of w_ij (a_i - b_j), w = g / y
            w = xp.where(y == 0, 0.0, g) / xp.where(y == 0, 1.0, y)
            da = total(w, -1)[..., None] * a - times(w, b) if self.needs[0] else None
            return da, total(w, -2)[..., None] * b - times(xp.swapaxes(w, -1, -2), a) if self.needs[1] else None
        slope = g[..., None] * _slope(a[..., :, None, :] - b[..., None, :, :], y[..., None], self.p)
        return total(slope, -2) if self.needs[0] else None, -total(slope, -3) if self.needs[1] else None


def cdist(x1: TensorLike, x2: TensorLike, p: float = 2.0) -> Tensor:
    """Measure the p-norm of the difference between every row of `x1` and every row of `x2`.

    Shapes: x1: (*, n, k), x2: (*, m, k), y: (*, n, m); what stands in front broadcasts

    Raises:
        ShapeError: no rows, or of different lengths.
        ArgumentError: p is below 0.

    >>> cdist([[0.0, 0.0], [3.0, 0.0]], [[0.0, 4.0]]).data
    array([[4.],
           [5.]], dtype=float32)
    """
    x1, x2 = tensor_of(x1), tensor_of(x2)
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(
            explain("cdist: rows of the same length", got={"x1": x1.shape, "x2": x2.shape}, need="x1: (*, n, k), x2: (*, m, k)")
        )
    if not p >= 0:
        raise ArgumentError(explain("cdist: which p?", got={"p": p}, need="0 or more"))
    return CDist.apply(x1, x2) if p == 2 else CDist.apply(x1, x2, p=float(p))


def triplet_margin_loss(
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Charge an anchor that is not nearer to what belongs to it than to what does not, by `margin`: max(0, d(a, p) - d(a, n) + margin).

    With `swap` the distance from `positive` to `negative` counts where that is smaller than the anchor's.

    Shapes: anchor, positive, negative: (*, n); y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> round(triplet_margin_loss([[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 5.0]]).item(), 3)
    1.0
    """
    need_reduction("triplet_margin_loss", reduction)
    need_same_shape("triplet_margin_loss", anchor, positive)
    need_same_shape("triplet_margin_loss", anchor, negative)
    farther = pairwise_distance(positive, negative, p, eps) if swap else None
    return _triplet(pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps), farther, margin, reduction)


def triplet_margin_with_distance_loss(
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    *,
    distance_function: Callable[..., Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Charge an anchor as `triplet_margin_loss` does, by a distance of your own; the default is `pairwise_distance`.

    Shapes: anchor, positive, negative: what the distance takes; y: (), or as the distances for reduction="none"

    Raises:
        ArgumentError: a margin that is not above 0.

    >>> apart = lambda a, b: (a - b).abs().sum(-1)
    >>> x = tensor_of([[0.0, 0.0]])
    >>> triplet_margin_with_distance_loss(x, x + 2, x + 1, distance_function=apart).item()
    3.0
    """
    need_reduction("triplet_margin_with_distance_loss", reduction)
    far = distance_function or pairwise_distance
    a, p, n = tensor_of(anchor), tensor_of(positive), tensor_of(negative)
    return _triplet(far(a, p), far(a, n), far(p, n) if swap else None, margin, reduction)


def _triplet(near: Tensor, far: Tensor, other: Tensor | None, margin: float, reduction: str) -> Tensor:
    if not margin > 0:
        raise ArgumentError(explain("triplet_margin_loss: by how much?", got={"margin": margin}, need="a margin above 0"))
    losses = (near - (far if other is None else far.minimum(other)) + margin).clamp(min=0)
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()
