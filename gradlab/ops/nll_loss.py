"""The loss of logarithms of probabilities: what `log_softmax` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, asarray_like, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ShapeError, explain
from ..function import Function
from .argument import need_reduction, reduced
from .dtype import kept, wide
from .loss import counted, divisor, need_class_ids, need_class_weight, places, rows_of, unrowed

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class NLLLoss(Function):
    """y = -(sum of w_c x_c) / (sum of w_c), c the class of each row, w its weight or 1;  dx_c = -g w_c / (sum of w_c), else 0."""

    latex = (r"y = -\frac{\sum_i w_{c_i} x_{i c_i}}{\sum_i w_{c_i}}, \quad "
             r"\bar x_{ij} = -\bar y\, \frac{w_{c_i} [j = c_i]}{\sum_i w_{c_i}}")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((3, 4)), Ints((3,))),
        Case(Draw((3, 4)), Given([1, -100, 0], "int64")),
        Case(Draw((3, 4)), Given([3, 1, 1], "int64"), reduction="none", ignore_index=3, weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((2, 4, 3)), Ints((2, 3)), reduction="sum"),
        Case(Draw((2, 4, 3, 2)), Ints((2, 3, 2)), weight=[1.0, 2.0, 3.0, 0.5]),
        Case(Draw((4,)), Ints(())),
        Case(Draw((0, 4)), Ints((0,)), reduction="sum"),
    )
    fresh = True

    @staticmethod
    def reference(x: Array, ids: Array, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Array:
        """The formula as printed."""
        xp, rows, ids_in_line = xp_of(x), rows_of(x), ids.reshape(-1)
        right = (xp.arange(rows.shape[1]) == ids_in_line[:, None]) & (ids_in_line != ignore_index)[:, None]
        w = xp.where(right, 1.0 if weight is None else xp.asarray(weight, dtype=x.dtype), 0.0)
        return reduced(-xp.sum(w * rows, axis=1), reduction, xp.sum(w), ids.shape, x.dtype)

    def forward(self, x: Array, ids: Array, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Array:
        xp, rows = xp_of(x), rows_of(x)
        self.at, live = places("nll_loss", ids, rows.shape, ignore_index)
        right = -wide(rows.reshape(-1)[self.at])
        n: Any = rows.shape[0]
        self.w: Any = 1.0
        if weight is not None:
            self.w = asarray_like(weight, x, right.dtype)[self.at % rows.shape[1]]
            right = self.w * right
        if live is not None:
            right = kept(right, live)
            self.w = live * self.w
        if weight is not None or live is not None:
            self.w = xp.asarray(self.w, dtype=right.dtype)
            n = counted(self.w, right.dtype)
        self.extent, self.shape, self.dtype, self.n = rows.shape, x.shape, x.dtype, divisor(n, reduction)
        return reduced(right, reduction, n, ids.shape, x.dtype)

    def backward(self, g: Array) -> tuple[Array, None]:
        xp = xp_of(g)
        d = xp.zeros(self.extent, dtype=self.dtype)
        in_line = d.reshape(-1)
        in_line[self.at] = (g / self.n).reshape(-1) * (-self.w)
        return unrowed(d, self.shape), None


def nll_loss(
    input: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Average minus the logarithm of the probability of the right class; `input` holds those logarithms.

    Rows whose id is `ignore_index` count for nothing. `weight`, one number a class, weighs the rows, and the mean divides by its sum.

    Shapes: input: (class), (batch, class) or (batch, class, *), target: without class; y: (), or as target for reduction="none"

    Raises:
        ShapeError: input and target don't belong together.
        DTypeError: logarithms that are not floating numbers, class ids that are not integers.
        LabelError: a class id that is none of the classes.

    >>> float(nll_loss([[-0.5, -1.0], [-2.0, -0.25]], [0, 1]).data)
    0.375
    """
    need_reduction("nll_loss", reduction)
    x: Any = input if hasattr(input, "dtype") else as_array(input)
    ids: Any = target if hasattr(target, "dtype") else as_array(target)
    if not need_class_ids("nll_loss", x, ids):
        got = {"input": x.shape, "target": ids.shape}
        need = "input (batch, class, *), target (batch, *)"
        raise ShapeError(explain("nll_loss: input and target don't belong together", got=got, need=need))
    params: dict[str, Any] = {} if reduction == "mean" else {"reduction": reduction}
    if weight is not None:
        params["weight"] = need_class_weight("nll_loss", weight, x.shape[min(x.ndim - 1, 1)])
    if ignore_index != -100:
        params["ignore_index"] = ignore_index
    return NLLLoss.apply(x, ids, **params)
