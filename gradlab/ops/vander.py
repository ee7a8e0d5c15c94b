"""The Vandermonde matrix: the powers of numbers, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ArgumentError, ShapeError, explain
from .argument import tensor_of, whole

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Write the powers of every number as a row: x^(N-1) to x^0, or `increasing` from x^0 on; as many as there are numbers without `N`.

    Shapes: x: (n), y: (n, N)

    Raises:
        ShapeError: `x` has not one axis.
        ArgumentError: `N` is negative.

    >>> vander([2.0, 3.0], 3).tolist()
    [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    t = tensor_of(x)
    if t.ndim != 1:
        raise ShapeError(explain("vander: the powers of a list of numbers", got={"x": t.shape}, need="one axis"))
    n = t.shape[0] if N is None else whole("N", N)
    if n < 0:
        raise ArgumentError(explain("vander: how many powers?", got={"N": n}, need="0 or more"))
    t = t if t.dtype.kind == "f" else t.long()
    powers = t.reshape(-1, 1).expand(-1, max(n, 1)).slice_scatter(t.new_ones(t.shape[0], 1), 1, 0, 1).cumprod(1)[:, :n]
    return powers if increasing else powers.flip(1)
