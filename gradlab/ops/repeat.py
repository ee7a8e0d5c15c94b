"""Copies of everything, or of every entry, in a row."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, asarray_like, scatter_add, to_numpy, total, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, DTypeError, ShapeError, explain
from ..function import Function
from .argument import sizes, tensor_of
from .axis import opened
from .dtype import wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Tile(Function):
    """y = repeats copies of x along each axis;  dx = g summed over the copies."""

    latex = r"y = [x, x, \ldots], \quad \bar x = \sum_{\mathrm{copies}} \bar y"
    kind = "shape"
    cases = (
        Case(Draw((3,)), repeats=(2,)),
        Case(Draw((2, 3)), repeats=(2, 1, 3)),
        Case(Draw((2, 1, 3)), repeats=(1, 2, 2)),
        Case(Draw(()), repeats=(2, 3)),
        Case(Draw(()), repeats=()),
        Case(Draw((0, 3)), repeats=(2, 2)),
        Case(Draw((2, 3)), repeats=(0, 2)),
    )
    reads = ()

    def forward(self, x: Array, repeats: tuple[int, ...]) -> Array:
        self.shape, self.repeats = (1,) * (len(repeats) - x.ndim) + x.shape, repeats
        return xp_of(x).tile(x, repeats)

    def backward(self, g: Array) -> Array:
        copies_and_sizes = [n for pair in zip(self.repeats, self.shape, strict=True) for n in pair]
        return total(g.reshape(copies_and_sizes), tuple(range(0, 2 * len(self.repeats), 2)))


def repeat(input: TensorLike, *times: int | tuple[int, ...], repeats: tuple[int, ...] | None = None) -> Tensor:
    """Put copies of `input` side by side: one number for every axis of the result.

    Shapes: input: (b), y: (r, s * b) for repeats (r, s)

    Raises:
        ShapeError: fewer numbers than axes.
        ArgumentError: a number is negative.

    >>> repeat([1.0, 2.0], 2, 2).data
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    x, numbers = tensor_of(input), sizes(times, repeats)
    if len(numbers) < x.ndim:
        raise ShapeError(explain("repeat: how often along every axis?", got={"x": x.shape, "repeats": numbers}, need=f"{x.ndim} or more"))
    return tile(x, numbers)


def tile(input: TensorLike, *times: int | tuple[int, ...], dims: tuple[int, ...] | None = None) -> Tensor:
    """Put copies of `input` side by side, as NumPy's `tile`: where numbers are missing, in front, they are 1.

    Shapes: input: (a, b), y: (a, r * b) for dims (r,)

    Raises:
        ArgumentError: a number is negative.

    >>> tile([[1.0, 2.0]], 2).data
    array([[1., 2., 1., 2.]], dtype=float32)
    """
    x, numbers = tensor_of(input), sizes(times, dims)
    if min(numbers, default=0) < 0:
        raise ArgumentError(explain("repeat: how often?", got={"repeats": numbers}, need="0 or more"))
    return Tile.apply(x, repeats=(1,) * (x.ndim - len(numbers)) + tuple(numbers))


class RepeatInterleave(Function):
    """y = every entry of x along dim, repeats times in a row;  dx = g summed over the copies."""

    latex = r"y = [x_1, x_1, \ldots, x_2, x_2, \ldots], \quad \bar x_i = \sum_{\mathrm{copies\ of\ } i} \bar y"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), repeats=2, dim=0),
        Case(Draw((2, 3, 4)), repeats=3, dim=-2),
        Case(Draw((2, 3)), repeats=np.array([0, 2, 1]), dim=1),
        Case(Draw(()), repeats=2, dim=0),
        Case(Draw((0, 3)), repeats=2, dim=1),
        Case(Draw((2, 3)), repeats=0, dim=0),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, repeats: Any, dim: int) -> Array:
        xp = xp_of(x)
        self.shape = x.shape
        x, self.axis = opened("repeat_interleave", x, dim)
        self.n, self.repeats = x.shape[self.axis], repeats
        if isinstance(repeats, int):
            return xp.repeat(x, repeats, axis=self.axis)
        self.source = asarray_like(_sources(repeats), x)
        return xp.take(x, self.source, axis=self.axis)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        if isinstance(self.repeats, int):
            shape = (*g.shape[: self.axis], self.n, self.repeats, *g.shape[self.axis + 1 :])
            return total(g.reshape(shape), self.axis + 1).reshape(self.shape)
        rows = xp.moveaxis(wide(g), self.axis, 0)
        dx = xp.zeros((self.n, *rows.shape[1:]), dtype=rows.dtype)
        scatter_add(dx, self.source, rows)
        return xp.moveaxis(dx, 0, self.axis).reshape(self.shape)


def _sources(repeats: np.ndarray) -> np.ndarray:
    """Which entry each copy is of."""
    return np.repeat(np.arange(len(repeats)), repeats)


def repeat_interleave(input: TensorLike, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Put copies of each entry along `dim` in a row: as many for all, or a number for each. Without `dim`, of the entries row by row.

    Shapes: input: (a, b), y: (r * a, b) for dim 0

    Raises:
        ShapeError: there are not as many numbers as entries, or `output_size` is not what they add up to.
        ArgumentError: a number is negative.
        DTypeError: a number is no whole one.

    >>> repeat_interleave([1.0, 2.0], 2).data
    array([1., 1., 2., 2.], dtype=float32)
    """
    x, dim = (tensor_of(input).reshape(-1), 0) if dim is None else (tensor_of(input), dim)
    numbers = np.asarray(to_numpy(repeats.data) if hasattr(repeats, "grad_fn") else repeats)
    if numbers.dtype.kind not in "iu":
        raise DTypeError(explain("repeat_interleave: how often?", got={"repeats": numbers.dtype}, need="whole numbers"))
    if numbers.min(initial=0) < 0:
        raise ArgumentError(explain("repeat_interleave: how often?", got={"repeats": numbers.tolist()}, need="0 or more"))
    y = RepeatInterleave.apply(x, repeats=int(numbers.reshape(())) if numbers.size == 1 else _fitting(numbers, x.data, dim), dim=dim)
    if output_size is not None and output_size != y.shape[dim]:
        raise ShapeError(explain("repeat_interleave: another size", got={"output_size": output_size}, need=f"{y.shape[dim]}"))
    return y


def _fitting(numbers: np.ndarray, x: Array, dim: int) -> np.ndarray:
    _, axis = opened("repeat_interleave", x, dim)
    if numbers.shape != (prod(x.shape[axis : axis + 1]),):
        got = {"x": x.shape, "repeats": numbers.shape, "dim": dim}
        raise ShapeError(explain("repeat_interleave: one number an entry, please", got=got, need="as many as entries along dim, or one"))
    return numbers.copy()
