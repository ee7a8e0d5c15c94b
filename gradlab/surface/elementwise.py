"""Tensor's methods: what is done to every entry for itself."""

# ruff: noqa: D102 - each method gets the first sentence of its op, see `described`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .described import described

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


@described
class Elementwise:
    """What is done to every entry for itself."""

    __slots__ = ()

    def abs(self) -> Tensor:
        return ops.abs(self)

    def absolute(self) -> Tensor:
        return ops.absolute(self)

    def acos(self) -> Tensor:
        return ops.acos(self)

    def acosh(self) -> Tensor:
        return ops.acosh(self)

    def add(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return ops.add(self, other, alpha)

    def addcdiv(self, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
        return ops.addcdiv(self, tensor1, tensor2, value)

    def addcmul(self, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
        return ops.addcmul(self, tensor1, tensor2, value)

    def allclose(self, other: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
        return ops.allclose(self, other, rtol, atol, equal_nan)

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

    def arctan2(self, other: TensorLike) -> Tensor:
        return ops.arctan2(self, other)

    def arctanh(self) -> Tensor:
        return ops.arctanh(self)

    def asin(self) -> Tensor:
        return ops.asin(self)

    def asinh(self) -> Tensor:
        return ops.asinh(self)

    def atan(self) -> Tensor:
        return ops.atan(self)

    def atan2(self, other: TensorLike) -> Tensor:
        return ops.atan2(self, other)

    def atanh(self) -> Tensor:
        return ops.atanh(self)

    def bitwise_and(self, other: TensorLike) -> Tensor:
        return ops.bitwise_and(self, other)

    def bitwise_left_shift(self, other: TensorLike) -> Tensor:
        return ops.bitwise_left_shift(self, other)

    def bitwise_not(self) -> Tensor:
        return ops.bitwise_not(self)

    def bitwise_or(self, other: TensorLike) -> Tensor:
        return ops.bitwise_or(self, other)

    def bitwise_right_shift(self, other: TensorLike) -> Tensor:
        return ops.bitwise_right_shift(self, other)

    def bitwise_xor(self, other: TensorLike) -> Tensor:
        return ops.bitwise_xor(self, other)

    def ceil(self) -> Tensor:
        return ops.ceil(self)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        return ops.clamp(self, min, max)

    def clamp_max(self, max: Any) -> Tensor:
        return ops.clamp_max(self, max)

    def clamp_min(self, min: Any) -> Tensor:
        return ops.clamp_min(self, min)

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        return ops.clip(self, min, max)

    def copysign(self, other: TensorLike) -> Tensor:
        return ops.copysign(self, other)

    def cos(self) -> Tensor:
        return ops.cos(self)

    def cosh(self) -> Tensor:
        return ops.cosh(self)

    def deg2rad(self) -> Tensor:
        return ops.deg2rad(self)

    def digamma(self) -> Tensor:
        return ops.digamma(self)

    def div(self, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return ops.div(self, other, rounding_mode)

    def divide(self, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return ops.divide(self, other, rounding_mode)

    def eq(self, other: TensorLike) -> Tensor:
        return ops.eq(self, other)

    def equal(self, other: TensorLike) -> bool:
        return ops.equal(self, other)

    def erf(self) -> Tensor:
        return ops.erf(self)

    def erfc(self) -> Tensor:
        return ops.erfc(self)

    def erfinv(self) -> Tensor:
        return ops.erfinv(self)

    def exp(self) -> Tensor:
        return ops.exp(self)

    def exp2(self) -> Tensor:
        return ops.exp2(self)

    def expm1(self) -> Tensor:
        return ops.expm1(self)

    def fix(self) -> Tensor:
        return ops.fix(self)

    def float_power(self, exponent: TensorLike) -> Tensor:
        return ops.float_power(self, exponent)

    def floor(self) -> Tensor:
        return ops.floor(self)

    def floor_divide(self, other: TensorLike) -> Tensor:
        return ops.floor_divide(self, other)

    def fmax(self, other: TensorLike) -> Tensor:
        return ops.fmax(self, other)

    def fmin(self, other: TensorLike) -> Tensor:
        return ops.fmin(self, other)

    def fmod(self, other: TensorLike) -> Tensor:
        return ops.fmod(self, other)

    def frac(self) -> Tensor:
        return ops.frac(self)

    def ge(self, other: TensorLike) -> Tensor:
        return ops.ge(self, other)

    def greater(self, other: TensorLike) -> Tensor:
        return ops.greater(self, other)

    def greater_equal(self, other: TensorLike) -> Tensor:
        return ops.greater_equal(self, other)

    def gt(self, other: TensorLike) -> Tensor:
        return ops.gt(self, other)

    def hardshrink(self, lambd: float = 0.5) -> Tensor:
        return ops.hardshrink(self, lambd)

    def heaviside(self, values: TensorLike) -> Tensor:
        return ops.heaviside(self, values)

    def hypot(self, other: TensorLike) -> Tensor:
        return ops.hypot(self, other)

    def isclose(self, other: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
        return ops.isclose(self, other, rtol, atol, equal_nan)

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

    def le(self, other: TensorLike) -> Tensor:
        return ops.le(self, other)

    def lerp(self, end: TensorLike, weight: TensorLike) -> Tensor:
        return ops.lerp(self, end, weight)

    def less(self, other: TensorLike) -> Tensor:
        return ops.less(self, other)

    def less_equal(self, other: TensorLike) -> Tensor:
        return ops.less_equal(self, other)

    def lgamma(self) -> Tensor:
        return ops.lgamma(self)

    def log(self) -> Tensor:
        return ops.log(self)

    def log10(self) -> Tensor:
        return ops.log10(self)

    def log1p(self) -> Tensor:
        return ops.log1p(self)

    def log2(self) -> Tensor:
        return ops.log2(self)

    def logaddexp(self, other: TensorLike) -> Tensor:
        return ops.logaddexp(self, other)

    def logaddexp2(self, other: TensorLike) -> Tensor:
        return ops.logaddexp2(self, other)

    def logical_and(self, other: TensorLike) -> Tensor:
        return ops.logical_and(self, other)

    def logical_not(self) -> Tensor:
        return ops.logical_not(self)

    def logical_or(self, other: TensorLike) -> Tensor:
        return ops.logical_or(self, other)

    def logical_xor(self, other: TensorLike) -> Tensor:
        return ops.logical_xor(self, other)

    def logit(self, eps: float | None = None) -> Tensor:
        return ops.logit(self, eps)

    def lt(self, other: TensorLike) -> Tensor:
        return ops.lt(self, other)

    def maximum(self, other: TensorLike) -> Tensor:
        return ops.maximum(self, other)

    def minimum(self, other: TensorLike) -> Tensor:
        return ops.minimum(self, other)

    def mul(self, other: TensorLike) -> Tensor:
        return ops.mul(self, other)

    def multiply(self, other: TensorLike) -> Tensor:
        return ops.multiply(self, other)

    def nan_to_num(self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
        return ops.nan_to_num(self, nan, posinf, neginf)

    def ne(self, other: TensorLike) -> Tensor:
        return ops.ne(self, other)

    def neg(self) -> Tensor:
        return ops.neg(self)

    def negative(self) -> Tensor:
        return ops.negative(self)

    def not_equal(self, other: TensorLike) -> Tensor:
        return ops.not_equal(self, other)

    def positive(self) -> Tensor:
        return ops.positive(self)

    def pow(self, exponent: TensorLike) -> Tensor:
        return ops.pow(self, exponent)

    def prelu(self, weight: TensorLike) -> Tensor:
        return ops.prelu(self, weight)

    def rad2deg(self) -> Tensor:
        return ops.rad2deg(self)

    def reciprocal(self) -> Tensor:
        return ops.reciprocal(self)

    def relu(self, inplace: bool = False) -> Tensor:
        return ops.relu(self, inplace)

    def remainder(self, other: TensorLike) -> Tensor:
        return ops.remainder(self, other)

    def round(self, decimals: int = 0) -> Tensor:
        return ops.round(self, decimals)

    def rsqrt(self) -> Tensor:
        return ops.rsqrt(self)

    def sgn(self) -> Tensor:
        return ops.sgn(self)

    def sigmoid(self) -> Tensor:
        return ops.sigmoid(self)

    def sign(self) -> Tensor:
        return ops.sign(self)

    def signbit(self) -> Tensor:
        return ops.signbit(self)

    def sin(self) -> Tensor:
        return ops.sin(self)

    def sinc(self) -> Tensor:
        return ops.sinc(self)

    def sinh(self) -> Tensor:
        return ops.sinh(self)

    def sqrt(self) -> Tensor:
        return ops.sqrt(self)

    def square(self) -> Tensor:
        return ops.square(self)

    def sub(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return ops.sub(self, other, alpha)

    def subtract(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return ops.subtract(self, other, alpha)

    def tan(self) -> Tensor:
        return ops.tan(self)

    def tanh(self) -> Tensor:
        return ops.tanh(self)

    def true_divide(self, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return ops.true_divide(self, other, rounding_mode)

    def trunc(self) -> Tensor:
        return ops.trunc(self)

    def xlogy(self, other: TensorLike) -> Tensor:
        return ops.xlogy(self, other)
