"""Sums of products whose axes are named by letters."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, total, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import beside, need_one_dtype

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

Shapes = tuple[tuple[int, ...], ...]


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
        self.full, self.terms, self.out, self.size = _read(equation, self.shapes)
        self.parts = [_plain(x, s, t) for x, s, t in zip(arrays, self.full, self.terms, strict=True)]
        y, letters = _contracted(self.parts, self.terms, self.out)
        return _laid(y, letters, self.out)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        return tuple([self._for_one(k, g) if need else None for k, need in enumerate(self.needs)])

    def _for_one(self, k: int, g: Array) -> Array:
        """g with the inputs other than the k-th, then the diagonal and the letters that were summed alone put back."""
        term, xp = self.terms[k], xp_of(g)
        d, letters = _contracted([g, *self.parts[:k], *self.parts[k + 1 :]], [self.out, *self.terms[:k], *self.terms[k + 1 :]], term)
        d = _laid(d, letters, term)
        extent = tuple([self.size[c] for c in term])
        if d.shape != extent:
            d = xp.broadcast_to(d, extent)
        full = self.full[k]
        if full == term:
            return d
        # An axis of size 1 that met a longer one was left out of its term; a letter's later places hold the diagonal.
        d = xp.reshape(d, tuple([self.size[c] if c in term and full.index(c) == i else 1 for i, c in enumerate(full)]))
        for i, c in enumerate(full):
            first = full.index(c)
            if first < i and c in term:
                n = xp.arange(self.size[c])
                at = xp.reshape(n, (-1, *[1] * (len(full) - first - 1))) == xp.reshape(n, (-1, *[1] * (len(full) - i - 1)))
                d = xp.where(at, d, 0.0)
        return d


def _plain(x: Array, full: str, term: str) -> Array:
    """The input with each letter once, without the axes of size 1 that only meet longer ones."""
    if full == term:
        return x
    xp = xp_of(x)
    if any(c not in term for c in full):
        x = x[tuple([slice(None) if c in term else 0 for c in full])]
        full = "".join([c for c in full if c in term])
    while full != term:
        i = next(i for i, c in enumerate(full) if c in full[:i])
        first = full.index(full[i])
        x = xp.moveaxis(xp.diagonal(x, axis1=first, axis2=i), -1, first)
        full = full[:i] + full[i + 1 :]
    return x


def _contracted(arrays: list[Array], terms: list[str], out: str) -> tuple[Array, str]:
    """The product of all, two at a time, without the letters that are not in `out`; and its letters, in some order."""
    arrays, terms = [*arrays], [*terms]
    while len(arrays) > 1:
        # First the two whose product is the smallest beside what it replaces.
        i, j = (0, 1) if len(arrays) == 2 else min(combinations(range(len(arrays)), 2), key=lambda p: _growth(arrays, terms, out, *p))
        y, t, x, s = arrays.pop(j), terms.pop(j), arrays.pop(i), terms.pop(i)
        x, s = _pair(x, s, y, t, out + "".join([c for term in terms for c in term if c not in out]))
        arrays.append(x)
        terms.append(s)
    return _summed(arrays[0], terms[0], out)


def _growth(arrays: list[Array], terms: list[str], out: str, i: int, j: int) -> int:
    size = dict(zip(terms[i] + terms[j], arrays[i].shape + arrays[j].shape, strict=True))
    others = "".join([out, *[t for k, t in enumerate(terms) if k not in (i, j)]])
    return prod([n for c, n in size.items() if c in others]) - prod(arrays[i].shape) - prod(arrays[j].shape)


def _pair(a: Array, s: str, b: Array, t: str, keep: str) -> tuple[Array, str]:
    """Two terms multiplied and summed over what nobody needs: one product of matrices, which BLAS does."""
    a, s = _summed(a, s, keep + t)
    b, t = _summed(b, t, keep + s)
    inner = "".join([c for c in s if c in t and c not in keep])
    if not inner:  # nothing is added up: entry by entry
        letters = "".join(dict.fromkeys([c for c in keep if c in s or c in t]))
        return _laid(a, s, letters) * _laid(b, t, letters), letters
    batch = "".join([c for c in s if c in t and c in keep])
    rows, columns = "".join([c for c in s if c not in t]), "".join([c for c in t if c not in s])
    if rows and columns and keep.find(columns[0]) < keep.find(rows[0]):  # so that the result needs no copy to be in order
        a, s, rows, b, t, columns = b, t, columns, a, s, rows
    y = _matrices(a, s, batch, rows, inner) @ _matrices(b, t, batch, inner, columns)
    letters = batch + rows + columns
    if len(rows) != 1 or len(columns) != 1:
        size = dict(zip(s + t, a.shape + b.shape, strict=True))
        y = xp_of(y).reshape(y, tuple([size[c] for c in letters]))
    return y, letters


def _matrices(x: Array, term: str, batch: str, rows: str, columns: str) -> Array:
    """As matrices (rows, columns), several letters in one axis, with the batch in front."""
    xp, order = xp_of(x), batch + rows + columns
    if order != term:
        x = xp.transpose(x, tuple([term.index(c) for c in order]))
    if len(rows) != 1 or len(columns) != 1:
        n, m = len(batch), len(batch) + len(rows)
        x = xp.reshape(x, (*x.shape[:n], prod(x.shape[n:m]), prod(x.shape[m:])))
    if order[-1] != term[-1] and (not rows or rows[-1] != term[-1]):  # BLAS reads matrices one of whose axes is dense
        x = xp.ascontiguousarray(x)
    return x


def _summed(x: Array, term: str, keep: str) -> tuple[Array, str]:
    gone = tuple([i for i, c in enumerate(term) if c not in keep])
    return (total(x, gone), "".join([c for c in term if c in keep])) if gone else (x, term)


def _laid(x: Array, term: str, letters: str) -> Array:
    """With the axes in the order of `letters`, size 1 where the term lacks one."""
    if term == letters:
        return x
    xp, there = xp_of(x), [c for c in letters if c in term]
    x = xp.transpose(x, tuple([term.index(c) for c in there]))
    if len(there) == len(letters):
        return x
    extent = dict(zip(there, x.shape, strict=True))
    return xp.reshape(x, tuple([extent.get(c, 1) for c in letters]))


@lru_cache(maxsize=1024)
def _read(equation: str, shapes: Shapes) -> tuple[list[str], list[str], str, dict[str, int]]:
    """Per input its letters, and those without repetition and without 1s that broadcast; the result's letters; their sizes."""
    left, arrow, right = "".join(equation.split()).partition("->")
    written = left.split(",")
    if len(written) != len(shapes):
        got = {"equation": repr(equation), "operands": len(shapes)}
        raise ArgumentError(explain("einsum: one term an operand, with commas between", got=got, need=f"{len(written)} operands"))
    for term in [*written, right]:
        letters = term.replace("...", "", 1)
        wrong = next((c for c in letters if not (c.isascii() and c.isalpha())), "")
        if wrong:
            got = {"equation": repr(equation), "term": repr(term)}
            raise ArgumentError(explain(f"einsum: {wrong!r} is no letter", got=got, need="letters, and ... once a term"))
    full = [_spelled(equation, term, shape) for term, shape in zip(written, shapes, strict=True)]
    dots = max([[c for c in term if not c.isascii()] for term in full], key=len)
    size: dict[str, int] = {}
    for term, shape in zip(full, shapes, strict=True):
        for c, n in zip(term, shape, strict=True):
            if n != shape[term.index(c)] or (n != size.setdefault(c, n) and 1 not in (n, size[c])):  # a diagonal does not broadcast
                raise _sizes_differ(equation, c, full, shapes)
            size[c] = n if size[c] == 1 else size[c]
    count = "".join(full)
    if arrow:
        out = right.replace("...", "".join(dots))
        for c in out:
            if c not in count or out.count(c) > 1:
                what = "none of the inputs has" if c not in count else "the result has twice"
                got = {"equation": repr(equation), "result": repr(right)}
                raise ArgumentError(explain(f"einsum: the letter {c!r}, which {what}", got=got, need="letters of the inputs, each once"))
    else:
        out = "".join(dots) + "".join(sorted([c for c in set(count) - set(dots) if count.count(c) == 1]))
    terms = [
        "".join(dict.fromkeys([c for c, n in zip(term, shape, strict=True) if n == size[c]]))
        for term, shape in zip(full, shapes, strict=True)
    ]
    return full, terms, out, size


def _spelled(equation: str, term: str, shape: tuple[int, ...]) -> str:
    """The term with a sign of its own for each axis under the dots, counted from the last."""
    letters = len(term.replace("...", "", 1))
    hidden = len(shape) - letters
    if hidden < 0 or (hidden and "..." not in term):
        got = {"equation": repr(equation), "term": repr(term), "operand": shape}
        need = f"{'at least ' if '...' in term else ''}{letters} axes"
        raise ShapeError(
            explain("einsum: a letter an axis", got=got, need=need, fix=f"'...{term}'" if hidden > 0 and "->" not in equation else "")
        )
    return term.replace("...", "".join([chr(0x2460 + hidden - i) for i in range(hidden)]))


def _sizes_differ(equation: str, letter: str, full: list[str], shapes: Shapes) -> ShapeError:
    name = letter if letter.isascii() else "..."
    got: dict[str, Any] = {"equation": repr(equation)}
    for k, (term, shape) in enumerate(zip(full, shapes, strict=True)):
        if letter in term:
            got[f"operand {k}"] = f"{shape}, {name!r} is {', '.join([str(n) for c, n in zip(term, shape, strict=True) if c == letter])}"
    return ShapeError(explain(f"einsum: the sizes of {name!r} differ", got=got, need="one size a letter, or 1, which broadcasts"))


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
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)) and any(hasattr(x, "dtype") for x in operands[0]):
        operands = tuple(operands[0])
    like = next((x for x in operands if hasattr(x, "dtype")), None)
    return Einsum.apply(
        *[beside(x, like) if hasattr(x, "dtype") or isinstance(x, (list, tuple)) else as_array(x) for x in operands], equation=equation
    )
