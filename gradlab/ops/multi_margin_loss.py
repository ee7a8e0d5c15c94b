"""Losses that charge every class whose score comes too close to that of a right one."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, asarray_like, on_host, total, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, DTypeError, LabelError, ShapeError, explain
from ..function import Function
from .argument import need_reduction, need_same_shape, reduced
from .dtype import wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _count(reduction: str, n: int) -> int:
    """What the gradient is divided by."""
    return n if reduction == "mean" and n else 1


class MultiMarginLoss(Function):
    """y = mean over rows of (1 / classes) sum over j != c of w_c max(0, margin - x_c + x_j)^p;  dx_j = g h_j / n, dx_c = -g sum of h / n.

    h_j is the derivative by x_j: w_c p max(0, margin - x_c + x_j)^(p - 1) / classes, or 0; c is the row's class, w_c its weight.
    """

    latex = (r"y = \frac{1}{nk} \sum_i \sum_{j \ne c_i} w_{c_i} \max(0, m - x_{i c_i} + x_{ij})^p, \quad "
             r"\bar x_{ij} = \frac{\bar y\,p}{nk} w_{c_i} \max(0, m - x_{i c_i} + x_{ij})^{p-1}, \quad "
             r"\bar x_{i c_i} = -\sum_{j \ne c_i} \bar x_{ij}")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Ints((3,))),
        Case(Draw((3, 4)), Ints((3,)), p=2, margin=0.5, reduction="sum", weight=[1.0, 2.0, 0.0, 0.5]),
        Case(Draw((3, 4)), Ints((3,)), reduction="none"),
        Case(Draw((4,)), Ints(())),
        Case(Draw((0, 4)), Ints((0,)), reduction="sum"),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, ids: Array, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean") -> Array:
        xp = xp_of(x)
        rows = wide(x if x.ndim > 1 else x[None])
        n, classes = rows.shape
        self.at, self.shape, self.n = (xp.arange(n), ids.reshape((n,))), x.shape, _count(reduction, n)
        over = margin - rows[self.at][:, None] + rows
        other = xp.arange(classes) != self.at[1][:, None]
        w = (1.0 if weight is None else asarray_like(weight, x, rows.dtype)[self.at[1]][:, None]) / classes
        h = xp.where(other, xp.maximum(over, 0.0), 0.0)
        losses = total(w * (h if p == 1 else h * h), 1)
        slope = w * (xp.where(other & (over > 0), 1.0, 0.0) if p == 1 else 2 * h)
        self.slope = xp.where(other, slope, -total(slope, 1, keepdims=True))
        return reduced(losses, reduction, n, ids.shape, x.dtype)

    def backward(self, g: Array) -> tuple[Array, None]:
        return (self.slope * (g / self.n).reshape((-1, 1))).reshape(self.shape), None


def multi_margin_loss(
    input: TensorLike,
    target: TensorLike,
    p: int = 1,
    margin: float = 1.0,
    weight: TensorLike | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Charge every class whose score comes closer than `margin` to that of the right class.

    `weight` is one number a class and gets no gradient; the mean divides by the number of rows, also with weights.

    Shapes: input: (batch, class) or (class), target: class ids (batch) or (); y: (), or (batch) for reduction="none"

    Raises:
        ShapeError: input and target don't belong together.
        ArgumentError: p is neither 1 nor 2.
        LabelError: a class id that is none of the classes.

    >>> round(multi_margin_loss([[0.0, 1.0, 0.5]], [1]).item(), 3)
    0.167
    """
    need_reduction("multi_margin_loss", reduction)
    if p not in (1, 2):
        raise ArgumentError(explain("multi_margin_loss: which power?", got={"p": p}, need="1 or 2"))
    x: Any = input if hasattr(input, "dtype") else as_array(input)
    ids = _class_ids("multi_margin_loss", x, target)
    params: dict[str, Any] = {"p": p, "margin": margin, "reduction": reduction}
    if weight is not None:
        params["weight"] = w = as_array(getattr(weight, "data", weight) if hasattr(weight, "grad_fn") else weight)
        if w.shape != x.shape[-1:]:
            got = {"input": x.shape, "weight": w.shape}
            raise ShapeError(explain("multi_margin_loss: one weight a class", got=got, need=f"{x.shape[-1:]}"))
    return MultiMarginLoss.apply(x, ids, **params)


def _class_ids(op: str, x: Any, target: Any) -> Any:
    """The target as integers, one a row, each of them one of the classes."""
    ids = target if hasattr(target, "dtype") else as_array(target)
    if x.ndim not in (1, 2) or ids.shape != x.shape[:-1] or not x.shape[-1]:
        got = {"input": x.shape, "target": ids.shape}
        raise ShapeError(explain(f"{op}: input and target don't belong together", got=got, need="input: (batch, class), target: (batch,)"))
    if ids.dtype.kind not in "iu":
        raise DTypeError(explain(f"{op}: class ids are integers", got={"target": ids.dtype}, need="integers", fix="target.long()"))
    values = getattr(ids, "data", ids) if hasattr(ids, "grad_fn") else ids
    if on_host(values) and prod(ids.shape) and (values.min() < 0 or values.max() >= x.shape[-1]):
        got = {"smallest": values.min(), "largest": values.max()}
        raise LabelError(explain(f"{op}: a class id is none of the classes", got=got, need=f"0 to {x.shape[-1] - 1}"))
    return ids


class MultilabelMarginLoss(Function):
    """y = mean over rows of (1 / classes) sum over wanted c and others j of max(0, 1 - x_c + x_j);  dx_j = g count / (n classes).

    The count is how many wanted classes j comes too close to, and for a wanted class minus how many others come too close to it.
    """

    latex = (r"y = \frac{1}{nk} \sum_i \sum_{c \in W_i} \sum_{j \notin W_i} \max(0, 1 - x_{ic} + x_{ij}), \quad "
             r"\bar x_{ij} = \frac{\bar y}{nk} \sum_{c \in W_i} [1 - x_{ic} + x_{ij} > 0], \quad "
             r"\bar x_{ic} = -\frac{\bar y}{nk} \sum_{j \notin W_i} [1 - x_{ic} + x_{ij} > 0]")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Given([[3, 0, -1, 1], [-1, 2, 1, 0], [0, 1, 2, 3]], "int64")),
        Case(Draw((2, 3)), Given([[2, 2, -1], [1, -1, 0]], "int64"), reduction="sum"),
        Case(Draw((2, 3)), Given([[2, 0, -1], [1, -1, 0]], "int64"), reduction="none"),
        Case(Draw((4,)), Given([2, -1, -1, -1], "int64")),
        Case(Draw((0, 4)), Ints((0, 4)), reduction="sum"),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, ids: Array, reduction: str = "mean") -> Array:
        xp = xp_of(x)
        if ids.ndim not in (1, 2):
            raise ShapeError(
                explain("multilabel_margin_loss: which axis holds the classes?", got={"input": x.shape}, need="(batch, class)")
            )
        rows, named = wide(x if x.ndim > 1 else x[None]), ids if ids.ndim > 1 else ids[None]
        n, classes = rows.shape
        # A row's classes end at its first -1.
        before = xp.cumsum(named < 0, axis=1) == 0
        wanted = xp.any((named[:, :, None] == xp.arange(classes)) & before[:, :, None], axis=1)
        over = 1 - rows[:, :, None] + rows[:, None, :]
        close = (over > 0) & wanted[:, :, None] & ~wanted[:, None, :]
        losses = xp.sum(xp.where(close, over, 0.0), axis=(1, 2)) / classes
        slope = xp.sum(close, axis=1, dtype=rows.dtype) - xp.sum(close, axis=2, dtype=rows.dtype)
        self.slope, self.shape, self.n = slope / classes, x.shape, _count(reduction, n)
        return reduced(losses, reduction, n, x.shape[:-1], x.dtype)

    def backward(self, g: Array) -> tuple[Array, None]:
        return (self.slope * (g / self.n).reshape((-1, 1))).reshape(self.shape), None


def multilabel_margin_loss(input: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Charge every class that is not wanted and whose score comes closer than 1 to that of one that is.

    A row of `target` names the classes wanted, up to its first -1.

    Shapes: input: (batch, class) or (class), target: the same; y: (), or (batch) for reduction="none"

    Raises:
        ShapeError: the shapes differ.
        LabelError: a class id that is none of the classes.

    >>> round(multilabel_margin_loss([0.1, 0.2, 0.4, 0.8], [3, 0, -1, 1]).item(), 3)
    0.85
    """
    need_reduction("multilabel_margin_loss", reduction)
    need_same_shape("multilabel_margin_loss", input, target)
    ids: Any = target if hasattr(target, "dtype") else as_array(target)
    if ids.dtype.kind not in "iu":
        raise DTypeError(explain("multilabel_margin_loss: class ids are integers", got={"target": ids.dtype}, need="integers"))
    values = getattr(ids, "data", ids) if hasattr(ids, "grad_fn") else ids
    if on_host(values) and ids.ndim and prod(ids.shape) and (values.min() < -1 or values.max() >= ids.shape[-1]):
        got = {"smallest": values.min(), "largest": values.max()}
        raise LabelError(
            explain("multilabel_margin_loss: a class id is none of the classes", got=got, need=f"0 to {ids.shape[-1] - 1}, or -1")
        )
    return MultilabelMarginLoss.apply(input, ids, reduction=reduction)
