"""The largest and the smallest entries; those that tie share the gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from .argument import Dim, axes_of, spelled
from .dtype import wide
from .refusal import AlongAxes, need_entries

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

EVEN = (
    Case(Draw((3, 4))),
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4)), dim=(0, -1)),
    Case(Draw((2, 3, 4)), dim=(0, 2), keepdim=True),
    Case(Draw((2, 3)), dim=-1, keepdim=True),
    Case(Draw(())),
    Case(Draw(()), keepdim=True),
    Case(Draw(()), dim=0, keepdim=True),
    Case(Draw((1, 1)), dim=0),
    Case(Draw((0, 3)), dim=1),
    Case(Given([[-3.0, 1.0, 2.0], [5.0, 4.0, -1.0]]), dim=1),
)


class AMinMax(NamedTuple):
    """What `aminmax` gives."""

    min: Tensor
    max: Tensor


def _shared(x: Array, y: Array, g: Array, dim: Dim) -> Array:
    """g, in equal parts, to the entries of x that equal y; where y is NaN, to the NaNs."""
    xp, g = xp_of(g), wide(g)
    hit = (x == y) | (x != x)
    return xp.where(hit, g / xp.sum(hit, axis=dim, keepdims=True, dtype=g.dtype), 0.0)


class AMax(AlongAxes):
    """y = largest x over dim;  dx = g shared evenly by the entries that equal y."""

    latex = r"y = \max_{\mathrm{dim}} x, \quad \bar x_i = \bar y\, \frac{[x_i = y]}{\#\{j : x_j = y\}}"
    kind = "reduce"
    cases = EVEN
    fresh = True

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_entries("amax", x, dim)
        xp = xp_of(x)
        self.x, self.dim, self.gone = x, dim, None if keepdim else dim
        self.y = xp.max(x, axis=dim, keepdims=True)
        return self.y if keepdim else xp.squeeze(self.y, axis=tuple(range(x.ndim)) if dim is None else dim)

    def backward(self, g: Array) -> Array:
        return _shared(self.x, self.y, g if self.gone is None else xp_of(g).expand_dims(g, self.gone), self.dim)


def amax(input: TensorLike, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Take the largest entry over `dim`, or of everything; NaN wins. Entries that tie share the gradient evenly.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        ShapeError: there is no entry to choose from.

    >>> amax([[1.0, 5.0], [3.0, 2.0]], dim=1).data
    array([5., 3.], dtype=float32)
    """
    return AMax.apply(input, **spelled(dim, keepdim, numpy))


class AMin(AlongAxes):
    """y = smallest x over dim;  dx = g shared evenly by the entries that equal y."""

    latex = r"y = \min_{\mathrm{dim}} x, \quad \bar x_i = \bar y\, \frac{[x_i = y]}{\#\{j : x_j = y\}}"
    kind = "reduce"
    cases = EVEN
    fresh = True

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_entries("amin", x, dim)
        xp = xp_of(x)
        self.x, self.dim, self.gone = x, dim, None if keepdim else dim
        self.y = xp.min(x, axis=dim, keepdims=True)
        return self.y if keepdim else xp.squeeze(self.y, axis=tuple(range(x.ndim)) if dim is None else dim)

    def backward(self, g: Array) -> Array:
        return _shared(self.x, self.y, g if self.gone is None else xp_of(g).expand_dims(g, self.gone), self.dim)


def amin(input: TensorLike, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Take the smallest entry over `dim`, or of everything; NaN wins. Entries that tie share the gradient evenly.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        ShapeError: there is no entry to choose from.

    >>> amin([[1.0, 5.0], [3.0, 2.0]], dim=1).data
    array([1., 2.], dtype=float32)
    """
    return AMin.apply(input, **spelled(dim, keepdim, numpy))


def aminmax(input: TensorLike, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> AMinMax:
    """Take the smallest and the largest entry along `dim`, or of everything, as `(min, max)`; entries that tie share evenly.

    Shapes: input: (*), min and max: input without dim (1 there with keepdim)

    >>> aminmax([1.0, 5.0, 3.0]).max.item()
    5.0
    """
    params = spelled(dim, keepdim, numpy)
    return AMinMax(AMin.apply(input, **params), AMax.apply(input, **params))
