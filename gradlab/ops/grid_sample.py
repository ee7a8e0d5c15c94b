"""Reading images at any places: a grid of places from an affine map, and the values there.

Source: M. Jaderberg et al., Spatial Transformer Networks, 2015, arXiv:1506.02025, eq. 1 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ..backend import Array, scatter_add, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import beside, need_floats, need_one_dtype, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _base(size: Sequence[int], align_corners: bool, like: Array) -> Array:
    """The places of an image's own entries, (*axes, coordinates and a 1), the last axis's coordinate first."""
    xp, axes = xp_of(like), size[2:]
    along: list[Array] = []
    for i, n in enumerate(axes):
        x = xp.arange(n, dtype=like.dtype)
        x = (2 * x + 1) / n - 1 if not align_corners else 2 * x / (n - 1) - 1 if n > 1 else x * 0
        along.append(xp.broadcast_to(x.reshape((n, *[1] * (len(axes) - 1 - i))), tuple(axes)))
    return xp.stack([*along[::-1], xp.ones(tuple(axes), dtype=like.dtype)], axis=-1)


class AffineGrid(Function):
    """y[p] = theta (p, 1) at the places p of an image's entries;  dtheta = sum of g[p] (p, 1)^T."""

    latex = (
        r"y_p = \theta \begin{pmatrix} p \\ 1 \end{pmatrix}, \quad \bar\theta = \sum_p \bar y_p \begin{pmatrix} p \\ 1 \end{pmatrix}^\top"
    )
    kind = "matmul"
    cases = (
        Case(Draw((2, 2, 3)), size=(2, 1, 3, 4)),
        Case(Draw((1, 2, 3)), size=(1, 3, 2, 1), align_corners=True),
        Case(Draw((1, 3, 4)), size=(1, 1, 2, 3, 2)),
        Case(Draw((0, 2, 3)), size=(0, 1, 3, 4)),
    )
    reads = ()
    fresh = True

    def forward(self, theta: Array, size: Sequence[int], align_corners: bool = False) -> Array:
        xp, n = xp_of(theta), len(size) - 2
        need_floats("affine_grid", theta)
        if n not in (2, 3) or theta.shape != (size[0], n, n + 1):
            got, need = {"theta": theta.shape, "size": tuple(size)}, "theta (batch, 2, 3) for 2 axes, (batch, 3, 4) for 3"
            raise ShapeError(explain("affine_grid: theta and size don't belong together", got=got, need=need))
        base = _base(size, align_corners, wide(theta))
        self.base = base.reshape((-1, n + 1))
        y = (self.base @ xp.swapaxes(wide(theta), 1, 2)).reshape((size[0], *size[2:], n))
        return xp.asarray(y, dtype=theta.dtype)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        rows = wide(g).reshape((g.shape[0], self.base.shape[0], g.shape[-1]))
        return xp.asarray(xp.swapaxes(rows, 1, 2) @ self.base, dtype=g.dtype)


def affine_grid(theta: TensorLike, size: Sequence[int], align_corners: bool = False) -> Tensor:
    """Say where an affine map takes the entries of an image of this size: the grid that `grid_sample` reads at.

    Places are counted from -1 to 1 along every axis, from edge to edge, or between the centres of the corners with `align_corners`.

    Shapes: theta: (batch, 2, 3) or (batch, 3, 4), size: (batch, channel, *axes), y: (batch, *axes, 2 or 3)

    Raises:
        ShapeError: theta and size do not belong together.

    >>> affine_grid([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]], (1, 1, 1, 2)).data
    array([[[[-0.5,  0.5],
             [ 0.5,  0.5]]]], dtype=float32)
    """
    return AffineGrid.apply(theta, size=tuple(size), **({"align_corners": True} if align_corners else {}))


def _inside(x: Array, n: int, padding_mode: str, align_corners: bool) -> tuple[Array, Array]:
    """Coordinates in entries, from those between -1 and 1, brought inside as the mode says; and the slope of that."""
    xp = xp_of(x)
    slope = (n - 1) / 2 if align_corners else n / 2
    at = (x + 1) * slope - (0.0 if align_corners else 0.5)
    turn = xp.ones_like(at) * slope
    if padding_mode == "reflection":
        low, span = (0.0, n - 1.0) if align_corners else (-0.5, float(n))
        if span == 0:
            return xp.zeros_like(at), xp.zeros_like(at)
        away = at - low
        sign = xp.where(away < 0, -1.0, 1.0)
        away = xp.abs(away)
        times = xp.floor(away / span)
        back = times % 2 != 0
        rest = away - times * span
        at = xp.where(back, span - rest, rest) + low
        turn = turn * xp.where(back, -sign, sign)
    if padding_mode != "zeros":
        turn = xp.where((at <= 0) | (at >= n - 1), 0.0, turn)
        at = xp.clip(at, 0, n - 1)
    return at, turn


class GridSample(Function):
    """y[p] = sum of x[i] times the overlap of i with grid[p];  dx = g times the overlap, dgrid = sum of g x[i] times its slope."""

    latex = (r"y_p = \sum_i x_i \prod_a \max(0, 1 - |q_{pa} - i_a|), \quad \bar x_i = \sum_p \bar y_p \prod_a \max(0, 1 - |q_{pa} - i_a|), "
             r"\quad \bar q_{pa} = \bar y_p \sum_i x_i\, \partial_a \prod_b \max(0, 1 - |q_{pb} - i_b|)")  # fmt: skip
    kind = "reduce"
    cases = (
        Case(Draw((2, 2, 3, 4)), Draw((2, 2, 3, 2), -0.9, 0.9)),
        Case(Draw((1, 1, 3, 4)), Draw((1, 3, 3, 2), -1.6, 1.6), align_corners=True),
        Case(Draw((1, 1, 3, 4)), Draw((1, 3, 3, 2), -1.6, 1.6), padding_mode="border"),
        Case(Draw((1, 1, 3, 4)), Draw((1, 3, 3, 2), -2.5, 2.5), padding_mode="reflection"),
        Case(Draw((1, 2, 3, 4)), Draw((1, 2, 2, 2), -1.3, 1.3), mode="nearest"),
        Case(Draw((1, 1, 2, 3, 2)), Draw((1, 1, 2, 2, 3), -0.9, 0.9)),
        Case(Draw((0, 1, 3, 4)), Draw((0, 2, 2, 2), -0.9, 0.9)),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, grid: Array, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False) -> Array:
        n = grid.ndim - 2
        need_floats("grid_sample", x)
        need_one_dtype("grid_sample", input=x, grid=grid)
        if n not in (2, 3) or x.ndim != n + 2 or grid.shape[-1] != n or grid.shape[0] != x.shape[0] or 0 in x.shape[2:]:
            got, need = {"input": x.shape, "grid": grid.shape}, "input (batch, channel, *axes), grid (batch, *places, as many as axes)"
            raise ShapeError(explain("grid_sample: input and grid don't belong together", got=got, need=need))
        self.x, self.mode, self.dtypes = wide(x), mode, (x.dtype, grid.dtype)
        sizes = x.shape[2:]
        # The last number of a place belongs to the first axis.
        self.at = [_inside(wide(grid)[..., n - 1 - a], sizes[a], padding_mode, align_corners) for a in range(n)]
        xp, y = xp_of(x), 0.0
        for index, share, _ in self._corners():
            y = y + self.x[index] * share[..., None]
        return xp.asarray(xp.ascontiguousarray(xp.moveaxis(y, -1, 1)), dtype=x.dtype)

    def _corners(self) -> list[tuple[Any, Array, list[Array]]]:
        """The entries around every place: their index in x, how much of each, and the slope of that along each axis."""
        xp, (batch, _, *sizes) = xp_of(self.x), self.x.shape
        rows = xp.arange(batch).reshape((batch, *[1] * len(sizes)))
        corners: list[tuple[Any, Array, list[Array]]] = []
        for sides in product((0, 1) if self.mode == "bilinear" else (0,), repeat=len(sizes)):
            index, inside, shares, signs = [], True, [], []
            for side, n, (at, _turn) in zip(sides, sizes, self.at, strict=True):
                first = xp.floor(at) if self.mode == "bilinear" else xp.rint(at)
                i = first + side
                shares.append(1 - xp.abs(at - i) if self.mode == "bilinear" else xp.ones_like(at))
                signs.append(2.0 * side - 1)
                inside = inside & (i >= 0) & (i <= n - 1)
                index.append(xp.asarray(xp.clip(i, 0, n - 1), dtype="int64"))
            share, slopes = inside * shares[0], []
            for more in shares[1:]:
                share = share * more
            for a in range(len(sizes)):
                slope = inside * signs[a] * self.at[a][1]
                for b, other in enumerate(shares):
                    slope = slope * other if b != a else slope
                slopes.append(slope)
            corners.append(((rows, slice(None), *index), xp.asarray(share, dtype=self.x.dtype), slopes))
        return corners

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, n, g = xp_of(g), len(self.at), xp_of(g).moveaxis(wide(g), 1, -1)
        dx = xp.zeros(self.x.shape, dtype=g.dtype) if self.needs[0] else None
        parts: list[Any] = [0.0] * n
        for index, share, slopes in self._corners():
            if dx is not None:
                scatter_add(dx, index, g * share[..., None])
            if self.needs[1] and self.mode == "bilinear":
                along = xp.sum(g * self.x[index], axis=-1)
                parts = [part + along * slope for part, slope in zip(parts, slopes, strict=True)]
        dgrid = None
        if self.needs[1]:
            dgrid = xp.stack(parts[::-1], axis=-1) if self.mode == "bilinear" else xp.zeros((*g.shape[:-1], n), dtype=g.dtype)
            dgrid = xp.asarray(dgrid, dtype=self.dtypes[1])
        return None if dx is None else xp.asarray(dx, dtype=self.dtypes[0]), dgrid


def grid_sample(
    input: TensorLike, grid: TensorLike, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Tensor:
    """Read images at the places of a grid, counted from -1 to 1 along every axis, the last axis first: (x, y) or (x, y, z).

    `mode` is "bilinear" (a mean of the entries around) or "nearest"; `padding_mode` says what lies outside: "zeros", "border"
    (the entry nearest to it) or "reflection". The gradient reaches the images, and, but for "nearest", the grid.

    Shapes: input: (batch, channel, *axes), grid: (batch, *places, 2 or 3), y: (batch, channel, *places)

    Raises:
        ShapeError: input and grid do not belong together.
        ArgumentError: a mode that is none.
        DTypeError: whole numbers, or two dtypes.

    >>> grid_sample([[[[1.0, 3.0]]]], [[[[0.0, 0.0], [0.5, 0.0]]]]).data
    array([[[[2., 3.]]]], dtype=float32)
    """
    if mode not in ("bilinear", "nearest"):
        raise ArgumentError(explain("grid_sample: which mode?", got={"mode": repr(mode)}, need='"bilinear" or "nearest"'))
    if padding_mode not in ("zeros", "border", "reflection"):
        need = '"zeros", "border" or "reflection"'
        raise ArgumentError(explain("grid_sample: which padding_mode?", got={"padding_mode": repr(padding_mode)}, need=need))
    input, grid = beside(input, grid), beside(grid, input)
    params: dict[str, Any] = {"mode": mode} if mode != "bilinear" else {}
    if padding_mode != "zeros":
        params["padding_mode"] = padding_mode
    if align_corners:
        params["align_corners"] = True
    return GridSample.apply(input, grid, **params)
