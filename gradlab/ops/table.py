"""Tables that are read row by row: ids that have a row, and the sum of what belongs to equal ids. Not an op."""

from __future__ import annotations

from typing import Any

from ..backend import Array, on_host, scatter_add, xp_of
from ..errors import ArgumentError, DTypeError, LabelError, ShapeError, explain
from .dtype import all_below, wide

SMALL = 128  # up to here a product with the one-hot matrix of the ids is the quickest sum over equal ids


def added_up(g: Array, ids: Array, n: int) -> Array:
    """(n, column): for every id the sum of the rows of `g` that have it. `scatter_add` says it plainly, 4 to 8 times as slow."""
    xp, rows = xp_of(g), ids.shape[0]
    if n <= SMALL:
        onehot = xp.zeros((n, rows), dtype=g.dtype)
        onehot[ids, xp.arange(rows)] = 1
        return onehot @ g
    out = xp.zeros((n, g.shape[1]), dtype=g.dtype)
    if not on_host(g):
        scatter_add(out, ids, g)
        return out
    # Sorted, equal ids are neighbours. Every second row of a run goes into the one before it, until runs have one row: log2 passes.
    at = xp.argsort(xp.asarray(ids, dtype="uint16") if n < 1 << 16 else ids, kind="stable")  # of 16 bits it is a radix sort
    ids, g = ids[at], xp.array(g)
    while True:
        first = xp.ones(at.shape[0], dtype=bool)
        xp.not_equal(ids[1:], ids[:-1], out=first[1:])
        if xp.all(first):
            break
        place = xp.arange(at.shape[0])
        second = (place - place[first][xp.cumsum(first) - 1]) % 2 == 1
        odd = xp.flatnonzero(second)
        g[at[odd - 1]] += g[at[odd]]
        ids, at = ids[~second], at[~second]
    out[ids] = g[at]
    return out


def ids_of(op: str, ids: Array, weight: Array) -> Array:
    """The ids in one row, copied: a later change of them does not reach backward.

    Raises:
        DTypeError: they are not integers.
        ShapeError: `weight` is no table.
        LabelError: an id that has no row; looked for on the host only, a device would have to be waited for.
    """
    if ids.dtype.kind not in "iu":
        raise DTypeError(explain(f"{op}: ids are integers", got={"ids": ids.dtype}, need="integers", fix="ids.long()"))
    if weight.ndim != 2:
        raise ShapeError(explain(f"{op}: the table has a row for every id", got={"weight": weight.shape}, need="weight: (id, feature)"))
    xp, n = xp_of(ids), weight.shape[0]
    ids = xp.array(ids.reshape(-1), dtype="int64")
    if on_host(ids) and ids.shape[0] and not all_below(ids, n):
        at = int(xp.argmax((ids < 0) | (ids >= n)))
        raise LabelError(explain(f"{op}: the table has no row {ids[at]}", got={"id": ids[at], "at": at}, need=f"0 to {n - 1}"))
    return ids


def need_row(op: str, padding_idx: int, weight: Any) -> None:
    """Refuse a padding that is no row of the table.

    Raises:
        ArgumentError: it is none.
    """
    if not -weight.shape[0] <= padding_idx < weight.shape[0]:
        got = {"padding_idx": padding_idx, "weight": weight.shape}
        raise ArgumentError(explain(f"{op}: padding_idx has no row", got=got, need="the id of a row"))


def shorten(op: str, table: Any, ids: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of `table` with these ids that are longer than `max_norm` down to it, in place and outside of any graph.

    Raises:
        LabelError: an id that has no row; nothing has changed then.
    """
    weight, ids = [x.data if hasattr(x, "grad_fn") else x for x in (table, ids)]
    xp, ids = xp_of(weight), ids_of(op, ids, weight)
    rows = weight[ids]
    norms = xp.sum(xp.abs(wide(rows)) ** norm_type, axis=-1) ** (1 / norm_type)
    long = norms > max_norm
    if not xp.any(long):
        return
    weight[ids[long]] = (rows * (max_norm / (norms + 1e-7))[:, None])[long]
    if table is not weight:
        table.bump()
