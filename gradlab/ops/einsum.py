"""Sums of products whose axes are named by letters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, DimError, KeywordError, ShapeError, explain
from ..function import Function
from .argument import need_letters
from .contraction import contracted, laid, plain, read
from .dtype import beside, need_one_dtype

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Einsum(Function):
    """y = sum of the product of the inputs over the letters that y lacks;  dx = einsum of g and the other inputs.

    The gradient of one input is again such a sum: g takes the place of that input, whose letters are those of the result.
    A letter that nobody else has was summed alone, so every place along it gets the same; a letter that stands twice in
    one input reads its diagonal, so only the diagonal gets something.
    """

    latex = (r"y_o = \sum_{\text{letters not in } o} \; \prod_k x^{(k)}_{s_k}, \quad "
             r"\bar x^{(k)}_{s_k} = \sum_{\text{letters not in } s_k} \bar y_o \prod_{l \ne k} x^{(l)}_{s_l}")  # fmt: skip
    kind = "matmul"
    cases = (
        Case(Draw((3, 2)), Draw((2, 4)), equation="ij,jk->ik"),
        Case(Draw((2, 3, 4)), Draw((4, 5)), equation="bti,io->bto"),
        Case(Draw((2, 3, 2)), Draw((2, 2, 4)), equation="bij,bjk->ikb"),
        Case(Draw((2, 3, 2, 4)), Draw((2, 5, 2, 4)), equation="bqhd,bkhd->bhqk"),
        Case(Draw((3,)), Draw((2,)), equation="i,j->ji"),
        Case(Draw((3,)), Draw((3,)), equation="i,i"),
        Case(Draw((3, 2)), Draw((3, 2)), equation="ij,ij->i"),
        Case(Draw((3, 3)), equation="ii"),
        Case(Draw((3, 3)), equation="ii->i"),
        Case(Draw((2, 2, 3)), equation="iij->j"),
        Case(Draw((2, 2, 2)), equation="iii->i"),
        Case(Draw((3, 2, 2)), equation="jii->ij"),
        Case(Draw((2, 3)), equation="ba"),
        Case(Draw((2, 3, 2)), equation="abc->b"),
        Case(Draw((2, 3)), Draw((2, 2)), equation="nd,nn->d"),
        Case(Draw((2, 3)), Draw((4,)), equation="ij,k->k"),
        Case(Draw((2, 3, 2)), equation="...ij->...i"),
        Case(Draw((3, 1, 2)), Draw((4, 2)), equation="...i,...i->..."),
        Case(Draw((3, 1, 2)), Draw((2,)), equation="...i,i->i"),
        Case(Draw((2, 1)), Draw((3, 4)), equation="ij,jk->ik"),
        Case(Draw((1, 1)), Draw((3, 4)), equation="aj,jk->k"),
        Case(Draw((2, 3)), Draw((3, 4)), Draw((4, 2)), equation="ab,bc,cd->ad"),
        Case(Draw((2,)), Draw((2, 2)), Draw((2,)), equation="A,AB,B->"),
        Case(Draw((2,)), Draw((2,)), Draw((2,)), equation="i,i,i->i"),
        Case(Draw(()), Draw((3,)), equation=",i->i"),
        Case(Draw(()), equation="->"),
        Case(Draw((0, 3)), Draw((3, 2)), equation="ij,jk->ik"),
        Case(Draw((2, 0)), Draw((0, 3)), equation="ij,jk->ik"),
    )
    reads = ("inputs",)

    def forward(self, *arrays: Array, equation: str) -> Array:
        for x in arrays[1:]:
            if x.dtype is not arrays[0].dtype:
                need_one_dtype("einsum", first=arrays[0], other=x)
        self.shapes = tuple([x.shape for x in arrays])
        self.full, self.terms, self.out, self.size = read(equation, self.shapes)
        self.parts = [plain(x, s, t) for x, s, t in zip(arrays, self.full, self.terms, strict=True)]
        y, letters = contracted(self.parts, self.terms, self.out)
        return laid(y, letters, self.out)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        return tuple([self._for_one(k, g) if need else None for k, need in enumerate(self.needs)])

    def _for_one(self, k: int, g: Array) -> Array:
        """g with the inputs other than the k-th, then the diagonal and the letters that were summed alone put back."""
        term, xp = self.terms[k], xp_of(g)
        d, letters = contracted([g, *self.parts[:k], *self.parts[k + 1 :]], [self.out, *self.terms[:k], *self.terms[k + 1 :]], term)
        d = laid(d, letters, term)
        extent = tuple([self.size[c] for c in term])
        if d.shape != extent:
            d = xp.broadcast_to(d, extent)
        full = self.full[k]
        if full == term:
            return d
        # An axis of size 1 that met a longer one was left out of its term; a letter's later places hold the diagonal.
        d = d.reshape(tuple([self.size[c] if c in term and full.index(c) == i else 1 for i, c in enumerate(full)]))
        for i, c in enumerate(full):
            first = full.index(c)
            if first < i and c in term:
                n = xp.arange(self.size[c])
                at = n.reshape((-1, *[1] * (len(full) - first - 1))) == n.reshape((-1, *[1] * (len(full) - i - 1)))
                d = xp.where(at, d, 0.0)
        return d


def einsum(equation: str, *operands: TensorLike) -> Tensor:
    """Multiply and sum as the letters say: one letter an axis, the same letter the same index, a letter missing on the right is summed.

    A letter that stands twice in a term reads the diagonal. `...` stands for the axes that are not named; they broadcast.
    Without `->` the result has the letters that stand once, in the order of the alphabet. Several operands may come in one list.

    Shapes: as the equation says

    Raises:
        ArgumentError: an equation that says nothing, or not one term an operand.
        ShapeError: a letter with two sizes, or not one letter an axis.
        DTypeError: the dtypes differ.

    >>> einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).data
    array([21., 43.], dtype=float32)
    >>> float(einsum("ii", [[1.0, 2.0], [3.0, 4.0]]).data)
    5.0
    """
    if not isinstance(equation, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KeywordError(
            explain("einsum: the letters come first", got={"equation": type(equation).__name__}, need='text, for instance "ij,jk"')
        )
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)) and any(hasattr(x, "dtype") for x in operands[0]):
        operands = tuple(operands[0])
    like = next((x for x in operands if hasattr(x, "dtype")), None)
    return Einsum.apply(
        *[beside(x, like) if hasattr(x, "dtype") or isinstance(x, (list, tuple)) else as_array(x) for x in operands], equation=equation
    )


def outer(input: TensorLike, vec2: TensorLike) -> Tensor:
    """Multiply every entry of one vector by every entry of another.

    Shapes: input: (n), vec2: (m), y: (n, m)

    Raises:
        ShapeError: other shapes.

    >>> outer([1.0, 2.0], [3.0, 4.0]).data
    array([[3., 4.],
           [6., 8.]], dtype=float32)
    """
    need_letters("outer", "(n), (m)", a=input, b=vec2)
    return einsum("i,j->ij", beside(input, vec2), beside(vec2, input))


def inner(input: TensorLike, other: TensorLike) -> Tensor:
    """Multiply along the last axis of both and add up; a single number multiplies everything.

    Shapes: input: (*, k), other: (+, k), y: (*, +)

    Raises:
        ShapeError: the last sizes differ.

    >>> inner([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).data
    array([21., 43.], dtype=float32)
    """
    n, m = [len(_shape(x)) for x in (input, other)]
    return einsum(",...->..." if not n else "...,->...", input, other) if not n or not m else tensordot(input, other, ([-1], [-1]))


def tensordot(a: TensorLike, b: TensorLike, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Multiply and add up over axes of `a` and as many of `b`: the last ones and the first ones, or those in two lists.

    Shapes: a: (*, k), b: (k, +), y: (*, +) with dims=1

    Raises:
        ShapeError: sizes that differ; they are not broadcast.
        DimError: an axis that is not there.
        ArgumentError: two lists of different lengths.

    >>> tensordot([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]], dims=2).data
    array(5., dtype=float32)
    """
    x, y = _shape(a), _shape(b)
    if isinstance(dims, int):
        if not 0 <= dims <= min(len(x), len(y)):
            need = f"0 to {min(len(x), len(y))} axes, or two lists of axes"
            raise ArgumentError(explain("tensordot: how many axes?", got={"a": x, "b": y, "dims": dims}, need=need))
        dims = (range(len(x) - dims, len(x)), range(dims))
    if len(dims) != 2 or any(isinstance(d, int) for d in dims) or len(dims[0]) != len(dims[1]):
        raise ArgumentError(explain("tensordot: which axes?", got={"dims": dims}, need="a number, or two lists of as many axes"))
    pairs = [(_axis(i, x), _axis(j, y)) for i, j in zip(*dims, strict=True)]
    if any(x[i] != y[j] for i, j in pairs) or any(len({pair[side] for pair in pairs}) != len(pairs) for side in (0, 1)):
        got = {"a": x, "b": y, "dims": tuple([list(d) for d in dims])}
        raise ShapeError(
            explain("tensordot: the sizes to add up over differ", got=got, need="the same size under each pair, each axis once")
        )
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    s, t = [*letters[: len(x)]], [*letters[len(x) : len(x) + len(y)]]
    for i, j in pairs:
        t[j] = s[i]
    out = [c for i, c in enumerate(s) if i not in dict(pairs)] + [c for c in t if c not in s]
    return einsum(f"{''.join(s)},{''.join(t)}->{''.join(out)}", a, b)


def bilinear(input1: TensorLike, input2: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """Map pairs of feature rows: for every output x1 W x2, plus `bias`.

    Shapes: input1: (*, in1), input2: (*, in2), weight: (out, in1, in2), bias: (out), y: (*, out)

    Raises:
        ShapeError: sizes that differ.

    >>> bilinear([1.0, 2.0], [3.0, 4.0], [[[1.0, 0.0], [0.0, 1.0]]]).data
    array([11.], dtype=float32)
    """
    x, y, w = _shape(input1), _shape(input2), _shape(weight)
    if not x or len(w) != 3 or x[:-1] != y[:-1] or (x[-1], y[-1]) != w[1:] or (bias is not None and _shape(bias) != w[:1]):
        got = {"input1": x, "input2": y, "weight": w, "bias": None if bias is None else _shape(bias)}
        need = "input1: (*, in1), input2: (*, in2), weight: (out, in1, in2), bias: (out)"
        raise ShapeError(explain("bilinear: the shapes don't fit", got=got, need=need))
    out = einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + beside(bias, out)


def chain_matmul(*matrices: TensorLike) -> Tensor:
    """Multiply matrices in the order that costs little, not from left to right; the first and the last may be vectors.

    Shapes: (n, k), (k, m), (m, p)...: y: (n, p)

    Raises:
        ShapeError: neighbours whose sizes differ.

    >>> chain_matmul([[1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]], [[3.0], [4.0]]).data
    array([[11.]], dtype=float32)
    """
    shapes = [_shape(x) for x in matrices]
    ends = [len(matrices) - 1, 0]
    fits = all(len(s) == 2 or (len(s) == 1 and i in ends) for i, s in enumerate(shapes))
    if not fits or not shapes or any(s[-1] != t[0] for s, t in pairwise(shapes)):
        got = {f"matrix {i}": s for i, s in enumerate(shapes)}
        raise ShapeError(explain("chain_matmul: the shapes don't fit", got=got, need="(n, k), (k, m), (m, p), ...; a vector first or last"))
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    terms = [letters[i : i + 2] for i in range(len(shapes))]
    if len(shapes[0]) == 1:
        terms[0] = terms[0][1:]
    if len(shapes[-1]) == 1 and len(shapes) > 1:
        terms[-1] = terms[-1][:1]
    return einsum(",".join(terms), *matrices)


def _axis(dim: int, shape: tuple[int, ...]) -> int:
    n = len(shape)
    if not -n <= dim < n:
        raise DimError(explain(f"tensordot: there is no axis {dim}", got={"shape": shape}, need=f"a dim from {-n} to {n - 1}"))
    return dim % n


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if hasattr(x, "shape") else np.shape(x)
