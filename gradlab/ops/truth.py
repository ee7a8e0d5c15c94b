"""Questions over many entries: does one hold, do all of them, how many do. No gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, uint8, xp_of
from ..cases import Case, Draw, Given
from .argument import Dim, axes_of, spelled
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

OVER = (
    Case(Given([[0.0, 1.0], [2.0, 3.0]]), dim=1),
    Case(Draw((2, 3, 4)), dim=(0, -1), keepdim=True),
    Case(Draw((2, 3)), dim=-1),
    Case(Draw((0, 3))),
    Case(Draw((0, 3)), dim=0),
    Case(Draw(())),
)


def _told(x: Array, y: Array) -> Array:
    """The answer as truth values; of uint8, which once were PyTorch's truth values, as uint8."""
    return xp_of(x).asarray(y, dtype=x.dtype) if x.dtype == uint8 else y


class AnyOf(AlongAxes):
    """y = whether an x over dim is not 0;  no gradient."""

    latex = r"y = \exists_{\mathrm{dim}}\; x \ne 0"
    kind = "reduce"
    cases = OVER
    reads = ()

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        return _told(x, xp_of(x).any(x, axis=dim, keepdims=keepdim))


def any(input: TensorLike, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Say whether one entry over `dim`, or of everything, is not 0; False where there is none.

    Shapes: input: (*), y: input without dim (1 there with keepdim), bool (of uint8, uint8)

    >>> any([[0.0, 1.0], [0.0, 0.0]], dim=1).data
    array([ True, False])
    """
    return AnyOf.apply(input, **spelled(dim, keepdim, numpy))


class AllOf(AlongAxes):
    """y = whether every x over dim is not 0;  no gradient."""

    latex = r"y = \forall_{\mathrm{dim}}\; x \ne 0"
    kind = "reduce"
    cases = OVER
    reads = ()

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        return _told(x, xp_of(x).all(x, axis=dim, keepdims=keepdim))


def all(input: TensorLike, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Say whether every entry over `dim`, or of everything, is not 0; True where there is none.

    Shapes: input: (*), y: input without dim (1 there with keepdim), bool (of uint8, uint8)

    >>> all([[2.0, 1.0], [0.0, 1.0]], dim=1).data
    array([ True, False])
    """
    return AllOf.apply(input, **spelled(dim, keepdim, numpy))


class CountNonzero(AlongAxes):
    """y = number of x over dim that are not 0;  no gradient."""

    latex = r"y = \#_{\mathrm{dim}} \{x \ne 0\}"
    kind = "reduce"
    cases = OVER
    reads = ()

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        return xp_of(x).sum(x != 0, axis=dim, keepdims=keepdim)


def count_nonzero(input: TensorLike, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Count the entries over `dim`, or of everything, that are not 0.

    Shapes: input: (*), y: input without dim (1 there with keepdim), int64

    >>> count_nonzero([[0.0, 1.0], [2.0, 3.0]], dim=1).data
    array([1, 2])
    """
    return CountNonzero.apply(input, **spelled(dim, keepdim, numpy))
