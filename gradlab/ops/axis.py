"""Walking along one axis: parts of it, running results, adding up at places. Not an op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import Array, scatter_add, xp_of
from .argument import axis_of


def opened(op: str, x: Array, dim: int) -> tuple[Array, int]:
    """`x` and `dim` counted from the front; a 0-d array as one of one entry, for it has the axes 0 and -1 as in PyTorch.

    >>> import numpy as np
    >>> opened("sort", np.ones((2, 3)), -1)[1], opened("sort", np.array(3.0), -1)
    (1, (array([3.]), 0))
    """
    if not x.ndim:
        x = x.reshape((1,))
    return x, axis_of(op, dim, x)


def part(axis: int, start: int | None, stop: int | None = None) -> tuple[slice, ...]:
    """The index of the entries from start to stop along an axis.

    >>> import numpy as np
    >>> np.arange(6).reshape(2, 3)[part(1, 1)]
    array([[1, 2],
           [4, 5]])
    """
    return (*(slice(None),) * axis, slice(start, stop))


def scan(join: Callable[[Array, Array], Array], x: Array, axis: int) -> Array:
    """Join the first i entries along an axis, for every i, by a rule for two.

    Each pass joins what lies a step apart and doubles the step, so that log2 n passes over whole arrays do.

    >>> import numpy as np
    >>> scan(np.maximum, np.array([3, 1, 4, 1, 5]), 0)
    array([3, 3, 4, 4, 5])
    """
    xp, step = xp_of(x), 1
    while step < x.shape[axis]:
        later = join(x[part(axis, None, -step)], x[part(axis, step)])
        x = xp.concatenate([x[part(axis, None, step)], later], axis=axis)
        step *= 2
    return x


def recur(a: Array, b: Array, axis: int) -> Array:
    """r_i = b_i + a_i r_{i+1} along an axis, from the end; the last a does not count.

    log2 n passes as in `scan`: each doubles how far b_i has looked ahead, and a_i is the factor of what it has not seen.

    >>> import numpy as np
    >>> recur(np.array([2.0, 2.0, 0.0]), np.ones(3), 0)
    array([7., 3., 1.])
    """
    xp, step = xp_of(a), 1
    while step < a.shape[axis]:
        near, far, rest = part(axis, None, -step), part(axis, step), part(axis, -step)
        b = xp.concatenate([b[near] + a[near] * b[far], b[rest]], axis=axis)
        a = xp.concatenate([a[near] * a[far], a[rest]], axis=axis)
        step *= 2
    return b


def places(x: Array, axis: int) -> Array:
    """0, 1, 2, ... along an axis, in a shape that broadcasts to that of `x`."""
    xp = xp_of(x)
    return xp.arange(x.shape[axis]).reshape((x.shape[axis],) + (1,) * (x.ndim - axis - 1))


def grid(index: Array, axis: int) -> tuple[Array, ...]:
    """What makes x[grid(index, axis)] follow `index` along the axis, and stay in its row along the others."""
    return tuple([index if i == axis else places(index, i) for i in range(index.ndim)])


def add_along(shape: tuple[int, ...], index: Array, values: Array, axis: int) -> Array:
    """Zeros of that shape with each value added where its index points along the axis.

    >>> import numpy as np
    >>> add_along((1, 3), np.array([[0, 0, 2]]), np.array([[1.0, 2.0, 3.0]]), 1)
    array([[3., 0., 3.]])
    """
    out: Any = xp_of(values).zeros(shape, dtype=values.dtype)
    scatter_add(out, grid(index, axis), values)
    return out
