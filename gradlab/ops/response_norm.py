"""Local response normalisation: every value is held down by its neighbours in other channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import whole
from .dtype import need_floats, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _window(x: Array, size: int, before: int) -> Array:
    """Along axis 1, the sum over `size` neighbours, the first of them `before` places before; 0 beyond the ends."""
    xp, n = xp_of(x), x.shape[1]
    beyond = xp.zeros((x.shape[0], size, *x.shape[2:]), dtype=x.dtype)
    padded = xp.concatenate((beyond, x, beyond), axis=1)
    first = size - before
    total = padded[:, first : first + n]
    for start in range(first + 1, first + size):
        total = total + padded[:, start : start + n]
    return total


class LocalResponseNorm(Function):
    """y = x / d^beta, d = k + a / n (sum of x^2 over near channels);  dx = g / d^beta - 2 a beta / n x (sum of g x / d^(beta+1)).

    a is alpha. Near are n = `size` channels, the first of them size // 2 before; in the gradient the channels this one is near to.

    Source: A. Krizhevsky, I. Sutskever, G. E. Hinton, ImageNet Classification with Deep CNNs, 2012, section 3.3; as in PyTorch
    alpha is divided by `size`.
    """

    latex = (
        r"y_c = x_c\, d_c^{-\beta}, \quad d_c = k + \frac{\alpha}{n} \sum_{j \in N(c)} x_j^2, \quad "
        r"\bar x_c = \bar y_c\, d_c^{-\beta} - \frac{2 \alpha \beta}{n}\, x_c \sum_{j : c \in N(j)} \bar y_j x_j\, d_j^{-\beta - 1}"
    )
    cases = (
        Case(Draw((2, 5, 3)), size=3, alpha=1.0),
        Case(Draw((2, 4, 2, 2)), size=2, alpha=0.7, beta=0.5, k=2.0),
        Case(Draw((1, 2, 2)), size=5, alpha=0.5),
        Case(Draw((2, 0, 3)), size=2),
    )
    fresh = True

    def forward(self, x: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Array:
        need_floats("local_response_norm", x)
        if x.ndim < 3:
            raise ShapeError(explain("local_response_norm: too few axes", got={"x": x.shape}, need="x: (batch, channel, *places)"))
        self.x, self.size, self.alpha, self.beta = wide(x), size, alpha, beta
        self.d = k + alpha / size * _window(self.x * self.x, size, size // 2)
        return xp_of(x).asarray(self.x * self.d**-beta, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        x, d, beta = self.x, self.d, self.beta
        near = _window(g * x * d ** (-beta - 1), self.size, self.size - 1 - self.size // 2)
        return g * d**-beta - 2 * self.alpha * beta / self.size * x * near


def local_response_norm(input: TensorLike, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide every value by (k + alpha m)^beta, m the mean square of its neighbours in `size` channels.

    Shapes: input: (batch, channel, *places), y: as input

    Raises:
        ShapeError: `input` has fewer than three axes.
        ArgumentError: a window of no channels.
        DTypeError: `input` holds integers.

    >>> local_response_norm([[[3.0], [4.0]]], 2, alpha=2.0, beta=0.5, k=0.0).data.round(3)
    array([[[1. ],
            [0.8]]], dtype=float32)
    """
    size = whole("size", size)
    if size < 1:
        raise ArgumentError(explain("local_response_norm: a window of no channels", got={"size": size}, need="1 or more"))
    return LocalResponseNorm.apply(input, size=size, alpha=alpha, beta=beta, k=k)
