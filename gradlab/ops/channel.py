"""Arrays of (batch, channel, *places): what fits them, and blocks of samples. Not an op."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from ..backend import Array, float16, float32
from ..errors import ShapeError, explain
from . import plan
from .dtype import need_floats, need_one_dtype

BLOCK = 65_536  # entries worked on at a time: 256 kB of float32 stay in the cache from one line to the next


def blocks(x: Array) -> Iterator[slice]:
    """Samples of (batch, channel, place) that fit the cache together; on a device all of them."""
    n = x.shape[0]
    step = plan.portion(x, n, prod(x.shape[1:]), BLOCK)
    return (slice(start, start + step) for start in range(0, n, step))


def extent(op: str, x: Array, groups: int = 1, **per_channel: Any) -> tuple[int, int, int]:
    """The shape (batch, channel, place).

    Raises:
        ShapeError: `x` has no channels, they don't make so many groups, or something is not one number for each.
        DTypeError: not floats, or parameters of another dtype; float16 may go with float32.
    """
    need_floats(op, x)
    if x.ndim < 2:
        raise ShapeError(explain(f"{op}: x has no channels", got={"x": x.shape}, need="x: (batch, channel, *)"))
    channels = x.shape[1]
    if groups < 1 or channels % groups:
        got = {"x": x.shape, "num_groups": groups}
        raise ShapeError(explain(f"{op}: the channels don't make such groups", got=got, need="x: (batch, a multiple of num_groups, *)"))
    for name, array in per_channel.items():
        if not hasattr(array, "shape"):
            continue  # None, or 1.0 for a weight that is not there beside a bias
        if array.shape != (channels,):
            got = {"x": x.shape, name: array.shape}
            raise ShapeError(explain(f"{op}: the {name} is not one number a channel", got=got, need=f"{name}: ({channels},)"))
        if array.dtype is not x.dtype and (x.dtype, array.dtype) != (float16, float32):
            need_one_dtype(op, **{name: array, "x": x})
    return x.shape[0], channels, prod(x.shape[2:])
