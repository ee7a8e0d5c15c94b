"""Pooling windows, walked one axis at a time: the largest of a window is the largest of its rows' largest. Not an op.

All windows of an axis are taken at once, by one slice for every entry of a window: 3 + 3 slices for windows of 3 x 3, not 9.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ..backend import Array, asarray_like, xp_of
from ..errors import ArgumentError, explain
from . import plan
from .windows import Size, Windows, need_axes, need_room, per_axis

BLOCK = 32_768  # entries worked on at a time: 128 kB of float32 stay in the cache from one step to the next


def pooling(op: str, x: Array, n: int, kernel: Size, stride: Size | None, padding: Size, dilation: Size, ceil_mode: bool) -> Windows:
    """The windows of a pooling, checked; with `ceil_mode` a last one may hang over the end, as long as it starts inside.

    Raises:
        ArgumentError: numbers that mean nothing, or a padding of more than half a kernel: some windows would see nothing else.
        ShapeError: the axes do not fit, or the kernel is larger than the padded input.
    """
    need_axes(op, x, n)
    k, d = per_axis(op, "kernel_size", kernel, n, 1), per_axis(op, "dilation", dilation, n, 1)
    s = k if stride is None or stride == () else per_axis(op, "stride", stride, n, 1)
    low = per_axis(op, "padding", padding, n)
    windows = Windows(k, s, d, low, low)
    if any(2 * p > size for p, size in zip(low, k, strict=True)):
        got = {"padding": padding, "kernel_size": kernel}
        raise ArgumentError(explain(f"{op}: more padding than half a kernel", got=got, need="padding of at most half the kernel's size"))
    if ceil_mode:
        high: list[int] = []
        for size, p, reach, step in zip(x.shape[-n:], low, windows.reach, s, strict=True):
            last = -((reach - size - 2 * p) // step)  # number of the last window, counted from 0
            last -= last * step >= size + p  # it would start behind the end
            high.append(last * step + reach - size - p)
        windows = windows._replace(high=tuple(high))
    need_room(op, x, windows, x.shape[-n:])
    return windows


class Walk(NamedTuple):
    """The same windows seen along one axis alone: `many` of them over `size` entries."""

    axis: int
    size: int
    many: int
    kernel: int
    stride: int
    dilation: int
    low: int
    high: int

    @property
    def apart(self) -> bool:
        """Whether no entry is in two windows."""
        return self.stride >= (self.kernel - 1) * self.dilation + 1

    @property
    def inside(self) -> bool:
        """Whether every window lies inside the input."""
        return not self.low and self.high <= 0

    def meetings(self) -> list[tuple[Any, Any]]:
        """For every entry of a window: which windows have it inside the input, and where it is there; two indices.

        >>> Walk(0, 5, 3, 2, 2, 1, 1, 0).meetings()
        [((slice(1, 3, None),), (slice(1, 4, 2),)), ((slice(0, 3, None),), (slice(0, 5, 2),))]
        """
        lead, pairs = (slice(None),) * self.axis, []
        for offset in range(-self.low, self.kernel * self.dilation - self.low, self.dilation):
            first, last = max(0, -(offset // self.stride)), min(self.many - 1, (self.size - 1 - offset) // self.stride)
            first, last = (first, last) if first <= last else (0, -1)
            inside = slice(max(0, first * self.stride + offset), max(0, last * self.stride + offset + 1), self.stride)
            pairs.append(((*lead, slice(first, last + 1)), (*lead, inside if last >= 0 else slice(0, 0))))
        return pairs


def walks(x: Array, at: Windows) -> list[Walk]:
    """One walk an axis, where there is anything to do; the last axis first.

    A largest entry that is found in this order is the first of its equals in reading order.
    """
    n = len(at.kernel)
    sizes = x.shape[x.ndim - n :]
    every = [Walk(x.ndim - n + i, *each) for i, each in enumerate(zip(sizes, at.places(sizes), *at, strict=True))]
    return [w for w in reversed(every) if (w.kernel, w.stride, w.low, w.high) != (1, 1, 0, 0)]


def blocks(x: Array) -> list[slice]:
    """Parts of the first axis with few enough entries for the cache; on a device, all of it."""
    each = plan.portion(x, x.shape[0], prod(x.shape[1:]), BLOCK)
    return [slice(i, i + each) for i in range(0, x.shape[0], each)]


def least(x: Array) -> Any:
    """What is smaller than everything else of this dtype, or as small."""
    return -float("inf") if x.dtype.kind == "f" else False if x.dtype.kind == "b" else xp_of(x).iinfo(x.dtype).min


def divisors(x: Array, at: Windows, padding_counts: bool, override: int | None, dtype: Any) -> Any:
    """What the sum of each window is divided by: one number, or one a window where some hang over the edge."""
    if override is not None:
        return override
    n, counts = len(at.kernel), []
    for i, (size, k, s, low, many) in enumerate(zip(x.shape[-n:], at.kernel, at.stride, at.low, at.places(x.shape[-n:]), strict=True)):
        first, end = (-low, size + low) if padding_counts else (0, size)
        along = [min(p * s - low + k, end) - max(p * s - low, first) for p in range(many)]
        counts.append(along[0] if len(set(along)) == 1 else asarray_like(along, x, dtype)[(..., *[None] * (n - 1 - i))])
    return prod(counts)


def summed(x: Array, every: list[Walk]) -> Array:
    """The sum of each window; a new array."""
    xp = xp_of(x)
    y = x if every else xp.array(x)
    for walk in every:
        x, y = y, xp.zeros((*y.shape[: walk.axis], walk.many, *y.shape[walk.axis + 1 :]), dtype=x.dtype)
        for windows, places in walk.meetings():
            y[windows] += x[places]
    return y


def spread(g: Array, every: list[Walk]) -> Array:
    """The adjoint of `summed`: to every entry, the sum over the windows it is in; a new array."""
    xp = xp_of(g)
    dx = g if every else xp.array(g)
    for walk in reversed(every):
        g, dx = dx, xp.zeros((*dx.shape[: walk.axis], walk.size, *dx.shape[walk.axis + 1 :]), dtype=g.dtype)
        for windows, places in walk.meetings():
            dx[places] += g[windows]
    return dx
