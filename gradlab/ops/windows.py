"""Windows that slide over the axes of an image: how they are given, how many fit. Not an op.

Axes are counted without batch and channel. Along one of them, window number p starts at p * stride - low and reads every
dilation-th entry, kernel of them; `low` and `high` are the entries added in front and behind.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from ..backend import Array, xp_of
from ..errors import ArgumentError, ShapeError, explain

Sizes: TypeAlias = tuple[int, ...]
Size: TypeAlias = int | Sizes
AXES = {1: "(length)", 2: "(height, width)", 3: "(depth, height, width)"}


class Windows(NamedTuple):
    """A kernel's size, and how it walks: one number an axis each."""

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    low: Sizes
    high: Sizes

    @property
    def reach(self) -> Sizes:
        """From a window's first entry to its last, both counted."""
        return tuple([(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)])

    def places(self, sizes: Sizes) -> Sizes:
        """How many windows fit; what remains behind the last of them is not read.

        >>> Windows((3,), (2,), (1,), (1,), (1,)).places((6,))
        (3,)
        """
        ends = zip(sizes, self.low, self.high, self.reach, self.stride, strict=True)
        return tuple([(n + low + high - reach) // s + 1 for n, low, high, reach, s in ends])


def per_axis(op: str, name: str, given: Any, n: int, least: int = 0) -> Sizes:
    """One whole number an axis, from one for all of them or from a tuple.

    >>> per_axis("conv2d", "stride", 2, 2), per_axis("conv2d", "stride", [1, 2], 2)
    ((2, 2), (1, 2))

    Raises:
        ArgumentError: numbers that are too many, too few, too small or not whole.
    """
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    values = values * n if len(values) == 1 else values
    try:
        whole = tuple([int(v.__index__()) for v in values])
    except AttributeError:
        whole = ()
    if len(whole) != n or min(whole, default=least) < least:
        what = {0: "0 or more", 1: "1 or more"}.get(least, "any")
        need = f"a whole number, {what}" + (f", or one for each of {AXES[n]}" if n in AXES and n > 1 else "")
        raise ArgumentError(explain(f"{op}: this {name} has no meaning", got={name: given}, need=need))
    return whole


def need_axes(op: str, x: Array, n: int) -> bool:
    """Whether `x` is without a batch axis, (channel, *axes); with one it is (batch, channel, *axes).

    Raises:
        ShapeError: it is neither.
    """
    if x.ndim not in (n + 1, n + 2):
        inner = AXES.get(n, "(*axes)")[1:]
        raise ShapeError(
            explain(f"{op}: the number of axes does not fit", got={"x": x.shape}, need=f"(batch, channel, {inner} or (channel, {inner}")
        )
    return x.ndim == n + 1


def need_room(op: str, x: Array, windows: Windows, sizes: Sizes) -> None:
    """Refuse windows that are larger than the padded input.

    Raises:
        ShapeError: along some axis no window fits.
    """
    for n, low, high, reach in zip(sizes, windows.low, windows.high, windows.reach, strict=True):
        if n + low + high < reach or n == 0:
            padded = tuple([n + low + high for n, low, high in zip(sizes, windows.low, windows.high, strict=True)])
            got = {"x": x.shape, "padded": padded, "kernel": windows.kernel}
            if windows.reach != windows.kernel:
                got["dilated"] = windows.reach
            raise ShapeError(
                explain(f"{op}: the kernel is larger than the padded input", got=got, need="one window at least along every axis")
            )


def padded(x: Array, low: Sizes, high: Sizes, value: float = 0.0) -> Array:
    """`x` with entries of `value` around its last axes; fewer than none cut off. `x` itself where nothing is to do."""
    if not any(low) and not any(high):
        return x
    xp, lead = xp_of(x), x.shape[: -len(low)]
    ends = list(zip(x.shape[len(lead) :], low, high, strict=True))
    y = xp.full((*lead, *[n + a + b for n, a, b in ends]), value, dtype=x.dtype)
    inside = tuple([slice(max(a, 0), n + a) for n, a, _ in ends])
    y[(..., *inside)] = x[(..., *[slice(max(-a, 0), n - max(-b, 0)) for n, a, b in ends])]
    return y


def taps(windows: Windows, count: Sizes, tap: Sizes) -> tuple[slice, ...]:
    """Where every window's entry number `tap` lies in the padded input: one slice an axis.

    >>> taps(Windows((3,), (2,), (1,), (0,), (0,)), (4,), (1,))
    (slice(1, 8, 2),)
    """
    ends = zip(tap, windows.dilation, windows.stride, count, strict=True)
    return tuple([slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, s, n in ends])
