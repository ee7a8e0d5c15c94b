"""Where the largest and the smallest entry along an axis is; that one has all of the gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from .argument import axes_of, spelled, tensor_of
from .refusal import AlongAxes, need_entries

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

ONE_DIM = (
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4)), dim=-2, keepdim=True),
    Case(Draw((2, 3, 4)), dim=1),
    Case(Draw((5,)), dim=-1),
    Case(Draw(()), dim=0),
    Case(Draw(()), dim=-1, keepdim=True),
    Case(Draw((2, 1)), dim=1, keepdim=True),
    Case(Draw((1,)), dim=0),
    Case(Draw((0, 3)), dim=1),
)


class Extremum(NamedTuple):
    """What `max` and `min` along an axis give: the values, and the first place of each."""

    values: Tensor
    indices: Tensor


def _first(index: Array, g: Array, shape: tuple[int, ...], dim: int) -> Array:
    """g at the place `index` says along dim, 0 elsewhere."""
    xp = xp_of(g)
    if not shape:
        return xp.array(g).reshape(())
    along = [1] * len(shape)
    along[dim] = shape[dim]
    return xp.where(xp.arange(shape[dim]).reshape(along) == index, g, 0.0)


def _one_dim(op: str, params: dict[str, Any]) -> dict[str, Any]:
    params.setdefault("dim", None)
    if isinstance(params["dim"], tuple):
        raise ShapeError(
            explain(
                f"{op}: there is no one place of a value over several axes",
                got={"dim": params["dim"]},
                need="one axis",
                fix=f"x.a{op}({params['dim']})",
            )
        )
    return params


class ArgMax(AlongAxes):
    """y = first place of the largest x over dim;  no gradient."""

    latex = r"y = \mathrm{argmax}_{\mathrm{dim}}\, x"
    kind = "reduce"
    cases = (*ONE_DIM, Case(Draw((3, 4))))
    reads = ()

    def forward(self, x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_entries("argmax", x, dim)
        return xp_of(x).argmax(x, axis=dim, keepdims=keepdim)


def argmax(input: TensorLike, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Say where the largest entry is: along `dim`, or in the flattened tensor; the first of several.

    Shapes: input: (*), y: input without dim (1 there with keepdim), int64

    >>> argmax([[1.0, 5.0], [3.0, 2.0]], dim=1).data
    array([1, 0])
    """
    return ArgMax.apply(input, **spelled(dim, keepdim, numpy))


class ArgMin(AlongAxes):
    """y = first place of the smallest x over dim;  no gradient."""

    latex = r"y = \mathrm{argmin}_{\mathrm{dim}}\, x"
    kind = "reduce"
    cases = (*ONE_DIM, Case(Draw((3, 4))))
    reads = ()

    def forward(self, x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_entries("argmin", x, dim)
        return xp_of(x).argmin(x, axis=dim, keepdims=keepdim)


def argmin(input: TensorLike, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
    """Say where the smallest entry is: along `dim`, or in the flattened tensor; the first of several.

    Shapes: input: (*), y: input without dim (1 there with keepdim), int64

    >>> argmin([[1.0, 5.0], [3.0, 2.0]], dim=1).data
    array([0, 1])
    """
    return ArgMin.apply(input, **spelled(dim, keepdim, numpy))


class Max(AlongAxes):
    """y = largest x along dim;  dx = g at the first place of y, 0 elsewhere."""

    latex = r"y = x_k, \quad k = \mathrm{argmax}_{\mathrm{dim}}\, x, \quad \bar x_i = \bar y\,[i = k]"
    kind = "reduce"
    cases = ONE_DIM
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: int, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_entries("max", x, dim)
        xp = xp_of(x)
        self.shape, self.dim, self.keepdim = x.shape, dim, keepdim
        self.index = xp.argmax(x, axis=dim, keepdims=True)
        return xp.max(x, axis=dim, keepdims=keepdim)

    def backward(self, g: Array) -> Array:
        return _first(self.index, g if self.keepdim or not self.shape else xp_of(g).expand_dims(g, self.dim), self.shape, self.dim)


def max(input: TensorLike, dim: Any = None, keepdim: bool = False, *, other: TensorLike | None = None, **numpy: Any) -> Any:
    """Take the largest entry of everything, or `(values, indices)` along `dim`; NaN wins.

    Without `dim`, entries that tie share the gradient evenly; with it, the first of them gets all, as in PyTorch.
    A tensor in the place of `dim`, or `other`, is compared entry by entry.

    Shapes: input: (*), y: () without dim; values and indices: input without dim (1 there with keepdim)

    Raises:
        ShapeError: there is no entry to choose from.

    >>> max([[1.0, 5.0], [3.0, 2.0]], dim=1).indices.data
    array([1, 0])
    """
    other = dim if hasattr(dim, "grad_fn") else other
    if other is not None:
        return tensor_of(input).maximum(other)
    params = _one_dim("max", spelled(dim, keepdim, numpy))
    if params["dim"] is None:
        return tensor_of(input).amax(**params)
    return Extremum(Max.apply(input, **params), ArgMax.apply(input, **params))


class Min(AlongAxes):
    """y = smallest x along dim;  dx = g at the first place of y, 0 elsewhere."""

    latex = r"y = x_k, \quad k = \mathrm{argmin}_{\mathrm{dim}}\, x, \quad \bar x_i = \bar y\,[i = k]"
    kind = "reduce"
    cases = ONE_DIM
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: int, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_entries("min", x, dim)
        xp = xp_of(x)
        self.shape, self.dim, self.keepdim = x.shape, dim, keepdim
        self.index = xp.argmin(x, axis=dim, keepdims=True)
        return xp.min(x, axis=dim, keepdims=keepdim)

    def backward(self, g: Array) -> Array:
        return _first(self.index, g if self.keepdim or not self.shape else xp_of(g).expand_dims(g, self.dim), self.shape, self.dim)


def min(input: TensorLike, dim: Any = None, keepdim: bool = False, *, other: TensorLike | None = None, **numpy: Any) -> Any:
    """Take the smallest entry of everything, or `(values, indices)` along `dim`; NaN wins.

    Without `dim`, entries that tie share the gradient evenly; with it, the first of them gets all, as in PyTorch.
    A tensor in the place of `dim`, or `other`, is compared entry by entry.

    Shapes: input: (*), y: () without dim; values and indices: input without dim (1 there with keepdim)

    Raises:
        ShapeError: there is no entry to choose from.

    >>> min([[1.0, 5.0], [3.0, 2.0]], dim=1).values.data
    array([1., 2.], dtype=float32)
    """
    other = dim if hasattr(dim, "grad_fn") else other
    if other is not None:
        return tensor_of(input).minimum(other)
    params = _one_dim("min", spelled(dim, keepdim, numpy))
    if params["dim"] is None:
        return tensor_of(input).amin(**params)
    return Extremum(Min.apply(input, **params), ArgMin.apply(input, **params))
