"""What convolutions are made of: a kernel slid over an image, and the two adjoints of that. Not an op.

    y[n, o, p] = sum over c, i of w[o, c, i] x[n, c, p stride + i dilation - low]

A matrix product does the sum, on columns: one row for every (c, i), one column for every (p, n). Columns are made for a
part of the image at a time, so that they are still in the cache when they are multiplied. Where the windows walk down in
steps of 1, the columns of kernel row i + 1 are those of row i, one image row further: they are expanded along the other axes
only (3 copies of the image for a kernel of 3 x 3, instead of 9) and every kernel row has a product of its own.
Measured on 32 images of 64 x 32 x 32: 2.5 times as fast as all windows at once and tensordot.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from ..backend import Array, xp_of
from . import plan
from .windows import Sizes, Windows, taps


def correlate(x: Array, w: Array, at: Windows, groups: int, bias: Array | None = None) -> Array:
    """The sum above, plus one number a channel.

    Shapes: x: (batch, groups * c, *axes), w: (groups * o, c, *kernel), bias: (groups * o), y: (batch, groups * o, *count)
    """
    x, at = _cropped(x, at)
    x, w, at, short = _two_axes(x, w, at)
    xp, o = xp_of(x), w.shape[0]
    count = at.places(x.shape[2:])
    row_by_row = _row_by_row(w, at)
    matrices = _as_matrices(w, groups, row_by_row)
    y = xp.empty((x.shape[0], o, *count), dtype=x.dtype)
    part = more = None
    if bias is not None:
        bias = bias.reshape((o, *[1] * (1 + len(count))))
    for samples, rows, columns, step in _columns(x, at, groups, o, row_by_row):
        n, height = samples.stop - samples.start, rows.stop - rows.start
        width = columns.shape[-1] - (len(matrices) - 1) * step
        if part is None or part.shape[-1] != width:  # the last part may be smaller
            part, more = [xp.empty((groups, o // groups, width), dtype=x.dtype) for _ in range(2)]
        xp.matmul(matrices[0], columns[..., :width], out=part)
        for i in range(1, len(matrices)):
            part += xp.matmul(matrices[i], columns[..., i * step : i * step + width], out=more)
        by_channel = part.reshape((o, height, n, *count[1:]))
        if bias is not None:
            by_channel += bias
        y[samples, :, rows] = xp.moveaxis(by_channel, 2, 0)
    return xp.squeeze(y, axis=2) if short else y


def correlate_for_input(g: Array, w: Array, at: Windows, groups: int, sizes: Sizes) -> Array:
    """The adjoint for x: every entry of g spreads the kernel, times itself, over where its window was.

    Shapes: g: (batch, groups * o, *count), w: (groups * o, c, *kernel), dx: (batch, groups * c, *sizes)
    """
    xp, (o, c, *kernel) = xp_of(g), w.shape
    by_group = w.reshape((groups, o // groups, c, *kernel))
    if max(at.stride) == 1:  # the same sum, with the kernel turned round and its channels swapped
        turned = xp.swapaxes(xp.flip(by_group, axis=tuple(range(3, 3 + len(kernel)))), 1, 2).reshape((groups * c, o // groups, *kernel))
        low = tuple([r - 1 - a for r, a in zip(at.reach, at.low, strict=True)])
        high = tuple([n - m + a for n, m, a in zip(sizes, g.shape[2:], at.low, strict=True)])
        return correlate(g, turned, at._replace(low=low, high=high), groups)
    places, count, n = list(product(*map(range, kernel))), g.shape[2:], g.shape[0]
    matrix = xp.transpose(by_group, (0, *range(3, by_group.ndim), 2, 1)).reshape((groups, len(places) * c, o // groups))
    dx = xp.empty((n, groups * c, *sizes), dtype=g.dtype)
    # Padded so far that every window fits; what the last window leaves over stays 0.
    full = [max(a + size, last.stop) for size, a, last in zip(sizes, at.low, taps(at, count, places[-1]), strict=True)]
    inside = tuple([slice(a, a + size) for a, size in zip(at.low, sizes, strict=True)])
    each = plan.portion(g, n, groups * c * len(places) * prod(count), plan.HOST_ROOM, plan.DEVICE_ROOM)
    for first in range(0, n, each):
        some = g[first : first + each]
        m = some.shape[0]
        flat = xp.moveaxis(some, 0, 1).reshape((groups, o // groups, m * prod(count)))
        spread = (matrix @ flat).reshape((groups, len(places), c, m, *count))
        whole = xp.zeros((groups, c, m, *full), dtype=g.dtype)
        for i, place in enumerate(places):
            whole[(..., *taps(at, count, place))] += spread[:, i]
        dx[first : first + each] = xp.moveaxis(whole[(..., *inside)].reshape((groups * c, m, *sizes)), 1, 0)
    return dx


def correlate_for_kernel(x: Array, g: Array, at: Windows, groups: int) -> Array:
    """The adjoint for w: what every entry of the kernel was multiplied by, times g, summed over all windows.

    Shapes: x: (batch, groups * c, *axes), g: (batch, groups * o, *count), dw: (groups * o, c, *kernel)
    """
    x, at = _cropped(x, at)
    xp, o, c = xp_of(x), g.shape[1], x.shape[1] // groups
    shape = (o, c, *at.kernel)
    if len(at.kernel) == 1:
        g = g[:, :, None]
    x, w, at, _ = _two_axes(x, xp.empty(shape, dtype=x.dtype), at)
    row_by_row = _row_by_row(w, at)
    kernel = at.kernel[1:] if row_by_row else at.kernel
    dw = xp.zeros((at.kernel[0] if row_by_row else 1, groups, o // groups, prod(kernel) * c), dtype=x.dtype)
    for samples, rows, columns, step in _columns(x, at, groups, o, row_by_row):
        part = xp.moveaxis(g[samples, :, rows], 0, 2)  # in the order of the columns: (channel, row, sample, *rest)
        width = prod(part.shape[1:])
        part = part.reshape((groups, o // groups, width))
        for i in range(len(dw)):
            dw[i] += part @ xp.swapaxes(columns[..., i * step : i * step + width], -1, -2)
    # (kernel row, o, *the rest of the kernel, c), or all of the kernel behind o
    dw = xp.transpose(dw.reshape((dw.shape[0], o, *kernel, c)), (1, 2 + len(kernel), 0, *range(2, 2 + len(kernel))))
    return xp.ascontiguousarray(dw.reshape(shape))


def _two_axes(x: Array, w: Array, at: Windows) -> tuple[Array, Array, Windows, bool]:
    """One axis more, of size 1, in front of a single one: columns then never have to be told apart by sample alone."""
    if len(at.kernel) > 1:
        return x, w, at, False
    return x[:, :, None], w[:, :, None], Windows((1, *at.kernel), (1, *at.stride), (1, *at.dilation), (0, *at.low), (0, *at.high)), True


def _cropped(x: Array, at: Windows) -> tuple[Array, Windows]:
    """Padding of less than nothing, cut off now."""
    if min(*at.low, *at.high) >= 0:
        return x, at
    inside = [slice(max(0, -a), n - max(0, -b)) for n, a, b in zip(x.shape[2:], at.low, at.high, strict=True)]
    low, high = [tuple([max(0, p) for p in side]) for side in (at.low, at.high)]
    return x[(..., *inside)], at._replace(low=low, high=high)


def _row_by_row(w: Array, at: Windows) -> bool:
    return at.kernel[0] > 1 and at.stride[0] == 1 and plan.thick(w.shape[1] * prod(at.kernel[1:]))


def _as_matrices(w: Array, groups: int, row_by_row: bool) -> Array:
    """The kernel as (kernel row, group, o, the rest), its last axis in the order of the rows of the columns."""
    xp, (o, c, first, *rest) = xp_of(w), w.shape
    w = w.reshape((groups, o // groups, c, first, *rest))
    back = range(4, w.ndim)
    if row_by_row:
        return xp.transpose(w, (3, 0, 1, *back, 2)).reshape((first, groups, o // groups, prod(rest) * c))
    return xp.transpose(w, (0, 1, 3, *back, 2)).reshape((1, groups, o // groups, first * prod(rest) * c))


def _columns(x: Array, at: Windows, groups: int, o: int, row_by_row: bool) -> Iterator[tuple[slice, slice, Array, int]]:
    """Go through the image in parts: which samples, which rows of windows, their columns, and how many make up one image row.

    The columns have the shape (group, kernel entry and channel, image row and sample and the other axes).
    """
    xp, (n, channels, height, *across) = xp_of(x), x.shape
    count, kernel = at.places(x.shape[2:]), at.kernel[1:] if row_by_row else at.kernel
    more = at.reach[0] - 1 if row_by_row else 0  # image rows a part needs beyond one a row of windows
    each, tall = plan.parts(x, n, count[0], (channels * prod(kernel) + 2 * o) * prod(count[1:]), more)
    buffer = xp.empty((channels * prod(kernel) * (tall + more) * each * prod(count[1:]),), dtype=x.dtype)
    frame, inside = None, ()
    if any(at.low) or any(at.high):
        across = [a + size + b for size, a, b in zip(across, at.low[1:], at.high[1:], strict=True)]
        frame = xp.zeros((each, channels, tall * at.stride[0] + at.reach[0], *across), dtype=x.dtype)
        inside = tuple([slice(a, a + size) for a, size in zip(at.low[1:], x.shape[3:], strict=True)])
    views = _windowed(x if frame is None else frame, at, groups, row_by_row)
    for first in range(0, n, each):
        for top in range(0, count[0], tall):
            samples, rows = slice(first, min(n, first + each)), slice(top, min(count[0], top + tall))
            some = x[samples]
            if frame is not None:
                start = top * at.stride[0] - at.low[0]
                above = min(max(0, -start), frame.shape[2])
                below = max(above, min(height - start, frame.shape[2]))
                whole = frame[: some.shape[0]]
                whole[:, :, :above] = 0
                whole[:, :, below:] = 0
                whole[(slice(None), slice(None), slice(above, below), *inside)] = some[:, :, start + above : start + below]
                view = views[..., : rows.stop - top + more, : some.shape[0], *[slice(None)] * (len(count) - 1)]
            else:
                view = views[..., top : rows.stop + more, samples, *[slice(None)] * (len(count) - 1)]
            columns = buffer[: prod(view.shape)].reshape(view.shape)
            columns[...] = view
            step = at.dilation[0] * prod(view.shape[-len(count) :])
            yield samples, rows, columns.reshape((groups, prod(kernel) * (channels // groups), -1)), step


def _windowed(x: Array, at: Windows, groups: int, row_by_row: bool) -> Array:
    """What every window sees, without a copy: (group, *kernel, channel, row, sample, *the other axes)."""
    xp, axes, skip = xp_of(x), len(at.kernel), 1 if row_by_row else 0
    seen = xp.lib.stride_tricks.sliding_window_view(x, at.reach[skip:], axis=tuple(range(2 + skip, 2 + axes)))
    steps, gaps = [[slice(None, None, n) for n in by[skip:]] for by in (at.stride, at.dilation)]
    seen = seen[(*[slice(None)] * (2 + skip), *steps, *gaps)]
    seen = seen.reshape((x.shape[0], groups, x.shape[1] // groups, *seen.shape[2:]))
    return xp.transpose(seen, (1, *range(3 + axes, seen.ndim), 2, 3, 0, *range(4, 3 + axes)))
