"""Average pooling: the mean of every window."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .dtype import need_floats, wide
from .pooling import divisors, pooling, spread, summed, walks
from .windows import Size, taps

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class AvgPool(Function):
    """y = mean of x over a window;  dx = g / size, added up over the windows that share an entry."""

    latex = r"y_p = \frac1n \sum_i x_{ps + i}, \quad \bar x_j = \frac1n \sum_{p,i \,:\, ps + i = j} \bar y_p"
    kind = "reduce"
    cases = (
        Case(Draw((2, 1, 4, 4)), kernel_size=2),
        Case(Draw((1, 2, 5, 4)), kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)),
        Case(Draw((1, 1, 5, 5)), kernel_size=3, stride=2, padding=1, count_include_pad=False),
        Case(Draw((1, 1, 6, 5)), kernel_size=3, stride=2, ceil_mode=True),
        Case(Draw((1, 1, 6, 6)), kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
        Case(Draw((1, 1, 5, 5)), kernel_size=2, stride=3, divisor_override=3),
        Case(Draw((2, 3, 4)), kernel_size=2),
        Case(Draw((2, 5)), kernel_size=2, stride=1, axes=1),
        Case(Draw((1, 1, 3, 3)), kernel_size=1),
        Case(Draw((0, 1, 4, 4)), kernel_size=2),
    )
    reads = ()
    fresh = True

    @staticmethod
    def reference(
        x: Array,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        axes: int = 2,
    ) -> Array:
        """The formula as printed: what all windows have at entry 0, plus at entry 1, and so on."""
        xp = xp_of(x)
        at = pooling("avg_pool", x, axes, kernel_size, stride, padding, 1, ceil_mode)
        count, by = at.places(x.shape[-axes:]), divisors(x, at, count_include_pad, divisor_override, x.dtype)
        x = xp.pad(x, [(0, 0)] * (x.ndim - axes) + [(a, max(0, b)) for a, b in zip(at.low, at.high, strict=True)])
        y: Any = 0.0
        for i in range(prod(at.kernel)):
            tap = [i // prod(at.kernel[j + 1 :]) % k for j, k in enumerate(at.kernel)]
            y = y + x[(..., *taps(at, count, tuple(tap)))]
        return y / by

    def forward(
        self,
        x: Array,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        axes: int = 2,
    ) -> Array:
        op = f"avg_pool{axes}d"
        need_floats(op, x)
        at = pooling(op, x, axes, kernel_size, stride, padding, 1, ceil_mode)
        self.walks = walks(x, at)
        self.divisors = divisors(x, at, count_include_pad, divisor_override, wide(x).dtype)
        y = summed(wide(x), self.walks)
        y /= self.divisors
        return xp_of(x).asarray(y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return xp_of(g).asarray(spread(wide(g) / self.divisors, self.walks), dtype=g.dtype)


def _avg_pool(
    axes: int,
    input: TensorLike,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    if divisor_override == 0:
        got = {"divisor_override": divisor_override}
        raise ArgumentError(explain(f"avg_pool{axes}d: nothing can be divided by 0", got=got, need="another number, or None"))
    params: dict[str, Any] = {"kernel_size": kernel_size}
    if axes != 2:
        params["axes"] = axes
    if stride is not None:
        params["stride"] = stride
    if padding != 0:
        params["padding"] = padding
    if ceil_mode:
        params["ceil_mode"] = True
    if not count_include_pad:
        params["count_include_pad"] = False
    if divisor_override is not None:
        params["divisor_override"] = divisor_override
    return AvgPool.apply(input, **params)


def avg_pool1d(
    input: TensorLike,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Take the mean of every window along one axis, as `avg_pool2d` does of an image.

    Shapes: input: (batch, channel, length) or without batch, y: the same with
        (size + 2 padding - kernel_size) // stride + 1 along each of the last axes

    Raises:
        ShapeError: a kernel larger than the padded input, or another number of axes.
        ArgumentError: numbers that mean nothing, or a padding of more than half a kernel.
        DTypeError: whole numbers.

    >>> avg_pool1d([[1.0, 3.0, 2.0, 6.0, 4.0]], 2).data
    array([[2., 4.]], dtype=float32)
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: TensorLike,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Take the mean of every window; windows are `stride` apart, by default next to one another.

    The padding is zeros, at most half a kernel of them; `count_include_pad=False` leaves them out of the mean. With `ceil_mode` a
    last window may hang over the end, and what is beyond does not count. `divisor_override` is divided by instead of the size.

    Shapes: input: (batch, channel, height, width) or without batch, y: the same with
        (size + 2 padding - kernel_size) // stride + 1 along each of the last axes

    Raises:
        ShapeError: a kernel larger than the padded input, or another number of axes.
        ArgumentError: numbers that mean nothing, or a padding of more than half a kernel.
        DTypeError: whole numbers.

    >>> avg_pool2d([[[1.0, 2.0], [4.0, 3.0]]], 2).data
    array([[[2.5]]], dtype=float32)
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: TensorLike,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Take the mean of every window of a volume, as `avg_pool2d` does of an image.

    Shapes: input: (batch, channel, depth, height, width) or without batch, y: the same with
        (size + 2 padding - kernel_size) // stride + 1 along each of the last axes

    Raises:
        ShapeError: a kernel larger than the padded input, or another number of axes.
        ArgumentError: numbers that mean nothing, or a padding of more than half a kernel.
        DTypeError: whole numbers.

    >>> avg_pool3d([[[[1.0, 2.0]], [[4.0, 3.0]]]], (2, 1, 2)).data
    array([[[[2.5]]]], dtype=float32)
    """
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
