"""Cutting a tensor into pieces along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..function import Function
from .argument import axis_of, tensor_of, whole

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Narrow(Function):
    """y = length entries of x along dim, from start on;  dx = g there, 0 elsewhere."""

    latex = r"y = x_{s : s + n}, \quad \bar x_{s : s + n} = \bar y"
    kind = "shape"
    cases = (
        Case(Draw((5, 3)), dim=0, start=1, length=2),
        Case(Draw((2, 3, 4)), dim=-2, start=2, length=1),
        Case(Draw((4,)), dim=0, start=0, length=4),
        Case(Draw((4,)), dim=0, start=-2, length=2),
        Case(Draw((0, 3)), dim=1, start=0, length=2),
    )
    reads = ()
    fresh = True
    joins = True

    def forward(self, x: Array, dim: int, start: int, length: int) -> Array:
        axis = axis_of("narrow", dim, x)
        start = start + x.shape[axis] if start < 0 else start
        if start < 0 or length < 0 or start + length > x.shape[axis]:
            raise ShapeError(
                explain(
                    "narrow: this part reaches outside",
                    got={"x": x.shape, "start": start, "length": length},
                    need=f"a part of the {x.shape[axis]} entries along dim {dim}",
                )
            )
        self.shape, self.part = x.shape, (*(slice(None),) * axis, slice(start, start + length))
        return x[self.part]

    def backward(self, g: Array) -> Array:
        dx = xp_of(g).zeros(self.shape, dtype=g.dtype)
        dx[self.part] = g
        return dx

    def add_into(self, total: Array, g: Array) -> None:
        """The same, added to what came from elsewhere."""
        total[self.part] += g


def narrow(input: TensorLike, dim: int, start: int, length: int) -> Tensor:
    """Take `length` entries along `dim`, from `start` on, which may be counted from the end.

    Shapes: input: (a, b), y: (length, b) for dim 0

    >>> narrow([1.0, 2.0, 3.0], 0, 1, 2).data
    array([2., 3.], dtype=float32)
    """
    return Narrow.apply(input, dim=dim, start=whole("start", start), length=whole("length", length))


def split(tensor: TensorLike, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along `dim` into pieces of one size (the last may be shorter), or of the sizes listed.

    Shapes: tensor: (a, b), pieces: (split_size_or_sections, b) for dim 0

    Raises:
        ShapeError: the sizes listed don't add up to the axis.

    >>> import gradlab as gl
    >>> [piece.shape for piece in split(gl.zeros(5), 2)]
    [(2,), (2,), (1,)]
    """
    x = tensor_of(tensor)
    n = x.shape[axis_of("split", dim, x)]
    if not isinstance(split_size_or_sections, (list, tuple)):
        split_size_or_sections = _count("split", split_size_or_sections)
        if (split_size_or_sections < 1 and n) or split_size_or_sections < 0:
            raise ShapeError(explain("split: pieces need a size", got={"split_size": split_size_or_sections}, need="1 or more"))
        lengths = [min(split_size_or_sections, n - start) for start in range(0, n, split_size_or_sections or 1)] or [0]
    else:
        lengths = [whole("size", length) for length in split_size_or_sections]
        if sum(lengths) != n or min(lengths, default=0) < 0:
            raise ShapeError(
                explain("split: the sizes don't add up", got={"x": x.shape, "sizes": tuple(lengths)}, need=f"{n} in all along dim {dim}")
            )
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return tuple([narrow(x, dim, start, length) for start, length in zip(starts, lengths, strict=True)])


def _count(op: str, n: Any) -> int:
    """One whole number, where several would have been a list."""
    if getattr(n, "ndim", 0):
        got = {"shape": n.shape}
        raise KeywordError(explain(f"{op}: a tensor is no list of sizes", got=got, need="one number, or a list", fix="sizes.tolist()"))
    return whole("size" if op == "split" else "chunks", n)


def chunk(input: TensorLike, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along `dim` into `chunks` pieces of equal size; the last may be shorter, and there may be fewer.

    Shapes: input: (a, b), pieces: (a / chunks, b) for dim 0

    >>> import gradlab as gl
    >>> [piece.shape for piece in chunk(gl.zeros(5), 3)]
    [(2,), (2,), (1,)]
    """
    chunks = _count("chunk", chunks)
    if chunks < 1:
        raise ShapeError(explain("chunk: into how many pieces?", got={"chunks": chunks}, need="1 or more"))
    x = tensor_of(input)
    n = x.shape[axis_of("chunk", dim, x)]
    return split(x, -(-n // chunks), dim) if n else split(x, [0] * chunks, dim)


def tensor_split(input: TensorLike, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Cut along `dim` into pieces as equal as can be, the first ones longer; or in front of each place listed.

    Shapes: input: (a, b), pieces: (a / sections, b) for dim 0

    Raises:
        ArgumentError: fewer than one section.

    >>> [piece.tolist() for piece in tensor_split([1, 2, 3, 4, 5], 2)], [piece.tolist() for piece in tensor_split([1, 2, 3], [1])]
    ([[1, 2, 3], [4, 5]], [[1], [2, 3]])
    """
    x = tensor_of(input)
    axis = axis_of("tensor_split", dim, x)
    n = x.shape[axis]
    given = indices_or_sections if isinstance(indices_or_sections, (int, list, tuple)) else tensor_of(indices_or_sections).tolist()
    if isinstance(given, int):
        if given < 1:
            raise ArgumentError(explain("tensor_split: into how many pieces?", got={"sections": given}, need="1 or more"))
        return split(x, [n // given + (i < n % given) for i in range(given)], dim)
    cuts = [None, *given, None]
    before = (slice(None),) * axis
    return tuple([x[(*before, slice(start, stop))] for start, stop in pairwise(cuts)])


def select(input: TensorLike, dim: int, index: int) -> Tensor:
    """Take one entry along `dim`, which is gone then.

    Shapes: input: (a, b), y: (b) for dim 0

    Raises:
        PlaceError: there is no such entry.

    >>> select([[1.0, 2.0], [3.0, 4.0]], 1, -1).data
    array([2., 4.], dtype=float32)
    """
    x = tensor_of(input)
    return x[(*(slice(None),) * axis_of("select", dim, x), whole("index", index))]


def unbind(input: TensorLike, dim: int = 0) -> tuple[Tensor, ...]:
    """Give every entry along `dim`, one by one.

    Shapes: input: (a, b), each of a: (b) for dim 0

    >>> [y.tolist() for y in unbind([[1.0, 2.0], [3.0, 4.0]], dim=1)]
    [[1.0, 3.0], [2.0, 4.0]]
    """
    x = tensor_of(input)
    return tuple([select(x, dim, i) for i in range(x.shape[axis_of("unbind", dim, x)])])


def _cut(op: str, x: TensorLike, indices_or_sections: Any, axis: int, least: int) -> tuple[Tensor, ...]:
    x = tensor_of(x)
    if x.ndim < least:
        raise ShapeError(explain(f"{op}: there is nothing to cut there", got={"x": x.shape}, need=f"{least} axes or more"))
    if isinstance(indices_or_sections, int) and (indices_or_sections < 1 or x.shape[axis] % indices_or_sections):
        got = {"x": x.shape, "sections": indices_or_sections}
        raise ShapeError(explain(f"{op}: the pieces would not be equal", got=got, need=f"a divisor of {x.shape[axis]}"))
    return tensor_split(x, indices_or_sections, axis)


def hsplit(input: TensorLike, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Cut into equal columns, or in front of the places listed; a vector along its axis.

    Shapes: input: (a, b), pieces: (a, b / sections)

    >>> [piece.tolist() for piece in hsplit([[1.0, 2.0]], 2)]
    [[[1.0]], [[2.0]]]
    """
    return _cut("hsplit", input, indices_or_sections, 0 if tensor_of(input).ndim == 1 else 1, 1)


def vsplit(input: TensorLike, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Cut into equal groups of rows, or in front of the places listed.

    Shapes: input: (a, b), pieces: (a / sections, b)

    >>> [piece.tolist() for piece in vsplit([[1.0], [2.0]], 2)]
    [[[1.0]], [[2.0]]]
    """
    return _cut("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: TensorLike, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Cut into equal layers along the third axis, or in front of the places listed.

    Shapes: input: (a, b, c), pieces: (a, b, c / sections)

    >>> [piece.shape for piece in dsplit([[[1.0, 2.0]]], 2)]
    [(1, 1, 1), (1, 1, 1)]
    """
    return _cut("dsplit", input, indices_or_sections, 2, 3)
