"""Cross-entropy: how much probability softmax gives to what is right."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, is_array, on_host, total, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import DTypeError, LabelError, ShapeError, explain
from ..function import Function
from .argument import need_reduction, reduced
from .dtype import all_below, kept, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _rows(x: Array) -> Array:
    """(class), (batch, class) or (batch, class, *) as (row, class)."""
    if x.ndim == 2:
        return x
    xp = xp_of(x)
    if x.ndim > 2:
        x = xp.moveaxis(x, 1, -1)
    return xp.reshape(x, (prod(x.shape[:-1]), x.shape[-1]))


def _unrowed(rows: Array, shape: tuple[int, ...]) -> Array:
    """What `_rows` did, undone."""
    if len(shape) == 2:
        return rows
    xp = xp_of(rows)
    if len(shape) == 1:
        return xp.reshape(rows, shape)
    return xp.moveaxis(xp.reshape(rows, (shape[0], *shape[2:], shape[1])), -1, 1)


def _places(ids: Array, shape: tuple[int, int], ignore_index: int) -> tuple[tuple[Array, Array], Array | None]:
    """Where in the rows the right classes are, and which rows count (None: all). A negative id would find another class: refused."""
    xp = xp_of(ids)
    n, classes = shape
    if ids.ndim != 1:
        ids = xp.reshape(ids, (n,))
    live = None
    if not on_host(ids):  # whether every id is a class is not asked: the device would have to be waited for
        live = ids != ignore_index
        ids = xp.where(live, ids, 0)
    elif n and not (all_below(ids, classes) and not 0 <= ignore_index < classes):
        live = ids != ignore_index
        ids = xp.where(live, ids, 0)
        low, high = xp.min(ids), xp.max(ids)
        if low < 0 or high >= classes:
            raise LabelError(
                explain(
                    "cross_entropy: a class id is none of the classes",
                    got={"smallest": low, "largest": high},
                    need=f"0 to {classes - 1}, or ignore_index={ignore_index}",
                )
            )
    return (xp.arange(n), ids), live


def _counted(weights: Array, dtype: Any) -> Any:
    """The sum, as a number where that waits for no device."""
    n = xp_of(weights).sum(weights, dtype=dtype)
    return float(n) if on_host(weights) else n


def _divisor(n: Any, reduction: str) -> Any:
    """What the gradient is divided by: 1 instead of nothing, where no row counts."""
    if reduction != "mean":
        return 1
    return xp_of(n).where(n == 0, 1.0, n) if is_array(n) else n or 1


class CrossEntropy(Function):
    """y = mean of -log softmax(x)[class];  dx = g (softmax(x) - onehot(class)) / n."""

    latex = (r"y = -\frac1n \sum_i \log p_{i c_i}, \quad p_{ij} = \frac{e^{x_{ij}}}{\sum_k e^{x_{ik}}}, \quad "
             r"\bar x_{ij} = \frac{\bar y}{n} \left(p_{ij} - [j = c_i]\right)")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Ints((3,))),
        Case(Draw((3, 4)), Given([1, -100, 0], "int64")),
        Case(Draw((3, 4), 10.0, 13.0), Given([3, 1, 1], "int64"), reduction="none", ignore_index=3),
        Case(Draw((2, 4, 3)), Ints((2, 3)), reduction="sum"),
        Case(Draw((2, 4, 3, 2)), Ints((2, 3, 2))),
        Case(Draw((4,)), Ints(())),
        Case(Draw((0, 4)), Ints((0,)), reduction="sum"),
    )
    fresh = True

    @staticmethod
    def reference(x: Array, ids: Array, ignore_index: int = -100, reduction: str = "mean") -> Array:
        """The formula as printed, row by row."""
        xp = xp_of(x)
        pairs = [(row, k) for row, k in zip(_rows(x), xp.ravel(ids), strict=True)]
        losses = [-xp.log(xp.exp(row[k]) / xp.sum(xp.exp(row))) if k != ignore_index else 0.0 for row, k in pairs]
        return reduced(xp.asarray(losses), reduction, xp.sum(ids != ignore_index), ids.shape, x.dtype)

    def forward(self, x: Array, ids: Array, ignore_index: int = -100, reduction: str = "mean") -> Array:
        xp, rows = xp_of(x), wide(_rows(x))
        at, live = _places(ids, rows.shape, ignore_index)
        # One buffer, 2.3 times as fast as a step an array: the scores less their largest, e to that, the probabilities.
        p = rows - xp.max(rows, axis=1, keepdims=True)
        losses = -p[at]
        xp.exp(p, out=p)
        s = total(p, 1, keepdims=True)
        p /= s
        losses += xp.log(s[:, 0])
        n = p.shape[0]
        if live is not None:
            losses, n = kept(losses, live), _counted(live, p.dtype)
        self.p, self.at, self.live, self.shape, self.n = p, at, live, x.shape, _divisor(n, reduction)
        return reduced(losses, reduction, n, ids.shape, x.dtype)

    def backward(self, g: Array) -> tuple[Array, None]:
        g = xp_of(g).reshape(g / self.n, (-1,))
        if self.live is not None:
            g = kept(xp_of(g).broadcast_to(g, self.live.shape), self.live)
        d = self.p * g[:, None]
        d[self.at] -= g
        return _unrowed(d, self.shape), None


class SoftCrossEntropy(Function):
    """y = mean of -sum of q log p, p = softmax(x), q what is wanted;  dx = g (p sum q - q) / n, dq = -g log p / n.

    q is (1 - s) target + s / classes, times the weight of the class; class ids count as probabilities 0 and 1.
    """

    latex = (r"y = -\frac1n \sum_{ij} q_{ij} \log p_{ij}, \quad "
             r"\bar x_{ij} = \frac{\bar y}{n} \left(p_{ij} \sum_k q_{ik} - q_{ij}\right), "
             r"\quad \bar q = -\frac{\bar y}{n} \log p")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), 0.0, 1.0)),
        Case(Draw((2, 4, 3)), Draw((2, 4, 3), 0.0, 1.0), reduction="sum", label_smoothing=0.1),
        Case(Draw((3, 4), 10.0, 13.0), Draw((3, 4), 0.0, 1.0), reduction="none", weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((4,)), Draw((4,), 0.0, 1.0)),
        Case(Draw((0, 4)), Draw((0, 4)), reduction="sum"),
        Case(Draw((2, 4, 3)), Ints((2, 3)), label_smoothing=0.1),
        Case(Draw((4,)), Ints(()), label_smoothing=0.2),
        Case(Draw((3, 4)), Given([3, 1, 1], "int64"), weight=[1.0, 2.0, 3.0, 0.5], ignore_index=3, label_smoothing=0.1),
        Case(Draw((3, 4)), Ints((3,)), weight=[1.0, 2.0, 3.0, 0.5]),
    )
    fresh = True

    def forward(
        self, x: Array, target: Array, weight: Any = None, ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = "mean"
    ) -> Array:
        xp, rows = xp_of(x), wide(_rows(x))
        w = 1.0 if weight is None else xp.asarray(weight, dtype=rows.dtype)
        n, classes = rows.shape
        live: Any = 1.0
        if target.dtype.kind == "f":
            wanted, places = _rows(target), (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ()
        else:
            at, some = _places(target, rows.shape, ignore_index)
            wanted, places = xp.zeros_like(rows), target.shape
            wanted[at] = 1.0 if some is None else some
            if some is not None:
                live = xp.asarray(some[:, None], dtype=rows.dtype)
            n = _counted(wanted * w, rows.dtype)
        self.factor = (1 - label_smoothing) * w
        self.q = wanted * self.factor + live * (label_smoothing / classes) * w
        z = rows - xp.max(rows, axis=1, keepdims=True)
        self.logs = z - xp.log(total(xp.exp(z), 1, keepdims=True))
        # A class that is masked by -inf costs nothing where nobody wants it.
        losses = -total(self.q * xp.where(self.q == 0, 0.0, self.logs), 1)
        self.shape, self.n = x.shape, _divisor(n, reduction)
        return reduced(losses, reduction, n, places, x.dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        xp = xp_of(g)
        g = xp.reshape(g / self.n, (-1, 1))
        dx = g * (xp.exp(self.logs) * total(self.q, 1, keepdims=True) - self.q)
        return _unrowed(dx, self.shape), _unrowed(-g * self.logs * self.factor, self.shape) if self.needs[1] else None


def cross_entropy(
    input: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Compare scores with the right classes: the mean of -log of the probability that softmax gives them.

    `target` holds class ids (integers), or a probability for every class. Rows whose id is `ignore_index` count for nothing.
    `weight` weighs the classes; `label_smoothing` moves that share of every target to all classes evenly.

    Shapes: input: (class), (batch, class) or (batch, class, *); target: without class (ids), or as input (probabilities);
        y: (), or without class for reduction="none"

    Raises:
        ShapeError: input and target don't belong together; they are never broadcast.
        DTypeError: scores that are not floating numbers, class ids that are not integers.
        LabelError: a class id that is none of the classes.

    >>> cross_entropy([[0.0, 0.0], [0.0, 50.0]], [0, 1], reduction="none").data.round(3)
    array([0.693, 0.   ], dtype=float32)
    """
    need_reduction("cross_entropy", reduction)
    params: dict[str, Any] = {} if reduction == "mean" else {"reduction": reduction}
    if weight is not None:
        params["weight"] = getattr(weight, "data", weight) if hasattr(weight, "grad_fn") else weight
    if label_smoothing:
        params["label_smoothing"] = label_smoothing
    scores: Any = input if hasattr(input, "dtype") else as_array(input)
    wanted: Any = target if hasattr(target, "dtype") else as_array(target)
    x, t, kind = scores.shape, wanted.shape, wanted.dtype.kind
    got = {"input": x, "target": t}
    if scores.dtype.kind != "f":
        raise DTypeError(explain("cross_entropy: scores are floating numbers", got=got, need="a floating input", fix="input.float()"))
    if x and t == ((x[0], *x[2:]) if len(x) > 1 else ()):
        if kind not in "iu":
            raise DTypeError(
                explain(
                    "cross_entropy: class ids are integers", got=got, need="integers, or a probability for every class", fix="target.long()"
                )
            )
        if ignore_index != -100:
            params["ignore_index"] = ignore_index
        step = SoftCrossEntropy if weight is not None or label_smoothing else CrossEntropy
        return step.apply(scores, wanted, **params)
    if x and t == x and kind == "f":
        return SoftCrossEntropy.apply(scores, wanted, **params)
    raise ShapeError(
        explain(
            "cross_entropy: input and target don't belong together",
            got=got,
            need="class ids: input (batch, class, *), target (batch, *); probabilities: the same shape",
        )
    )
