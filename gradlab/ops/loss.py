"""Losses: how far predictions are from targets, as one step each."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import DTypeError, GradlabError, ShapeError, explain
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class LabelError(GradlabError, IndexError):
    """A class id that is none of the classes."""


class ReductionError(GradlabError, ValueError):
    """A reduction that is none of mean, sum and none."""


def _need_reduction(op: str, reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ReductionError(explain(f"{op}: which reduction?", got={"reduction": repr(reduction)}, need='"mean", "sum" or "none"'))


def _kind(x: Any) -> str:
    return (x.dtype if hasattr(x, "dtype") else as_array(x).dtype).kind


def _rows(x: Array) -> Array:
    """(class), (batch, class) or (batch, class, *) as (row, class)."""
    xp = xp_of(x)
    if x.ndim > 2:
        x = xp.moveaxis(x, 1, -1)
    return xp.reshape(x, (prod(x.shape[:-1]), x.shape[-1]))


def _unrowed(rows: Array, shape: tuple[int, ...]) -> Array:
    """What `_rows` did, undone."""
    xp = xp_of(rows)
    if len(shape) <= 2:
        return xp.reshape(rows, shape)
    return xp.moveaxis(xp.reshape(rows, (shape[0], *shape[2:], shape[1])), -1, 1)


def _float(x: Array) -> Array:
    if x.dtype.kind != "f":
        raise DTypeError(explain("cross_entropy: scores are floating numbers", got={"x": x.dtype}, need="float16, float32 or float64", fix="x.float()"))
    return x


class CrossEntropy(Function):
    """y = mean of -log softmax(x)[class];  dx = g (softmax(x) - onehot(class)) / n."""

    latex = r"y = -\frac1n \sum_i \log \frac{e^{x_{i,c_i}}}{\sum_j e^{x_{ij}}}, \quad \bar x_{ij} = \frac{\bar y}{n} \left(p_{ij} - [j = c_i]\right)"
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Ints((3,))),
        Case(Draw((3, 4)), Given([1, -100, 0], "int64")),
        Case(Draw((3, 4), 10.0, 13.0), Ints((3,)), reduction="none"),
        Case(Draw((2, 4, 3)), Ints((2, 3)), reduction="sum"),
        Case(Draw((2, 4, 3, 2)), Ints((2, 3, 2)), label_smoothing=0.1),
        Case(Draw((4,)), Ints(()), label_smoothing=0.2),
        Case(Draw((3, 4)), Given([3, 1, 1], "int64"), weight=[1.0, 2.0, 3.0, 0.5], ignore_index=3, label_smoothing=0.1),
        Case(Draw((3, 4)), Ints((3,)), weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((0, 4)), Ints((0,)), reduction="sum"),
    )
    fresh = True

    @staticmethod
    def reference(x: Array, ids: Array, weight: Any = None, ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = "mean") -> Array:
        """The formula as printed, row by row."""
        xp, rows = xp_of(x), _rows(x)
        w = xp.ones(rows.shape[1]) if weight is None else xp.asarray(weight)
        losses, total = [], 0.0
        for row, k in zip(rows, xp.ravel(ids), strict=True):
            logs = row - xp.max(row) - xp.log(xp.sum(xp.exp(row - xp.max(row))))
            live = float(k != ignore_index)
            losses.append(live and -(1 - label_smoothing) * w[k] * logs[k] - label_smoothing * xp.mean(w * logs))
            total += live and w[k]
        if reduction == "none":
            return xp.reshape(xp.asarray(losses), ids.shape)
        return xp.sum(xp.asarray(losses)) / (total if reduction == "mean" else 1.0)

    def forward(self, x: Array, ids: Array, weight: Any = None, ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = "mean") -> Array:
        xp, rows = xp_of(x), _rows(_float(x))
        ids = xp.reshape(ids, (-1,))
        live = ids != ignore_index
        picks = xp.where(live, ids, 0)
        n, classes = rows.shape
        if n and (xp.min(picks) < 0 or xp.max(picks) >= classes):
            raise LabelError(explain("cross_entropy: a class id outside the classes", got={"smallest": int(xp.min(picks)), "largest": int(xp.max(picks))},
                                     need=f"0 to {classes - 1}, or ignore_index={ignore_index}"))
        w = None if weight is None else xp.asarray(weight, dtype=x.dtype)
        each = xp.asarray(live, dtype=x.dtype) if w is None else w[picks] * live
        at = xp.arange(n), picks
        # One buffer: first the scores less their largest, then e to that, then the probabilities.
        p = rows - xp.max(rows, axis=1, keepdims=True)
        losses, smooth = -p[at], None
        if label_smoothing:
            smooth = -xp.sum(p, axis=1) if w is None else -(p @ w)
        xp.exp(p, out=p)
        total = xp.sum(p, axis=1, keepdims=True)
        log_total = xp.log(total[:, 0])
        p /= total
        losses = (losses + log_total) * each
        if smooth is not None:
            smooth = (smooth + log_total * (classes if w is None else xp.sum(w))) * live
            losses = (1 - label_smoothing) * losses + (label_smoothing / classes) * smooth
        self.p, self.at, self.w, self.each, self.live = p, at, w, each, live
        self.shape, self.label_smoothing, self.scale = x.shape, label_smoothing, 1.0
        if reduction == "none":
            return xp.reshape(losses, (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ())
        if reduction == "mean":
            counted = float(xp.sum(each))
            self.scale = 1 / counted if counted else 0.0
            return xp.asarray(xp.sum(losses) / counted if counted else xp.nan, dtype=x.dtype)
        return xp.sum(losses)

    def backward(self, g: Array) -> tuple[Array, None]:
        xp, e = xp_of(g), self.label_smoothing
        g = xp.reshape(g, (-1,)) * self.scale
        hard = g * self.each if not e else g * self.each * (1 - e)
        d = self.p * hard[:, None]
        d[self.at] -= hard
        if e:
            soft = (g * self.live * (e / self.p.shape[1]))[:, None]
            d += soft * (self.p * self.p.shape[1] - 1 if self.w is None else self.p * xp.sum(self.w) - self.w)
        return _unrowed(d, self.shape), None


class SoftCrossEntropy(Function):
    """y = mean of -sum of q log softmax(x), q the target probabilities;  dx = g (softmax(x) sum q - q) / n, dq = -g log softmax(x) / n."""

    latex = r"y = -\frac1n \sum_{ij} q_{ij} \log p_{ij}, \quad \bar x_{ij} = \frac{\bar y}{n} \left(p_{ij} \sum_k q_{ik} - q_{ij}\right)"
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), 0.0, 1.0)),
        Case(Draw((2, 4, 3)), Draw((2, 4, 3), 0.0, 1.0), reduction="sum", label_smoothing=0.1),
        Case(Draw((3, 4), 10.0, 13.0), Draw((3, 4), 0.0, 1.0), reduction="none", weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((4,)), Draw((4,), 0.0, 1.0)),
        Case(Draw((0, 4)), Draw((0, 4)), reduction="sum"),
    )
    fresh = True

    def forward(self, x: Array, q: Array, weight: Any = None, label_smoothing: float = 0.0, reduction: str = "mean") -> Array:
        xp, rows, q = xp_of(x), _rows(_float(x)), _rows(q)
        n, classes = rows.shape
        self.factor = (1 - label_smoothing) * (1.0 if weight is None else xp.asarray(weight, dtype=x.dtype))
        shift = label_smoothing / classes * (1.0 if weight is None else xp.asarray(weight, dtype=x.dtype))
        self.q = q * self.factor + shift
        z = rows - xp.max(rows, axis=1, keepdims=True)
        self.logs = z - xp.log(xp.sum(xp.exp(z), axis=1, keepdims=True))
        losses = -xp.sum(self.q * self.logs, axis=1)
        self.shape, self.scale = x.shape, 1.0
        if reduction == "none":
            return xp.reshape(losses, (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ())
        if reduction == "sum":
            return xp.sum(losses)
        self.scale = 1 / n if n else 0.0
        return xp.asarray(xp.sum(losses) / n if n else xp.nan, dtype=x.dtype)

    def backward(self, g: Array) -> tuple[Array, Array]:
        xp = xp_of(g)
        g = xp.reshape(g * self.scale, (-1, 1))
        dx = g * (xp.exp(self.logs) * xp.sum(self.q, axis=1, keepdims=True) - self.q)
        return _unrowed(dx, self.shape), _unrowed(-g * self.logs * self.factor, self.shape)


def cross_entropy(input: TensorLike, target: TensorLike, weight: TensorLike | None = None, ignore_index: int = -100,
                  label_smoothing: float = 0.0, reduction: str = "mean") -> Tensor:  # fmt: skip
    """Compare scores with the right classes: the mean of -log of the probability that softmax gives them.

    `target` holds class ids (integers), or a probability for every class. Rows whose id is `ignore_index` count for nothing.
    `weight` weighs the classes; `label_smoothing` moves that share of every target to all classes evenly.

    Shapes: input: (class), (batch, class) or (batch, class, *); target: the same without class (ids), or the same; y: (), or without class for reduction="none"

    Raises:
        ShapeError: input and target don't belong together; they are never broadcast.
        DTypeError: class ids that are not integers.
        LabelError: a class id that is none of the classes.

    >>> float(cross_entropy([[0.0, 0.0], [0.0, 50.0]], [0, 1]).data.round(3))
    0.347
    """
    _need_reduction("cross_entropy", reduction)
    params: dict[str, Any] = {}
    if weight is not None:
        params["weight"] = weight.data if hasattr(weight, "grad_fn") else weight
    if label_smoothing:
        params["label_smoothing"] = label_smoothing
    if reduction != "mean":
        params["reduction"] = reduction
    x, t, kind = xp_of(input).shape(input), xp_of(target).shape(target), _kind(target)
    if not x:
        raise ShapeError(explain("cross_entropy: there are no classes", got={"input": x, "target": t}, need="input: (batch, class) or (class)"))
    if t == (x[0], *x[2:]) if len(x) > 1 else t == ():
        if kind not in "iu":
            raise DTypeError(explain("cross_entropy: class ids are integers", got={"input": x, "target": f"{t}, floating"},
                                     need="integers, or probabilities in the shape of input", fix="target.long()"))
        return CrossEntropy.apply(input, target, ignore_index=ignore_index, **params) if ignore_index != -100 else CrossEntropy.apply(input, target, **params)
    if t == x and kind == "f":
        return SoftCrossEntropy.apply(input, target, **params)
    raise ShapeError(explain("cross_entropy: input and target don't belong together", got={"input": x, "target": t},
                             need="class ids: input (batch, class, *), target (batch, *); probabilities: the same shape"))


class MSELoss(Function):
    """y = mean of (a - b)^2;  da = 2 g (a - b) / n, db = -da."""

    latex = r"y = \frac1n \sum_i (a_i - b_i)^2, \quad \bar a_i = \frac{2 \bar y}{n} (a_i - b_i), \quad \bar b = -\bar a"
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((2, 3, 4)), reduction="sum"),
        Case(Draw((5,)), Draw((5,)), reduction="none"),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((0, 3)), reduction="sum"),
    )
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array, reduction: str = "mean") -> Array:
        self.d = d = a - b
        n = prod(d.shape)
        self.scale = 2.0 / n if reduction == "mean" and n else 2.0
        if reduction == "none":
            return d * d
        total = xp_of(d).sum(d * d)
        return total if reduction == "sum" else total / n if n else total + xp_of(d).nan

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = self.d * (g * self.scale)
        return da, -da if self.needs[1] else None


def mse_loss(input: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Average the squared differences.

    Shapes: input: (*), target: the same; y: (), or (*) for reduction="none"

    Raises:
        ShapeError: the shapes differ; they are never broadcast.

    >>> float(mse_loss([1.0, 2.0], [1.0, 4.0]).data)
    2.0
    """
    _need_reduction("mse_loss", reduction)
    _need_same_shape("mse_loss", input, target)
    return MSELoss.apply(input, target) if reduction == "mean" else MSELoss.apply(input, target, reduction=reduction)


def _need_same_shape(op: str, a: TensorLike, b: TensorLike) -> None:
    """Refuse what would broadcast: (4, 1) against (4,) is 16 differences."""
    x, t = xp_of(a).shape(a), xp_of(b).shape(b)
    if x != t:
        fix = "target.reshape(input.shape)" if prod(x) == prod(t) else ""
        raise ShapeError(explain(f"{op}: input and target have different shapes", got={"input": x, "target": t}, need="the same shape", fix=fix))
