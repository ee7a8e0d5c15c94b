"""Tensor's methods and operators that change a tensor in place, one line each; how that is done is said in `inplace`."""

# ruff: noqa: D102 - each method gets the first sentence of its op, below
# pyright: reportArgumentType=false
# `self` is a Tensor: Tensor alone is made of this class.

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import ops
from .backend import Generator, asarray_like
from .backend import generator as drawn_by
from .inplace import arithmetic, assign, become, detach, reshaped

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike


class Changes:
    """What can be written on a Tensor to change it: `x += y`, `x[i] = v`, `x.clamp_(0, 1)`."""

    __slots__ = ()

    # -- operators

    def __setitem__(self, index: Any, value: TensorLike) -> None:
        assign(self, index, value)

    def __iadd__(self, other: TensorLike) -> Tensor:
        return arithmetic(self, "+=", other)

    def __isub__(self, other: TensorLike) -> Tensor:
        return arithmetic(self, "-=", other)

    def __imul__(self, other: TensorLike) -> Tensor:
        return arithmetic(self, "*=", other)

    def __itruediv__(self, other: TensorLike) -> Tensor:
        return arithmetic(self, "/=", other)

    def __ifloordiv__(self, other: TensorLike) -> Tensor:
        return become(self, "x //= y", ops.floor_divide, other)

    def __imod__(self, other: TensorLike) -> Tensor:
        return become(self, "x %= y", ops.remainder, other)

    def __ipow__(self, other: TensorLike) -> Tensor:
        return become(self, "x **= y", ops.pow, other)

    def __iand__(self, other: TensorLike) -> Tensor:
        return become(self, "x &= y", ops.bitwise_and, other)

    def __ior__(self, other: TensorLike) -> Tensor:
        return become(self, "x |= y", ops.bitwise_or, other)

    def __ixor__(self, other: TensorLike) -> Tensor:
        return become(self, "x ^= y", ops.bitwise_xor, other)

    def __ilshift__(self, other: TensorLike) -> Tensor:
        return become(self, "x <<= y", ops.bitwise_left_shift, other)

    def __irshift__(self, other: TensorLike) -> Tensor:
        return become(self, "x >>= y", ops.bitwise_right_shift, other)

    # -- arithmetic

    def add_(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return arithmetic(self, "+=", other) if alpha == 1 else become(self, "x.add_(y, alpha)", ops.add, other, alpha)

    def sub_(self, other: TensorLike, alpha: float = 1) -> Tensor:
        return arithmetic(self, "-=", other) if alpha == 1 else become(self, "x.sub_(y, alpha)", ops.sub, other, alpha)

    def mul_(self, other: TensorLike) -> Tensor:
        return arithmetic(self, "*=", other)

    def div_(self, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
        return arithmetic(self, "/=", other) if rounding_mode is None else become(self, "x.div_(y)", ops.div, other, rounding_mode)

    def pow_(self, exponent: TensorLike) -> Tensor:
        return become(self, "x.pow_(exponent)", ops.pow, exponent)

    def remainder_(self, other: TensorLike) -> Tensor:
        return become(self, "x.remainder_(other)", ops.remainder, other)

    def fmod_(self, other: TensorLike) -> Tensor:
        return become(self, "x.fmod_(other)", ops.fmod, other)

    def floor_divide_(self, other: TensorLike) -> Tensor:
        return become(self, "x.floor_divide_(other)", ops.floor_divide, other)

    def atan2_(self, other: TensorLike) -> Tensor:
        return become(self, "x.atan2_(other)", ops.atan2, other)

    def hypot_(self, other: TensorLike) -> Tensor:
        return become(self, "x.hypot_(other)", ops.hypot, other)

    def copysign_(self, other: TensorLike) -> Tensor:
        return become(self, "x.copysign_(other)", ops.copysign, other)

    def xlogy_(self, other: TensorLike) -> Tensor:
        return become(self, "x.xlogy_(other)", ops.xlogy, other)

    def lerp_(self, end: TensorLike, weight: TensorLike) -> Tensor:
        return become(self, "x.lerp_(end, weight)", ops.lerp, end, weight)

    def addcmul_(self, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
        return become(self, "x.addcmul_(tensor1, tensor2)", ops.addcmul, tensor1, tensor2, value)

    def addcdiv_(self, tensor1: TensorLike, tensor2: TensorLike, value: float = 1) -> Tensor:
        return become(self, "x.addcdiv_(tensor1, tensor2)", ops.addcdiv, tensor1, tensor2, value)

    def masked_fill_(self, mask: TensorLike, value: TensorLike) -> Tensor:
        return become(self, "x.masked_fill_(mask, value)", ops.masked_fill, mask, value)

    # -- functions of one number

    def abs_(self) -> Tensor:
        return become(self, "x.abs_()", ops.abs)

    def neg_(self) -> Tensor:
        return become(self, "x.neg_()", ops.neg)

    def sign_(self) -> Tensor:
        return become(self, "x.sign_()", ops.sign)

    def floor_(self) -> Tensor:
        return become(self, "x.floor_()", ops.floor)

    def ceil_(self) -> Tensor:
        return become(self, "x.ceil_()", ops.ceil)

    def round_(self, decimals: int = 0) -> Tensor:
        return become(self, "x.round_()", ops.round, decimals)

    def trunc_(self) -> Tensor:
        return become(self, "x.trunc_()", ops.trunc)

    def frac_(self) -> Tensor:
        return become(self, "x.frac_()", ops.frac)

    def exp_(self) -> Tensor:
        return become(self, "x.exp_()", ops.exp)

    def exp2_(self) -> Tensor:
        return become(self, "x.exp2_()", ops.exp2)

    def expm1_(self) -> Tensor:
        return become(self, "x.expm1_()", ops.expm1)

    def log_(self) -> Tensor:
        return become(self, "x.log_()", ops.log)

    def log2_(self) -> Tensor:
        return become(self, "x.log2_()", ops.log2)

    def log10_(self) -> Tensor:
        return become(self, "x.log10_()", ops.log10)

    def log1p_(self) -> Tensor:
        return become(self, "x.log1p_()", ops.log1p)

    def sqrt_(self) -> Tensor:
        return become(self, "x.sqrt_()", ops.sqrt)

    def rsqrt_(self) -> Tensor:
        return become(self, "x.rsqrt_()", ops.rsqrt)

    def reciprocal_(self) -> Tensor:
        return become(self, "x.reciprocal_()", ops.reciprocal)

    def square_(self) -> Tensor:
        return become(self, "x.square_()", ops.square)

    def sin_(self) -> Tensor:
        return become(self, "x.sin_()", ops.sin)

    def cos_(self) -> Tensor:
        return become(self, "x.cos_()", ops.cos)

    def tan_(self) -> Tensor:
        return become(self, "x.tan_()", ops.tan)

    def asin_(self) -> Tensor:
        return become(self, "x.asin_()", ops.asin)

    def acos_(self) -> Tensor:
        return become(self, "x.acos_()", ops.acos)

    def atan_(self) -> Tensor:
        return become(self, "x.atan_()", ops.atan)

    def sinh_(self) -> Tensor:
        return become(self, "x.sinh_()", ops.sinh)

    def cosh_(self) -> Tensor:
        return become(self, "x.cosh_()", ops.cosh)

    def tanh_(self) -> Tensor:
        return become(self, "x.tanh_()", ops.tanh)

    def asinh_(self) -> Tensor:
        return become(self, "x.asinh_()", ops.asinh)

    def acosh_(self) -> Tensor:
        return become(self, "x.acosh_()", ops.acosh)

    def atanh_(self) -> Tensor:
        return become(self, "x.atanh_()", ops.atanh)

    def sigmoid_(self) -> Tensor:
        return become(self, "x.sigmoid_()", ops.sigmoid)

    def logit_(self, eps: float | None = None) -> Tensor:
        return become(self, "x.logit_()", ops.logit, eps)

    def relu_(self) -> Tensor:
        return become(self, "x.relu_()", ops.relu)

    def erf_(self) -> Tensor:
        return become(self, "x.erf_()", ops.erf)

    def erfc_(self) -> Tensor:
        return become(self, "x.erfc_()", ops.erfc)

    def erfinv_(self) -> Tensor:
        return become(self, "x.erfinv_()", ops.erfinv)

    def lgamma_(self) -> Tensor:
        return become(self, "x.lgamma_()", ops.lgamma)

    def digamma_(self) -> Tensor:
        return become(self, "x.digamma_()", ops.digamma)

    def sinc_(self) -> Tensor:
        return become(self, "x.sinc_()", ops.sinc)

    def nan_to_num_(self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
        return become(self, "x.nan_to_num_()", ops.nan_to_num, nan, posinf, neginf)

    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        return become(self, "x.clamp_()", ops.clamp, min, max)

    def clip_(self, min: Any = None, max: Any = None) -> Tensor:
        return become(self, "x.clip_()", ops.clip, min, max)

    def clamp_min_(self, min: Any) -> Tensor:
        return become(self, "x.clamp_min_(min)", ops.clamp_min, min)

    def clamp_max_(self, max: Any) -> Tensor:
        return become(self, "x.clamp_max_(max)", ops.clamp_max, max)

    # -- entries by place

    def index_add_(self, dim: int, index: TensorLike, source: TensorLike, *, alpha: float = 1) -> Tensor:
        return become(self, "x.index_add_(...)", partial(ops.index_add, alpha=alpha), dim, index, source)

    def index_copy_(self, dim: int, index: TensorLike, source: TensorLike) -> Tensor:
        return become(self, "x.index_copy_(...)", ops.index_copy, dim, index, source)

    def index_fill_(self, dim: int, index: TensorLike, value: TensorLike) -> Tensor:
        return become(self, "x.index_fill_(...)", ops.index_fill, dim, index, value)

    def index_put_(self, indices: Any, values: TensorLike, accumulate: bool = False) -> Tensor:
        return become(self, "x.index_put_(...)", ops.index_put, indices, values, accumulate)

    def masked_scatter_(self, mask: TensorLike, source: TensorLike) -> Tensor:
        return become(self, "x.masked_scatter_(...)", ops.masked_scatter, mask, source)

    def put_(self, index: TensorLike, source: TensorLike, accumulate: bool = False) -> Tensor:
        return become(self, "x.put_(...)", ops.put, index, source, accumulate)

    def scatter_(self, dim: int, index: TensorLike, src: TensorLike | None = None, *, value: float | None = None) -> Tensor:
        return become(self, "x.scatter_(...)", ops.scatter, dim, index, src if value is None else value)

    def scatter_add_(self, dim: int, index: TensorLike, src: TensorLike) -> Tensor:
        return become(self, "x.scatter_add_(...)", ops.scatter_add, dim, index, src)

    def scatter_reduce_(self, dim: int, index: TensorLike, src: TensorLike, reduce: str, *, include_self: bool = True) -> Tensor:
        return become(self, "x.scatter_reduce_(...)", partial(ops.scatter_reduce, include_self=include_self), dim, index, src, reduce)

    def cumsum_(self, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
        return become(self, "x.cumsum_(dim)", partial(ops.cumsum, **numpy), dim, dtype)

    def cumprod_(self, dim: int | None = None, dtype: Any = None, **numpy: Any) -> Tensor:
        return become(self, "x.cumprod_(dim)", partial(ops.cumprod, **numpy), dim, dtype)

    def tril_(self, diagonal: int = 0) -> Tensor:
        return become(self, "x.tril_()", ops.tril, diagonal)

    def triu_(self, diagonal: int = 0) -> Tensor:
        return become(self, "x.triu_()", ops.triu, diagonal)

    # -- the same entries in another shape, and without history

    def detach_(self) -> Tensor:
        """Forget how this was made: a leaf from now on, that requires no gradient."""
        return detach(self)

    def squeeze_(self, dim: int | tuple[int, ...] | None = None) -> Tensor:
        return reshaped(self, "x.squeeze_()", ops.squeeze, dim)

    def swapaxes_(self, axis0: int, axis1: int) -> Tensor:
        return reshaped(self, "x.swapaxes_()", ops.swapaxes, axis0, axis1)

    def swapdims_(self, dim0: int, dim1: int) -> Tensor:
        return reshaped(self, "x.swapdims_()", ops.swapdims, dim0, dim1)

    def t_(self) -> Tensor:
        return reshaped(self, "x.t_()", ops.t)

    def transpose_(self, dim0: int, dim1: int) -> Tensor:
        return reshaped(self, "x.transpose_()", ops.transpose, dim0, dim1)

    def unsqueeze_(self, dim: int) -> Tensor:
        return reshaped(self, "x.unsqueeze_()", ops.unsqueeze, dim)

    # -- overwriting

    def bernoulli_(self, p: float | TensorLike = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Overwrite every entry with 1 at chance `p`, else with 0."""
        return self.copy_(
            ops.bernoulli(self, p, generator=generator) if isinstance(p, (int, float)) else ops.bernoulli(p, generator=generator)
        )

    def exponential_(self, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Overwrite every entry with a draw of mean 1 / `lambd` from the exponential distribution."""
        return _drawn(self, lambda size: drawn_by(generator).exponential(1 / lambd, size))

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Tensor:
        """Overwrite the diagonal of a matrix with one number; with `wrap` it starts anew, one row below its end."""
        x: Any = self
        rows, i = x.shape[0], list(range(min(x.shape)))
        if wrap and x.ndim == 2 and rows > len(i):
            i = [k for k in range(rows) if (k + 1) % (x.shape[1] + 1)]
            x[i, [k % (x.shape[1] + 1) for k in i]] = fill_value
        else:
            x[(i,) * x.ndim] = fill_value
        return x

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Overwrite every entry with a draw from the normal distribution."""
        return _drawn(self, lambda size: drawn_by(generator).normal(mean, std, size))

    def random_(self, low: int | None = None, to: int | None = None, *, generator: Generator | None = None) -> Tensor:
        """Overwrite every entry with an integer from `low` up to, but without, `to`; of one number, from 0 up to that.

        Without numbers, from 0 to the largest integer up to which the dtype has all.
        """
        start, end = (0, low) if to is None else (low or 0, to)
        stop = _last_whole(self.dtype) + 1 if end is None else end  # type: ignore[attr-defined]
        return _drawn(self, lambda size: drawn_by(generator).integers(start, stop, size))

    def uniform_(self, low: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Overwrite every entry with a draw from `low` up to `to`, each as likely."""
        return _drawn(self, lambda size: drawn_by(generator).uniform(low, to, size))

    def copy_(self, other: TensorLike, non_blocking: bool = False) -> Tensor:
        """Overwrite every entry with those of `other`, which may broadcast, and may be on another device."""
        self[...] = other.to(device=self.device, non_blocking=non_blocking) if isinstance(other, Changes) else other  # type: ignore[attr-defined]
        return self  # type: ignore[return-value]

    def fill_(self, value: Any) -> Tensor:
        """Overwrite every entry with one number."""
        self[...] = value
        return self  # type: ignore[return-value]

    def zero_(self) -> Tensor:
        """Overwrite every entry with 0."""
        return self.fill_(0)


def _last_whole(dtype: Any) -> int:
    """The largest integer up to which a dtype has every one."""
    return 1 if dtype.kind == "b" else 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else min(int(np.iinfo(dtype).max), 2**63 - 1)


def _drawn(x: Any, draw: Callable[[tuple[int, ...]], Any]) -> Tensor:
    """`x` overwritten by a draw of its shape, made where `x` lives."""
    x[...] = asarray_like(draw(x.shape), x.data, dtype=x.dtype)
    return x


for _method in vars(Changes).values():  # help(t.exp_) says what `ops.exp` says first
    _op = getattr(ops, getattr(_method, "__name__", "").removesuffix("_"), None)
    if callable(_method) and _method.__doc__ is None and _op is not None:
        _method.__doc__ = (_op.__doc__ or "").partition("\n")[0].removesuffix(".") + ", in place."
