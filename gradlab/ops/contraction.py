"""How a sum of products that is written in letters is computed. Not an op: what `einsum` and its kin are made of."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

from ..backend import Array, total, xp_of
from ..errors import ArgumentError, ShapeError, explain
from .dtype import counted, times

Shapes = tuple[tuple[int, ...], ...]


def plain(x: Array, full: str, term: str) -> Array:
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


def contracted(arrays: list[Array], terms: list[str], out: str) -> tuple[Array, str]:
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
        return laid(a, s, letters) * laid(b, t, letters), letters
    batch = "".join([c for c in s if c in t and c in keep])
    rows, columns = "".join([c for c in s if c not in t]), "".join([c for c in t if c not in s])
    if rows and columns and keep.find(columns[0]) < keep.find(rows[0]):  # so that the result needs no copy to be in order
        a, s, rows, b, t, columns = b, t, columns, a, s, rows
    y = times(_matrices(a, s, batch, rows, inner), _matrices(b, t, batch, inner, columns))
    letters = batch + rows + columns
    if len(rows) != 1 or len(columns) != 1:
        size = dict(zip(s + t, a.shape + b.shape, strict=True))
        y = y.reshape(tuple([size[c] for c in letters]))
    return y, letters


def _matrices(x: Array, term: str, batch: str, rows: str, columns: str) -> Array:
    """As matrices (rows, columns), several letters in one axis, with the batch in front."""
    xp, order = xp_of(x), batch + rows + columns
    if order != term:
        x = xp.transpose(x, tuple([term.index(c) for c in order]))
    if len(rows) != 1 or len(columns) != 1:
        n, m = len(batch), len(batch) + len(rows)
        x = x.reshape((*x.shape[:n], prod(x.shape[n:m]), prod(x.shape[m:])))
    if order[-1] != term[-1] and (not rows or rows[-1] != term[-1]):  # BLAS reads matrices one of whose axes is dense
        x = xp.ascontiguousarray(x)
    return x


def _summed(x: Array, term: str, keep: str) -> tuple[Array, str]:
    gone = tuple([i for i, c in enumerate(term) if c not in keep])
    return (total(counted(x), gone), "".join([c for c in term if c in keep])) if gone else (x, term)


def laid(x: Array, term: str, letters: str) -> Array:
    """With the axes in the order of `letters`, size 1 where the term lacks one."""
    if term == letters:
        return x
    xp, there = xp_of(x), [c for c in letters if c in term]
    x = xp.transpose(x, tuple([term.index(c) for c in there]))
    if len(there) == len(letters):
        return x
    extent = dict(zip(there, x.shape, strict=True))
    return x.reshape(tuple([extent.get(c, 1) for c in letters]))


@lru_cache(maxsize=1024)
def read(equation: str, shapes: Shapes) -> tuple[list[str], list[str], str, dict[str, int]]:
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
