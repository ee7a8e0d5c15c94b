"""Softmax and its relatives, in the forms that don't overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, total, xp_of
from ..cases import Case, Draw, Given
from .dtype import floating, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

ROWS = (
    Case(Draw((3, 4)), dim=1),
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4), -9.0, 9.0), dim=-2),
    Case(Draw((2, 3), 10.0, 13.0), dim=-1),
    Case(Draw(()), dim=0),
    Case(Draw((2, 1)), dim=-1),
    Case(Draw((0, 3)), dim=1),
)


class Softmax(AlongAxes):
    """y = e^x / sum of e^x over dim;  dx = y (g - sum of g y over dim)."""

    latex = r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}, \quad \bar x_i = y_i \left(\bar y_i - \sum_j \bar y_j y_j\right)"
    cases = ROWS
    reads = ("output",)
    fresh = True

    def forward(self, x: Array, dim: int) -> Array:
        xp, x, self.dim = xp_of(x), floating(x), dim
        # Less the largest entry of each row: the same quotient, and e^x can't overflow.
        e = xp.exp(wide(x) - xp.max(x, axis=dim, keepdims=True))
        self.y = e / total(e, dim, keepdims=True)
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return self.y * (g - total(g * self.y, self.dim, keepdims=True))


def softmax(x: TensorLike, dim: int) -> Tensor:
    """Turn scores into probabilities that add up to 1 along `dim`.

    Shapes: x: (*), y: (*)

    >>> softmax([[1.0, 2.0], [0.0, 0.0]], dim=1).data.round(2)
    array([[0.27, 0.73],
           [0.5 , 0.5 ]], dtype=float32)
    """
    return Softmax.apply(x, dim=dim)


class LogSoftmax(AlongAxes):
    """y = x - log of the sum of e^x over dim;  dx = g - e^y (sum of g over dim)."""

    latex = r"y_i = x_i - \log \sum_j e^{x_j}, \quad \bar x_i = \bar y_i - e^{y_i} \sum_j \bar y_j"
    cases = ROWS
    reads = ("output",)
    fresh = True

    def forward(self, x: Array, dim: int) -> Array:
        xp, x, self.dim = xp_of(x), floating(x), dim
        z = wide(x) - xp.max(x, axis=dim, keepdims=True)
        self.y = z - xp.log(total(xp.exp(z), dim, keepdims=True))
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return g - xp_of(g).exp(self.y) * total(g, self.dim, keepdims=True)


def log_softmax(x: TensorLike, dim: int) -> Tensor:
    """Take the logarithm of softmax, right also where a probability is too small to be a float.

    Shapes: x: (*), y: (*)

    >>> log_softmax([0.0, -800.0], dim=0).data
    array([   0., -800.], dtype=float32)
    """
    return LogSoftmax.apply(x, dim=dim)


class LogSumExp(AlongAxes):
    """y = log of the sum of e^x over dim;  dx = g e^(x - y)."""

    latex = r"y = \log \sum_j e^{x_j}, \quad \bar x_i = \bar y\, e^{x_i - y}"
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), dim=1),
        Case(Draw((3, 4)), dim=None),
        Case(Draw((2, 3, 4), 10.0, 13.0), dim=(0, -1), keepdim=True),
        Case(Given([[0.0, 1.0], [2.0, 3.0]]), dim=-1),
        Case(Draw(()), dim=None),
        Case(Draw(()), dim=0, keepdim=True),
        Case(Draw((2, 1)), dim=1, keepdim=True),
        Case(Draw((0, 3)), dim=1),
    )
    fresh = True

    def forward(self, x: Array, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Array:
        xp, x = xp_of(x), floating(x)
        top = xp.max(x, axis=dim, keepdims=True)
        s = total(xp.exp(wide(x) - xp.where(xp.isfinite(top), top, 0.0)), dim, keepdims=True)
        # Where every entry is -inf the sum is 0: y is -inf then, without a logarithm of 0.
        self.x, self.y = x, top + xp.log(xp.where(s == 0, 1.0, s))
        self.dim = None if keepdim else dim
        y = xp.asarray(self.y, dtype=x.dtype)
        return y if keepdim else xp.squeeze(y, axis=tuple(range(x.ndim)) if dim is None else dim)

    def backward(self, g: Array) -> Array:
        xp, y = xp_of(g), self.y
        g = g if self.dim is None else xp.expand_dims(g, self.dim)
        return g * xp.exp(self.x - xp.where(y == -xp.inf, 0.0, y))


def logsumexp(x: TensorLike, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Tensor:
    """Add up exponentials and take the logarithm, over `dim` or everything: a smooth maximum.

    Shapes: x: (*), y: x without dim (1 there with keepdim)

    >>> logsumexp([[1000.0, 1000.0]], dim=1).data.round(2)
    array([1000.69], dtype=float32)
    """
    return LogSumExp.apply(x, dim=tuple(dim) if isinstance(dim, list) else dim, keepdim=keepdim)
