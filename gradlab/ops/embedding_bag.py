"""Looking up several rows of a table at a time, and taking their sum, mean or largest entries."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, asarray_like, picked, scatter_add, to_numpy, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .dtype import wide
from .table import added_up, ids_of, need_row, shorten

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class EmbeddingBag(Function):
    """y_b = sum over n of s_bn weight[ids_bn];  dweight[k] = sum of s_bn g_b where ids_bn is k, ds_bn = g_b . weight[ids_bn].

    With `scale_grad_by_freq` the gradient of a row is divided by how often it was looked up.
    """

    latex = (
        r"y_b = \sum_n s_{bn} W_{k_{bn}}, \quad \bar W_k = \sum_{b, n : k_{bn} = k} s_{bn} \bar y_b, \quad "
        r"\bar s_{bn} = \bar y_b^\top W_{k_{bn}}"
    )
    kind = "matmul"
    cases = (
        Case(Ints((3, 2)), Draw((4, 2)), Draw((3, 2))),
        Case(Given([[1, 1, 1], [0, 1, 3]], "int64"), Draw((200, 2)), Draw((2, 3))),
        Case(Ints((0, 2)), Draw((4, 2)), Draw((0, 2))),
        Case(Ints((2, 0)), Draw((4, 2)), Draw((2, 0))),
        Case(Ints((2, 3)), Draw((4, 1)), Given([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(ids: Array, weight: Array, scale: Array) -> Array:
        """The formula as printed."""
        return xp_of(weight).sum(scale[:, :, None] * weight[ids], axis=1)

    def forward(self, ids: Array, weight: Array, scale: Array, scale_grad_by_freq: bool = False) -> Array:
        xp = xp_of(weight)
        flat = ids_of("embedding_bag", ids, weight)
        if ids.ndim != 2 or scale.shape != ids.shape:
            got = {"ids": ids.shape, "scale": scale.shape}
            raise ShapeError(explain("embedding_bag: every id has a factor", got=got, need="ids and scale: (bag, place)"))
        self.ids, self.weight, self.scale, self.by_freq = flat, weight, wide(scale), scale_grad_by_freq
        self.rows = wide(picked(weight, ids))
        return xp.asarray(xp.einsum("bn,bnd->bd", self.scale, self.rows), dtype=weight.dtype)

    def backward(self, g: Array) -> tuple[None, Array | None, Array | None]:
        xp, rows, (n, columns) = xp_of(g), self.rows, self.weight.shape
        g, dw = wide(g), None
        if self.needs[1]:
            dw = added_up((self.scale[:, :, None] * g[:, None, :]).reshape((self.ids.shape[0], columns)), self.ids, n)
            if self.by_freq:
                live = xp.asarray((self.scale != 0).reshape(-1), dtype=dw.dtype)[:, None]
                dw /= xp.maximum(added_up(live, self.ids, n), 1)
        return None, dw, xp.einsum("bnd,bd->bn", rows, g) if self.needs[2] else None


class EmbeddingBagMax(Function):
    """y_bd = largest of weight[ids_bn, d] over n, of an empty bag 0;  dweight = g at the first place of y, 0 elsewhere.

    `lengths` says how many of the ids of each bag are taken.
    """

    latex = r"y_{bd} = \max_n W_{k_{bn} d}, \quad \bar W_{k d} = \sum_{b : k = k_{b n^*}} \bar y_{bd}, \quad n^* \text{ the first place}"
    kind = "reduce"
    cases = (
        Case(Ints((3, 2)), Draw((4, 2)), Given([2, 2, 1], "int64")),
        Case(Given([[1, 2, 1], [0, 1, 3], [1, 1, 1]], "int64"), Draw((4, 2)), Given([3, 2, 0], "int64")),
        Case(Ints((0, 2)), Draw((4, 2)), Ints((0,))),
        Case(Ints((2, 0)), Draw((4, 2)), Given([0, 0], "int64")),
        Case(Ints((1, 1)), Draw((4, 2)), Given([1], "int64")),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(ids: Array, weight: Array, lengths: Array) -> Array:
        """The formula as printed."""
        xp = xp_of(weight)
        if not ids.shape[1]:
            return xp.sum(weight[ids], axis=1)
        here = xp_of(ids)
        rows = xp.where((here.arange(ids.shape[1]) < lengths[:, None])[:, :, None], weight[ids], -xp.inf)
        largest = rows[here.arange(ids.shape[0])[:, None], xp.argmax(rows, axis=1), here.arange(weight.shape[1])]
        return xp.where((lengths > 0)[:, None], largest, 0.0)

    def forward(self, ids: Array, weight: Array, lengths: Array) -> Array:
        xp = xp_of(weight)
        ids_of("embedding_bag", ids, weight)
        if ids.ndim != 2 or lengths.shape != ids.shape[:1]:
            got = {"ids": ids.shape, "lengths": lengths.shape}
            raise ShapeError(explain("embedding_bag: every bag has a length", got=got, need="ids: (bag, place), lengths: (bag)"))
        self.shape = weight.shape
        self.live = xp.asarray((lengths > 0)[:, None], dtype=weight.dtype)
        if not ids.shape[1]:
            self.chosen = None
            return xp.zeros((ids.shape[0], weight.shape[1]), dtype=weight.dtype)
        taken = (xp.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
        rows = xp.where(taken, picked(weight, ids), -xp.inf)
        self.chosen = xp.take_along_axis(ids, xp.argmax(rows, axis=1), axis=1)
        y = xp.where(lengths[:, None] > 0, xp.max(rows, axis=1), 0.0)
        return xp.asarray(y, dtype=weight.dtype)

    def backward(self, g: Array) -> tuple[None, Array, None]:
        xp = xp_of(g)
        dw = xp.zeros(self.shape, dtype=g.dtype)
        if self.chosen is not None:
            scatter_add(dw, (self.chosen, xp.arange(self.shape[1])), g * self.live)
        return None, dw, None


def embedding_bag(
    input: TensorLike,
    weight: TensorLike,
    offsets: TensorLike | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: TensorLike | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Look up the rows of every bag of ids and give their mean, sum or largest entries; an empty bag gives 0.

    A row of `input` is a bag; or `input` is one row of ids, and bag i starts at `offsets[i]` and ends where the next one
    starts (with `include_last_offset` the last offset is only an end). `padding_idx` counts for nothing. In the mode "sum"
    `per_sample_weights` weighs each id. `max_norm` and `scale_grad_by_freq` are as in `embedding`.

    Shapes: input: (bag, place) or (place), weight: (id, feature), offsets: (bag), per_sample_weights: as input, y: (bag, feature)

    Raises:
        ShapeError: offsets beside two axes, or none beside one; weights of another shape.
        ArgumentError: a mode that is none; offsets that are no starts; weights or frequencies where the mode has no use for them;
            sparse gradients, which there are none of.
        LabelError: an id that has no row.
        DTypeError: ids that are not integers.

    >>> embedding_bag([0, 1, 2], [[1.0], [2.0], [4.0]], offsets=[0, 1]).tolist()
    [[1.0], [3.0]]
    """
    if mode not in ("mean", "sum", "max"):
        raise ArgumentError(explain("embedding_bag: which mode?", got={"mode": repr(mode)}, need='"mean", "sum" or "max"'))
    if sparse:
        raise ArgumentError(explain("embedding_bag: there are no sparse gradients", got={"sparse": sparse}, need="sparse=False"))
    ids, table = [x.data if hasattr(x, "grad_fn") else as_array(x) for x in (input, weight)]  # type: ignore[union-attr]
    if (per_sample_weights is not None and mode != "sum") or (scale_grad_by_freq and mode == "max"):
        name = "per_sample_weights" if per_sample_weights is not None else "scale_grad_by_freq"
        need = 'mode="sum"' if per_sample_weights is not None else 'mode "mean" or "sum"'
        raise ArgumentError(explain(f"embedding_bag: {name} has no meaning here", got={"mode": repr(mode)}, need=need))
    factors: Any = (
        per_sample_weights if per_sample_weights is None or hasattr(per_sample_weights, "grad_fn") else as_array(per_sample_weights)
    )
    if factors is not None and factors.shape != ids.shape:
        got = {"input": ids.shape, "per_sample_weights": factors.shape}
        raise ShapeError(explain("embedding_bag: every id has a weight", got=got, need="the same shape"))
    ids_of("embedding_bag", ids, table)
    places, lengths = _bags(ids, offsets, include_last_offset)
    # Where the ids of a bag are is worked out on the host; the ids themselves stay where they are.
    xp, at = xp_of(ids), asarray_like(places, ids)
    bags = ids.reshape(-1)[at] if prod(ids.shape) else at
    live = asarray_like(np.arange(places.shape[1]) < lengths[:, None], ids)
    if padding_idx is not None:
        need_row("embedding_bag", padding_idx, table)
        live = live & (bags != padding_idx % max(table.shape[0], 1))
    x: Any = weight if hasattr(weight, "grad_fn") else table
    if max_norm is not None:
        shorten("embedding_bag", x, ids, max_norm, norm_type)
    if mode == "max":
        if padding_idx is not None:  # those that count come first
            bags = xp.take_along_axis(bags, xp.argsort(xp.asarray(~live, dtype="int8"), axis=1, kind="stable"), axis=1)
        return EmbeddingBagMax.apply(bags, x, xp.sum(live, axis=1))
    if mode == "mean":
        live = xp.asarray(live, dtype="float64") / xp.maximum(xp.sum(live, axis=1, keepdims=True), 1)
    scale = xp.asarray(live, dtype=table.dtype if factors is None else factors.dtype)
    if factors is not None:
        scale = factors.reshape(-1)[at] * scale
    return EmbeddingBag.apply(bags, x, scale, scale_grad_by_freq=True) if scale_grad_by_freq else EmbeddingBag.apply(bags, x, scale)


def _bags(ids: Array, offsets: Any, include_last_offset: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where in all ids those of every bag are, (bag, place), and how many each has.

    Raises:
        ShapeError: offsets beside two axes, or none beside one.
        ArgumentError: offsets that are no starts.
    """
    if ids.ndim not in (1, 2) or (offsets is None) != (ids.ndim == 2):
        got = {"input": ids.shape, "offsets": "None" if offsets is None else "given"}
        raise ShapeError(explain("embedding_bag: which bags?", got=got, need="input: (bag, place), or (place) and offsets"))
    if offsets is None:
        bags, size = ids.shape
        return np.arange(bags * size).reshape(bags, size), np.full(bags, size)
    starts = to_numpy(offsets.data if hasattr(offsets, "grad_fn") else as_array(offsets))
    n = ids.shape[0]
    ends = starts[1:] if include_last_offset else np.append(starts[1:], n)
    starts = starts[:-1] if include_last_offset else starts
    lengths = (ends - starts).astype(np.int64)
    if starts.ndim != 1 or (starts.size and starts[0]) or (lengths < 0).any() or (ends > n).any():
        got = {"offsets": to_numpy(ends).tolist(), "ids": n}
        raise ArgumentError(
            explain("embedding_bag: these are no offsets", got=got, need="0, then starts that rise up to the number of ids")
        )
    places = starts[:, None] + np.arange(lengths.max(initial=0))
    return np.where(places < n, places, 0).astype(np.int64), lengths
