"""Max pooling to any size: windows whose distances are drawn at random, as functions and as modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import ops
from .._tensor import Tensor
from ..backend import generator, to_numpy
from ..create import tensor
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..ops.argument import tensor_of
from ..ops.windows import Size, per_axis
from .module import Module

Ratio = float | Sequence[float]


def _starts(samples: np.ndarray, size: int, wanted: int, kernel: int) -> np.ndarray:
    """Where the windows of one axis begin, (batch, channel, window): about evenly, as one number a channel says."""
    alpha = samples.dtype.type(size - kernel) / samples.dtype.type(max(wanted - 1, 1))
    steps = samples[..., None] + np.arange(wanted, dtype=samples.dtype)
    starts = (steps * alpha).astype(np.int64) - (samples[..., None] * alpha).astype(np.int64)
    starts[..., -1] = size - kernel
    return starts


def _pooled(n: int, input: Any, kernel_size: Size, output_size: Any, output_ratio: Any, return_indices: bool, samples: Any) -> Any:
    op, x = f"fractional_max_pool{n}d", tensor_of(input)
    if x.ndim not in (n + 1, n + 2):
        need = f"{n} axes behind (batch, channel) or (channel)"
        raise ShapeError(explain(f"{op}: this has another number of axes", got={"x": x.shape}, need=need))
    kernel, sizes = per_axis(op, "kernel_size", kernel_size, n, 1), x.shape[-n:]
    wanted = _wanted(op, n, sizes, output_size, output_ratio)
    if any(w < 1 or w > size - k + 1 for w, size, k in zip(wanted, sizes, kernel, strict=True)):
        got = {"x": x.shape, "kernel_size": kernel, "output": wanted}
        raise ShapeError(explain(f"{op}: so many windows don't fit", got=got, need="1 to size - kernel_size + 1 along each axis"))
    rows = x.reshape(-1, x.shape[-n - 1], *sizes) if x.ndim == n + 1 else x
    shape = (*rows.shape[:2], n)
    draws = generator(None).random(size=shape, dtype=np.float32) if samples is None else to_numpy(tensor_of(samples)._data)
    if draws.shape != shape:
        raise ShapeError(explain(f"{op}: one random number a channel and axis", got={"samples": draws.shape}, need=f"{shape}"))
    at: Any = np.int64(0)
    for axis, (size, w, k) in enumerate(zip(sizes, wanted, kernel, strict=True)):
        which = axis if n == 3 else n - 1 - axis  # of images PyTorch's first number is that of the width
        place = _starts(draws[..., which], size, w, k)[..., None] + np.arange(k)
        spread = [1] * (2 * n)
        spread[axis], spread[n + axis] = w, k
        at = at * size + place.reshape(*shape[:2], *spread)
    at = at.reshape(*shape[:2], -1)
    windows = ops.gather(rows.reshape(*shape[:2], -1), 2, tensor(at, device=x.device)).reshape(*shape[:2], *wanted, -1)
    best, which = ops.max(windows, -1)
    if x.ndim == n + 1:
        best = best[0]
    if not return_indices:
        return best
    places = np.take_along_axis(at.reshape(windows.shape), to_numpy(which._data)[..., None], -1)[..., 0]
    return best, tensor(places[0] if x.ndim == n + 1 else places, device=x.device)


def _wanted(op: str, n: int, sizes: Sequence[int], output_size: Any, output_ratio: Any) -> tuple[int, ...]:
    if (output_size is None) == (output_ratio is None):
        got = {"output_size": output_size, "output_ratio": output_ratio}
        raise KeywordError(explain(f"{op}: which size?", got=got, need="output_size or output_ratio, one of them"))
    if output_size is not None:
        return per_axis(op, "output_size", output_size, n, 1)
    return tuple([int(size * r) for size, r in zip(sizes, _ratios(op, n, output_ratio), strict=True)])


def _ratios(op: str, n: int, given: Any) -> tuple[float, ...]:
    ratios = tuple(given) if isinstance(given, (tuple, list)) else (given,) * n
    if len(ratios) != n or not all(isinstance(r, (int, float)) and 0 < r < 1 for r in ratios):
        raise ArgumentError(explain(f"{op}: output_ratio is a part of the size", got={"output_ratio": given}, need="0 < output_ratio < 1"))
    return ratios


def fractional_max_pool2d(
    input: Tensor, kernel_size: Size, output_size: Size | None = None, output_ratio: Ratio | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest of windows over images that are about evenly apart, at distances drawn at random for each channel.

    Shapes: input: (batch, channel, height, width) or without batch, y: (batch, channel, *output_size)

    Raises:
        ShapeError: so many windows don't fit.

    Source: Graham 2014, arXiv:1412.6071, section 2.
    """
    return _pooled(2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input: Tensor, kernel_size: Size, output_size: Size | None = None, output_ratio: Ratio | None = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """The largest of windows through volumes that are about evenly apart, at distances drawn at random for each channel.

    Shapes: input: (batch, channel, depth, height, width) or without batch, y: (batch, channel, *output_size)

    Raises:
        ShapeError: so many windows don't fit.
    """
    return _pooled(3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


class FractionalMaxPool(Module):
    """What FractionalMaxPool2d and 3d share."""

    axes: ClassVar[int]

    def __init__(
        self, kernel_size: Size, output_size: Size | None = None, output_ratio: Ratio | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name, n = type(self).__name__, self.axes
        self.kernel_size = per_axis(name, "kernel_size", kernel_size, n, 1)
        _ = _wanted(name, n, (1,) * n, output_size, output_ratio)
        self.output_size = None if output_size is None else per_axis(name, "output_size", output_size, n, 1)
        self.output_ratio = None if output_ratio is None else _ratios(name, n, output_ratio)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, x: Tensor) -> Any:
        return _pooled(self.axes, x, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool2d(FractionalMaxPool):
    """The largest of windows over images that are about evenly apart, at distances drawn at random for each channel.

    So an image can be made smaller by less than half: by `output_size`, or by `output_ratio`, a part of its size.

    Shapes: x: (batch, channel, height, width) or without batch, y: (batch, channel, *output_size)

    Raises:
        ShapeError: so many windows don't fit.

    Source: Graham 2014, arXiv:1412.6071, section 2.

    >>> FractionalMaxPool2d(2, output_ratio=0.7)(tensor([[[1.0] * 10] * 10])).shape
    (1, 7, 7)
    """

    axes = 2


class FractionalMaxPool3d(FractionalMaxPool):
    """The largest of windows through volumes that are about evenly apart, see FractionalMaxPool2d.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: (batch, channel, *output_size)

    Raises:
        ShapeError: so many windows don't fit.
    """

    axes = 3
