"""Images in another size: nearest entries, and weighted means of those around."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..backend import Array, asarray_like, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import need_floats, wide
from .windows import Sizes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

Table: TypeAlias = tuple[np.ndarray, np.ndarray]  # which entries, (taps, places), and how much of each
AXES_OF = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "trilinear": (3,)}
SMOOTH = tuple(AXES_OF)


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """Weight of an entry by its distance.

    Source: R. Keys, Cubic convolution interpolation for digital image processing, IEEE Trans. ASSP 29 (1981), eq. 15, where a = -1/2.
    """
    d = np.abs(distance)
    return np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, np.where(d < 2, ((d - 5) * d + 8) * d * a - 4 * a, 0.0))


def _table(mode: str, n: int, m: int, factor: float | None, align_corners: bool, antialias: bool) -> Table:
    """From n entries to m: the places of the new ones between the old ones, with PyTorch's conventions."""
    if mode in ("nearest", "nearest-exact"):
        step = np.float32(1 / factor if factor else n / m)  # PyTorch counts in float32 here: it decides which entry is the nearest
        at = np.arange(m, dtype="float32") + np.float32(0.5 if mode == "nearest-exact" else 0)
        return np.minimum(np.floor(at * step).astype("int64"), n - 1)[None], np.ones((1, m))
    if mode == "area":
        return _even([(np.arange(i * n // m, -(-(i + 1) * n // m)), None) for i in range(m)])
    if n == m and (antialias or mode != "bicubic"):  # as PyTorch: whatever the factor was
        return np.arange(n)[None], np.ones((1, n))
    step = (n - 1) / (m - 1) if align_corners and m > 1 else 0.0 if align_corners else 1 / factor if factor else n / m
    if antialias:
        return _even(_wide_filters(mode, n, m, step))
    at = np.arange(m) * step if align_corners else (np.arange(m) + 0.5) * step - 0.5
    if mode == "bicubic":
        first = np.floor(at).astype("int64")
        taps = first + np.arange(-1, 3)[:, None]
        return np.clip(taps, 0, n - 1), _cubic(at - taps, -0.75)
    at = np.maximum(at, 0.0)
    first = np.minimum(np.floor(at).astype("int64"), n - 1)
    share = at - first
    return np.stack([first, np.minimum(first + 1, n - 1)]), np.stack([1 - share, share])


def _wide_filters(mode: str, n: int, m: int, step: float) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """For making smaller: the triangle or cubic stretched over all the entries that a new one stands for."""
    reach, stretch = (2.0 if mode == "bicubic" else 1.0) * max(step, 1.0), max(step, 1.0)
    filters: list[tuple[np.ndarray, np.ndarray | None]] = []
    for i in range(m):
        centre = step * (i + 0.5)
        entries = np.arange(max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), n))
        away = (entries - centre + 0.5) / stretch
        weights = _cubic(away, -0.5) if mode == "bicubic" else np.maximum(0.0, 1 - np.abs(away))
        filters.append((entries, weights / weights.sum()))
    return filters


def _even(filters: list[tuple[np.ndarray, np.ndarray | None]]) -> Table:
    """Filters of several lengths as one table: a short one shares its last entry's weight out over repeats of that entry."""
    most = max(len(entries) for entries, _ in filters)
    at, weights = np.empty((most, len(filters)), "int64"), np.empty((most, len(filters)))
    for i, (entries, given) in enumerate(filters):
        k, w = len(entries), np.full(len(entries), 1 / len(entries)) if given is None else given
        at[:k, i], at[k:, i] = entries, entries[-1]
        weights[:k, i] = w
        weights[k - 1 :, i] = w[-1] / (most - k + 1)
    return at, weights


class Interpolate(Function):
    """y[p] = sum of a[p, i] x[i] along every axis, a few entries i near p;  dx[i] = sum of a[p, i] g[p]."""

    latex = r"y_p = \sum_i a_{pi}\, x_i, \quad \bar x_i = \sum_p a_{pi}\, \bar y_p"
    kind = "reduce"
    cases = (
        Case(Draw((1, 1, 3, 4)), size=(5, 6)),
        Case(Draw((1, 2, 5, 4)), size=(2, 3), mode="nearest-exact"),
        Case(Draw((1, 2, 4)), size=(7,), mode="linear"),
        Case(Draw((1, 1, 3, 4)), size=(5, 2), mode="bilinear"),
        Case(Draw((1, 1, 3, 4)), size=(4, 7), mode="bilinear", align_corners=True),
        Case(Draw((1, 1, 3, 4)), size=(5, 6), mode="bicubic"),
        Case(Draw((1, 1, 3, 4)), size=(7, 1), mode="bicubic", align_corners=True),
        Case(Draw((1, 1, 2, 3, 2)), size=(3, 2, 4), mode="trilinear"),
        Case(Draw((1, 1, 5, 4)), size=(3, 2), mode="area"),
        Case(Draw((1, 1, 6, 5)), size=(3, 2), mode="bilinear", antialias=True),
        Case(Draw((1, 1, 3, 3)), size=(5, 4), factors=(1.8, 1.4), mode="bilinear"),
        Case(Draw((0, 1, 3, 4)), size=(5, 6), mode="bilinear"),
    )
    reads = ()
    fresh = True

    def forward(
        self,
        x: Array,
        size: Sizes,
        mode: str = "nearest",
        align_corners: bool = False,
        factors: tuple[float, ...] | None = None,
        antialias: bool = False,
    ) -> Array:
        xp, self.shape, dtype = xp_of(x), x.shape, x.dtype
        mixes = mode not in ("nearest", "nearest-exact")
        if mixes:
            need_floats("interpolate", x)
        y, self.tables = wide(x) if mixes else x, []
        for i, m in enumerate(size):
            axis, n = x.ndim - len(size) + i, x.shape[x.ndim - len(size) + i]
            at, weights = _table(mode, n, m, factors[i] if factors else None, align_corners, antialias)
            self.tables.append((axis, at, weights))
            places = asarray_like(at, x)
            if not mixes:
                y = xp.take(y, places[0], axis=axis)
                continue
            shares = asarray_like(weights, x, y.dtype).reshape((len(at), m, *[1] * (x.ndim - 1 - axis)))
            whole, y = y, xp.take(y, places[0], axis=axis) * shares[0]
            for k in range(1, len(at)):
                y += xp.take(whole, places[k], axis=axis) * shares[k]
        return xp.asarray(y, dtype=dtype)

    def backward(self, g: Array) -> Array:
        # As a product with the table written out as a matrix: faster than adding up entries that come several times.
        xp, dx = xp_of(g), wide(g)
        for axis, at, weights in reversed(self.tables):
            n, m = self.shape[axis], dx.shape[axis]
            matrix = np.zeros((n, m))
            np.add.at(matrix, (at, np.arange(m)), weights)
            behind = prod(dx.shape[axis + 1 :])
            rows = dx.reshape((prod(dx.shape[:axis]), m, behind))
            matrix = asarray_like(matrix, g, dx.dtype)
            # Along the last axis as one product of tall matrices.
            rows = rows[..., 0] @ matrix.T if behind == 1 else matrix @ rows
            dx = rows.reshape((*dx.shape[:axis], n, *dx.shape[axis + 1 :]))
        return xp.asarray(dx, dtype=g.dtype)


def interpolate(
    input: TensorLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Bring images to another size, or to their size times `scale_factor`, rounded down.

    `mode` is "nearest", "nearest-exact" (rounded as other libraries do), "linear" / "bilinear" / "trilinear" for 1 / 2 / 3 axes,
    "bicubic", or "area" (means). With `align_corners` the centres of the corners stay where they are, else their outer edges.
    `antialias` widens the filter where an image gets smaller ("bilinear" and "bicubic"). As in PyTorch, a given scale_factor is
    also the step between places, unless `recompute_scale_factor` says to take the one of the rounded size.

    Shapes: input: (batch, channel, *axes), y: (batch, channel, *size)

    Raises:
        ShapeError: a number of axes the mode is not made for, or nothing to take entries from.
        ArgumentError: both or neither of size and scale_factor, or an option the mode does not have.
        DTypeError: whole numbers that would have to be mixed.

    >>> interpolate([[[1.0, 2.0]]], scale_factor=2).data
    array([[[1., 1., 2., 2.]]], dtype=float32)
    >>> interpolate([[[1.0, 2.0]]], size=3, mode="linear", align_corners=True).data
    array([[[1. , 1.5, 2. ]]], dtype=float32)
    """
    x: Any = input if hasattr(input, "shape") else np.asarray(input)
    axes, shape = len(x.shape) - 2, tuple(x.shape)
    if mode not in ("nearest", "nearest-exact", "area", *SMOOTH):
        need = '"nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic" or "area"'
        raise ArgumentError(explain("interpolate: which mode?", got={"mode": repr(mode)}, need=need))
    allowed = AXES_OF.get(mode, (1, 2, 3))
    if axes not in allowed:
        need = f"(batch, channel, *axes) with {' or '.join(map(str, allowed))} axes"
        fix = {1: 'mode="linear"', 2: 'mode="bilinear"', 3: 'mode="trilinear"'}.get(axes, "") if mode != "bicubic" else ""
        raise ShapeError(explain(f'interpolate: the number of axes does not fit "{mode}"', got={"x": shape}, need=need, fix=fix))
    if align_corners is not None and mode not in SMOOTH:
        got, need = {"mode": mode, "align_corners": align_corners}, "no align_corners: only linear, bilinear, trilinear and bicubic have it"
        raise ArgumentError(explain("interpolate: this mode has no corners", got=got, need=need))
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ArgumentError(explain("interpolate: this mode has no antialias", got={"mode": mode}, need='"bilinear" or "bicubic"'))
    sizes, factors = _sizes(shape[2:], size, scale_factor)
    if min(shape[1:]) < 1 or min(sizes) < 1:
        raise ShapeError(explain("interpolate: there would be nothing in it", got={"x": shape, "size": sizes}, need="sizes of 1 or more"))
    params: dict[str, Any] = {"size": sizes, "mode": mode}
    if align_corners:
        params["align_corners"] = True
    if factors and not recompute_scale_factor:
        params["factors"] = factors
    if antialias:
        params["antialias"] = True
    return Interpolate.apply(input, **params)


def _sizes(shape: Sizes, size: Any, scale_factor: Any) -> tuple[Sizes, tuple[float, ...] | None]:
    """The sizes wanted, and the factors where those were given instead."""
    if (size is None) == (scale_factor is None):
        got = {"size": size, "scale_factor": scale_factor}
        raise ArgumentError(explain("interpolate: either a size or a scale_factor", got=got, need="one of the two"))
    given = size if scale_factor is None else scale_factor
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,) * len(shape)
    if len(values) != len(shape) or not all(isinstance(v, (int, float, np.number)) for v in values):
        name = "size" if scale_factor is None else "scale_factor"
        got, need = {"x": ("batch", "channel", *shape), name: given}, f"one number, or {len(shape)} of them"
        raise ArgumentError(explain(f"interpolate: this {name} does not fit", got=got, need=need))
    if scale_factor is None:
        return tuple([int(v) for v in values]), None
    return tuple([floor(n * float(v)) for n, v in zip(shape, values, strict=True)]), tuple([float(v) for v in values])


def upsample(
    input: TensorLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Do what `interpolate` does, under its older name.

    Shapes: input: (batch, channel, *axes), y: (batch, channel, *size)

    >>> upsample([[[1.0, 2.0]]], size=4).data
    array([[[1., 1., 2., 2.]]], dtype=float32)
    """
    return interpolate(input, size, scale_factor, mode, align_corners)
