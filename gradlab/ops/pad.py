"""Padding: more entries around the last axes of a tensor, or fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import wide
from .windows import Sizes, padded

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _ends(x: Array, pad: Sizes) -> tuple[Sizes, Sizes]:
    """Before and behind, axis by axis in the order of the axes: `pad` begins with the last one."""
    low, high = pad[::2][::-1], pad[1::2][::-1]
    if any(n + min(a, 0) + min(b, 0) < 0 for n, a, b in zip(x.shape[x.ndim - len(low) :], low, high, strict=True)):
        raise ShapeError(explain("pad: more is cut off than there is", got={"x": x.shape, "pad": pad}, need="cuts of at most the size"))
    return low, high


class Pad(Function):
    """y = x with entries of one value around it;  dx = g without them."""

    latex = r"y = (v, \ldots, v, x, v, \ldots, v), \quad \bar x = \bar y_{\mathrm{inside}}"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), pad=(1, 2)),
        Case(Draw((2, 3, 4)), pad=(1, 0, 2, 1), value=2.5),
        Case(Draw((3, 4)), pad=(-1, 2, 1, -1)),
        Case(Draw((5,)), pad=(-2, -1), value=1.0),
        Case(Draw((2, 3)), pad=(0, 0)),
        Case(Draw(()), pad=()),
        Case(Draw((0, 3)), pad=(1, 1)),
        Case(Draw((2, 3)), pad=(-2, -1)),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, pad: Sizes, value: float = 0) -> Array:
        low, high = _ends(x, pad)
        self.cut = tuple([-a for a in low]), tuple([-b for b in high])
        return padded(x, low, high, value) if any(pad) else xp_of(x).array(x)

    def backward(self, g: Array) -> Array:
        low, high = self.cut
        return padded(g, low, high) if any(low) or any(high) else xp_of(g).array(g)


def _sources(mode: str, n: int, before: int, behind: int) -> list[tuple[slice, slice]]:
    """Along an axis of n entries: which entries of the padded one come from which of x, besides those in the middle."""
    if mode == "reflect":  # 2 1 | 0 1 2 3 | 2 1
        sources = slice(before, 0, -1), slice(-2, -2 - behind, -1)
    elif mode == "circular":  # 2 3 | 0 1 2 3 | 0 1
        sources = slice(-before, None), slice(0, behind)
    else:  # 0 0 | 0 1 2 3 | 3 3
        sources = slice(0, 1), slice(-1, None)
    ends = slice(0, before), slice(before + n, before + n + behind)
    return [(to, source) for to, source in zip(ends, sources, strict=True) if to.stop > to.start]


class PadFromInside(Function):
    """y = x, continued outwards with its own entries;  dx = g, added up over the places each entry went to."""

    latex = r"y_p = x_{s(p)}, \quad \bar x_i = \sum_{p \,:\, s(p) = i} \bar y_p"
    kind = "shape"
    cases = (
        Case(Draw((2, 4)), pad=(2, 3), mode="reflect"),
        Case(Draw((2, 4)), pad=(4, 3), mode="circular"),
        Case(Draw((2, 4)), pad=(5, 1), mode="replicate"),
        Case(Draw((1, 3, 4)), pad=(3, 0, 1, 2), mode="reflect"),
        Case(Draw((1, 2, 3, 2)), pad=(1, 2, 1, 1), mode="circular"),
        Case(Draw((1, 2, 2, 3)), pad=(2, 2, 1, 3), mode="replicate"),
        Case(Draw((2, 5)), pad=(-1, 2), mode="reflect"),
        Case(Draw((2, 5)), pad=(3, -2), mode="circular"),
        Case(Draw((2, 5)), pad=(-2, 2), mode="replicate"),
        Case(Draw((0, 3)), pad=(1, 2), mode="reflect"),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, pad: Sizes, mode: str) -> Array:
        xp, (low, high), start = xp_of(x), _ends(x, pad), x.ndim - len(pad) // 2
        self.mode, self.cut = mode, (tuple([min(a, 0) for a in low]), tuple([min(b, 0) for b in high]))
        self.steps = [(start + i, max(a, 0), max(b, 0)) for i, (a, b) in enumerate(zip(low, high, strict=True))]
        # What a negative number says is cut off first where the entries come from the other end, else last.
        y = padded(x, self.cut[0], self.cut[1]) if mode == "circular" else x
        for axis, before, behind in self.steps:
            x, lead, n = y, (slice(None),) * axis, y.shape[axis]
            if n == 0 or (mode == "reflect" and max(before, behind) >= n) or (mode == "circular" and max(before, behind) > n):
                need = f"numbers {'below' if mode == 'reflect' else 'up to'} the size" if n else "entries to take from"
                raise ShapeError(explain(f"pad: there is not enough to {mode}", got={"x": x.shape, "pad": pad}, need=need))
            y = xp.empty((*x.shape[:axis], before + n + behind, *x.shape[axis + 1 :]), dtype=x.dtype)
            y[(*lead, slice(before, before + n))] = x
            for to, source in _sources(mode, n, before, behind):
                y[(*lead, to)] = x[(*lead, source)]
        return y if mode == "circular" else padded(y, self.cut[0], self.cut[1])

    def backward(self, g: Array) -> Array:
        xp, dtype, (low, high) = xp_of(g), g.dtype, self.cut
        back = tuple([-a for a in low]), tuple([-b for b in high])
        rest = wide(g) if self.mode == "circular" else padded(wide(g), back[0], back[1])
        for axis, before, behind in reversed(self.steps):
            lead, n = (slice(None),) * axis, rest.shape[axis] - before - behind
            dx = xp.array(rest[(*lead, slice(before, before + n))])
            for to, source in _sources(self.mode, n, before, behind):
                part = rest[(*lead, to)]
                dx[(*lead, source)] += xp.sum(part, axis=axis, keepdims=True) if self.mode == "replicate" else part
            rest = dx
        return xp.asarray(padded(rest, back[0], back[1]) if self.mode == "circular" else rest, dtype=dtype)


def pad(input: TensorLike, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Put entries around the last axes: `pad` says how many before and behind the last axis, then the last but one, ...

    A negative number cuts entries off. `mode` is "constant" (of `value`), "reflect" (mirrored at the last entry, which is not
    repeated), "replicate" (the last entry over and over) or "circular" (from the other end). All but "constant" take the last one to
    three axes of (channel, *axes) or (batch, channel, *axes), as in PyTorch.

    Shapes: input: (*, n), y: (*, before + n + behind)

    Raises:
        ArgumentError: a mode that is none, or numbers that do not come in pairs.
        ShapeError: more pairs than axes, or more to mirror, repeat or cut off than there is.

    >>> pad([1.0, 2.0, 3.0], (1, 2)).data
    array([0., 1., 2., 3., 0., 0.], dtype=float32)
    >>> pad([[1.0, 2.0, 3.0]], (2, 1), mode="reflect").data
    array([[3., 2., 1., 2., 3., 2.]], dtype=float32)
    """
    ends: Any = tuple(pad) if isinstance(pad, (tuple, list)) else (pad,)
    shape: Any = getattr(input, "shape", None)
    x: Any = input if shape is not None else xp_of(input).asarray(input)
    ndim = len(x.shape)
    if len(ends) % 2 or not all(hasattr(n, "__index__") for n in ends):
        raise ArgumentError(
            explain("pad: numbers come in pairs, before and behind", got={"pad": pad}, need="(before, behind, ...), whole numbers")
        )
    if len(ends) > 2 * ndim:
        raise ShapeError(explain("pad: more pairs than axes", got={"x": tuple(x.shape), "pad": pad}, need=f"at most {ndim} pairs"))
    if mode == "constant":
        return Pad.apply(input, pad=ends) if value is None else Pad.apply(input, pad=ends, value=value)
    if mode not in ("reflect", "replicate", "circular"):
        raise ArgumentError(explain("pad: which mode?", got={"mode": repr(mode)}, need='"constant", "reflect", "replicate" or "circular"'))
    if value is not None:
        raise ArgumentError(explain(f"pad: {mode} takes its entries from x", got={"value": value}, need='no value, or mode="constant"'))
    axes = len(ends) // 2
    if axes not in (1, 2, 3) or ndim not in (axes + 1, axes + 2):
        need = "1 to 3 pairs, and x with one or two axes more: (channel, *axes) or (batch, channel, *axes)"
        raise ShapeError(explain(f"pad: the number of axes does not fit {mode}", got={"x": tuple(x.shape), "pad": pad}, need=need))
    return PadFromInside.apply(input, pad=ends, mode=mode)
