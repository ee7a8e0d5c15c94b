"""A linear map of features, with its bias."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from ..errors import KeywordError, ShapeError, explain
from ..function import Function
from .dtype import beside, need_one_dtype, times

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


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
        self.x, self.weight = x, weight
        # Rows of one matrix: BLAS gets a single product, whatever stands in front.
        y = times(x if x.ndim <= 2 else x.reshape((prod(x.shape[:-1]), x.shape[-1])), weight.T)
        if bias is not None:
            if getattr(bias, "dtype", y.dtype) is not y.dtype:
                need_one_dtype("linear", bias=bias, weight=weight)
            y += bias
        return y if x.ndim <= 2 else y.reshape((*x.shape[:-1], weight.shape[0]))

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        x, weight, needs = self.x, self.weight, self.needs
        if x.ndim != 2:
            rows = prod(x.shape[:-1])
            x, g = x.reshape((rows, x.shape[-1])), g.reshape((rows, g.shape[-1]))
        dx = times(g, weight).reshape(self.x.shape) if needs[0] else None
        dw = times(g.T, x) if needs[1] else None
        if len(needs) == 2:
            return dx, dw
        return dx, dw, total(g, 0) if needs[2] else None


def linear(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """Map features: every row of `input` times the rows of `weight`, plus `bias`.

    Shapes: input: (*, in), weight: (out, in), bias: (out), y: (*, out)

    Raises:
        ShapeError: `weight` takes another number of features than `input` has, or `bias` is not one number a feature.
        DTypeError: the dtypes differ; a list takes the dtype of `weight`.

    >>> linear([1.0, 2.0], [[1.0, 0.0], [1.0, 1.0]], [0.0, 10.0]).data
    array([ 1., 13.], dtype=float32)
    """
    x, weight = beside(input, weight), beside(weight, input)
    if not hasattr(x, "ndim") or not hasattr(weight, "ndim"):
        got = {"input": type(input).__name__, "weight": type(weight).__name__}
        raise KeywordError(explain("linear: maps tensors", got=got, need="tensors, arrays or lists of numbers"))
    return Linear.apply(x, weight) if bias is None else Linear.apply(x, weight, beside(bias, weight))
