"""Pooling by a power: between the sum of a window and its largest entry."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .dtype import need_floats, wide
from .pooling import divisors, pooling, spread, summed, walks
from .windows import Size

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class LPPool(Function):
    """y = (sum of x^p over a window)^(1/p);  dx = x^(p-1) times g y^(1-p), added up over the windows that share an entry."""

    latex = r"y_p = \left(\sum_i x_{ps+i}^q\right)^{1/q}, \quad \bar x_j = x_j^{q-1} \sum_{p,i \,:\, ps+i=j} \bar y_p\, y_p^{1-q}"
    kind = "reduce"
    cases = (
        Case(Draw((2, 1, 4, 4), gap=0.1), norm_type=2.0, kernel_size=2),
        Case(Draw((1, 1, 5, 4), 0.1, 2.0), norm_type=3.0, kernel_size=(3, 2), stride=(2, 1)),
        Case(Draw((2, 5), gap=0.1), norm_type=2.0, kernel_size=2, ceil_mode=True, axes=1),
        Case(Draw((2, 3, 3)), norm_type=1.0, kernel_size=2),
        Case(Draw((0, 1, 4, 4)), norm_type=2.0, kernel_size=2),
    )
    fresh = True

    def forward(
        self, x: Array, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False, axes: int = 2
    ) -> Array:
        op = f"lp_pool{axes}d"
        need_floats(op, x)
        at = pooling(op, x, axes, kernel_size, stride, 0, 1, ceil_mode)
        self.walks, self.x, self.p, size = walks(x, at), wide(x), float(norm_type), prod(at.kernel)
        # A window over the edge counts as if its mean went on there: as in PyTorch, size times the mean.
        self.part = size / divisors(x, at, True, None, self.x.dtype)
        self.y = (summed(self.x**self.p, self.walks) * self.part) ** (1 / self.p)
        return xp_of(x).asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, y = xp_of(g), self.y
        # Where everything in a window is 0 the slope has no value; 0 is taken.
        share = xp.where(y == 0, 0.0, wide(g) * self.part * xp.where(y == 0, 1.0, y) ** (1 - self.p))
        return xp.asarray(spread(share, self.walks) * self.x ** (self.p - 1), dtype=g.dtype)


def _lp_pool(n: int, input: TensorLike, norm_type: float, kernel_size: Size, stride: Size | None, ceil_mode: bool) -> Tensor:
    if norm_type == 0:
        raise ArgumentError(explain(f"lp_pool{n}d: there is no power 1/0", got={"norm_type": norm_type}, need="another number than 0"))
    return LPPool.apply(input, norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode, axes=n)


def lp_pool1d(input: TensorLike, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> Tensor:
    """Pool by a power along one axis, as `lp_pool2d` does an image.

    Shapes: input: (batch, channel, length) or without batch,
        y: the same with (size - kernel_size) // stride + 1 along each axis

    Raises:
        ShapeError: a kernel larger than the input, or another number of axes.
        ArgumentError: numbers that mean nothing.
        DTypeError: whole numbers.

    >>> lp_pool1d([[3.0, 4.0, 6.0, 8.0]], 2, 2).data
    array([[ 5., 10.]], dtype=float32)
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: TensorLike, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> Tensor:
    """Take (sum of x^p)^(1/p) of every window, p = `norm_type`: the sum for 1, nearer the largest entry the larger p is.

    Shapes: input: (batch, channel, height, width) or without batch,
        y: the same with (size - kernel_size) // stride + 1 along each axis

    Raises:
        ShapeError: a kernel larger than the input, or another number of axes.
        ArgumentError: numbers that mean nothing.
        DTypeError: whole numbers.

    >>> lp_pool2d([[[3.0, 0.0], [0.0, 4.0]]], 2, 2).data
    array([[[5.]]], dtype=float32)
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: TensorLike, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> Tensor:
    """Pool a volume by a power, as `lp_pool2d` does an image.

    Shapes: input: (batch, channel, depth, height, width) or without batch,
        y: the same with (size - kernel_size) // stride + 1 along each axis

    Raises:
        ShapeError: a kernel larger than the input, or another number of axes.
        ArgumentError: numbers that mean nothing.
        DTypeError: whole numbers.

    >>> lp_pool3d([[[[3.0, 0.0]], [[0.0, 4.0]]]], 2, (2, 1, 2)).data
    array([[[[5.]]]], dtype=float32)
    """
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)
