"""Adaptive pooling: the size that comes out is given, and the windows are made to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import need_floats, wide
from .windows import AXES, need_axes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

Wanted: TypeAlias = int | tuple[int | None, ...] | None


class AdaptivelyPooled(NamedTuple):
    """What adaptive max pooling gives with `return_indices`: the values, and where in its image each was."""

    values: Tensor
    indices: Tensor


class _Cut(NamedTuple):
    """One axis of n entries cut into windows: window i is entries floor(i n / many) to ceil((i + 1) n / many)."""

    axis: int
    length: int
    many: int

    def windows(self) -> list[tuple[Any, Any, int]]:
        """For each window: its place in y, its entries in x (both as an index), and how many those are."""
        lead, n, m = (slice(None),) * self.axis, self.length, self.many
        spans = [(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]
        return [((*lead, slice(i, i + 1)), (*lead, slice(a, b)), b - a) for i, (a, b) in enumerate(spans)]


def _cuts(op: str, x: Array, output_size: Wanted, axes: int) -> list[_Cut]:
    """What is to do along each of the last axes, the last one first; nothing where the size stays."""
    need_axes(op, x, axes)
    wanted: Any = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * axes
    if len(wanted) != axes or not all(n is None or (hasattr(n, "__index__") and n >= 0) for n in wanted):
        need = f"a whole number, 0 or more, or None (as it is), or one for each of {AXES[axes]}"
        raise ArgumentError(explain(f"{op}: this output_size has no meaning", got={"output_size": output_size}, need=need))
    sizes = x.shape[x.ndim - axes :]
    cuts = [_Cut(x.ndim - axes + i, n, n if m is None else int(m)) for i, (n, m) in enumerate(zip(sizes, wanted, strict=True))]
    if 0 in sizes:
        raise ShapeError(explain(f"{op}: there is nothing to pool", got={"x": x.shape}, need="one entry at least along every pooled axis"))
    return [cut for cut in reversed(cuts) if cut.length != cut.many]


class AdaptiveAvgPool(Function):
    """y = mean of x over each of output_size windows;  dx = g / size, added up over the windows that share an entry."""

    latex = r"y_p = \frac{1}{|W_p|} \sum_{i \in W_p} x_i, \quad \bar x_i = \sum_{p \,:\, i \in W_p} \frac{\bar y_p}{|W_p|}"
    kind = "reduce"
    cases = (
        Case(Draw((2, 1, 4, 4)), output_size=2),
        Case(Draw((1, 2, 5, 4)), output_size=(2, 3)),
        Case(Draw((1, 2, 3, 4)), output_size=1),
        Case(Draw((1, 1, 2, 3)), output_size=(4, None)),
        Case(Draw((2, 3, 4)), output_size=(2, 3)),
        Case(Draw((2, 5)), output_size=3, axes=1),
        Case(Draw((1, 2, 3, 2)), output_size=2, axes=3),
        Case(Draw((0, 1, 4, 4)), output_size=2),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, output_size: Wanted, axes: int = 2) -> Array:
        xp, op = xp_of(x), f"adaptive_avg_pool{axes}d"
        need_floats(op, x)
        self.cuts = _cuts(op, x, output_size, axes)
        y = wide(x)
        for cut in self.cuts:
            whole, y = y, xp.empty((*y.shape[: cut.axis], cut.many, *y.shape[cut.axis + 1 :]), dtype=y.dtype)
            for to, entries, n in cut.windows():
                y[to] = xp.sum(whole[entries], axis=cut.axis, keepdims=True) / n
        return xp.array(y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, dx = xp_of(g), wide(g)
        for cut in reversed(self.cuts):
            part, dx = dx, xp.zeros((*dx.shape[: cut.axis], cut.length, *dx.shape[cut.axis + 1 :]), dtype=dx.dtype)
            for to, entries, n in cut.windows():
                dx[entries] += part[to] / n
        return xp.array(dx, dtype=g.dtype)


class AdaptiveMaxPool(Function):
    """y = largest x of each of output_size windows;  dx = g at the first place of y, added up over the windows that share it."""

    latex = r"y_p = \max_{i \in W_p} x_i, \quad \bar x_i = \sum_{p \,:\, i = \mathrm{argmax}_{W_p} x} \bar y_p"
    kind = "reduce"
    cases = (
        Case(Draw((2, 1, 4, 4)), output_size=2),
        Case(Draw((1, 2, 5, 4)), output_size=(2, 3)),
        Case(Draw((1, 1, 2, 3)), output_size=(4, None)),
        Case(Draw((2, 3, 4)), output_size=(2, 3)),
        Case(Draw((2, 5)), output_size=3, axes=1),
        Case(Draw((0, 1, 4, 4)), output_size=2),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, output_size: Wanted, axes: int = 2) -> Array:
        xp, y = xp_of(x), x
        self.steps: list[tuple[Array, _Cut]] = []
        # The last axis first: then the first of several largest entries is the first in reading order.
        for cut in _cuts(f"adaptive_max_pool{axes}d", x, output_size, axes):
            self.steps.append((y, cut))
            whole, y = y, xp.empty((*y.shape[: cut.axis], cut.many, *y.shape[cut.axis + 1 :]), dtype=x.dtype)
            for to, entries, _ in cut.windows():
                y[to] = xp.max(whole[entries], axis=cut.axis, keepdims=True)
        return xp.array(y)

    def backward(self, g: Array) -> Array:
        xp, dx = xp_of(g), wide(g)
        for x, cut in reversed(self.steps):
            part, dx = dx, xp.zeros(x.shape, dtype=dx.dtype)
            for to, entries, n in cut.windows():
                first = xp.argmax(x[entries], axis=cut.axis, keepdims=True)
                along = xp.arange(n).reshape((n, *[1] * (x.ndim - 1 - cut.axis)))
                dx[entries] += xp.where(along == first, part[to], 0.0)
        return xp.array(dx, dtype=g.dtype)


class AdaptiveMaxPoolPlaces(Function):
    """y = first place of the largest x of each window, counted through its image;  no gradient."""

    latex = r"y_p = \mathrm{argmax}_{i \in W_p}\, x_i"
    kind = "reduce"
    cases = (
        Case(Draw((2, 1, 4, 4)), output_size=2),
        Case(Draw((1, 2, 5, 4)), output_size=(2, 3)),
        Case(Draw((2, 3, 4)), output_size=(2, 3)),
        Case(Draw((0, 1, 4, 4)), output_size=2),
    )
    reads = ()

    def forward(self, x: Array, output_size: Wanted, axes: int = 2) -> Array:
        xp, sizes, n = xp_of(x), x.shape[x.ndim - axes :], 1
        for size in sizes:
            n *= size
        places = xp.array(xp.broadcast_to(xp.arange(n).reshape(sizes), x.shape))
        for cut in _cuts(f"adaptive_max_pool{axes}d", x, output_size, axes):
            shape = (*x.shape[: cut.axis], cut.many, *x.shape[cut.axis + 1 :])
            y, at = xp.empty(shape, dtype=x.dtype), xp.empty(shape, dtype=places.dtype)
            for to, entries, _ in cut.windows():
                first = xp.argmax(x[entries], axis=cut.axis, keepdims=True)
                y[to] = xp.take_along_axis(x[entries], first, axis=cut.axis)
                at[to] = xp.take_along_axis(places[entries], first, axis=cut.axis)
            x, places = y, at
        return places


def _max(n: int, input: TensorLike, output_size: Wanted, return_indices: bool) -> Any:
    params: dict[str, Any] = {"output_size": output_size} if n == 2 else {"output_size": output_size, "axes": n}
    y = AdaptiveMaxPool.apply(input, **params)
    return AdaptivelyPooled(y, AdaptiveMaxPoolPlaces.apply(input, **params)) if return_indices else y


def adaptive_avg_pool1d(input: TensorLike, output_size: Wanted) -> Tensor:
    """Take the mean of `output_size` windows along one axis, as `adaptive_avg_pool2d` does of an image.

    Shapes: input: (batch, channel, length) or without batch, y: the same with output_size for the last axes

    Raises:
        ShapeError: another number of axes, or nothing to pool.
        ArgumentError: an output_size that means nothing.
        DTypeError: whole numbers.

    >>> adaptive_avg_pool1d([[1.0, 2.0, 3.0]], 2).data
    array([[1.5, 2.5]], dtype=float32)
    """
    return AdaptiveAvgPool.apply(input, output_size=output_size, axes=1)


def adaptive_avg_pool2d(input: TensorLike, output_size: Wanted) -> Tensor:
    """Take the means of as many windows as `output_size` says along each axis; None keeps an axis as it is.

    Window i of m over n entries goes from floor(i n / m) to ceil((i + 1) n / m): windows share entries where m does not divide n.

    Shapes: input: (batch, channel, height, width) or without batch, y: the same with output_size for the last axes

    Raises:
        ShapeError: another number of axes, or nothing to pool.
        ArgumentError: an output_size that means nothing.
        DTypeError: whole numbers.

    >>> adaptive_avg_pool2d([[[1.0, 2.0], [3.0, 6.0]]], (1, None)).data
    array([[[2., 4.]]], dtype=float32)
    """
    return AdaptiveAvgPool.apply(input, output_size=output_size)


def adaptive_avg_pool3d(input: TensorLike, output_size: Wanted) -> Tensor:
    """Take the means of `output_size` windows of a volume, as `adaptive_avg_pool2d` does of an image.

    Shapes: input: (batch, channel, depth, height, width) or without batch, y: the same with output_size for the last axes

    Raises:
        ShapeError: another number of axes, or nothing to pool.
        ArgumentError: an output_size that means nothing.
        DTypeError: whole numbers.

    >>> adaptive_avg_pool3d([[[[1.0, 2.0]], [[3.0, 6.0]]]], 1).data
    array([[[[3.]]]], dtype=float32)
    """
    return AdaptiveAvgPool.apply(input, output_size=output_size, axes=3)


def adaptive_max_pool1d(input: TensorLike, output_size: Wanted, return_indices: bool = False) -> Any:
    """Take the largest entry of `output_size` windows along one axis, as `adaptive_max_pool2d` does of an image.

    Shapes: input: (batch, channel, length) or without batch, y: the same with output_size for the last axes

    Raises:
        ShapeError: another number of axes, or nothing to pool.
        ArgumentError: an output_size that means nothing.

    >>> adaptive_max_pool1d([[1.0, 2.0, 3.0]], 2).data
    array([[2., 3.]], dtype=float32)
    """
    return _max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: TensorLike, output_size: Wanted, return_indices: bool = False) -> Any:
    """Take the largest entry of as many windows as `output_size` says along each axis; None keeps an axis as it is.

    The windows are those of `adaptive_avg_pool2d`. `return_indices` gives `(values, indices)`, places in the flattened image.

    Shapes: input: (batch, channel, height, width) or without batch, y: the same with output_size for the last axes

    Raises:
        ShapeError: another number of axes, or nothing to pool.
        ArgumentError: an output_size that means nothing.

    >>> adaptive_max_pool2d([[[1.0, 2.0], [3.0, 6.0]]], (1, None), return_indices=True).indices.data
    array([[[2, 3]]])
    """
    return _max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: TensorLike, output_size: Wanted, return_indices: bool = False) -> Any:
    """Take the largest entry of `output_size` windows of a volume, as `adaptive_max_pool2d` does of an image.

    Shapes: input: (batch, channel, depth, height, width) or without batch, y: the same with output_size for the last axes

    Raises:
        ShapeError: another number of axes, or nothing to pool.
        ArgumentError: an output_size that means nothing.

    >>> adaptive_max_pool3d([[[[1.0, 2.0]], [[3.0, 6.0]]]], 1).data
    array([[[[6.]]]], dtype=float32)
    """
    return _max(3, input, output_size, return_indices)
