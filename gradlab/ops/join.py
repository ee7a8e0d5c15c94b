"""Joining tensors, and cutting one into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..backend import Array, is_array, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from ..function import Function
from .argument import axis_of

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
    )
    aligns = True
    reads = ()

    def forward(self, *xs: Array, dim: int = 0) -> Array:
        xs = _arrays(xs)
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
        self.lengths = [x.shape[dim] for x in xs]
        return y

    def backward(self, g: Array) -> tuple[Array, ...]:
        before = (slice(None),) * self.dim
        parts: list[Array] = []
        start = 0
        for n in self.lengths:
            parts.append(g[(*before, slice(start, start + n))])
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
    if not len(tensors):
        raise _none_given("cat")
    return Cat.apply(*tensors, dim=dim)


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
    if not len(tensors):
        raise _none_given("stack")
    return Stack.apply(*tensors, dim=dim)


class Narrow(Function):
    """y = length entries of x along dim, from start on;  dx = g there, 0 elsewhere."""

    latex = r"y = x_{s : s + n}, \quad \bar x_{s : s + n} = \bar y"
    kind = "shape"
    cases = (
        Case(Draw((5, 3)), dim=0, start=1, length=2),
        Case(Draw((2, 3, 4)), dim=-2, start=2, length=1),
        Case(Draw((4,)), dim=0, start=0, length=4),
        Case(Draw((0, 3)), dim=1, start=0, length=2),
    )
    reads = ()

    def forward(self, x: Array, dim: int, start: int, length: int) -> Array:
        axis = axis_of("narrow", dim, x)
        if start < 0 or length < 0 or start + length > x.shape[dim]:
            raise ShapeError(
                explain(
                    "narrow: this part reaches outside",
                    got={"x": x.shape, "start": start, "length": length},
                    need=f"a part of the {x.shape[dim]} entries along dim {dim}",
                )
            )
        self.shape, self.part = x.shape, (*(slice(None),) * axis, slice(start, start + length))
        return x[self.part]

    def backward(self, g: Array) -> Array:
        dx = xp_of(g).zeros(self.shape, dtype=g.dtype)
        dx[self.part] = g
        return dx


def narrow(x: TensorLike, dim: int, start: int, length: int) -> Tensor:
    """Take `length` entries along `dim`, from `start` on.

    Shapes: x: (a, b), y: (length, b) for dim 0

    >>> narrow([1.0, 2.0, 3.0], 0, 1, 2).data
    array([2., 3.], dtype=float32)
    """
    return Narrow.apply(x, dim=dim, start=start, length=length)


def split(x: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along `dim` into pieces of one size (the last may be shorter), or of the sizes listed.

    Shapes: x: (a, b), pieces: (split_size, b) for dim 0

    Raises:
        ShapeError: the sizes listed don't add up to the axis.

    >>> import gradlab as gl
    >>> [piece.shape for piece in split(gl.zeros(5), 2)]
    [(2,), (2,), (1,)]
    """
    n = x.shape[axis_of("split", dim, x)]
    if isinstance(split_size, int):
        if split_size < 1:
            raise ShapeError(explain("split: pieces need a size", got={"split_size": split_size}, need="1 or more"))
        lengths = [min(split_size, n - start) for start in range(0, n, split_size)] or [0]
    else:
        lengths = list(split_size)
        if sum(lengths) != n:
            raise ShapeError(
                explain("split: the sizes don't add up", got={"x": x.shape, "sizes": tuple(lengths)}, need=f"{n} in all along dim {dim}")
            )
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple([narrow(x, dim, start, length) for start, length in zip(starts, lengths, strict=True)])


def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along `dim` into `chunks` pieces of equal size; the last may be shorter, and there may be fewer.

    Shapes: x: (a, b), pieces: (a / chunks, b) for dim 0

    >>> import gradlab as gl
    >>> [piece.shape for piece in chunk(gl.zeros(5), 3)]
    [(2,), (2,), (1,)]
    """
    if chunks < 1:
        raise ShapeError(explain("chunk: into how many pieces?", got={"chunks": chunks}, need="1 or more"))
    return split(x, max(1, -(-x.shape[axis_of("chunk", dim, x)] // chunks)), dim)
