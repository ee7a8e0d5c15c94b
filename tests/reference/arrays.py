"""Calls of reductions, of ops that rearrange, and of indexing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .chooser import Call, Chooser, Shape, call, still
from .table import rows


def over(values: str = "floats", dims: bool = True, empty: bool = True) -> Callable[[Chooser], Call]:
    """Reduced over an axis, over several or over all."""

    def make(c: Chooser) -> Call:
        shape = c.shape(most=4, side=3, empty=empty)
        dim = c.dims(shape) if dims else c.pick(None, c.dim(shape))
        keep = c.flag() if dim is not None else None
        return call(getattr(c, values)(*shape), dim=dim, keepdim=keep)

    return make


def along(values: str = "floats", empty: bool = True, **fixed: Any) -> Callable[[Chooser], Call]:
    """Along one axis."""

    def make(c: Chooser) -> Call:
        shape = c.shape(most=4, side=3, empty=empty)
        return call(getattr(c, values)(*shape), dim=c.dim(shape), **fixed)

    return make


rows("sum nansum", over())
rows("mean nanmean", over())
rows("logsumexp", lambda c: call(c.floats(*(s := c.shape(1))), dim=c.dims(s) or 0, keepdim=c.flag()))
rows("sum prod", over("tied", dims=False))
rows("prod", over(dims=False))
rows("amax amin", lambda c: call(c.tied(*(s := c.shape(empty=False))), dim=c.dims(s) or (), keepdim=c.flag()))
rows("max min", lambda c: call(c.tied(*c.shape(empty=False))))
rows("max min", along("tied", empty=False))
rows("max min", lambda c: (lambda a, b: call(c.tied(*a), c.tied(*b)))(*c.broadcast()))
rows("argmax argmin", over("distinct", dims=False, empty=False))
rows("any all", over("bools", dims=False))
rows("any all", over("tied"))
rows("count_nonzero", lambda c: call(c.tied(*(s := c.shape())), dim=c.dims(s)))
rows("aminmax", lambda c: call(c.distinct(*(s := c.shape(1, empty=False))), dim=c.pick(None, c.dim(s))))


def spread(c: Chooser) -> Call:
    """Variance with a correction; more than one entry, so that it is finite."""
    shape = c.shape(1, side=3, empty=False)
    shape = tuple([n + 1 for n in shape])
    return call(c.floats(*shape), dim=c.dims(shape), correction=c.pick(None, 0, 1), keepdim=c.pick(None, True))


rows("var std var_mean std_mean", spread)
rows(
    "norm",
    lambda c: (lambda s: call(c.floats(*s, gap=0.1), p=c.pick(2, 1, 3, 0.5, float("inf")), dim=c.pick(None, c.dim(s))))(
        c.shape(1, empty=False)
    ),
)
rows("norm", lambda c: call(c.floats(*(s := c.shape(1)), gap=0.1), p=c.pick(2.0, 3.0), dim=c.dims(s), keepdim=c.pick(None, True)))
rows("normalize", lambda c: call(c.floats(*(s := c.shape(1)), gap=0.1), p=c.pick(None, 1, 3), dim=c.dim(s)))
rows("dist", lambda c: call(c.floats(*(s := c.shape(1))), c.floats(*s), p=c.pick(2, 1, 3)))
rows("softmax log_softmax softmin", along())
rows("cumsum", along())
rows("cumprod", along("tied"))
rows("cumprod", along())
rows("cummax cummin", along("tied", empty=False))
rows("logcumsumexp", along())
rows("diff", lambda c: call(c.floats(*(s := c.shape(1, side=5, empty=False))), n=c.pick(None, 2), dim=c.dim(s)))
rows("trapezoid", lambda c: call(c.floats(*(s := c.shape(1, empty=False))), dim=c.dim(s)))

rows("sort", lambda c: call(c.distinct(*(s := c.shape())), dim=c.dim(s), descending=c.flag()))
rows("sort", lambda c: call(c.tied(*(s := c.shape())), dim=c.dim(s), descending=c.flag(), stable=True))
rows("argsort", lambda c: call(c.distinct(*(s := c.shape())), dim=c.dim(s), descending=c.flag()))
rows("msort", lambda c: call(c.distinct(*c.shape(1))))
rows(
    "topk", lambda c: (lambda s, d: call(c.distinct(*s), c.whole(0, s[d]), dim=d, largest=c.flag()))(*(lambda s: (s, c.dim(s)))(c.shape(1)))
)
rows(
    "kthvalue",
    lambda c: (lambda s, d: call(c.distinct(*s), c.whole(1, s[d]), dim=d, keepdim=c.flag()))(
        *(lambda s: (s, c.dim(s)))(c.shape(1, empty=False))
    ),
)
rows("median nanmedian", lambda c: call(c.distinct(*c.shape(1, empty=False))))
rows("median nanmedian mode", lambda c: call(c.distinct(*(s := c.shape(1, empty=False))), dim=c.dim(s), keepdim=c.flag()))
rows(
    "quantile",
    lambda c: call(c.distinct(*(s := c.shape(1, empty=False))), c.pick(0.0, 0.3, 0.5, 1.0), dim=c.dim(s), keepdim=c.flag()),
)
rows("unique", lambda c: call(c.tied(*c.shape(1, empty=False))))
rows("searchsorted", lambda c: call(np.sort(c.distinct(5)), c.distinct(*c.shape(1)), right=c.flag()))
rows("bincount", lambda c: call(c.ints(c.whole(1, 6), hi=5), minlength=c.pick(None, 7)))

# -- shape

rows("reshape", lambda c: call(c.floats(*(s := c.shape(empty=False))), c.pick((-1,), s[::-1], (1, *s))))
rows("view_as reshape_as", lambda c: call(c.floats(*(s := c.shape())), c.floats(*s[::-1])))
rows("flatten", lambda c: call(c.floats(*c.shape(2, 3)), start_dim=c.pick(0, 1, -2), end_dim=c.pick(-1, 1)))
rows("ravel", lambda c: call(c.floats(*c.shape())))
rows("unflatten", lambda c: call(c.floats(3, 4, c.pick(2, 1)), c.pick(1, -2), c.pick((2, 2), (4, -1), (1, 4))))
rows("squeeze", lambda c: call(c.floats(*c.shape(side=2)), dim=c.pick(None, 0, -1)))
rows("squeeze", lambda c: call(c.floats(1, c.pick(1, 2), 3, 1), dim=c.pick((0, 1), (-1, 2))))
rows("unsqueeze", lambda c: call(c.floats(*(s := c.shape())), dim=c.whole(-len(s) - 1, len(s))))
rows("transpose swapaxes swapdims", lambda c: call(c.floats(*(s := c.shape())), c.dim(s), c.dim(s)))
rows("t", lambda c: call(c.floats(*c.shape(0, 2))))
rows("permute", lambda c: call(c.floats(*c.shape(3, 3)), c.pick((0, 1, 2), (2, 0, 1), (-1, 0, 1), (1, -1, -3))))
rows("movedim moveaxis", lambda c: call(c.floats(*c.shape(3, 3)), c.pick(0, -1, 1), c.pick(0, 2, -2)))
rows("movedim", lambda c: call(c.floats(*c.shape(3, 3)), c.pick((0, 1), (2, 0)), c.pick((1, 2), (-1, -2))))
rows("expand", lambda c: call(c.floats(c.pick(1, 3), c.pick(1, 2)), c.pick((3, 2), (-1, 2), (4, 3, 2), (2, 3, -1))), "Tensor.expand")
rows("expand_as", lambda c: (lambda a, b: call(c.floats(*a), c.floats(*b)))(*(lambda s: ((1,) * len(s), s))(c.shape())))
rows("broadcast_to", lambda c: call(c.floats(c.pick(1, 3), c.pick(1, 2)), c.pick((3, 2), (4, 3, 2))))
rows("repeat", lambda c: call(c.floats(*c.shape(0, 2)), c.pick((2,), (2, 3), (1, 2, 2), (0, 1))), "Tensor.repeat")
rows("tile", lambda c: call(c.floats(*c.shape(0, 3)), c.pick((2,), (2, 3), (1, 2, 2))))
rows("repeat_interleave", lambda c: call(c.floats(*(s := c.shape(1))), c.pick(1, 2, 3), dim=c.pick(None, c.dim(s))))
rows(
    "roll",
    lambda c: call(c.floats(*(s := c.shape(1))), c.whole(-3, 4), c.pick(None, c.dim(s))),
    lambda torch, x, n, d=None: torch.roll(x, n, d),
)
rows("roll", lambda c: call(c.floats(*c.shape(2)), (c.whole(-3, 4), 1), (0, -1)))
rows("flip", lambda c: call(c.floats(*c.shape(2)), c.pick((0,), (-1,), (0, 1), (0, -1))))
rows("fliplr flipud", lambda c: call(c.floats(*c.shape(2))))
rows("rot90", lambda c: call(c.floats(*c.shape(2)), c.whole(-2, 4), c.pick((0, 1), (1, 0), (-1, 0))))
rows(
    "narrow",
    lambda c: (lambda s, d: (lambda start: call(c.floats(*s), d, start, c.whole(0, s[d] - start)))(c.whole(0, s[d])))(
        *(lambda s: (s, c.dim(s)))(c.shape(1))
    ),
)
rows("select", lambda c: call(c.floats(*(s := c.shape(1, empty=False))), c.dim(s), c.pick(0, -1)))


def joined(c: Chooser) -> Call:
    """Tensors that differ along one axis."""
    shape = c.shape(1)
    d = c.dim(shape) % len(shape)
    return call([c.floats(*shape[:d], c.whole(0, 3), *shape[d + 1 :]) for _ in range(c.whole(1, 3))], dim=c.pick(d, d - len(shape)))


def alike(c: Chooser, shape: Shape) -> list[Any]:
    """One to three arrays of one shape."""
    return [c.floats(*shape) for _ in range(c.whole(1, 3))]


rows("cat concat concatenate", joined)
rows("stack", lambda c: call(alike(c, s := c.shape()), dim=c.whole(-len(s) - 1, len(s))))
rows("hstack vstack dstack column_stack", lambda c: call(alike(c, c.shape())))
rows("split", lambda c: call(c.floats(*(s := c.shape(1))), c.whole(1, 3), dim=c.dim(s)))
rows("split", lambda c: call(c.floats(5, 2), c.pick([2, 3], [1, 0, 4], [5])))
rows("chunk", lambda c: call(c.floats(*(s := c.shape(1, side=5))), c.whole(1, 5), dim=c.dim(s)))
rows("tensor_split", lambda c: call(c.floats(*(s := c.shape(1, side=5))), c.pick(2, 3, (1, 2)), dim=c.dim(s)))
rows("unbind", lambda c: call(c.floats(*(s := c.shape(1, empty=False))), dim=c.dim(s)))
rows("tril triu", lambda c: call(c.floats(*c.shape(2, 4)), c.whole(-3, 3)))
rows("diag", lambda c: call(c.floats(*c.shape(1, 2, empty=False)), c.whole(-1, 1)))
rows("diagonal", lambda c: call(c.floats(*c.shape(2, 3, side=4, empty=False)), c.pick(0, 0, 1, -1)))
rows("diagonal", lambda c: call(c.floats(*c.shape(3, 3, empty=False)), 0, c.pick(0, -1), c.pick(1, -2)))
rows("diag_embed", lambda c: call(c.floats(*c.shape(1, 3)), c.pick(0, 1, -1)))
rows("trace", lambda c: call(c.floats(*c.shape(2, 2))))
rows("meshgrid", lambda c: call(c.floats(c.whole(1, 3)), c.floats(c.whole(1, 4)), indexing=c.pick("ij", "xy")))
rows("atleast_1d atleast_2d atleast_3d", lambda c: call(c.floats(*c.shape())))

# -- indices


def gathered(c: Chooser) -> Call:
    """An index no larger than x except along dim."""
    shape = c.shape(1, empty=False)
    d = c.dim(shape)
    size = [c.whole(1, n) for n in shape]
    size[d] = c.whole(0, 5)
    return call(c.floats(*shape), d, c.ints(*size, hi=shape[d]))


def scattered(c: Chooser, distinct: bool = False) -> Call:
    """Values put where an index says."""
    shape = c.shape(1, empty=False)
    d = c.dim(shape) % len(shape)
    size = [c.whole(1, n) for n in shape]
    index = c.ints(*size, hi=shape[d])
    if distinct:
        index = np.argsort(c.numbers(int(np.prod(shape))).reshape(shape), axis=d, kind="stable")[tuple([slice(n) for n in size])]
    return call(c.floats(*shape), d, index, c.floats(*size))


rows("gather", gathered)
rows("scatter_add", scattered)
rows("scatter", lambda c: scattered(c, distinct=True))
rows("scatter", lambda c: call(*scattered(c, distinct=True).args[:3], c.pick(0.0, 1.5)))
rows("scatter_reduce", lambda c: call(*scattered(c).args, reduce=c.pick("sum", "mean", "amax", "amin"), include_self=c.pick(None, False)))
rows(
    "index_select",
    lambda c: (lambda s, d: call(c.floats(*s), d, c.ints(c.whole(0, 5), hi=s[d])))(*(lambda s: (s, c.dim(s)))(c.shape(1, empty=False))),
)


def index_added(c: Chooser) -> Call:
    """Rows added to x where an index says, some of them twice."""
    shape = c.shape(1, empty=False)
    d = c.dim(shape) % len(shape)
    n = c.whole(0, 5)
    return call(c.floats(*shape), d, c.ints(n, hi=shape[d]), c.floats(*shape[:d], n, *shape[d + 1 :]))


rows("index_add", index_added)
rows("index_add", lambda c: call(*index_added(c).args, alpha=2.0))
rows("index_copy", lambda c: call(c.floats(4, 2), 0, np.array(c.pick([0, 3], [2, 1], [3, 0])), c.floats(2, 2)))
rows("index_fill", lambda c: call(c.floats(4, 2), c.pick(0, -2), np.array(c.pick([0, 3], [2], [])).astype(np.int64), c.pick(0.0, 1.5)))
rows("take", lambda c: call(c.floats(*(s := c.shape(1, empty=False))), c.ints(*c.shape(), hi=int(np.prod(s)))))
rows("take_along_dim", lambda c: (lambda a: call(a.args[0], a.args[2], dim=a.args[1]))(gathered(c)))
rows("masked_select", lambda c: (lambda a, b: call(c.floats(*a), c.bools(*b)))(*c.broadcast()))
rows("one_hot", lambda c: call(c.ints(*c.shape(), hi=4), num_classes=c.pick(4, 6)))
rows("nonzero argwhere", lambda c: call(c.tied(*c.shape())))
rows("bucketize", lambda c: call(c.distinct(*c.shape()), np.sort(c.distinct(4)), right=c.flag()))


def _set(torch: Any, x: Any, index: Any, value: Any) -> Any:
    y = torch.clone(x)
    y[index] = value
    return y


BASIC: tuple[Any, ...] = (
    0,
    -1,
    slice(None),
    slice(1, None, 2),
    (0, 1),
    (slice(None), -1),
    (..., 0),
    None,
    (None, 1),
    (slice(0, 0),),
    (1, None, slice(0, 2)),
)


def indexed(c: Chooser) -> Call:
    """Indexing in every way: basic, by integers, by booleans and mixed."""
    x = c.floats(3, 4, 2)
    kind = c.pick("basic", "rows", "pairs", "mask", "bools", "mixed", "apart", "repeated")
    index: Any = {
        "basic": c.pick(*BASIC),
        "rows": c.ints(*c.shape(), lo=-3, hi=3),
        "pairs": (c.ints(4, hi=3), c.ints(4, hi=4)),
        "mask": c.bools(3, 4),
        "bools": (slice(None), c.bools(4)),
        "mixed": (slice(1, 3), c.ints(2, hi=4)),
        "apart": (c.ints(2, hi=3), slice(None), c.ints(2, hi=2)),
        "repeated": np.array([0, 0, 2, 0]),
    }[kind]
    return call(x, index)


rows("getitem", indexed, lambda torch, x, i: x[i])
rows("set_index", lambda c: (lambda a: call(*a, c.pick(0.5, -1.0)))(indexed(c).args), _set)
rows("index_put", lambda c: call(c.floats(4, 3), (c.ints(3, hi=4), np.array([0, 1, 2])), c.floats(3), accumulate=c.flag()))
rows("index_put", lambda c: call(c.floats(4, 3), (np.array([0, 2, 0]),), c.floats(*c.pick((3, 3), (3,), ())), accumulate=True))
rows("put", lambda c: call(c.floats(2, 3), c.ints(2, hi=6), c.floats(2), accumulate=True))
rows("put", lambda c: call(c.floats(2, 3), np.array([4, -6]), c.floats(2)))
rows("masked_scatter", lambda c: call(c.floats(2, 3), c.bools(*c.pick((2, 3), (3,))), c.floats(7)))
rows("block_diag", lambda c: call(*[c.floats(*c.shape(0, 2, empty=False)) for _ in range(c.whole(1, 3))]))
rows("broadcast_tensors", lambda c: call(*[c.floats(*s) for s in c.broadcast()]))
rows("vander", lambda c: call(still(c.floats(c.whole(1, 4))), N=c.pick(None, 3), increasing=c.flag()))
rows("cartesian_prod", lambda c: call(*[c.floats(c.whole(1, 3)) for _ in range(c.whole(1, 3))]))
rows("contiguous", lambda c: call(c.floats(*c.shape())))
rows("view", lambda c: call(c.floats(*(s := c.shape(empty=False))), c.pick((-1,), s[::-1], (1, *s))))
rows("cumulative_trapezoid", lambda c: call(c.floats(*(s := c.shape(1, empty=False))), dim=c.dim(s)))
rows("tril_indices triu_indices", lambda c: call(c.whole(1, 4), c.whole(1, 4), c.whole(-2, 2)))
rows("histc", lambda c: call(c.floats(*c.shape(1, empty=False)), bins=c.whole(1, 5), min=-2, max=2))
rows("isin", lambda c: call(c.tied(*c.shape()), c.tied(c.whole(0, 3)), invert=c.pick(None, True)))
rows("nanquantile", lambda c: call(np.where(c.bools(3, 4), np.nan, c.distinct(3, 4)), c.pick(0.25, 0.5), dim=c.pick(0, -1)))
rows("unique_consecutive", lambda c: call(c.tied(*c.shape(1, empty=False))))
rows("unfold_copy", lambda c: call(c.floats(5, c.pick(4, 6)), c.pick(0, -1), c.whole(1, 3), c.whole(1, 2)))
rows("row_stack", lambda c: call(alike(c, c.shape())))
rows("hsplit", lambda c: call(c.floats(2, 4), c.pick(2, (1, 3))))
rows("vsplit", lambda c: call(c.floats(4, 2), c.pick(2, (1, 3))))
rows("dsplit", lambda c: call(c.floats(1, 2, 4), c.pick(2, (1, 3))))
rows("combinations", lambda c: call(c.floats(c.whole(1, 4)), r=c.pick(1, 2, 3), with_replacement=c.pick(None, True)))
rows("diagflat", lambda c: call(c.floats(*c.shape(empty=False)), c.pick(0, 1, -1)))
rows("diagonal_scatter", lambda c: call(c.floats(3, 3), c.floats(n := c.pick(3, 2)), 0 if n == 3 else c.pick(1, -1)))
rows("select_scatter", lambda c: call(c.floats(3, 2), c.floats(2), 0, c.pick(0, -1)))
rows("slice_scatter", lambda c: call(c.floats(4, 2), c.floats(2, 2), 0, c.pick(0, 1), c.pick(4, None), 2))
REDUCED = ("mean", "amax", "amin")
rows("index_reduce", lambda c: call(c.floats(4, 2), 0, c.ints(3, hi=4), c.floats(3, 2), c.pick(*REDUCED), include_self=c.flag()))
rows("cov corrcoef", lambda c: call(c.floats(c.whole(2, 3), c.whole(3, 5))))
rows("renorm", lambda c: call(c.floats(3, 4), c.pick(1.0, 2.0), c.pick(0, 1), 1.5))
rows("trapz", lambda c: call(c.floats(*(s := c.shape(1, empty=False))), dim=c.dim(s)))
