"""Ops that draw random numbers, from gradlab's own generator (`gl.manual_seed`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, generator, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Dropout(Function):
    """y = m x with m = 0 at probability p, else 1 / (1 - p);  dx = g m."""

    latex = r"y = m\,x, \quad m \in \left\{0, \tfrac{1}{1-p}\right\}, \quad \bar x = \bar y\, m"
    cases = (
        Case(Draw((3, 4)), p=0.0),
        Case(Draw((2, 3, 4)), p=1.0),
        Case(Draw(()), p=0.0),
        Case(Draw((0, 3)), p=0.5),
    )
    reads = ()
    fresh = True
    mask: Array | None = None

    def forward(self, x: Array, p: float) -> Array:
        if self.mask is None:  # a node that runs again keeps what it drew
            keep = xp_of(x).asarray(generator().random(x.shape, dtype="float32") >= p)
            self.mask = keep * xp_of(x).asarray(1 / (1 - p) if p < 1 else 0.0, dtype=x.dtype)
        return x * self.mask

    def backward(self, g: Array) -> Array:
        return g * self.mask


def dropout(x: TensorLike, p: float = 0.5, training: bool = True) -> Tensor:
    """Set entries to 0 with probability `p` and scale the others by 1 / (1 - p), so that the mean stays; the identity unless `training`.

    Shapes: x: (*), y: (*)

    Raises:
        ArgumentError: `p` is no probability.

    >>> dropout([1.0, 2.0], p=1.0).data
    array([0., 0.], dtype=float32)
    >>> dropout([1.0, 2.0], p=0.5, training=False).data
    array([1., 2.], dtype=float32)
    """
    if not 0.0 <= p <= 1.0:
        raise ArgumentError(explain("dropout: p is the probability to drop an entry", got={"p": p}, need="a number from 0 to 1"))
    if hasattr(x, "grad_fn") and not (training and p):
        return x  # type: ignore[return-value] - a Tensor; nothing to do, so no step
    return Dropout.apply(x, p=p if training else 0.0)
