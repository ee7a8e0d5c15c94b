"""Joining tensors along an axis they have, or along a new one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, asarray_like, is_array, xp_of
from ..cases import Case, Draw
from ..errors import KeywordError, ShapeError, explain
from ..function import Function
from .argument import axis_of, tensor_of, whole

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _none_given(op: str) -> ShapeError:
    return ShapeError(explain(f"{op}: there is nothing to join", got={"tensors": "none"}, need="at least one tensor"))


def _arrays(xs: tuple[Any, ...]) -> tuple[Array, ...]:
    """Python numbers among them as 0-d arrays, in the dtype that the others were brought to."""
    dtype = next((x.dtype for x in xs if is_array(x)), None)
    return tuple([x if is_array(x) else xp_of(x).asarray(x, dtype=dtype) for x in xs])


class Cat(Function):
    """y = the inputs one after the other along dim;  each input gets its part of g."""

    latex = r"y = [a, b, \ldots], \quad [\bar a, \bar b, \ldots] = \bar y"
    kind = "shape"
    cases = (
        Case(Draw((1, 3)), Draw((2, 3)), dim=0),
        Case(Draw((2, 3, 4)), Draw((2, 3, 1)), Draw((2, 3, 2)), dim=-1),
        Case(Draw((3,)), dim=0),
        Case(Draw((0, 3)), Draw((2, 3)), dim=0),
        Case(Draw((0,)), Draw((2, 3)), Draw((2, 1)), dim=1),
    )
    aligns = True
    reads = ()

    def forward(self, *xs: Array, dim: int = 0) -> Array:
        xs = _arrays(xs)
        self.shapes: list[tuple[int, ...]] = [x.shape for x in xs]
        # PyTorch lets a list start with zeros(0), whatever shape the others have.
        some = [x for x in xs if x.shape != (0,)]
        xs = tuple(some) if some else xs
        try:
            y = xp_of(xs[0]).concatenate(xs, axis=dim)
        except ValueError:
            if xs[0].ndim:
                axis_of("cat", dim, xs[0])
            raise ShapeError(
                explain(
                    "cat: the shapes don't line up",
                    got={str(i): x.shape for i, x in enumerate(xs)},
                    need=f"the same sizes everywhere but along dim {dim}, and at least one axis",
                )
            ) from None
        self.dim = dim % y.ndim
        return y

    def backward(self, g: Array) -> tuple[Array, ...]:
        before = (slice(None),) * self.dim
        parts: list[Array] = []
        start = 0
        for shape in self.shapes:
            n = 0 if shape == (0,) else shape[self.dim]
            part = g[(*before, slice(start, start + n))]
            parts.append(xp_of(g).zeros(shape, dtype=g.dtype) if shape == (0,) else part)
            start += n
        return tuple(parts)


def cat(tensors: Sequence[TensorLike], dim: int = 0) -> Tensor:
    """Join tensors along an axis they have; the result has the dtype that their sum would have.

    Shapes: each: (a_i, b), y: (sum of a_i, b) for dim 0

    Raises:
        ShapeError: the sizes of the other axes differ.
        DimError: the tensors have no axis `dim`.

    >>> cat([[1.0], [2.0, 3.0]]).data
    array([1., 2., 3.], dtype=float32)
    """
    if tensors.__class__ is not list and tensors.__class__ is not tuple:
        tensors = _listed("cat", tensors)
    if not len(tensors):
        raise _none_given("cat")
    return Cat.apply(*tensors, dim=dim if dim.__class__ is int else whole("dim", dim))


def _listed(op: str, tensors: Any) -> Any:
    """What is joined: anything with a length and a first entry."""
    if not hasattr(tensors, "__len__") or isinstance(tensors, (str, bytes)) or not getattr(tensors, "ndim", 1):
        raise KeywordError(explain(f"{op}: joins a list of tensors", got={"tensors": type(tensors).__name__}, need="a list or tuple"))
    return tensors


def concat(tensors: Sequence[TensorLike], dim: int = 0) -> Tensor:
    """Join tensors along an axis they have, as `cat`.

    Shapes: each: (a_i, b), y: (sum of a_i, b) for dim 0

    >>> concat([[1.0], [2.0]]).shape
    (2,)
    """
    return cat(tensors, dim)


def concatenate(tensors: Sequence[TensorLike], dim: int = 0) -> Tensor:
    """Join tensors along an axis they have, as `cat`.

    Shapes: each: (a_i, b), y: (sum of a_i, b) for dim 0

    >>> concatenate([[1.0], [2.0]]).shape
    (2,)
    """
    return cat(tensors, dim)


class Stack(Function):
    """y = the inputs side by side along a new axis dim;  each input gets its slice of g."""

    latex = r"y_i = x^{(i)}, \quad \bar x^{(i)} = \bar y_i"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4)), dim=0),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), Draw((2, 3, 4)), dim=-2),
        Case(Draw(()), Draw(()), dim=0),
        Case(Draw((0, 3)), Draw((0, 3)), dim=-1),
    )
    aligns = True
    reads = ()

    def forward(self, *xs: Array, dim: int = 0) -> Array:
        xs = _arrays(xs)
        try:
            y = xp_of(xs[0]).stack(xs, axis=dim)
        except ValueError:
            axis_of("stack", dim, xs[0], extra=1)
            raise ShapeError(
                explain(
                    "stack: the shapes differ",
                    got={str(i): x.shape for i, x in enumerate(xs)},
                    need="the same shape for all",
                )
            ) from None
        self.dim = dim % y.ndim
        return y

    def backward(self, g: Array) -> tuple[Array, ...]:
        before = (slice(None),) * self.dim
        return tuple([g[(*before, i, ...)] for i in range(g.shape[self.dim])])


def stack(tensors: Sequence[TensorLike], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis; the result has the dtype that their sum would have.

    Shapes: each of n: (a, b), y: (n, a, b) for dim 0

    Raises:
        ShapeError: the shapes differ.

    >>> stack([[1.0, 2.0], [3.0, 4.0]], dim=1).data
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    if tensors.__class__ is not list and tensors.__class__ is not tuple:
        tensors = _listed("stack", tensors)
    if not len(tensors):
        raise _none_given("stack")
    return Stack.apply(*tensors, dim=dim if dim.__class__ is int else whole("dim", dim))


def _shaped(tensors: Sequence[TensorLike], ndim: int) -> list[Tensor]:
    """Each with `ndim` axes at the least: new ones in front, but the third behind."""
    xs = [tensor_of(x) for x in tensors]
    xs = [x.reshape((1,) * (min(ndim, 2) - x.ndim) + x.shape) if x.ndim < min(ndim, 2) else x for x in xs]
    return [x.reshape(*x.shape, 1) if x.ndim < ndim else x for x in xs]


def hstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Join side by side: vectors along their axis, anything else along the second.

    Shapes: each: (a, b_i), y: (a, sum of b_i)

    >>> hstack([[1.0], [2.0, 3.0]]).data
    array([1., 2., 3.], dtype=float32)
    """
    xs = _shaped(tensors, 1)
    return cat(xs, 0 if xs and xs[0].ndim == 1 else 1)


def vstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Join one below the other; vectors are rows.

    Shapes: each: (a_i, b) or (b), y: (sum of a_i, b)

    >>> vstack([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return cat(_shaped(tensors, 2), 0)


def dstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Join behind one another, along the third axis; matrices are layers.

    Shapes: each: (a, b) or (a, b, c_i), y: (a, b, sum of c_i)

    >>> dstack([[1.0, 2.0], [3.0, 4.0]]).shape
    (1, 2, 2)
    """
    return cat(_shaped(tensors, 3), 2)


def column_stack(tensors: Sequence[TensorLike]) -> Tensor:
    """Join side by side; vectors are columns.

    Shapes: each: (a) or (a, b_i), y: (a, sum of b_i)

    >>> column_stack([[1.0, 2.0], [3.0, 4.0]]).data
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    return cat([x.reshape(-1, 1) if x.ndim < 2 else x for x in map(tensor_of, tensors)], 1)


def cartesian_prod(*tensors: TensorLike) -> Tensor:
    """List every combination of one entry each, the last changing fastest.

    Shapes: inputs: (a), (b), ...; y: (a * b * ..., number of inputs), or (a) for one input

    >>> cartesian_prod([1, 2], [3, 4]).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    xs = [tensor_of(x) for x in tensors]
    if any(x.ndim != 1 for x in xs) or not xs:
        got = {str(i): x.shape for i, x in enumerate(xs)} or {"tensors": "none"}
        raise ShapeError(explain("cartesian_prod: vectors, please", got=got, need="one axis each"))
    if len(xs) == 1:
        return xs[0]
    shape, n = [x.numel() for x in xs], len(xs)
    return stack([x.reshape((1,) * i + (-1,) + (1,) * (n - 1 - i)).expand(*shape).reshape(-1) for i, x in enumerate(xs)], -1)


def row_stack(tensors: Sequence[TensorLike]) -> Tensor:
    """Join one below the other, as `vstack`.

    Shapes: each: (a_i, b) or (b), y: (sum of a_i, b)

    >>> row_stack([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return vstack(tensors)


def combinations(input: TensorLike, r: int = 2, with_replacement: bool = False) -> Tensor:
    """List every choice of `r` entries of a vector, in order; with replacement an entry may be chosen again.

    Shapes: input: (n), y: (number of choices, r)

    Raises:
        ShapeError: `input` is no vector.

    >>> combinations([1, 2, 3]).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    x = tensor_of(input)
    if x.ndim != 1:
        raise ShapeError(explain("combinations: a vector, please", got={"x": x.shape}, need="one axis"))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(choose(range(x.numel()), r))
    return x[asarray_like(np.array(places, dtype=int).reshape(len(places), r), x.data)] if r else x[:0]
