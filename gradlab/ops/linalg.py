"""Matrix products."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from ..function import Function
from .dtype import beside, need_one_dtype

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class MatMul(Function):
    """y = a b;  da = g b^T, db = a^T g."""

    latex = r"Y = AB, \quad \bar A = \bar Y B^\top, \quad \bar B = A^\top \bar Y"
    kind = "matmul"
    cases = (
        Case(Draw((3, 4)), Draw((4, 2))),
        Case(Draw((3,)), Draw((3,))),
        Case(Draw((3, 4)), Draw((4,))),
        Case(Draw((3,)), Draw((3, 4))),
        Case(Draw((2, 3, 4)), Draw((4, 2))),
        Case(Draw((2, 3, 4)), Draw((4,))),
        Case(Draw((3,)), Draw((2, 3, 4))),
        Case(Draw((3, 2)), Draw((4, 2, 3))),
        Case(Draw((2, 1, 3, 2)), Draw((4, 2, 3))),
        Case(Draw((0, 3)), Draw((3, 2))),
        Case(Draw((3, 0)), Draw((0, 2))),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array) -> Array:
        self.a, self.b = a, b
        try:
            if a.dtype is not b.dtype:
                need_one_dtype("matmul", a=a, b=b)
            return a @ b
        except (ValueError, AttributeError):  # AttributeError: a Python number
            raise _mismatch(xp_of(a).shape(a), xp_of(b).shape(b)) from None

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, a, b = xp_of(g), self.a, self.b
        for_a, for_b = self.needs
        # A vector is a matrix of one row (left) or one column (right).
        rows, columns = a.ndim == 1, b.ndim == 1
        if rows:
            a, g = a[None, :], (g[..., None] if columns else g[..., None, :])
        if columns:
            b, g = b[:, None], g[..., None]
        da = g @ xp.swapaxes(b, -1, -2) if for_a else None
        db = None
        if for_b and b.ndim == 2 and a.ndim > 2:  # one product of tall matrices, not a batch of products and a sum
            n = prod(a.shape[:-1])
            db = xp.transpose(xp.reshape(a, (n, a.shape[-1]))) @ xp.reshape(g, (n, g.shape[-1]))
        elif for_b:
            db = xp.swapaxes(a, -1, -2) @ g
        if rows and da is not None:
            da = da[..., 0, :]
        if columns and db is not None:
            db = db[..., 0]
        return da, db


def _mismatch(a: tuple[int, ...], b: tuple[int, ...]) -> ShapeError:
    got = {"a": a, "b": b}
    if not a or not b:
        return ShapeError(
            explain("matmul: takes vectors and matrices, not single numbers", got=got, need="a: (..., n, k), b: (..., k, m)", fix="a * b")
        )
    if a[-1] != b[-2 if len(b) > 1 else -1]:
        fix = "b.T" if len(b) == 2 and a[-1] == b[-1] else "a.T" if len(a) == 2 and len(b) == 2 and a[-2] == b[-2] else ""
        need = "a: (..., n, k), b: (..., k, m)" if len(b) > 1 else "a: (..., k), b: (k)"
        return ShapeError(explain("matmul: the inner sizes differ", got=got, need=need, fix=fix))
    return ShapeError(explain("matmul: the sizes in front don't broadcast", got=got, need="sizes before the last two that are equal or 1"))


def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """Multiply matrices, `a @ b`; a vector counts as a row on the left and as a column on the right.

    Shapes: a: (..., n, k), b: (..., k, m), y: (..., n, m); what stands in front broadcasts

    Raises:
        ShapeError: the inner sizes differ.
        DTypeError: the dtypes differ; a list takes the dtype of what it meets.

    >>> matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).data
    array([21., 43.], dtype=float32)
    """
    return MatMul.apply(beside(a, b), beside(b, a))


class Linear(Function):
    """y = x W^T + b;  dx = g W, dW = g^T x, db = sum of g over all but the last axis."""

    latex = r"Y = XW^\top + b, \quad \bar X = \bar Y W, \quad \bar W = \bar Y^\top X, \quad \bar b = \sum_n \bar Y_n"
    kind = "matmul"
    cases = (
        Case(Draw((3, 4)), Draw((2, 4)), Draw((2,))),
        Case(Draw((3, 4)), Draw((2, 4))),
        Case(Draw((2, 3, 4)), Draw((5, 4)), Draw((5,))),
        Case(Draw((4,)), Draw((2, 4)), Draw((2,))),
        Case(Draw((0, 4)), Draw((2, 4)), Draw((2,))),
        Case(Draw((3, 4)), Draw((2, 4)), Draw((1,))),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array, weight: Array, bias: Array | float = 0.0) -> Array:
        """The formula as printed."""
        return x @ xp_of(x).swapaxes(weight, 0, 1) + bias

    def forward(self, x: Array, weight: Array, bias: Array | None = None) -> Array:
        if weight.ndim != 2 or not x.ndim or x.shape[-1] != weight.shape[1]:
            fix = "weight.T" if weight.ndim == 2 and x.ndim and x.shape[-1] == weight.shape[0] else ""
            raise ShapeError(
                explain(
                    "linear: the number of features differs",
                    got={"x": x.shape, "weight": weight.shape},
                    need="x: (*, in), weight: (out, in)",
                    fix=fix,
                )
            )
        extent = getattr(bias, "shape", ())  # a Python number has none
        if extent not in ((weight.shape[0],), (1,), ()):
            got = {"weight": weight.shape, "bias": extent}
            raise ShapeError(explain("linear: the bias does not fit the weight", got=got, need=f"bias: ({weight.shape[0]},)"))
        if x.dtype is not weight.dtype:
            need_one_dtype("linear", x=x, weight=weight)
        xp = xp_of(x)
        self.x, self.weight = x, weight
        # Rows of one matrix: BLAS gets a single product, whatever stands in front.
        y = (x if x.ndim <= 2 else xp.reshape(x, (prod(x.shape[:-1]), x.shape[-1]))) @ xp.transpose(weight)
        if bias is not None:
            if getattr(bias, "dtype", y.dtype) is not y.dtype:
                need_one_dtype("linear", bias=bias, weight=weight)
            y += bias
        return y if x.ndim <= 2 else xp.reshape(y, (*x.shape[:-1], weight.shape[0]))

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, x, weight, needs = xp_of(g), self.x, self.weight, self.needs
        if x.ndim != 2:
            rows = prod(x.shape[:-1])
            x, g = xp.reshape(x, (rows, x.shape[-1])), xp.reshape(g, (rows, g.shape[-1]))
        dx = xp.reshape(g @ weight, self.x.shape) if needs[0] else None
        dw = xp.transpose(g) @ x if needs[1] else None
        if len(needs) == 2:
            return dx, dw
        return dx, dw, total(g, 0) if needs[2] else None


def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """Map features: every row of `x` times the rows of `weight`, plus `bias`.

    Shapes: x: (*, in), weight: (out, in), bias: (out), y: (*, out)

    Raises:
        ShapeError: `weight` takes another number of features than `x` has, or `bias` is not one number a feature.
        DTypeError: the dtypes differ; a list takes the dtype of `weight`.

    >>> linear([1.0, 2.0], [[1.0, 0.0], [1.0, 1.0]], [0.0, 10.0]).data
    array([ 1., 13.], dtype=float32)
    """
    x, weight = beside(x, weight), beside(weight, x)
    return Linear.apply(x, weight) if bias is None else Linear.apply(x, weight, beside(bias, weight))
