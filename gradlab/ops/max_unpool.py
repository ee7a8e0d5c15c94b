"""Max unpooling: the values of max pooling put back where they were."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, on_host, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, DTypeError, ShapeError, explain
from ..function import Function
from .windows import Size, Sizes, need_axes, per_axis

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class MaxUnpool(Function):
    """y[places[p]] = x[p], 0 elsewhere;  dx[p] = g[places[p]]."""

    latex = r"y_{j_p} = x_p, \quad \bar x_p = \bar y_{j_p}"
    kind = "shape"
    cases = (
        Case(Draw((1, 1, 2, 2)), Given([[[[5, 2], [8, 15]]]], "int64"), output_size=(4, 4)),
        Case(Draw((2, 3)), Given([[0, 3, 5], [1, 2, 6]], "int64"), output_size=(7,)),
        Case(Draw((1, 1, 1, 2)), Given([[[[0, 7]]]], "int64"), output_size=(2, 2, 2)),
        Case(Draw((0, 1, 2, 2)), Ints((0, 1, 2, 2)), output_size=(4, 4)),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, places: Array, output_size: Sizes) -> Array:
        xp, n = xp_of(x), len(output_size)
        need_axes(f"max_unpool{n}d", x, n)
        lead, whole = x.shape[: x.ndim - n], prod(output_size)
        if on_host(x) and prod(places.shape) and not 0 <= int(xp.min(places)) <= int(xp.max(places)) < whole:
            got = {"smallest": xp.min(places), "largest": xp.max(places)}
            raise ArgumentError(explain("max_unpool: an index is no place of the image", got=got, need=f"0 to {whole - 1}"))
        count = prod(lead)
        self.at = xp.arange(count)[:, None], places.reshape((count, prod(x.shape[x.ndim - n :])))
        self.shape = x.shape
        y = xp.zeros((count, whole), dtype=x.dtype)
        y[self.at] = x.reshape(self.at[1].shape)
        return y.reshape((*lead, *output_size))

    def backward(self, g: Array) -> tuple[Array, None]:
        (rows, places), n = self.at, len(self.params["output_size"])
        flat = g.reshape((rows.shape[0], prod(g.shape[-n:])))
        return flat[rows, places].reshape(self.shape), None


def _max_unpool(
    n: int, input: TensorLike, indices: TensorLike, kernel_size: Size, stride: Size | None, padding: Size, output_size: Sequence[int] | None
) -> Tensor:
    op = f"max_unpool{n}d"
    x: Any = input if hasattr(input, "shape") else xp_of(input).asarray(input)
    places: Any = indices if hasattr(indices, "shape") else xp_of(indices).asarray(indices)
    need_axes(op, x, n)
    if tuple(places.shape) != tuple(x.shape):
        raise ShapeError(explain(f"{op}: one index an entry, please", got={"x": x.shape, "indices": places.shape}, need="the same shape"))
    if places.dtype.kind not in "iu":
        raise DTypeError(explain(f"{op}: indices are whole numbers", got={"indices": places.dtype}, need="what max_pool gave, int64"))
    k = per_axis(op, "kernel_size", kernel_size, n, 1)
    s, p = k if stride is None else per_axis(op, "stride", stride, n, 1), per_axis(op, "padding", padding, n)
    sizes = tuple([(size - 1) * b + a - 2 * c for size, a, b, c in zip(x.shape[-n:], k, s, p, strict=True)])
    if output_size is not None:
        wanted = tuple(output_size)[-n:]
        if len(wanted) != n or len(output_size) > n + 2 or any(abs(a - b) >= c for a, b, c in zip(wanted, sizes, s, strict=True)):
            got, need = {"output_size": tuple(output_size)}, f"within a stride of {sizes}"
            raise ArgumentError(explain(f"{op}: pooling of this size gives another one", got=got, need=need))
        sizes = wanted
    return MaxUnpool.apply(input, places, output_size=sizes)


def max_unpool1d(
    input: TensorLike,
    indices: TensorLike,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the values of `max_pool1d` back where they were, as `max_unpool2d` does.

    Shapes: input, indices: (batch, channel, length) or without batch,
        y: the same with (size - 1) stride - 2 padding + kernel_size along each of the last axes, or output_size

    Raises:
        ShapeError: indices of another shape, or another number of axes.
        ArgumentError: numbers that mean nothing, or an index that is no place of the image.
        DTypeError: indices that are not whole numbers.

    >>> max_unpool1d([[3.0, 5.0]], [[1, 2]], 2).data
    array([[0., 3., 5., 0.]], dtype=float32)
    """
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: TensorLike,
    indices: TensorLike,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the values of `max_pool2d` back where `return_indices` says they were; everything else is 0.

    Several sizes give one and the same when pooled: `output_size` says which it was.

    Shapes: input, indices: (batch, channel, height, width) or without batch,
        y: the same with (size - 1) stride - 2 padding + kernel_size along each of the last axes, or output_size

    Raises:
        ShapeError: indices of another shape, or another number of axes.
        ArgumentError: numbers that mean nothing, or an index that is no place of the image.
        DTypeError: indices that are not whole numbers.

    >>> max_unpool2d([[[4.0]]], [[[2]]], 2).data
    array([[[0., 0.],
            [4., 0.]]], dtype=float32)
    """
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: TensorLike,
    indices: TensorLike,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Put the values of `max_pool3d` back where they were, as `max_unpool2d` does.

    Shapes: input, indices: (batch, channel, depth, height, width) or without batch,
        y: the same with (size - 1) stride - 2 padding + kernel_size along each of the last axes, or output_size

    Raises:
        ShapeError: indices of another shape, or another number of axes.
        ArgumentError: numbers that mean nothing, or an index that is no place of the image.
        DTypeError: indices that are not whole numbers.

    >>> max_unpool3d([[[[4.0]]]], [[[[2]]]], (2, 1, 2)).data.ravel()
    array([0., 0., 4., 0.], dtype=float32)
    """
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)
