"""Cross-entropy: how much probability softmax gives to what is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, asarray_like, total, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import need_number, need_reduction, reduced
from .dtype import kept, wide
from .loss import counted, divisor, need_class_ids, need_class_weight, places, rows_of, unrowed

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


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
        """The formula as printed."""
        xp, rows, ids_in_line = xp_of(x), rows_of(x), ids.reshape(-1)
        z = rows - xp.max(rows, axis=1, keepdims=True)
        logs = z - xp.log(xp.sum(xp.exp(z), axis=1, keepdims=True))
        live = ids_in_line != ignore_index
        right = (xp.arange(rows.shape[1]) == ids_in_line[:, None]) & live[:, None]
        return reduced(-xp.sum(xp.where(right, logs, 0.0), axis=1), reduction, xp.sum(live), ids.shape, x.dtype)

    def forward(self, x: Array, ids: Array, ignore_index: int = -100, reduction: str = "mean") -> Array:
        xp, rows = xp_of(x), wide(rows_of(x))
        n, classes = rows.shape
        at, live = places("cross_entropy", ids, rows.shape, ignore_index)
        # One buffer, 2.3 times as fast as a step an array: the scores less their largest, then e to that.
        p = xp.ascontiguousarray(rows - xp.max(rows, axis=1, keepdims=True))  # so that its rows are one line in memory
        right = p.reshape(-1)[at]
        xp.exp(p, out=p)
        s = p @ xp.ones(classes, dtype=p.dtype)  # the sum of each row by BLAS, 4 times as fast
        losses = xp.log(s) - right
        if live is not None:
            losses, n = kept(losses, live), counted(live, p.dtype)
        self.p, self.s, self.at, self.live, self.shape, self.n = p, s, at, live, x.shape, divisor(n, reduction)
        return reduced(losses, reduction, n, ids.shape, x.dtype)

    def backward(self, g: Array) -> tuple[Array, None]:
        xp, g = xp_of(g), g / self.n
        if g.ndim != 1:
            g = g.reshape(-1)
        if self.live is not None:
            g = kept(xp.broadcast_to(g, self.live.shape), self.live)
        d = self.p * (g / self.s)[:, None]
        in_line = d.reshape(-1)
        in_line[self.at] -= g
        return unrowed(d, self.shape), None


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
        xp, rows = xp_of(x), wide(rows_of(x))
        w = 1.0 if weight is None else asarray_like(weight, x, rows.dtype)
        n, classes = rows.shape
        live: Any = 1.0
        if target.dtype.kind == "f":
            wanted, extent = rows_of(target), (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ()
        else:
            at, some = places("cross_entropy", target, rows.shape, ignore_index)
            in_line, extent = xp.zeros(n * classes, dtype=rows.dtype), target.shape
            in_line[at] = 1.0 if some is None else some
            wanted = in_line.reshape(rows.shape)
            if some is not None:
                live = xp.asarray(some[:, None], dtype=rows.dtype)
            n = counted(wanted * w, rows.dtype)
        self.factor = (1 - label_smoothing) * w
        self.q = wanted * self.factor + live * (label_smoothing / classes) * w
        z = rows - xp.max(rows, axis=1, keepdims=True)
        self.logs = z - xp.log(total(xp.exp(z), 1, keepdims=True))
        # A class that is masked by -inf costs nothing where nobody wants it.
        losses = -total(self.q * xp.where(self.q == 0, 0.0, self.logs), 1)
        self.shape, self.n = x.shape, divisor(n, reduction)
        return reduced(losses, reduction, n, extent, x.dtype)

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        xp = xp_of(g)
        g = (g / self.n).reshape((-1, 1))
        dx = g * (xp.exp(self.logs) * total(self.q, 1, keepdims=True) - self.q)
        return unrowed(dx, self.shape), unrowed(-g * self.logs * self.factor, self.shape) if self.needs[1] else None


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
        ArgumentError: a share of smoothing outside 0 to 1, or a class to ignore among probabilities.

    >>> cross_entropy([[0.0, 0.0], [0.0, 50.0]], [0, 1], reduction="none").data.round(3)
    array([0.693, 0.   ], dtype=float32)
    """
    need_reduction("cross_entropy", reduction)
    need_number("cross_entropy", label_smoothing=label_smoothing)
    scores: Any = input if hasattr(input, "dtype") else as_array(input)
    wanted: Any = target if hasattr(target, "dtype") else as_array(target)
    ids = need_class_ids("cross_entropy", scores, wanted)
    if not ids and (not scores.ndim or wanted.shape != scores.shape or wanted.dtype.kind != "f"):
        got = {"input": scores.shape, "target": wanted.shape}
        need = "class ids: input (batch, class, *), target (batch, *); probabilities: the same shape"
        raise ShapeError(explain("cross_entropy: input and target don't belong together", got=got, need=need))
    params: dict[str, Any] = {} if reduction == "mean" else {"reduction": reduction}
    if ignore_index != -100:
        if not ids and ignore_index >= 0:
            got = {"ignore_index": ignore_index, "target": wanted.dtype}
            raise ArgumentError(explain("cross_entropy: probabilities name no class to ignore", got=got, need="class ids"))
        params["ignore_index"] = ignore_index
    if ids and weight is None and not label_smoothing:
        return CrossEntropy.apply(scores, wanted, **params)
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(explain("cross_entropy: how much smoothing?", got={"label_smoothing": label_smoothing}, need="a share, 0 to 1"))
    if label_smoothing:
        params["label_smoothing"] = label_smoothing
    if weight is not None:
        params["weight"] = need_class_weight("cross_entropy", weight, scores.shape[min(scores.ndim - 1, 1)])
    return SoftCrossEntropy.apply(scores, wanted, **params)
