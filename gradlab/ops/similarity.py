"""How much two vectors point the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..backend import Array, total, xp_of
from ..cases import Case, Draw, Given
from ..errors import ShapeError, explain
from ..function import Function
from .argument import axes_of, axis_of, need_reduction, need_same_shape, reduced, tensor_of
from .dtype import need_floats, wide
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class CosineSimilarity(Broadcasting):
    """y = sum of u v, u = a / max(|a|, eps), v = b / max(|b|, eps);  da = g (v - y u) / |a|, db = g (u - y v) / |b|.

    Where |a| is below eps, which then does not move, da = g v / eps.
    """

    latex = (r"y = u \cdot v, \quad u = \frac{a}{\max(\|a\|, \epsilon)}, \quad v = \frac{b}{\max(\|b\|, \epsilon)}, "
             r"\quad \bar a = \bar y\, \frac{v - y u}{\|a\|}, \quad \bar b = \bar y\, \frac{u - y v}{\|b\|}")  # fmt: skip
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), dim=1),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), dim=-2),
        Case(Draw((3, 1, 4)), Draw((2, 4)), dim=-1),
        Case(Draw((4,)), Draw((3, 4)), dim=-1),
        Case(Draw((3, 4)), Draw((3, 4)), dim=1, eps=3.0),
        Case(Draw(()), Draw(()), dim=0, eps=0.1),
        Case(Draw((0, 3)), Draw((0, 3)), dim=1),
    )
    aligns = True
    reads = ("inputs",)

    def forward(self, a: Array, b: Array, dim: int = 1, eps: float = 1e-8) -> Array:
        need_floats("cosine_similarity", a)
        xp, dtype, a, b = xp_of(a), a.dtype, wide(a), wide(b)
        self.dim = dim = axes_of(a, dim)
        (self.u, self.a_size, self.a_moves), (self.v, self.b_size, self.b_moves) = _unit(a, dim, eps), _unit(b, dim, eps)
        self.y = total(self.u * self.v, dim, keepdims=True)
        return xp.asarray(xp.squeeze(self.y, dim) if self.y.ndim else self.y, dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        g = xp_of(g).expand_dims(g, self.dim) if self.y.ndim else g
        u, v, y = self.u, self.v, self.y
        da = g * (v - self.a_moves * y * u) / self.a_size if self.needs[0] else None
        return da, g * (u - self.b_moves * y * v) / self.b_size if self.needs[1] else None


def _unit(x: Array, dim: int | None, eps: float) -> tuple[Array, Array, Array]:
    """The vectors at length 1, their lengths (at least eps), and whether those were more than eps."""
    xp = xp_of(x)
    length = xp.sqrt(total(x * x, dim, keepdims=True))
    size = xp.maximum(length, eps)
    return x / size, size, length > eps


def cosine_similarity(x1: TensorLike, x2: TensorLike, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Take the cosine of the angle between vectors along `dim`; a length below `eps` counts as `eps`.

    Shapes: x1, x2: (*, n, *), broadcast; y: without dim

    Raises:
        ShapeError: the shapes don't broadcast.
        DimError: there is no such axis.

    >>> cosine_similarity([[1.0, 0.0], [1.0, 1.0]], [[0.0, 2.0], [3.0, 3.0]]).data.round(6)
    array([0., 1.], dtype=float32)
    """
    a, b = tensor_of(x1), tensor_of(x2)
    if a.shape != b.shape:
        try:
            full = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            got = {"x1": a.shape, "x2": b.shape}
            need = "sizes that are equal or 1, counted from the last axis"
            raise ShapeError(explain("cosine_similarity: the shapes don't broadcast", got=got, need=need)) from None
        # Spread first: a vector that is one number all along is as long as that.
        a, b = a.expand(full), b.expand(full)
    axis_of("cosine_similarity", dim, a, extra=0 if a.ndim else 1)
    return CosineSimilarity.apply(a, b, dim=dim, eps=eps)


class CosineEmbeddingLoss(Function):
    """y = mean of 1 - c where t = 1, max(0, c - margin) where t = -1;  da = -g dc/da / n, or g dc/da / n where c > margin, db alike.

    c = sum of a b / sqrt(A B), A = sum of a^2 + 1e-12, B alike; dc/da = b / sqrt(A B) - c a / A.
    """

    latex = (r"y = \frac1n \sum_i \begin{cases} 1 - c_i & t_i = 1 \\ \max(0, c_i - m) & t_i = -1 \end{cases}, \quad "
             r"c = \frac{a \cdot b}{\sqrt{A B}}, \quad A = \|a\|^2 + \epsilon, \quad B = \|b\|^2 + \epsilon, "
             r"\quad \bar a = \bar c \left(\frac{b}{\sqrt{A B}} - \frac{c}{A} a\right)")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((4, 3)), Draw((4, 3)), Given([1, -1, -1, 1], "int64")),
        Case(Draw((4, 3)), Draw((4, 3)), Given([1, -1, -1, 1], "int64"), margin=0.3, reduction="sum"),
        Case(Draw((4, 3)), Draw((4, 3)), Given([-1, -1, -1, 1], "int64"), margin=-0.9, reduction="none"),
        Case(Draw((3,)), Draw((3,)), Given(1, "int64")),
        Case(Draw((0, 3)), Draw((0, 3)), Given([], "int64"), reduction="sum"),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array, t: Array, margin: float = 0.0, reduction: str = "mean") -> Array:
        if not 1 <= a.ndim <= 2:
            raise ShapeError(explain("cosine_embedding_loss: rows of vectors", got={"input1": a.shape}, need="(batch, n) or (n,)"))
        xp, dtype, self.a, self.b = xp_of(a), a.dtype, wide(a), wide(b)
        tiny = 1e-12
        self.aa, self.bb = total(self.a * self.a, -1) + tiny, total(self.b * self.b, -1) + tiny
        self.root = xp.sqrt(self.aa * self.bb)
        self.c = total(self.a * self.b, -1) / self.root
        losses = xp.where(t == 1, 1 - self.c, 0.0) + xp.where(t == -1, xp.maximum(self.c - margin, 0.0), 0.0)
        self.slope = xp.where(t == 1, -1.0, 0.0) + xp.where((t == -1) & (self.c >= margin), 1.0, 0.0)
        n = a.shape[0] if a.ndim == 2 else 1
        self.n = n if reduction == "mean" and n else 1
        return reduced(losses, reduction, n, t.shape, dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        g = (self.slope * (g / self.n))[..., None]
        root, c = self.root[..., None], self.c[..., None]
        da = g * (self.b / root - c / self.aa[..., None] * self.a) if self.needs[0] else None
        return da, g * (self.a / root - c / self.bb[..., None] * self.b) if self.needs[1] else None, None


def cosine_embedding_loss(
    input1: TensorLike, input2: TensorLike, target: TensorLike, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Charge pairs of vectors: what belongs together (target 1) by 1 - cosine, what does not (-1) by how far the cosine is above `margin`.

    Shapes: input1, input2: (batch, n) or (n), target: (batch) or (); y: (), or (batch) for reduction="none"

    Raises:
        ShapeError: the shapes don't belong together; they are never broadcast.

    >>> cosine_embedding_loss([[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], [1, -1], reduction="none").data
    array([1., 1.], dtype=float32)
    """
    need_reduction("cosine_embedding_loss", reduction)
    need_same_shape("cosine_embedding_loss", input1, input2)
    a, t = tensor_of(input1), tensor_of(target)
    if t.shape != a.shape[:-1]:
        got = {"input1": a.shape, "target": t.shape}
        raise ShapeError(explain("cosine_embedding_loss: one target a pair", got=got, need=f"target: {a.shape[:-1]}"))
    return CosineEmbeddingLoss.apply(a, input2, t.detach(), margin=margin, reduction=reduction)
