"""Arithmetic zoom: the numbers behind one entry of an op's output, the largest terms first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..backend import to_numpy
from .capture import Capture
from .nudge import place
from .replay import Replay, ReplayError

MOST = 4096
"""How many terms of a sum are listed at most, the largest; the sum is of all."""


class Factor(NamedTuple):
    """A number in a term: which operand it is of (-1 for one that is no operand), where it stands, and its value."""

    operand: int
    at: tuple[int, ...]
    value: float


class Terms(NamedTuple):
    """How an entry came to be.

    Attributes:
        at: of the entry in the output.
        rule: what is done with the terms, in words, as "sum of 64 products".
        terms: value and factors, the largest first.
        number: how many terms there are, shown or not.
        total: what the terms make, in float64; stored: what the step has there.
        scale: what the sum of the terms is divided by, 1 where by nothing.
    """

    at: tuple[int, ...]
    rule: str
    terms: list[tuple[float, list[Factor]]]
    number: int
    total: float
    stored: float
    scale: float = 1.0


Found = tuple[str, list[tuple[float, list[Factor]]], float, float]
"""Rule, terms, total and scale."""


def terms_of(capture: Capture, at: int, index: Sequence[int], most: int = 12) -> Terms:
    """The terms behind entry `index` of what op `at` gave, computed in float64 from the operands of the captured step.

    Raises:
        ReplayError: the op is none of a known kind, or was not captured.
    """
    replay = Replay(capture)
    op = replay.op(at)
    rule = _RULES.get(op.cls.__name__) if op.cls.__module__.startswith("gradlab.") else None
    if rule is None:
        known = "matmul, linear, conv, attention, softmax, log_softmax, sum, mean and plain arithmetic"
        raise ReplayError(f"{op.cls.__name__}: its arithmetic is not taken apart; known are {known}")
    arrays: list[Any] = []
    for i, x in enumerate(op.inputs):
        ref = replay.ref(at, i)
        kept = x if ref is None else capture.ops[ref] if ref >= 0 else capture.leaves[-1 - ref]
        value = kept if ref is None else getattr(kept, "output" if ref >= 0 else "value")
        arrays.append(np.float64(value) if isinstance(value, (bool, int, float)) else to_numpy(value))
    where = place(op.output.shape, index)
    said, terms, total, scale = rule(arrays, dict(op.params), where)
    terms.sort(key=lambda term: -abs(term[0]) if term[0] == term[0] else -np.inf)
    number = arrays[0].size // max(op.output.size, 1) if rule in (_added, _mean) else len(terms)
    return Terms(where, said, terms[:most], number, total, float(to_numpy(op.output[where])), scale)


def _sum(terms: list[tuple[float, list[Factor]]]) -> float:
    return float(np.sum(np.array([term for term, _ in terms], np.float64))) if terms else 0.0


def _products(a: np.ndarray, b: np.ndarray, i: int, j: int, pairs: Any) -> list[tuple[float, list[Factor]]]:
    """Terms of pairs of places in operands i and j."""
    found: list[tuple[float, list[Factor]]] = []
    for at, to in pairs:
        x, y = float(a[at]), float(b[to])
        found.append((x * y, [Factor(i, at, x), Factor(j, to, y)]))
    return found


def _matmul(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...], first: int = 0) -> Found:
    del params
    a, b = arrays[first], arrays[first + 1]
    rows, columns = a.ndim > 1, b.ndim > 1
    front = where[: len(where) - rows - columns]
    row = where[len(front) : len(front) + rows]
    column = where[len(front) + rows :]
    a_front, b_front = _front(front, a.shape[:-2]), _front(front, b.shape[:-2])
    n = a.shape[-1]
    terms = _products(a, b, first, first + 1, [((*a_front, *row, k), (*b_front, k, *column)) for k in range(n)])
    return f"sum of {n:,} products, row \u00d7 column", terms, _sum(terms), 1.0


def _front(front: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The place in an operand that was broadcast to the axes in front."""
    own = front[len(front) - len(shape) :]
    return tuple(0 if n == 1 else i for i, n in zip(own, shape, strict=True))


def _biased(arrays: list[Any], terms: list[tuple[float, list[Factor]]], at: int) -> str:
    """Add the bias, if there is one, as a term."""
    if len(arrays) < 3 or arrays[2] is None:
        return ""
    bias = np.asarray(arrays[2])
    place = () if bias.ndim == 0 else (at if bias.size > 1 else 0,)
    terms.append((float(bias[place]), [Factor(2, place, float(bias[place]))]))
    return ", plus the bias"


def _linear(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    del params
    x, weight = arrays[:2]
    n = weight.shape[1]
    terms = _products(x, weight, 0, 1, [((*where[:-1], k), (where[-1], k)) for k in range(n)])
    said = f"sum of {n:,} products, row \u00d7 row of the weight{_biased(arrays, terms, where[-1])}"
    return said, terms, _sum(terms), 1.0


def _conv(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    x, weight = arrays[:2]
    n = weight.ndim - 2
    kernel, inner = weight.shape[2:], weight.shape[1]
    batch, o, spot = where[: -n - 1], where[-n - 1], where[-n:]
    stride, dilation, low = (_each(params.get(name, default), n) for name, default in (("stride", 1), ("dilation", 1), ("padding", 0)))
    if params.get("padding") == "same":
        low = tuple((k - 1) * d // 2 for k, d in zip(kernel, dilation, strict=True))
    group = o // (weight.shape[0] // params.get("groups", 1))
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for c, *tap in product(range(inner), *map(range, kernel)):
        spots = tuple(p * s + t * d - a for p, s, t, d, a in zip(spot, stride, tap, dilation, low, strict=True))
        if all(0 <= i < size for i, size in zip(spots, x.shape[-n:], strict=True)):
            pairs.append(((*batch, group * inner + c, *spots), (o, c, *tap)))
    terms = _products(x, weight, 0, 1, pairs)
    outside = inner * prod(kernel) - len(pairs)
    said = f"sum of {len(pairs):,} products, window \u00d7 kernel{_biased(arrays, terms, o)}"
    return said + (f"; {outside:,} entries of the window are padding" if outside else ""), terms, _sum(terms), 1.0


def _each(given: Any, n: int) -> tuple[int, ...]:
    if isinstance(given, str):
        return (0,) * n
    values = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    return values * n if len(values) == 1 else values


def _softmax(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    z, axis, mine = _exponents(arrays[0], params["dim"], where)
    e = np.exp(z)
    total = float(np.sum(e))
    terms = [(float(e[k]), [Factor(0, at, float(arrays[0][at]))]) for k, at in enumerate(_along(where, axis, len(e)))]
    said = f"e^(x \u2212 largest) of this entry, {float(e[mine]):.6g}, over the sum of {len(e):,}, {total:.6g}"
    return said, terms, float(e[mine]) / total, total


def _log_softmax(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    z, axis, mine = _exponents(arrays[0], params["dim"], where)
    e = np.exp(z)
    total = float(np.sum(e))
    terms = [(float(e[k]), [Factor(0, at, float(arrays[0][at]))]) for k, at in enumerate(_along(where, axis, len(e)))]
    said = f"x \u2212 largest, {float(z[mine]):.6g}, less the logarithm of the sum of {len(e):,} e^(x \u2212 largest), {total:.6g}"
    return said, terms, float(z[mine] - np.log(total)), total


def _exponents(x: np.ndarray, dim: int, where: tuple[int, ...]) -> tuple[np.ndarray, int, int]:
    """The row that an entry is normalised in, less its largest; its axis, and where the entry stands in it."""
    if not x.ndim:
        return np.zeros(1), 0, 0
    axis = dim % x.ndim
    row = np.array(x[(*where[:axis], slice(None), *where[axis + 1 :])], np.float64)
    with np.errstate(invalid="ignore"):
        return row - row.max(), axis, where[axis]


def _along(where: tuple[int, ...], axis: int, n: int) -> list[tuple[int, ...]]:
    return [(*where[:axis], k, *where[axis + 1 :]) if where else () for k in range(n)]


def _added(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    x, dim = arrays[0], params.get("dim")
    axes = range(x.ndim) if dim is None else sorted({d % max(x.ndim, 1) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))})
    axes = [axis for axis in axes if axis < x.ndim]
    rest = iter(where)
    kept = [None if axis in axes and not params.get("keepdim") else next(rest) for axis in range(x.ndim)]
    part = np.array(x[tuple(slice(None) if axis in axes else i for axis, i in enumerate(kept))], np.float64)
    values = part.ravel()
    sizes = np.abs(values)
    some = np.argpartition(sizes, -MOST)[-MOST:] if values.size > MOST else np.arange(values.size)
    order = some[np.argsort(-sizes[some], kind="stable")]
    terms: list[tuple[float, list[Factor]]] = []
    for k in order:
        inside = iter(np.unravel_index(int(k), part.shape))
        at = tuple(int(next(inside)) if axis in axes else int(i or 0) for axis, i in enumerate(kept))
        terms.append((float(values[k]), [Factor(0, at, float(values[k]))]))
    return f"sum of {values.size:,} entries", terms, float(values.sum()), 1.0


def _mean(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    said, terms, total, _ = _added(arrays, params, where)
    n = int(said.split()[2].replace(",", ""))
    return f"{said} over {n:,}", terms, total / n if n else float("nan"), float(n)


def _attention(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
    q, k, v = (np.asarray(a, np.float64) for a in arrays[:3])
    if params.get("enable_gqa"):
        raise ReplayError("Attention: heads that share keys are not taken apart")
    row, feature = where[-2], where[-1]
    fronts = [_front(where[:-2], a.shape[:-2]) for a in (q, k, v)]
    z = k[fronts[1]] @ q[(*fronts[0], row)] * params["scale"]
    if params.get("is_causal"):
        z[row + 1 :] = -np.inf
    if len(arrays) > 3:
        mask = np.broadcast_to(arrays[3], (*arrays[3].shape[:-2], q.shape[-2], k.shape[-2]))
        line = mask[(*_front(where[:-2], mask.shape[:-2]), row)]
        z = np.where(line, z, -np.inf) if line.dtype == bool else z + line
    e = np.exp(z - max(float(z.max(initial=-np.inf)), -1e30))
    p = e / max(float(e.sum()), 1.0)
    if params.get("drawn") is not None:
        drawn = to_numpy(params["drawn"])
        p = p * drawn[(*_front(where[:-2], drawn.shape[:-2]), row)]
    places = [(*fronts[2], key, feature) for key in range(len(p))]
    terms = [(float(p[i] * v[at]), [Factor(-1, (i,), float(p[i])), Factor(2, at, float(v[at]))]) for i, at in enumerate(places)]
    return f"sum of {len(p):,} products, weight of the key \u00d7 its value", terms, _sum(terms), 1.0


def _elementwise(sign: str, make: Callable[..., Any]) -> Callable[[list[Any], dict[str, Any], tuple[int, ...]], Found]:
    def rule(arrays: list[Any], params: dict[str, Any], where: tuple[int, ...]) -> Found:
        del params
        places = [_front(where, np.shape(a)) for a in arrays]
        values = [np.float64(np.asarray(a)[at]) for a, at in zip(arrays, places, strict=True)]
        with np.errstate(all="ignore"):
            total = float(make(*values))
        terms = [(float(x), [Factor(i, at, float(x))]) for i, (x, at) in enumerate(zip(values, places, strict=True))]
        return f"operand 0 {sign} operand 1", terms, total, 1.0

    return rule


_RULES: dict[str, Callable[[list[Any], dict[str, Any], tuple[int, ...]], Found]] = {
    "MatMul": _matmul,
    "Linear": _linear,
    "Conv": _conv,
    "Attention": _attention,
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
    "Sum": _added,
    "Mean": _mean,
    "Add": _elementwise("+", np.add),
    "Sub": _elementwise("\u2212", np.subtract),
    "Mul": _elementwise("\u00d7", np.multiply),
    "Div": _elementwise("\u00f7", np.divide),
}
