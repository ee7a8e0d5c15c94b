"""The largest, the smallest and the soft maximum of the entries so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..function import Function
from .argument import one_dim
from .axis import add_along, opened, part, places, recur, scan
from .dtype import as_pytorch, need_floats, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

ALONG = (
    Case(Draw((3, 4)), dim=0),
    Case(Draw((2, 3, 4)), dim=-2),
    Case(Draw((5,)), dim=-1),
    Case(Draw(()), dim=0),
    Case(Draw((0, 3)), dim=0),
    Case(Draw((2, 0)), dim=0),
    Case(Given([[3.0, -1.0, 4.0, 1.0], [-1.0, -2.0, 3.0, 5.0]]), dim=1),
)


class RunningExtremum(NamedTuple):
    """What `cummax` and `cummin` give: the values, and the last place so far of each."""

    values: Tensor
    indices: Tensor


def _last(x: Array, y: Array, axis: int) -> Array:
    """Where along the axis each running extremum y stands: the latest x that equals it, or the latest NaN."""
    xp = xp_of(x)
    return scan(xp.maximum, xp.where((x == y) | (x != x), places(x, axis), 0), axis)


class CumMax(Function):
    """y_i = largest of x_1 ... x_i along dim;  dx_k = sum of the g_i whose y_i is the x at k."""

    latex = r"y_i = \max_{j \le i} x_j = x_{k_i}, \quad \bar x_k = \sum_{i : k_i = k} \bar y_i"
    kind = "reduce"
    cases = ALONG
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: int) -> Array:
        xp = xp_of(x)
        self.shape = x.shape
        x, self.axis = opened("cummax", x, dim)
        y = scan(xp.maximum, x, self.axis)
        self.index = _last(x, y, self.axis)
        return y.reshape(self.shape)

    def backward(self, g: Array) -> Array:
        g = wide(g).reshape(self.index.shape)
        return add_along(g.shape, self.index, g, self.axis).reshape(self.shape)


class CumArgMax(Function):
    """k_i = last place of the largest of x_1 ... x_i along dim;  no gradient."""

    latex = r"k_i = \mathrm{argmax}_{j \le i}\, x_j"
    kind = "reduce"
    cases = ALONG
    reads = ()

    def forward(self, x: Array, dim: int) -> Array:
        xp, shape = xp_of(x), x.shape
        x, axis = opened("cummax", x, dim)
        return _last(x, scan(xp.maximum, x, axis), axis).reshape(shape)


def cummax(input: TensorLike, dim: int | None = None, **numpy: Any) -> RunningExtremum:
    """Take the largest entry so far along `dim`, and its place: the last of several. NaN wins.

    Shapes: input: (*), values and indices: (*)

    >>> cummax([1.0, 3.0, 2.0], 0).values.data
    array([1., 3., 3.], dtype=float32)
    """
    dim = one_dim("cummax", dim, numpy)
    return RunningExtremum(CumMax.apply(input, dim=dim), CumArgMax.apply(input, dim=dim))


class CumMin(Function):
    """y_i = smallest of x_1 ... x_i along dim;  dx_k = sum of the g_i whose y_i is the x at k."""

    latex = r"y_i = \min_{j \le i} x_j = x_{k_i}, \quad \bar x_k = \sum_{i : k_i = k} \bar y_i"
    kind = "reduce"
    cases = ALONG
    reads = ()
    fresh = True

    def forward(self, x: Array, dim: int) -> Array:
        xp = xp_of(x)
        self.shape = x.shape
        x, self.axis = opened("cummin", x, dim)
        y = scan(xp.minimum, x, self.axis)
        self.index = _last(x, y, self.axis)
        return y.reshape(self.shape)

    def backward(self, g: Array) -> Array:
        g = wide(g).reshape(self.index.shape)
        return add_along(g.shape, self.index, g, self.axis).reshape(self.shape)


class CumArgMin(Function):
    """k_i = last place of the smallest of x_1 ... x_i along dim;  no gradient."""

    latex = r"k_i = \mathrm{argmin}_{j \le i}\, x_j"
    kind = "reduce"
    cases = ALONG
    reads = ()

    def forward(self, x: Array, dim: int) -> Array:
        xp, shape = xp_of(x), x.shape
        x, axis = opened("cummin", x, dim)
        return _last(x, scan(xp.minimum, x, axis), axis).reshape(shape)


def cummin(input: TensorLike, dim: int | None = None, **numpy: Any) -> RunningExtremum:
    """Take the smallest entry so far along `dim`, and its place: the last of several. NaN wins.

    Shapes: input: (*), values and indices: (*)

    >>> cummin([1.0, 3.0, 2.0], 0).values.data
    array([1., 1., 1.], dtype=float32)
    """
    dim = one_dim("cummin", dim, numpy)
    return RunningExtremum(CumMin.apply(input, dim=dim), CumArgMin.apply(input, dim=dim))


class LogCumSumExp(Function):
    """y_i = log(e^x_1 + ... + e^x_i) along dim;  dx_i = e^(x_i - y_i) r_i with r_i = g_i + e^(y_i - y_{i+1}) r_{i+1}."""

    latex = r"y_i = \log \sum_{j \le i} e^{x_j}, \quad \bar x_i = \sum_{j \ge i} \bar y_j\, e^{x_i - y_j}"
    kind = "reduce"
    cases = (*ALONG, Case(Given([50.0, 0.0, 50.0, -50.0]), dim=0))
    fresh = True

    def forward(self, x: Array, dim: int) -> Array:
        need_floats("logcumsumexp", x)
        xp, shape, dtype = xp_of(x), x.shape, x.dtype
        self.x, self.axis = opened("logcumsumexp", wide(x), dim)
        self.y = scan(xp.logaddexp, self.x, self.axis)
        self.shape = shape
        return xp.asarray(self.y.reshape(shape), dtype=dtype)

    @as_pytorch
    def backward(self, g: Array) -> Array:
        # No exponent is above 0: e^x alone overflows float32 from 89 on.
        xp, axis = xp_of(g), self.axis
        y = xp.where(self.y == -xp.inf, 0.0, self.y)
        same = self.y[part(axis, None, -1)] == self.y[part(axis, 1)]  # infinite ones too
        decay = xp.where(same, 1.0, xp.exp(self.y[part(axis, None, -1)] - y[part(axis, 1)]))
        a = xp.concatenate([decay, xp.ones_like(y[part(axis, None, 1)])], axis=axis)
        return (xp.exp(self.x - y) * recur(a, wide(g).reshape(y.shape), axis)).reshape(self.shape)


def logcumsumexp(input: TensorLike, dim: int | None = None, **numpy: Any) -> Tensor:
    """Take the logarithm of the sum of the exponentials so far along `dim`, without overflow.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` holds integers or booleans.

    >>> logcumsumexp([0.0, 0.0, 99.0], 0).data.round(2)
    array([ 0.  ,  0.69, 99.  ], dtype=float32)
    """
    return LogCumSumExp.apply(input, dim=one_dim("logcumsumexp", dim, numpy))
