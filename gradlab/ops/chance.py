"""Draws: categories, coins, normal numbers. From gradlab's own generator (`gl.manual_seed`), and without a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Generator, asarray_like, on_host, to_numpy
from ..backend import generator as drawn_by
from ..errors import ArgumentError, ShapeError, explain
from .argument import sizes, tensor_of, whole
from .dtype import need_floats

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def multinomial(input: TensorLike, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor:
    """Draw places with chances in proportion to the numbers of a row; each at most once, or with `replacement` again and again.

    Shapes: input: (n) or (rows, n), y: (num_samples) or (rows, num_samples), int64

    Raises:
        DTypeError: `input` holds integers.
        ShapeError: `input` has neither one axis nor two.
        ArgumentError: a chance is negative, infinite or NaN, all are 0, or there are fewer than `num_samples` above 0.

    >>> multinomial([0.0, 1.0, 0.0], 2, replacement=True).tolist()
    [1, 1]
    """
    t = tensor_of(input)
    need_floats("multinomial", t.data)
    if t.ndim not in (1, 2):
        raise ShapeError(explain("multinomial: one row of chances, or several", got={"x": t.shape}, need="one axis or two"))
    rows = to_numpy(t.data).astype("float64").reshape(-1, t.shape[-1])
    num_samples = whole("num_samples", num_samples)
    _need_chances(rows, num_samples, replacement)
    if replacement:
        below = np.cumsum(rows, axis=1)
        points = drawn_by(generator).random((len(rows), num_samples)) * below[:, -1:]
        places = np.stack([np.searchsorted(row, of, side="right") for row, of in zip(below, points, strict=True)] or [points])
    else:
        # The first of n clocks that ring at rates x is i with chance x_i / sum x; so is the next among those left.
        with np.errstate(divide="ignore"):
            rings = drawn_by(generator).standard_exponential(rows.shape) / rows
        places = np.argsort(rings, axis=1)[:, :num_samples]
    return tensor_of(asarray_like(places.reshape(*t.shape[:-1], num_samples), t.data, dtype="int64"))


def _need_chances(rows: np.ndarray, n: int, replacement: bool) -> None:
    if n < 1:
        raise ArgumentError(explain("multinomial: how many?", got={"num_samples": n}, need="1 or more"))
    if not (np.isfinite(rows).all() and (rows >= 0).all()):
        raise ArgumentError(explain("multinomial: these are no chances", got={"x": rows.tolist()}, need="finite numbers, 0 or more"))
    if (rows.sum(axis=1) <= 0).any():
        raise ArgumentError(explain("multinomial: no place has a chance", got={"sum of a row": 0.0}, need="a number above 0 in every row"))
    fewest = (rows > 0).sum(axis=1).min(initial=n)
    if not replacement and fewest < n:
        got = {"num_samples": n, "above 0": fewest}
        raise ArgumentError(explain("multinomial: so many are not there", got=got, need="replacement=True, or fewer samples"))


def bernoulli(input: TensorLike, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """Throw a coin for every entry: 1 with the chance that the entry says, or `p`, else 0.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: a chance is none.
        DTypeError: `input` holds integers, and no `p` is given.

    >>> bernoulli([0.0, 1.0]).data
    array([0., 1.], dtype=float32)
    """
    t = tensor_of(input)
    if p is None:
        need_floats("bernoulli", t.data)
    chance = t.data if p is None else np.asarray(p)
    if on_host(chance) and not ((chance >= 0) & (chance <= 1)).all():
        raise ArgumentError(explain("bernoulli: this is no chance", got={"chance": chance.tolist()}, need="numbers from 0 to 1"))
    drawn = asarray_like(drawn_by(generator).random(t.shape), t.data) < asarray_like(chance, t.data)
    return tensor_of(asarray_like(drawn, t.data, dtype=t.dtype))


def normal(
    mean: TensorLike = 0.0,
    std: TensorLike = 1.0,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw normal numbers with a mean and a standard deviation for every entry, or of `size`.

    Shapes: mean and std: broadcast to y

    Raises:
        ArgumentError: a standard deviation is negative.

    >>> normal(0.0, 1.0, (2, 3)).shape
    (2, 3)
    """
    m, s = tensor_of(mean), tensor_of(std)
    if (to_numpy(s.data) < 0).any():
        raise ArgumentError(explain("normal: a standard deviation is no less than 0", got={"std": s.tolist()}, need="0 or more"))
    shape = np.broadcast_shapes(m.shape, s.shape) if size is None else sizes((size,))
    like = m.data if m.ndim or m.dtype.kind == "f" else s.data
    y = to_numpy(m.data) + to_numpy(s.data) * drawn_by(generator).standard_normal(shape)
    drawn = tensor_of(asarray_like(y, like, dtype=dtype or (like.dtype if like.dtype.kind == "f" else "float32")))
    drawn = drawn if device is None else drawn.to(device=device)
    return drawn.requires_grad_() if requires_grad else drawn


def poisson(input: TensorLike, generator: Generator | None = None) -> Tensor:
    """Draw how often something happens that happens as often as the entry says, on average.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: an entry is negative.
        DTypeError: `input` holds integers.

    >>> poisson([0.0]).data
    array([0.], dtype=float32)
    """
    t = tensor_of(input)
    need_floats("poisson", t.data)
    rate = to_numpy(t.data)
    if not (rate >= 0).all():
        raise ArgumentError(explain("poisson: this is no rate", got={"x": rate.tolist()}, need="0 or more"))
    return tensor_of(asarray_like(drawn_by(generator).poisson(rate), t.data, dtype=t.dtype))
