"""Windows as columns: `unfold` copies every window out, `fold` adds them back; and windows along one axis."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import axis_of, whole
from .dtype import wide
from .windows import Size, Sizes, Windows, need_axes, need_room, padded, per_axis, taps

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _windows(op: str, kernel: Size, dilation: Size, padding: Size, stride: Size) -> Windows:
    low = per_axis(op, "padding", padding, 2)
    k, s, d = [per_axis(op, name, n, 2, 1) for name, n in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation))]
    return Windows(k, s, d, low, low)


def _columns(x: Array, at: Windows) -> Array:
    """(batch, channel, height, width) as (batch, channel and kernel entry, window)."""
    xp, count = xp_of(x), at.places(x.shape[2:])
    x = padded(x, at.low, at.high)
    parts = [x[(..., *taps(at, count, tap))] for tap in product(*map(range, at.kernel))]
    return xp.stack(parts, axis=2).reshape((x.shape[0], x.shape[1] * prod(at.kernel), prod(count)))


def _added(columns: Array, at: Windows, sizes: Sizes) -> Array:
    """What `_columns` did, undone by adding: every entry gets the sum over the windows it is in."""
    xp, count = xp_of(columns), at.places(sizes)
    channels = columns.shape[1] // prod(at.kernel)
    parts = columns.reshape((columns.shape[0], channels, prod(at.kernel), *count))
    whole = [n + a + b for n, a, b in zip(sizes, at.low, at.high, strict=True)]
    x = xp.zeros((columns.shape[0], channels, *whole), dtype=columns.dtype)
    for i, tap in enumerate(product(*map(range, at.kernel))):
        x[(..., *taps(at, count, tap))] += parts[:, :, i]
    return xp.ascontiguousarray(x[(..., *[slice(a, a + n) for a, n in zip(at.low, sizes, strict=True)])])


class Unfold(Function):
    """y[c i, p] = x[c, p stride + i dilation - padding];  dx = g, added up over the windows an entry is in."""

    latex = r"y_{ci,\,p} = x_{c,\,ps + id}, \quad \bar x_{cj} = \sum_{i,p \,:\, ps + id = j} \bar y_{ci,\,p}"
    kind = "shape"
    cases = (
        Case(Draw((2, 2, 3, 4)), kernel_size=2),
        Case(Draw((1, 1, 5, 4)), kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)),
        Case(Draw((1, 1, 5, 5)), kernel_size=2, dilation=2, stride=3),
        Case(Draw((2, 3, 3)), kernel_size=(1, 2), padding=1),
        Case(Draw((0, 2, 3, 3)), kernel_size=2),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Array:
        self.at = _windows("unfold", kernel_size, dilation, padding, stride)
        self.one = need_axes("unfold", x, 2)
        x = x[None] if self.one else x
        self.sizes = x.shape[2:]
        need_room("unfold", x, self.at, self.sizes)
        y = _columns(x, self.at)
        return y[0] if self.one else y

    def backward(self, g: Array) -> Array:
        dx = _added(wide(g[None] if self.one else g), self.at, self.sizes)
        return xp_of(g).asarray(dx[0] if self.one else dx, dtype=g.dtype)


def unfold(input: TensorLike, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor:
    """Copy out every window of an image, one a column: a convolution is then one matrix product.

    Shapes: input: (batch, channel, height, width) or (channel, height, width),
        y: (batch, channel * entries of the kernel, windows), the windows in reading order

    Raises:
        ShapeError: a kernel larger than the padded input, or another number of axes.
        ArgumentError: numbers that mean nothing.

    >>> unfold([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], 2).data
    array([[1., 2.],
           [2., 3.],
           [4., 5.],
           [5., 6.]], dtype=float32)
    """
    return Unfold.apply(input, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class Fold(Function):
    """y[c, j] = sum of x[c i, p] where p stride + i dilation - padding = j;  dx = g, copied to every window it is in."""

    latex = r"y_{cj} = \sum_{i,p \,:\, ps + id = j} x_{ci,\,p}, \quad \bar x_{ci,\,p} = \bar y_{c,\,ps + id}"
    kind = "shape"
    cases = (
        Case(Draw((2, 8, 6)), output_size=(3, 4), kernel_size=2),
        Case(Draw((1, 6, 6)), output_size=(5, 3), kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)),
        Case(Draw((1, 4, 1)), output_size=4, kernel_size=2, dilation=2, stride=3),
        Case(Draw((4, 4)), output_size=(3, 3), kernel_size=2),
        Case(Draw((0, 4, 4)), output_size=(3, 3), kernel_size=2),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Array:
        self.at, sizes = _windows("fold", kernel_size, dilation, padding, stride), per_axis("fold", "output_size", output_size, 2, 1)
        if x.ndim not in (2, 3):
            need = "(batch, channel * entries of the kernel, windows), or without batch"
            raise ShapeError(explain("fold: the number of axes does not fit", got={"x": x.shape}, need=need))
        self.one = x.ndim == 2
        columns = x[None] if self.one else x
        entries, count = prod(self.at.kernel), self.at.places(sizes)
        if columns.shape[1] % entries or min(count) < 1 or columns.shape[2] != prod(count):
            got = {"x": x.shape, "output_size": output_size, "kernel_size": kernel_size}
            need = f"rows: a multiple of {entries}; columns: {prod(max(0, n) for n in count)} windows"
            raise ShapeError(explain("fold: the windows don't fill the image", got=got, need=need))
        y = _added(wide(columns), self.at, sizes)
        return xp_of(x).asarray(y[0] if self.one else y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        dx = _columns(g[None] if self.one else g, self.at)
        return dx[0] if self.one else dx


def fold(input: TensorLike, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor:
    """Put the columns of `unfold` back where they were and add up what overlaps: its adjoint, and no inverse.

    Shapes: input: (batch, channel * entries of the kernel, windows) or without batch, y: (batch, channel, *output_size)

    Raises:
        ShapeError: rows or columns that do not fill the image.
        ArgumentError: numbers that mean nothing.

    >>> fold([[1.0, 2.0], [10.0, 20.0]], (1, 3), (1, 2)).data
    array([[[ 1., 12., 20.]]], dtype=float32)
    """
    return Fold.apply(input, output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


class UnfoldCopy(Function):
    """y[..., p, ..., i] = x[..., p step + i, ...];  dx = g, added up over the windows an entry is in."""

    latex = r"y_{p,\,i} = x_{ps + i}, \quad \bar x_j = \sum_{p,i \,:\, ps + i = j} \bar y_{p,\,i}"
    kind = "shape"
    cases = (
        Case(Draw((7,)), dim=0, size=3, step=2),
        Case(Draw((2, 5, 3)), dim=1, size=2, step=1),
        Case(Draw((2, 5)), dim=-1, size=2, step=3),
        Case(Draw((2, 3)), dim=0, size=2, step=1),
        Case(Draw(()), dim=0, size=1, step=1),
        Case(Draw((0, 3)), dim=1, size=2, step=1),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: int, size: int, step: int) -> Array:
        xp, self.shape = xp_of(x), x.shape
        x = x if x.ndim else x.reshape((1,))
        axis = axis_of("unfold", dim, x)
        if not 0 <= size <= x.shape[axis] or step < 1:
            got, need = {"x": self.shape, "dim": dim, "size": size, "step": step}, f"a size up to {x.shape[axis]}, a step of 1 or more"
            raise ArgumentError(explain("unfold: no such windows", got=got, need=need))
        count, lead = (x.shape[axis] - size) // step + 1, (slice(None),) * axis
        self.places = [(*lead, slice(i, i + (count - 1) * step + 1, step)) for i in range(size)]
        if not size:
            return xp.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :], 0), dtype=x.dtype)
        y = xp.stack([x[place] for place in self.places], axis=-1)
        return y if self.shape else y.reshape((size,))

    def backward(self, g: Array) -> Array:
        xp, whole = xp_of(g), wide(g)
        if not self.shape:
            return xp.array(g).reshape(())
        dx = xp.zeros(self.shape, dtype=whole.dtype)
        for i, place in enumerate(self.places):
            dx[place] += whole[..., i]
        return xp.asarray(dx, dtype=g.dtype)


def unfold_copy(input: TensorLike, dimension: int, size: int, step: int) -> Tensor:
    """Copy out the windows of `size` entries along one axis, `step` apart; the entries of a window go to a new last axis.

    Shapes: input: (*, n, *), y: (*, (n - size) // step + 1, *, size)

    Raises:
        DimError: there is no such axis.
        ArgumentError: a window larger than the axis, or a step below 1.

    >>> unfold_copy([1.0, 2.0, 3.0, 4.0], 0, 2, 1).data
    array([[1., 2.],
           [2., 3.],
           [3., 4.]], dtype=float32)
    """
    params: dict[str, Any] = {"dim": dimension, "size": whole("size", size), "step": whole("step", step)}
    return UnfoldCopy.apply(input, **params)
