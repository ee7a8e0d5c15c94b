"""Tensor's methods and operators, one line each; what they do is said in `ops`."""

# ruff: noqa: D102, N802 - each method gets the first sentence of its op, below; T is PyTorch's name

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import ops
from .backend import bool_, float16, float32, float64, int8, int16, int32, int64, uint8
from .function import written_out
from .ops.argument import Dim

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike


class Surface:
    """What can be written on a Tensor: operators with a Tensor, array or number on either side, and ops as methods."""

    __slots__ = ()

    # -- operators

    @written_out(ops.Add)
    def __add__(self, other: TensorLike) -> Tensor:
        return ops.add(self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return ops.add(other, self)

    @written_out(ops.Sub)
    def __sub__(self, other: TensorLike) -> Tensor:
        return ops.sub(self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return ops.sub(other, self)

    @written_out(ops.Mul)
    def __mul__(self, other: TensorLike) -> Tensor:
        return ops.mul(self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return ops.mul(other, self)

    @written_out(ops.Div)
    def __truediv__(self, other: TensorLike) -> Tensor:
        return ops.div(self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return ops.div(other, self)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return ops.floor_divide(self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return ops.floor_divide(other, self)

    def __mod__(self, other: TensorLike) -> Tensor:
        return ops.remainder(self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return ops.remainder(other, self)

    def __divmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return ops.floor_divide(self, other), ops.remainder(self, other)

    def __rdivmod__(self, other: TensorLike) -> tuple[Tensor, Tensor]:
        return ops.floor_divide(other, self), ops.remainder(other, self)

    def __pow__(self, other: TensorLike) -> Tensor:
        return ops.pow(self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return ops.pow(other, self)

    @written_out(ops.MatMul)
    def __matmul__(self, other: TensorLike) -> Tensor:
        return ops.matmul(self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return ops.matmul(other, self)

    def __neg__(self) -> Tensor:
        return ops.neg(self)

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]

    def __abs__(self) -> Tensor:
        return ops.abs(self)

    def __and__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_and(self, other)

    def __rand__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_and(other, self)

    def __or__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_or(self, other)

    def __ror__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_or(other, self)

    def __xor__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_xor(self, other)

    def __rxor__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_xor(other, self)

    def __lshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_left_shift(self, other)

    def __rlshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_left_shift(other, self)

    def __rshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_right_shift(self, other)

    def __rrshift__(self, other: TensorLike) -> Tensor:
        return ops.bitwise_right_shift(other, self)

    def __invert__(self) -> Tensor:
        return ops.bitwise_not(self)

    def __lt__(self, other: TensorLike) -> Tensor:
        return ops.lt(self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return ops.le(self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return ops.gt(self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return ops.ge(self, other)

    def __eq__(self, other: object) -> Any:
        return NotImplemented if other is None or isinstance(other, str) else ops.eq(self, other)

    def __ne__(self, other: object) -> Any:
        return NotImplemented if other is None or isinstance(other, str) else ops.ne(self, other)

    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Tensor:
        return ops.getitem(self, index)

    # -- elementwise

    def add(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return ops.add(self, other, alpha)

    def sub(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return ops.sub(self, other, alpha)

    def mul(self, other: TensorLike) -> Tensor:
        return ops.mul(self, other)

    def div(self, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return ops.div(self, other, rounding_mode)

    def neg(self) -> Tensor:
        return ops.neg(self)

    def abs(self) -> Tensor:
        return ops.abs(self)

    def pow(self, exponent: TensorLike) -> Tensor:
        return ops.pow(self, exponent)

    def exp(self) -> Tensor:
        return ops.exp(self)

    def log(self) -> Tensor:
        return ops.log(self)

    def sqrt(self) -> Tensor:
        return ops.sqrt(self)

    def sin(self) -> Tensor:
        return ops.sin(self)

    def cos(self) -> Tensor:
        return ops.cos(self)

    def tanh(self) -> Tensor:
        return ops.tanh(self)

    def sigmoid(self) -> Tensor:
        return ops.sigmoid(self)

    def relu(self, inplace: bool = False) -> Tensor:
        return ops.relu(self, inplace)

    def maximum(self, other: TensorLike) -> Tensor:
        return ops.maximum(self, other)

    def minimum(self, other: TensorLike) -> Tensor:
        return ops.minimum(self, other)

    def lt(self, other: TensorLike) -> Tensor:
        return ops.lt(self, other)

    def le(self, other: TensorLike) -> Tensor:
        return ops.le(self, other)

    def gt(self, other: TensorLike) -> Tensor:
        return ops.gt(self, other)

    def ge(self, other: TensorLike) -> Tensor:
        return ops.ge(self, other)

    def eq(self, other: TensorLike) -> Tensor:
        return ops.eq(self, other)

    def ne(self, other: TensorLike) -> Tensor:
        return ops.ne(self, other)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        return ops.clamp(self, min, max)

    def masked_fill(self, mask: TensorLike, value: TensorLike) -> Tensor:
        return ops.masked_fill(self, mask, value)  # type: ignore[arg-type]

    def where(self, condition: TensorLike, other: TensorLike) -> Tensor:
        """`self` where the condition holds, `other` elsewhere."""
        return ops.where(condition, self, other)

    def sign(self) -> Tensor:
        return ops.sign(self)

    def signbit(self) -> Tensor:
        return ops.signbit(self)

    def copysign(self, b: TensorLike) -> Tensor:
        return ops.copysign(self, b)

    def heaviside(self, values: TensorLike) -> Tensor:
        return ops.heaviside(self, values)

    def fmax(self, b: TensorLike) -> Tensor:
        return ops.fmax(self, b)

    def fmin(self, b: TensorLike) -> Tensor:
        return ops.fmin(self, b)

    def remainder(self, b: TensorLike) -> Tensor:
        return ops.remainder(self, b)

    def fmod(self, b: TensorLike) -> Tensor:
        return ops.fmod(self, b)

    def floor_divide(self, b: TensorLike) -> Tensor:
        return ops.floor_divide(self, b)

    def clamp_min(self, min: Any) -> Tensor:
        return ops.clamp_min(self, min)

    def clamp_max(self, max: Any) -> Tensor:
        return ops.clamp_max(self, max)

    def nan_to_num(self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
        return ops.nan_to_num(self, nan, posinf, neginf)

    def rsqrt(self) -> Tensor:
        return ops.rsqrt(self)

    def reciprocal(self) -> Tensor:
        return ops.reciprocal(self)

    def square(self) -> Tensor:
        return ops.square(self)

    def hypot(self, b: TensorLike) -> Tensor:
        return ops.hypot(self, b)

    def float_power(self, b: TensorLike) -> Tensor:
        return ops.float_power(self, b)

    def exp2(self) -> Tensor:
        return ops.exp2(self)

    def expm1(self) -> Tensor:
        return ops.expm1(self)

    def log2(self) -> Tensor:
        return ops.log2(self)

    def log10(self) -> Tensor:
        return ops.log10(self)

    def log1p(self) -> Tensor:
        return ops.log1p(self)

    def xlogy(self, b: TensorLike) -> Tensor:
        return ops.xlogy(self, b)

    def logaddexp(self, b: TensorLike) -> Tensor:
        return ops.logaddexp(self, b)

    def logaddexp2(self, b: TensorLike) -> Tensor:
        return ops.logaddexp2(self, b)

    def tan(self) -> Tensor:
        return ops.tan(self)

    def asin(self) -> Tensor:
        return ops.asin(self)

    def acos(self) -> Tensor:
        return ops.acos(self)

    def atan(self) -> Tensor:
        return ops.atan(self)

    def atan2(self, b: TensorLike) -> Tensor:
        return ops.atan2(self, b)

    def sinc(self) -> Tensor:
        return ops.sinc(self)

    def deg2rad(self) -> Tensor:
        return ops.deg2rad(self)

    def rad2deg(self) -> Tensor:
        return ops.rad2deg(self)

    def sinh(self) -> Tensor:
        return ops.sinh(self)

    def cosh(self) -> Tensor:
        return ops.cosh(self)

    def asinh(self) -> Tensor:
        return ops.asinh(self)

    def acosh(self) -> Tensor:
        return ops.acosh(self)

    def atanh(self) -> Tensor:
        return ops.atanh(self)

    def floor(self) -> Tensor:
        return ops.floor(self)

    def ceil(self) -> Tensor:
        return ops.ceil(self)

    def trunc(self) -> Tensor:
        return ops.trunc(self)

    def round(self, decimals: int = 0) -> Tensor:
        return ops.round(self, decimals)

    def frac(self) -> Tensor:
        return ops.frac(self)

    def lerp(self, b: TensorLike, weight: TensorLike) -> Tensor:
        return ops.lerp(self, b, weight)

    def addcmul(self, a: TensorLike, b: TensorLike, value: float = 1) -> Tensor:
        return ops.addcmul(self, a, b, value)

    def addcdiv(self, a: TensorLike, b: TensorLike, value: float = 1) -> Tensor:
        return ops.addcdiv(self, a, b, value)

    def absolute(self) -> Tensor:
        return ops.absolute(self)

    def allclose(self, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
        return ops.allclose(self, b, rtol, atol, equal_nan)

    def arccos(self) -> Tensor:
        return ops.arccos(self)

    def arccosh(self) -> Tensor:
        return ops.arccosh(self)

    def arcsin(self) -> Tensor:
        return ops.arcsin(self)

    def arcsinh(self) -> Tensor:
        return ops.arcsinh(self)

    def arctan(self) -> Tensor:
        return ops.arctan(self)

    def arctan2(self, b: TensorLike) -> Tensor:
        return ops.arctan2(self, b)

    def arctanh(self) -> Tensor:
        return ops.arctanh(self)

    def bitwise_and(self, b: TensorLike) -> Tensor:
        return ops.bitwise_and(self, b)

    def bitwise_left_shift(self, b: TensorLike) -> Tensor:
        return ops.bitwise_left_shift(self, b)

    def bitwise_not(self) -> Tensor:
        return ops.bitwise_not(self)

    def bitwise_or(self, b: TensorLike) -> Tensor:
        return ops.bitwise_or(self, b)

    def bitwise_right_shift(self, b: TensorLike) -> Tensor:
        return ops.bitwise_right_shift(self, b)

    def bitwise_xor(self, b: TensorLike) -> Tensor:
        return ops.bitwise_xor(self, b)

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        return ops.clip(self, min, max)

    def digamma(self) -> Tensor:
        return ops.digamma(self)

    def divide(self, b: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return ops.divide(self, b, rounding_mode)

    def equal(self, b: TensorLike) -> bool:
        return ops.equal(self, b)

    def erf(self) -> Tensor:
        return ops.erf(self)

    def erfc(self) -> Tensor:
        return ops.erfc(self)

    def erfinv(self) -> Tensor:
        return ops.erfinv(self)

    def fix(self) -> Tensor:
        return ops.fix(self)

    def greater(self, b: TensorLike) -> Tensor:
        return ops.greater(self, b)

    def greater_equal(self, b: TensorLike) -> Tensor:
        return ops.greater_equal(self, b)

    def hardshrink(self, lambd: float = 0.5) -> Tensor:
        return ops.hardshrink(self, lambd)

    def isclose(self, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
        return ops.isclose(self, b, rtol, atol, equal_nan)

    def isfinite(self) -> Tensor:
        return ops.isfinite(self)

    def isinf(self) -> Tensor:
        return ops.isinf(self)

    def isnan(self) -> Tensor:
        return ops.isnan(self)

    def isneginf(self) -> Tensor:
        return ops.isneginf(self)

    def isposinf(self) -> Tensor:
        return ops.isposinf(self)

    def less(self, b: TensorLike) -> Tensor:
        return ops.less(self, b)

    def less_equal(self, b: TensorLike) -> Tensor:
        return ops.less_equal(self, b)

    def lgamma(self) -> Tensor:
        return ops.lgamma(self)

    def logical_and(self, b: TensorLike) -> Tensor:
        return ops.logical_and(self, b)

    def logical_not(self) -> Tensor:
        return ops.logical_not(self)

    def logical_or(self, b: TensorLike) -> Tensor:
        return ops.logical_or(self, b)

    def logical_xor(self, b: TensorLike) -> Tensor:
        return ops.logical_xor(self, b)

    def logit(self, eps: float | None = None) -> Tensor:
        return ops.logit(self, eps)

    def multiply(self, b: TensorLike) -> Tensor:
        return ops.multiply(self, b)

    def negative(self) -> Tensor:
        return ops.negative(self)

    def not_equal(self, b: TensorLike) -> Tensor:
        return ops.not_equal(self, b)

    def positive(self) -> Tensor:
        return ops.positive(self)

    def prelu(self, weight: TensorLike) -> Tensor:
        return ops.prelu(self, weight)

    def sgn(self) -> Tensor:
        return ops.sgn(self)

    def subtract(self, b: TensorLike, alpha: float = 1) -> Tensor:
        return ops.subtract(self, b, alpha)

    def true_divide(self, b: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return ops.true_divide(self, b, rounding_mode)

    # -- reductions; NumPy's axis= and keepdims= are taken too

    def sum(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.sum(self, dim, keepdim, dtype, **numpy)

    def mean(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.mean(self, dim, keepdim, dtype, **numpy)

    def prod(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.prod(self, dim, keepdim, dtype, **numpy)

    def nansum(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.nansum(self, dim, keepdim, dtype, **numpy)

    def nanmean(self, dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.nanmean(self, dim, keepdim, dtype, **numpy)

    def all(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.all(self, dim, keepdim, **numpy)

    def any(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.any(self, dim, keepdim, **numpy)

    def count_nonzero(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.count_nonzero(self, dim, keepdim, **numpy)

    def aminmax(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.aminmax(self, dim, keepdim, **numpy)

    def max(self, dim: Any = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.max(self, dim, keepdim, **numpy)

    def min(self, dim: Any = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.min(self, dim, keepdim, **numpy)

    def amax(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.amax(self, dim, keepdim, **numpy)

    def amin(self, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.amin(self, dim, keepdim, **numpy)

    def argmax(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.argmax(self, dim, keepdim, **numpy)

    def argmin(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.argmin(self, dim, keepdim, **numpy)

    def norm(self, p: float | str = 2.0, dim: Dim = None, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.norm(self, p, dim, keepdim, **numpy)

    def var(self, dim: Dim = None, correction: float = 1, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.var(self, dim, correction, keepdim, **numpy)

    def std(self, dim: Dim = None, correction: float = 1, keepdim: bool = False, **numpy: Any) -> Tensor:
        return ops.std(self, dim, correction, keepdim, **numpy)

    def logsumexp(self, dim: Dim = None, keepdim: bool = False) -> Tensor:
        return ops.logsumexp(self, dim, keepdim)

    def softmax(self, dim: int, dtype: Any = None) -> Tensor:
        return ops.softmax(self, dim, dtype)

    def log_softmax(self, dim: int, dtype: Any = None) -> Tensor:
        return ops.log_softmax(self, dim, dtype)

    # -- entries by place

    def argwhere(self) -> Tensor:
        return ops.argwhere(self)

    def gather(self, dim: int, index: TensorLike) -> Tensor:
        return ops.gather(self, dim, index)

    def index_add(self, dim: int, index: TensorLike, source: TensorLike, *, alpha: float = 1) -> Tensor:
        return ops.index_add(self, dim, index, source, alpha=alpha)

    def index_copy(self, dim: int, index: TensorLike, source: TensorLike) -> Tensor:
        return ops.index_copy(self, dim, index, source)

    def index_fill(self, dim: int, index: TensorLike, value: TensorLike) -> Tensor:
        return ops.index_fill(self, dim, index, value)

    def index_put(self, indices: Any, values: TensorLike, accumulate: bool = False) -> Tensor:
        return ops.index_put(self, indices, values, accumulate)

    def index_select(self, dim: int, index: TensorLike) -> Tensor:
        return ops.index_select(self, dim, index)

    def masked_scatter(self, mask: TensorLike, source: TensorLike) -> Tensor:
        return ops.masked_scatter(self, mask, source)

    def masked_select(self, mask: TensorLike) -> Tensor:
        return ops.masked_select(self, mask)

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        return ops.nonzero(self, as_tuple=as_tuple)

    def put(self, index: TensorLike, source: TensorLike, accumulate: bool = False) -> Tensor:
        return ops.put(self, index, source, accumulate)

    def scatter(self, dim: int, index: TensorLike, src: TensorLike | None = None, *, value: float | None = None) -> Tensor:
        return ops.scatter(self, dim, index, src, value=value)

    def scatter_add(self, dim: int, index: TensorLike, src: TensorLike) -> Tensor:
        return ops.scatter_add(self, dim, index, src)

    def scatter_reduce(self, dim: int, index: TensorLike, src: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
        return ops.scatter_reduce(self, dim, index, src, reduce, include_self=include_self)

    def take(self, index: TensorLike) -> Tensor:
        return ops.take(self, index)

    def take_along_dim(self, indices: TensorLike, dim: int | None = None) -> Tensor:
        return ops.take_along_dim(self, indices, dim)

    # -- draws

    def bernoulli(self, p: float | None = None) -> Tensor:
        return ops.bernoulli(self, p)

    def multinomial(self, num_samples: int, replacement: bool = False) -> Tensor:
        return ops.multinomial(self, num_samples, replacement)

    def diagonal_scatter(self, src: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        return ops.diagonal_scatter(self, src, offset, dim1, dim2)

    def index_reduce(self, dim: int, index: TensorLike, source: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
        return ops.index_reduce(self, dim, index, source, reduce, include_self=include_self)

    def select_scatter(self, src: TensorLike, dim: int, index: int) -> Tensor:
        return ops.select_scatter(self, src, dim, index)

    def slice_scatter(self, src: TensorLike, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
        return ops.slice_scatter(self, src, dim, start, end, step)

    # -- in order

    def corrcoef(self) -> Tensor:
        return ops.corrcoef(self)

    def cov(self, correction: float = 1) -> Tensor:
        return ops.cov(self, correction)

    def diagflat(self, offset: int = 0) -> Tensor:
        return ops.diagflat(self, offset)

    def dist(self, other: TensorLike, p: float = 2.0) -> Tensor:
        return ops.dist(self, other, p)

    def dsplit(self, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        return ops.dsplit(self, indices_or_sections)

    def hsplit(self, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        return ops.hsplit(self, indices_or_sections)

    def mode(self, dim: int = -1, keepdim: bool = False) -> Any:
        return ops.mode(self, dim, keepdim)

    def renorm(self, p: float, dim: int, maxnorm: float) -> Tensor:
        return ops.renorm(self, p, dim, maxnorm)

    def vsplit(self, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        return ops.vsplit(self, indices_or_sections)

    def argsort(self, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
        return ops.argsort(self, dim, descending, stable)

    def bincount(self, weights: TensorLike | None = None, minlength: int = 0) -> Tensor:
        return ops.bincount(self, weights, minlength)

    def histc(self, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
        return ops.histc(self, bins, min, max)

    def kthvalue(self, k: int, dim: int = -1, keepdim: bool = False) -> Any:
        return ops.kthvalue(self, k, dim, keepdim)

    def median(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.median(self, dim, keepdim, **numpy)

    def msort(self) -> Tensor:
        return ops.msort(self)

    def nanmedian(self, dim: int | None = None, keepdim: bool = False, **numpy: Any) -> Any:
        return ops.nanmedian(self, dim, keepdim, **numpy)

    def nanquantile(
        self, q: TensorLike, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", **numpy: Any
    ) -> Tensor:
        return ops.nanquantile(self, q, dim, keepdim, interpolation=interpolation, **numpy)

    def quantile(
        self, q: TensorLike, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", **numpy: Any
    ) -> Tensor:
        return ops.quantile(self, q, dim, keepdim, interpolation=interpolation, **numpy)

    def sort(self, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        return ops.sort(self, dim, descending, stable)

    def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        return ops.topk(self, k, dim, largest, sorted)

    def unique(self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
        return ops.unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(self, return_inverse: bool = False, return_counts: bool = False) -> Any:
        return ops.unique_consecutive(self, return_inverse, return_counts)

    # -- along one axis

    def cumsum(self, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.cumsum(self, dim, dtype, **numpy)

    def cumprod(self, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
        return ops.cumprod(self, dim, dtype, **numpy)

    def cummax(self, dim: int | None = None, **numpy: Any) -> Any:
        return ops.cummax(self, dim, **numpy)

    def cummin(self, dim: int | None = None, **numpy: Any) -> Any:
        return ops.cummin(self, dim, **numpy)

    def logcumsumexp(self, dim: int | None = None, **numpy: Any) -> Tensor:
        return ops.logcumsumexp(self, dim, **numpy)

    def diff(self, n: int = 1, dim: int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None) -> Tensor:
        return ops.diff(self, n, dim, prepend, append)

    # -- shape

    @property
    def T(self) -> Tensor:
        """The axes in reverse order."""
        return ops.permute(self, tuple(range(self.ndim))[::-1])  # type: ignore[attr-defined]

    @property
    def H(self) -> Tensor:
        """A matrix transposed, as `t()`."""
        return ops.t(self)

    @property
    def mH(self) -> Tensor:
        """The last two axes swapped, as `mT`: there are no complex numbers."""
        return ops.transpose(self, -2, -1)

    def adjoint(self) -> Tensor:
        """The last two axes swapped, as `mT`: there are no complex numbers."""
        return ops.transpose(self, -2, -1)

    @property
    def mT(self) -> Tensor:
        """The last two axes swapped."""
        return ops.transpose(self, -2, -1)

    def diag(self, diagonal: int = 0) -> Tensor:
        return ops.diag(self, diagonal)

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
        return ops.diag_embed(self, offset, dim1, dim2)

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        return ops.diagonal(self, offset, dim1, dim2)

    def flip(self, *dims: int | tuple[int, ...]) -> Tensor:
        return ops.flip(self, *dims)

    def fliplr(self) -> Tensor:
        return ops.fliplr(self)

    def flipud(self) -> Tensor:
        return ops.flipud(self)

    def repeat(self, *repeats: int | tuple[int, ...]) -> Tensor:
        return ops.repeat(self, *repeats)

    def repeat_interleave(self, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
        return ops.repeat_interleave(self, repeats, dim, output_size=output_size)

    def roll(self, shifts: int | tuple[int, ...], dims: int | tuple[int, ...] | None = None) -> Tensor:
        return ops.roll(self, shifts, dims)

    def rot90(self, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Tensor:
        return ops.rot90(self, k, dims)

    def tile(self, *dims: int | tuple[int, ...]) -> Tensor:
        return ops.tile(self, *dims)

    def trace(self) -> Tensor:
        return ops.trace(self)

    def tril(self, diagonal: int = 0) -> Tensor:
        return ops.tril(self, diagonal)

    def triu(self, diagonal: int = 0) -> Tensor:
        return ops.triu(self, diagonal)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.chunk(self, chunks, dim)

    def contiguous(self) -> Tensor:
        return ops.contiguous(self)

    def expand(self, *shape: int | tuple[int, ...]) -> Tensor:
        return ops.expand(self, *shape)

    def expand_as(self, other: Tensor) -> Tensor:
        return ops.expand_as(self, other)

    def broadcast_to(self, *shape: int | tuple[int, ...]) -> Tensor:
        return ops.broadcast_to(self, *shape)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        return ops.flatten(self, start_dim, end_dim)

    def is_contiguous(self) -> bool:
        """Whether the entries lie row by row in memory."""
        return bool(self._data.flags.c_contiguous)  # type: ignore[attr-defined]

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        return ops.movedim(self, source, destination)

    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
        return ops.moveaxis(self, source, destination)

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        return ops.narrow(self, dim, start, length)

    def permute(self, *dims: int | tuple[int, ...]) -> Tensor:
        return ops.permute(self, *dims)

    def ravel(self) -> Tensor:
        return ops.ravel(self)

    def reshape(self, *shape: int | tuple[int, ...]) -> Tensor:
        return ops.reshape(self, *shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        return ops.reshape_as(self, other)

    def select(self, dim: int, index: int) -> Tensor:
        return ops.select(self, dim, index)

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        return ops.split(self, split_size, dim)

    def squeeze(self, dim: int | tuple[int, ...] | None = None) -> Tensor:
        return ops.squeeze(self, dim)

    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        return ops.swapaxes(self, axis0, axis1)

    def swapdims(self, dim0: int, dim1: int) -> Tensor:
        return ops.swapdims(self, dim0, dim1)

    def t(self) -> Tensor:
        return ops.t(self)

    def tensor_split(self, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.tensor_split(self, indices_or_sections, dim)

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        return ops.transpose(self, dim0, dim1)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        return ops.unbind(self, dim)

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        return ops.unflatten(self, dim, sizes)

    def unfold(self, dimension: int, size: int, step: int) -> Tensor:
        """Copy out the windows of `size` entries along one axis, `step` apart; the entries of a window go to a new last axis."""
        return ops.unfold_copy(self, dimension, size, step)

    def unsqueeze(self, dim: int) -> Tensor:
        return ops.unsqueeze(self, dim)

    def view(self, *shape: int | tuple[int, ...]) -> Tensor:
        return ops.view(self, *shape)

    def view_as(self, other: Tensor) -> Tensor:
        return ops.view_as(self, other)

    # -- products and matrices

    def addmm(self, mat1: TensorLike, mat2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addmm(self, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def addbmm(self, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addbmm(self, batch1, batch2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def addr(self, vec1: TensorLike, vec2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addr(self, vec1, vec2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def vdot(self, other: TensorLike) -> Tensor:
        return ops.vdot(self, other)  # type: ignore[arg-type]

    def addmv(self, mat: TensorLike, vec: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.addmv(self, mat, vec, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def baddbmm(self, batch1: TensorLike, batch2: TensorLike, *, beta: float = 1, alpha: float = 1) -> Tensor:
        return ops.baddbmm(self, batch1, batch2, beta=beta, alpha=alpha)  # type: ignore[arg-type]

    def bmm(self, other: TensorLike) -> Tensor:
        return ops.bmm(self, other)  # type: ignore[arg-type]

    def cholesky(self, upper: bool = False) -> Tensor:
        return ops.cholesky(self, upper)  # type: ignore[arg-type]

    def cross(self, other: TensorLike, dim: int | None = None) -> Tensor:
        return ops.cross(self, other, dim)  # type: ignore[arg-type]

    def det(self) -> Tensor:
        return ops.det(self)  # type: ignore[arg-type]

    def dot(self, other: TensorLike) -> Tensor:
        return ops.dot(self, other)  # type: ignore[arg-type]

    def inner(self, other: TensorLike) -> Tensor:
        return ops.inner(self, other)  # type: ignore[arg-type]

    def inverse(self) -> Tensor:
        return ops.inverse(self)  # type: ignore[arg-type]

    def kron(self, other: TensorLike) -> Tensor:
        return ops.kron(self, other)  # type: ignore[arg-type]

    def logdet(self) -> Tensor:
        return ops.logdet(self)  # type: ignore[arg-type]

    def matmul(self, other: TensorLike) -> Tensor:
        return ops.matmul(self, other)

    def matrix_power(self, n: int) -> Tensor:
        return ops.matrix_power(self, n)  # type: ignore[arg-type]

    def mm(self, other: TensorLike) -> Tensor:
        return ops.mm(self, other)  # type: ignore[arg-type]

    def mv(self, other: TensorLike) -> Tensor:
        return ops.mv(self, other)  # type: ignore[arg-type]

    def outer(self, other: TensorLike) -> Tensor:
        return ops.outer(self, other)  # type: ignore[arg-type]

    def pinverse(self, rcond: float | None = None) -> Tensor:
        return ops.pinverse(self, rcond)  # type: ignore[arg-type]

    def qr(self, mode: str = "reduced") -> Any:
        return ops.qr(self, mode)  # type: ignore[arg-type]

    def slogdet(self) -> Any:
        return ops.slogdet(self)  # type: ignore[arg-type]

    # -- copies

    def clone(self) -> Tensor:
        return ops.clone(self)

    def astype(self, dtype: Any) -> Tensor:
        """The same values in another kind of number; the gradient comes back in the old one."""
        return ops.cast(self, dtype)

    def to(self, target: Any = None, dtype: Any = None, *, device: Any = None, non_blocking: bool = False, copy: bool = False) -> Tensor:
        return ops.to(self, target, dtype, device=device, non_blocking=non_blocking, copy=copy)

    def cpu(self) -> Tensor:
        """In main memory: itself where it is there, else a copy that waits for the device."""
        return ops.to(self, "cpu")

    def cuda(self, device: int | None = None, non_blocking: bool = False) -> Tensor:
        """On a GPU: itself where it is there."""
        return ops.to(self, "cuda" if device is None else f"cuda:{device}", non_blocking=non_blocking)

    def float(self) -> Tensor:
        """The same values as float32."""
        return ops.cast(self, float32)

    def double(self) -> Tensor:
        """The same values as float64."""
        return ops.cast(self, float64)

    def half(self) -> Tensor:
        """The same values as float16."""
        return ops.cast(self, float16)

    def long(self) -> Tensor:
        """The same values as int64."""
        return ops.cast(self, int64)

    def int(self) -> Tensor:
        """The same values as int32."""
        return ops.cast(self, int32)

    def short(self) -> Tensor:
        """The same values as int16."""
        return ops.cast(self, int16)

    def char(self) -> Tensor:
        """The same values as int8."""
        return ops.cast(self, int8)

    def byte(self) -> Tensor:
        """The same values as uint8."""
        return ops.cast(self, uint8)

    def bool(self) -> Tensor:
        """Whether each value is other than 0."""
        return ops.cast(self, bool_)

    def type_as(self, other: Tensor) -> Tensor:
        """The same values in the dtype, and on the device, of `other`."""
        return ops.to(self, other)


for _method in vars(Surface).values():  # help(t.exp) says what `ops.exp` says first
    if callable(_method) and _method.__doc__ is None and hasattr(ops, _method.__name__):
        _method.__doc__ = (getattr(ops, _method.__name__).__doc__ or "").partition("\n")[0]
