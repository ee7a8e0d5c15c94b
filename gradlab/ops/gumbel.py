"""Gumbel-softmax: a draw of one class that gradients go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, asarray_like, float64, generator, total, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from .argument import axes_of, whole
from .dtype import floating, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class GumbelSoftmax(AlongAxes):
    """y = softmax((x + noise) / tau), hard: 1 at its largest entry, 0 elsewhere;  dx = s (g - sum of g s) / tau, s the softmax.

    Source: E. Jang, S. Gu, B. Poole, Categorical Reparameterization with Gumbel-Softmax, 2017, arXiv:1611.01144; hard is
    their straight-through estimator: the gradient of the softmax, whatever came out.
    """

    latex = (r"s_i = \frac{e^{(x_i + n_i) / \tau}}{\sum_j e^{(x_j + n_j) / \tau}}, \quad "
             r"\bar x_i = \frac{s_i}{\tau} \left(\bar y_i - \sum_j \bar y_j s_j\right)")  # fmt: skip
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), tau=0.5),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), tau=2.0, dim=1),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((0, 3)), dim=-1),
    )
    fresh = True

    @staticmethod
    def reference(x: Array, noise: Array, tau: float = 1.0, dim: int = -1) -> Array:
        """The formula as printed, without hard."""
        xp = xp_of(x)
        e = xp.exp((x + noise) / tau)
        return e / xp.sum(e, axis=axes_of(x, dim), keepdims=True)

    def forward(self, x: Array, noise: Array, tau: float = 1.0, hard: bool = False, dim: int | None = -1) -> Array:
        xp = xp_of(x)
        z, dim = (wide(x) + noise) / tau, axes_of(x, dim)
        e = xp.exp(z - xp.max(z, axis=dim, keepdims=True)) if 0 not in x.shape else z
        self.s, self.tau, self.dim = e / total(e, dim, keepdims=True), tau, dim
        if not hard:
            return xp.asarray(self.s, dtype=x.dtype)
        y = xp.zeros(x.shape, dtype=x.dtype)
        if not x.ndim:
            return y + 1
        if 0 not in x.shape:
            xp.put_along_axis(y, xp.argmax(z, axis=dim, keepdims=True), 1.0, axis=dim)
        return y

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        g = g / self.tau
        d = self.s * (g - total(g * self.s, self.dim, keepdims=True))
        return d if self.needs[0] else None, xp_of(g).array(d) if self.needs[1] else None


def gumbel_softmax(logits: TensorLike, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Draw one class along `dim` with the probabilities of softmax(logits), softened by the temperature `tau`; `hard`: exactly one-hot.

    The gradient is that of the soft draw in both forms. Draws come from `gl.manual_seed`. `eps` is PyTorch's, and without effect there too.

    Shapes: logits: (*), y: (*)

    Raises:
        ArgumentError: a temperature that is not above 0.
        DimError: `logits` has no such axis.

    >>> gumbel_softmax([[0.0, 50.0], [50.0, 0.0]], hard=True).data
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    if not tau > 0:
        raise ArgumentError(explain("gumbel_softmax: tau is a temperature", got={"tau": tau}, need="a number above 0"))
    data: Any = getattr(logits, "data", logits) if hasattr(logits, "grad_fn") else as_array(logits)
    dtype = floating(data).dtype if data.dtype == float64 else np.dtype("float32")
    noise = -np.log(generator().standard_exponential(data.shape, dtype=dtype.type))
    return GumbelSoftmax.apply(logits, asarray_like(noise, data), tau=tau, hard=hard, dim=whole("dim", dim))
