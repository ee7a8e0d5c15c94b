"""Axes of size 1: dropping them, and adding them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import DimError, explain
from ..function import Function
from .argument import axis_of, tensor_of

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Squeeze(Function):
    """y = x without axes of size 1;  dx = g with them."""

    latex = r"y = \mathrm{squeeze}(x), \quad \bar x = \mathrm{reshape}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((1, 3, 1))),
        Case(Draw((1, 3, 1)), dim=-1),
        Case(Draw((1, 3, 1)), dim=1),
        Case(Draw((1, 3, 1)), dim=(0, 2)),
        Case(Draw(())),
        Case(Draw((0, 1)), dim=1),
    )
    reads = ()

    def forward(self, x: Array, dim: int | tuple[int, ...] | None = None) -> Array:
        self.shape = x.shape
        given: tuple[Any, ...] = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
        dims = range(x.ndim) if dim is None else [axis_of("squeeze", d, x) for d in given if x.ndim or d not in (0, -1)]
        if len(set(dims)) < len(dims):
            raise DimError(explain("squeeze: an axis is named twice", got={"x": x.shape, "dim": dim}, need="every axis once"))
        return x.reshape(tuple([n for i, n in enumerate(x.shape) if n != 1 or i not in dims]))

    def backward(self, g: Array) -> Array:
        return g.reshape(self.shape)


def squeeze(input: TensorLike, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Drop axes of size 1: all of them, or those of `dim` that have it.

    Shapes: input: (1, a, 1), y: (a)

    >>> squeeze([[[1.0], [2.0]]]).shape
    (2,)
    """
    return Squeeze.apply(input, dim=dim)


class Unsqueeze(Function):
    """y = x with a new axis of size 1 at dim;  dx = g without it."""

    latex = r"y = \mathrm{unsqueeze}(x), \quad \bar x = \mathrm{reshape}(\bar y)"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), dim=0),
        Case(Draw((2, 3, 4)), dim=-1),
        Case(Draw(()), dim=0),
        Case(Draw((0, 3)), dim=2),
    )
    reads = ()

    def forward(self, x: Array, dim: int) -> Array:
        self.shape = x.shape
        return xp_of(x).expand_dims(x, axis_of("unsqueeze", dim, x, extra=1))

    def backward(self, g: Array) -> Array:
        return g.reshape(self.shape)


def unsqueeze(input: TensorLike, dim: int) -> Tensor:
    """Add an axis of size 1 at `dim`.

    Shapes: input: (a, b), y: (a, 1, b) for dim 1

    >>> unsqueeze([1.0, 2.0], -1).shape
    (2, 1)
    """
    return Unsqueeze.apply(input, dim=dim)


def atleast_1d(*tensors: TensorLike) -> Any:
    """Give a 0-d tensor one axis; any other as it is. Of several a tuple.

    Shapes: each: (), y: (1)

    >>> atleast_1d(3.0).shape
    (1,)
    """
    return _each(_long, tensors)


def atleast_2d(*tensors: TensorLike) -> Any:
    """Give a tensor of fewer than two axes new ones in front. Of several a tuple.

    Shapes: each: (a), y: (1, a)

    >>> atleast_2d([3.0, 4.0]).shape
    (1, 2)
    """
    return _each(_flat, tensors)


def atleast_3d(*tensors: TensorLike) -> Any:
    """Give a tensor of fewer than three axes new ones: a vector one in front and one behind, a matrix one behind. Of several a tuple.

    Shapes: each: (a), y: (1, a, 1)

    >>> atleast_3d([3.0, 4.0]).shape
    (1, 2, 1)
    """
    return _each(_solid, tensors)


def _each(one: Callable[[Tensor], Tensor], tensors: tuple[TensorLike, ...]) -> Any:
    made = [one(tensor_of(x)) for x in tensors]
    return made[0] if len(made) == 1 else tuple(made)


def _long(x: Tensor) -> Tensor:
    return x if x.ndim else x.reshape(1)


def _flat(x: Tensor) -> Tensor:
    return x if x.ndim >= 2 else x.reshape(1, -1)


def _solid(x: Tensor) -> Tensor:
    x = _flat(x)
    return x if x.ndim >= 3 else x.reshape(*x.shape, 1)
