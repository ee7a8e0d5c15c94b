"""Softmax and its relatives, in the forms that don't overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw, Given
from ..errors import KeywordError, explain
from .argument import Dim, axes_of, spelled, whole
from .dtype import as_pytorch, floating, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

ROWS = (
    Case(Draw((3, 4)), dim=1),
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4), -9.0, 9.0), dim=-2),
    Case(Draw((2, 3), 10.0, 13.0), dim=-1),
    Case(Draw(()), dim=0),
    Case(Draw((2, 1)), dim=-1),
    Case(Draw((0, 3)), dim=1),
    Case(Draw((3, 0)), dim=1),
)


def _largest(x: Array, dim: Dim) -> Array:
    """The largest entry of each row; -inf where a row is empty."""
    xp = xp_of(x)
    return xp.max(x, axis=dim, keepdims=True) if 0 not in x.shape else xp.sum(x, axis=dim, keepdims=True) - xp.inf


def _params(op: str, dim: Any, dtype: Any) -> dict[str, Any]:
    """The axis, and the dtype where one is asked for.

    Raises:
        KeywordError: no axis is given, or something else than one.
    """
    if dim.__class__ is not int:
        if dim is None:
            got, need = {"dim": dim}, "the axis along which entries add up to 1"
            raise KeywordError(explain(f"{op}: along which axis?", got=got, need=need, fix="dim=-1"))
        dim = whole("dim", dim)
    return {"dim": dim} if dtype is None else {"dim": dim, "dtype": dtype}


class Softmax(AlongAxes):
    """y = e^x / sum of e^x over dim;  dx = y (g - sum of g y over dim)."""

    latex = r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}, \quad \bar x_i = y_i \left(\bar y_i - \sum_j \bar y_j y_j\right)"
    cases = ROWS
    reads = ("output",)
    fresh = True

    @staticmethod
    def reference(x: Array, dim: int, dtype: Any = None) -> Array:
        """The formula, less the largest entry of each row: the same quotient, and e^x can't overflow."""
        xp = xp_of(x)
        e = xp.exp(x - _largest(x, dim))
        return e / xp.sum(e, axis=dim, keepdims=True)

    @as_pytorch
    def forward(self, x: Array, dim: int, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        xp = xp_of(x)
        x, self.dim = floating(x) if dtype is None else xp.asarray(x, dtype=dtype), dim
        y = xp.asarray(wide(x) - _largest(x, dim))
        xp.exp(y, out=y)  # in one buffer: half the time of an array a step
        y /= total(y, dim, keepdims=True)
        self.y = y
        return xp.asarray(y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        dx = xp.asarray(g * self.y)
        dx -= self.y * total(dx, self.dim, keepdims=True)
        return dx


def softmax(input: TensorLike, dim: int, dtype: Any = None) -> Tensor:
    """Turn scores into probabilities that add up to 1 along `dim`; with `dtype`, of scores cast to it first.

    A row with nothing but -inf, or with inf, is NaN, as in PyTorch.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: no axis is given.
        DimError: `input` has no such axis.

    >>> softmax([[1.0, 2.0], [0.0, 0.0]], dim=1).data.round(2)
    array([[0.27, 0.73],
           [0.5 , 0.5 ]], dtype=float32)
    """
    return Softmax.apply(input, **_params("softmax", dim, dtype))


class Softmin(Softmax):
    """y = e^-x / sum of e^-x over dim;  dx = -y (g - sum of g y over dim)."""

    latex = r"y_i = \frac{e^{-x_i}}{\sum_j e^{-x_j}}, \quad \bar x_i = -y_i \left(\bar y_i - \sum_j \bar y_j y_j\right)"

    @staticmethod
    def reference(x: Array, dim: int, dtype: Any = None) -> Array:
        """The formula, in the form that can't overflow."""
        return Softmax.reference(-x, dim)

    def forward(self, x: Array, dim: int, dtype: Any = None) -> Array:
        return super().forward(-floating(x), dim, dtype)

    def backward(self, g: Array) -> Array:
        return -super().backward(g)


def softmin(input: TensorLike, dim: int, dtype: Any = None) -> Tensor:
    """Turn costs into probabilities along `dim`: softmax of `-input`.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: no axis is given.
        DimError: `input` has no such axis.

    >>> softmin([1.0, 2.0], dim=0).data.round(2)
    array([0.73, 0.27], dtype=float32)
    """
    return Softmin.apply(input, **_params("softmin", dim, dtype))


class LogSoftmax(AlongAxes):
    """y = x - log of the sum of e^x over dim;  dx = g - e^y (sum of g over dim)."""

    latex = r"y_i = x_i - \log \sum_j e^{x_j}, \quad \bar x_i = \bar y_i - e^{y_i} \sum_j \bar y_j"
    cases = ROWS
    reads = ()
    fresh = True

    @staticmethod
    @as_pytorch
    def reference(x: Array, dim: int, dtype: Any = None) -> Array:
        """The formula, less the largest entry of each row."""
        xp = xp_of(x)
        z = x - _largest(x, dim)
        return z - xp.log(xp.sum(xp.exp(z), axis=dim, keepdims=True))

    @as_pytorch
    def forward(self, x: Array, dim: int, dtype: Any = None) -> Array:
        dim = axes_of(x, dim)
        xp = xp_of(x)
        x, self.dim = floating(x) if dtype is None else xp.asarray(x, dtype=dtype), dim
        y = xp.asarray(wide(x) - _largest(x, dim))
        self.e = xp.exp(y)  # kept, and its sum: what takes time is to compute it again
        self.s = total(self.e, dim, keepdims=True)
        y -= xp.log(self.s)
        return xp.asarray(y, dtype=x.dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        dx = xp_of(g).asarray(self.e * (total(g, self.dim, keepdims=True) / -self.s))
        dx += g
        return dx


def log_softmax(input: TensorLike, dim: int, dtype: Any = None) -> Tensor:
    """Take the logarithm of softmax, right also where a probability is too small to be a float.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: no axis is given.
        DimError: `input` has no such axis.

    >>> log_softmax([0.0, -800.0], dim=0).data
    array([   0., -800.], dtype=float32)
    """
    return LogSoftmax.apply(input, **_params("log_softmax", dim, dtype))


class LogSumExp(AlongAxes):
    """y = log of the sum of e^x over dim;  dx = g e^(x - y)."""

    latex = r"y = \log \sum_j e^{x_j}, \quad \bar x_i = \bar y\, e^{x_i - y}"
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), dim=1),
        Case(Draw((3, 4)), dim=None),
        Case(Draw((2, 3, 4), 10.0, 13.0), dim=(0, -1), keepdim=True),
        Case(Given([[0.0, 1.0], [2.0, 3.0]]), dim=-1),
        Case(Draw(()), dim=None),
        Case(Draw(()), dim=0, keepdim=True),
        Case(Draw((2, 1)), dim=1, keepdim=True),
        Case(Draw((0, 3)), dim=1),
        Case(Draw((3, 0)), dim=1),
    )
    fresh = True

    def forward(self, x: Array, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        xp, x = xp_of(x), floating(x)
        top = _largest(x, dim)
        s = total(xp.exp(wide(x) - xp.where(xp.isfinite(top), top, 0.0)), dim, keepdims=True)
        # Where every entry is -inf the sum is 0: y is -inf then, without a logarithm of 0.
        self.x, self.y = x, top + xp.log(xp.where(s == 0, 1.0, s))
        self.dim = None if keepdim else dim
        y = xp.asarray(self.y, dtype=x.dtype)
        return y if keepdim else xp.squeeze(y, axis=tuple(range(x.ndim)) if dim is None else dim)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        xp, y = xp_of(g), self.y
        g = g if self.dim is None else xp.expand_dims(g, self.dim)
        return g * xp.exp(self.x - xp.where(y == -xp.inf, 0.0, y))


def logsumexp(input: TensorLike, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """Add up exponentials and take the logarithm, over `dim` or everything: a smooth maximum.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    >>> logsumexp([[1000.0, 1000.0]], dim=1).data.round(2)
    array([1000.69], dtype=float32)
    """
    return LogSumExp.apply(input, **spelled(dim, keepdim, {}))
