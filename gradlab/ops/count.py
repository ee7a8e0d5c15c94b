"""How often, and between what: counting values, and finding their place among sorted ones. No gradient."""

from __future__ import annotations

from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, on_host, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, DTypeError, ShapeError, explain
from ..function import Function
from .argument import axis_of, tensor_of
from .dtype import need_floats

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _told_apart(x: Array, dim: int | None, asked: dict[str, bool]) -> tuple[Array, ...]:
    """NumPy's unique, whose NaNs are all different as in PyTorch."""
    axis = None if dim is None else axis_of("unique", dim, x)
    found: Any = xp_of(x).unique(x, axis=axis, equal_nan=False, **asked)
    return found if isinstance(found, tuple) else (found,)


def unique(
    input: TensorLike,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """List the values that appear, each once and in order; along `dim` the entries that differ somewhere.

    With `return_inverse` also where in that list each entry is, with `return_counts` also how often each value appears.

    Shapes: input: (*), y: (n), inverse: (*), counts: (n)

    >>> [t.tolist() for t in unique([3, 1, 3], return_counts=True)]
    [[1, 3], [1, 2]]
    """
    t = tensor_of(input)
    asked = {name: True for name, wanted in (("return_inverse", return_inverse), ("return_counts", return_counts)) if wanted}
    found = [tensor_of(a) for a in _told_apart(t.data, dim, asked)]
    if return_inverse:
        found[1] = found[1].reshape(t.shape if dim is None else -1)
    return tuple(found) if asked else found[0]


def unique_consecutive(input: TensorLike, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """List the values row by row, or the entries along `dim`, equal neighbours once; see `unique` for what can be asked besides.

    Shapes: input: (*), y: (n), inverse: (*), counts: (n)

    >>> unique_consecutive([1, 1, 2, 1]).tolist()
    [1, 2, 1]
    """
    t = tensor_of(input)
    xp = xp_of(t.data)
    axis = 0 if dim is None else axis_of("unique_consecutive", dim, t.data)
    entries = t.data.reshape(-1) if dim is None else xp.moveaxis(t.data, axis, 0)
    n = entries.shape[0]
    rows = entries.reshape((n, prod(entries.shape[1:])))
    first = xp.concatenate([xp.ones(min(1, n), dtype=bool), xp.any(rows[1:] != rows[:-1], axis=1)])
    run = xp.cumsum(first) - 1
    where = run.reshape(t.shape) if dim is None else run
    kept = xp.moveaxis(entries[first], 0, axis)
    found = [kept, *([where] if return_inverse else []), *([xp.bincount(run)] if return_counts else [])]
    return tuple([tensor_of(a) for a in found]) if len(found) > 1 else tensor_of(found[0])


class SearchSorted(Function):
    """k = number of sorted entries below v, or not above it;  no gradient."""

    latex = r"k = \#\{i : s_i < v\}"
    kind = "shape"
    cases = (
        Case(Given([1.0, 2.0, 2.0, 3.0]), Draw((2, 3), 0, 4)),
        Case(Given([1.0, 2.0]), Draw(()), right=True),
        Case(Given([[[1.0, 2.0]], [[3.0, 4.0]]]), Draw((2, 1, 3))),
        Case(Draw((0,)), Draw((3,))),
    )
    reads = ()

    def forward(self, s: Array, v: Any, right: bool = False) -> Array:
        xp, side = xp_of(s), "right" if right else "left"
        v = xp.asarray(v)
        if s.ndim == 1:
            return xp.asarray(xp.searchsorted(s, v, side=side))
        if not s.ndim or s.shape[:-1] != v.shape[:-1]:
            got = {"sorted_sequence": s.shape, "values": v.shape}
            raise ShapeError(
                explain("searchsorted: the rows don't pair up", got=got, need="one sorted row, or one for every row of values")
            )
        rows, values = s.reshape((-1, s.shape[-1])), v.reshape((-1, v.shape[-1]))
        return xp.stack([xp.searchsorted(row, of, side=side) for row, of in zip(rows, values, strict=True)]).reshape(v.shape)


def searchsorted(
    sorted_sequence: TensorLike, input: TensorLike, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Say where each value has to be put in for the sequence to stay sorted: before equal entries, with `right` after them.

    Shapes: sorted_sequence: (n) or (*, n), input: (*, m), y: (*, m), int64

    Raises:
        ShapeError: there is not one sorted row for every row of `input`.
        ArgumentError: `side` is neither "left" nor "right".

    >>> searchsorted([1.0, 2.0, 2.0, 3.0], [2.0, 9.0]).tolist()
    [1, 4]
    """
    if side not in (None, "left", "right"):
        raise ArgumentError(explain("searchsorted: which side?", got={"side": repr(side)}, need='"left" or "right"'))
    s = tensor_of(sorted_sequence) if sorter is None else tensor_of(sorted_sequence).take_along_dim(sorter, -1)
    y = SearchSorted.apply(s, input, right=right or side == "right")
    return y.to("int32") if out_int32 else y


def bucketize(input: TensorLike, boundaries: TensorLike, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Say between which of the sorted boundaries each entry lies: boundaries[y-1] < input <= boundaries[y], or with `right` <= and <.

    Shapes: input: (*), boundaries: (n), y: (*), int64

    >>> bucketize([1.0, 2.0, 5.0], [1.0, 3.0]).tolist()
    [0, 1, 2]
    """
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


class HistC(Function):
    """y_k = number of x in the k-th of equal bins from low to high;  no gradient."""

    latex = r"y_k = \#\{x : l + k w \le x < l + (k + 1) w\}, \quad w = \frac{h - l}{n}"
    kind = "reduce"
    cases = (
        Case(Draw((5,)), bins=3),
        Case(Draw((2, 3, 2)), bins=4, low=-1.0, high=1.0),
        Case(Draw(()), bins=2),
        Case(Draw((0, 3)), bins=2),
    )
    reads = ()

    def forward(self, x: Array, bins: int, low: float = 0, high: float = 0) -> Array:
        need_floats("histc", x)
        xp = xp_of(x)
        if low == high and 0 not in x.shape:
            low, high = float(xp.min(x)), float(xp.max(x))
            if not isfinite(high - low):
                raise ArgumentError(explain("histc: no bins reach that far", got={"min": low, "max": high}, need="finite numbers"))
        if low == high:
            low, high = low - 1, high + 1
        return xp.asarray(xp.histogram(x.reshape(-1), bins=bins, range=(low, high))[0], dtype="int64")


def histc(input: TensorLike, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the entries in equal bins between `min` and `max`, both included; equal ones mean the range of `input`.

    Shapes: input: (*), y: (bins)

    Raises:
        ArgumentError: no bins, or `max` below `min`.
        DTypeError: `input` holds integers.

    >>> histc([1.0, 2.0, 1.0, 3.0], 4, 0, 3).tolist()
    [0.0, 2.0, 1.0, 1.0]
    """
    if bins < 1 or max < min:
        raise ArgumentError(explain("histc: which bins?", got={"bins": bins, "min": min, "max": max}, need="1 or more, and min <= max"))
    x = tensor_of(input)
    return HistC.apply(x, bins=bins, low=min, high=max).to(x.dtype)


class BinCount(Function):
    """y_k = number of x that are k;  no gradient."""

    latex = r"y_k = \#\{i : x_i = k\}"
    kind = "reduce"
    cases = (Case(Ints((5,))), Case(Ints((5,)), minlength=6), Case(Ints((0,))))
    reads = ()

    def forward(self, x: Array, minlength: int = 0) -> Array:
        xp = xp_of(x)
        if x.dtype.kind not in "iu":
            raise DTypeError(explain("bincount: counts integers", got={"x": x.dtype}, need="integers", fix="x.long()"))
        if x.ndim != 1:
            raise ShapeError(explain("bincount: counts along one axis", got={"x": x.shape}, need="one axis"))
        if on_host(x) and x.shape[0] and xp.min(x) < 0:
            raise ArgumentError(
                explain("bincount: there is no count for numbers below 0", got={"lowest": int(xp.min(x))}, need="0 or more")
            )
        return xp.bincount(x, minlength=minlength)


def bincount(input: TensorLike, weights: TensorLike | None = None, minlength: int = 0) -> Tensor:
    """Count how often each integer from 0 on appears, or add up the weights of its places.

    Shapes: input: (n), weights: (n), y: (largest input + 1, or minlength if that is more)

    Raises:
        DTypeError: `input` holds no integers.
        ShapeError: there is more than one axis, or not as many weights.
        ArgumentError: a number is below 0.

    >>> bincount([1, 1, 3]).tolist(), bincount([1, 1], weights=[0.5, 2.0]).tolist()
    ([0, 2, 0, 1], [0.0, 2.5])
    """
    x = tensor_of(input)
    counts = BinCount.apply(x, minlength=minlength)
    if weights is None:
        return counts
    w = tensor_of(weights)
    if w.shape != x.shape:
        raise ShapeError(explain("bincount: one weight a number, please", got={"x": x.shape, "weights": w.shape}, need="the same shape"))
    w = w if w.dtype.kind == "f" else w.double()
    return (counts * 0).to(w.dtype).index_put((x,), w, True)
