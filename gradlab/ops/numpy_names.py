"""What NumPy's own functions mean on a Tensor: `np.exp(t)`, `array * t`, `np.sum(t, axis=0)`.

Every function here takes its arguments as NumPy's does (axis, keepdims, ddof) and answers with a step of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import KeywordError, ShapeError, explain
from .alias import positive
from .angle import atan2, deg2rad, rad2deg
from .arithmetic import add, mul, neg, sub
from .arrange import flip, roll, rot90
from .axes import moveaxis, permute, transpose
from .bitwise import bitwise_and, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor
from .cast import cast
from .clamp import clamp, nan_to_num
from .comparison import eq, ge, gt, le, lt, ne
from .cumulative import cumprod, cumsum
from .diagonal import diag, diagonal
from .division import div, floor_divide, fmod, remainder
from .einsum import einsum, inner, outer, tensordot
from .expand import expand
from .exponential import exp, exp2, expm1, log, log1p, log2, log10
from .extremum import amax, amin
from .hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from .join import cat, stack
from .linalg import matmul
from .logaddexp import logaddexp, logaddexp2
from .logic import isfinite, isinf, isnan, isneginf, isposinf, logical_and, logical_not, logical_or, logical_xor
from .maximum import fmax, fmin, maximum, minimum
from .numpy_arrays import ARRAYS
from .numpy_linalg import LINALG
from .pad import pad
from .power import float_power, hypot, pow, reciprocal, sqrt, square  # noqa: A004
from .product import kron
from .reduce import mean, prod, sum  # noqa: A004
from .repeat import repeat_interleave, tile
from .rounding import ceil, floor, round, trunc  # noqa: A004
from .shape import reshape
from .sign import abs, copysign, heaviside, sign, signbit  # noqa: A004
from .spread import std, var
from .squeeze import squeeze, unsqueeze
from .triangle import tril, triu
from .trigonometry import acos, asin, atan, cos, sin, sinc, tan
from .where import where
from .winner import argmax, argmin

if TYPE_CHECKING:
    from .._tensor import Tensor

Axis = int | tuple[int, ...] | None


def _plain(name: str, **given: Any) -> None:
    """Refuse arguments of NumPy's that a step of the graph has no meaning for."""
    wrong = {key: value for key, value in given.items() if value is not None}
    if wrong:
        raise KeywordError(explain(f"numpy.{name}: not on a tensor", got=wrong, need="the call without " + " and ".join(wrong)))


def _reduction(name: str, op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """sum, mean, prod: NumPy's order of arguments."""

    def reduce(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **rest: Any) -> Tensor:
        _plain(name, out=out, **rest)
        return op(a if dtype is None else cast(a, dtype), axis, keepdims)

    return reduce


def _extremum(name: str, op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """max, min, argmax, argmin: the values, or the places, alone."""

    def choose(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, **rest: Any) -> Tensor:
        _plain(name, out=out, **rest)
        return op(a, axis, keepdims)

    return choose


def _spread(name: str, op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """var, std: over n unless ddof says otherwise."""

    def spread(
        a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False, *,
        correction: int | None = None, **rest: Any,
    ) -> Tensor:  # fmt: skip
        _plain(name, out=out, **rest)
        return op(a if dtype is None else cast(a, dtype), axis, ddof if correction is None else correction, keepdims)

    return spread


def _dot(a: Any, b: Any, out: Any = None) -> Tensor:
    """The last axis of a with the last but one of b; where b has more than two, those in front stay as they are."""
    _plain("dot", out=out)
    left, right = np.shape(a), np.shape(b)
    if not left or not right:
        return mul(a, b)
    n = len(right)
    if n <= 2:
        return matmul(a, b)
    rows = reshape(permute(b, (n - 2, *range(n - 2), n - 1)), right[-2], -1)
    return reshape(matmul(a, rows), (*left[:-1], *right[:-2], right[-1]))


def _einsum(subscripts: str, *operands: Any, out: Any = None, optimize: Any = None, **rest: Any) -> Tensor:
    _plain("einsum", out=out, **rest)
    return einsum(subscripts, *operands)


def _axes(axes: Any) -> Any:
    """Two lists, where NumPy takes a single axis for each too."""
    return [[x] if isinstance(x, int) else x for x in axes]


def _concatenate(arrays: Sequence[Any], axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Tensor:
    _plain("concatenate", out=out, casting=casting)
    joined = cat([reshape(x, -1) for x in arrays]) if axis is None else cat(arrays, axis)
    return joined if dtype is None else cast(joined, dtype)


def _stack(arrays: Sequence[Any], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Tensor:
    _plain("stack", out=out, casting=casting)
    joined = stack(arrays, axis)
    return joined if dtype is None else cast(joined, dtype)


def _where(condition: Any, *choices: Any) -> Any:
    """With two choices the op; with the condition alone the places where it holds, as arrays."""
    return where(condition, *choices) if choices else np.nonzero(np.asarray(condition))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **rest: Any) -> Tensor:
    _plain("clip", out=out, **rest)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    return a if low is high is None else clamp(a, low, high)


def _round(a: Any, decimals: int = 0, out: Any = None) -> Tensor:
    _plain("round", out=out)
    return round(a, decimals)


def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    _plain("nan_to_num", copy=None if copy else False)
    return nan_to_num(x, nan, posinf, neginf)


def _reshape(a: Any, shape: Any = None, order: str = "C", **rest: Any) -> Tensor:
    _plain("reshape", order=None if order == "C" else order, **rest)
    return reshape(a, tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))


def _transpose(a: Any, axes: Sequence[int] | None = None) -> Tensor:
    return permute(a, tuple(range(np.ndim(a)))[::-1] if axes is None else tuple(axes))


def _squeeze(a: Any, axis: Axis = None) -> Tensor:
    """Unlike `gl.squeeze`, an axis that is asked for must have size 1."""
    y = squeeze(a, axis)
    if axis is not None and np.ndim(a) - y.ndim != (len(axis) if isinstance(axis, tuple) else 1):
        raise ShapeError(explain("numpy.squeeze: this axis has another size", got={"a": np.shape(a), "axis": axis}, need="size 1"))
    return y


def _expand_dims(a: Any, axis: int | tuple[int, ...]) -> Tensor:
    axes = axis if isinstance(axis, tuple) else (axis,)
    n = np.ndim(a) + len(axes)
    for place in sorted([i % n if -n <= i < n else i for i in axes]):
        a = unsqueeze(a, place)
    return a


def _running(name: str, op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """cumsum, cumprod: of the flattened tensor where no axis is given."""

    def run(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Tensor:
        _plain(name, out=out)
        return op(reshape(a, -1), 0, dtype) if axis is None else op(a, axis, dtype)

    return run


def _flip(m: Any, axis: Axis = None) -> Tensor:
    return flip(m, *(range(np.ndim(m)) if axis is None else axis if isinstance(axis, tuple) else (axis,)))


def _tile(a: Any, reps: Any) -> Tensor:
    return tile(a, *(reps if isinstance(reps, (tuple, list)) else (reps,)))


UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: add, np.subtract: sub, np.multiply: mul, np.true_divide: div, np.floor_divide: floor_divide, np.remainder: remainder,
    np.fmod: fmod, np.negative: neg, np.absolute: abs, np.fabs: abs, np.sign: sign, np.signbit: signbit, np.copysign: copysign,
    np.heaviside: heaviside, np.maximum: maximum, np.minimum: minimum, np.fmax: fmax, np.fmin: fmin, np.matmul: matmul,
    np.power: pow, np.float_power: float_power, np.square: square, np.sqrt: sqrt, np.reciprocal: reciprocal, np.hypot: hypot,
    np.exp: exp, np.exp2: exp2, np.expm1: expm1, np.log: log, np.log2: log2, np.log10: log10, np.log1p: log1p,
    np.logaddexp: logaddexp, np.logaddexp2: logaddexp2, np.floor: floor, np.ceil: ceil, np.trunc: trunc, np.rint: round,
    np.sin: sin, np.cos: cos, np.tan: tan, np.arcsin: asin, np.arccos: acos, np.arctan: atan, np.arctan2: atan2,
    np.deg2rad: deg2rad, np.radians: deg2rad, np.rad2deg: rad2deg, np.degrees: rad2deg,
    np.sinh: sinh, np.cosh: cosh, np.tanh: tanh, np.arcsinh: asinh, np.arccosh: acosh, np.arctanh: atanh,
    np.less: lt, np.less_equal: le, np.greater: gt, np.greater_equal: ge, np.equal: eq, np.not_equal: ne,
    np.isnan: isnan, np.isinf: isinf, np.isfinite: isfinite, np.positive: positive,
    np.logical_and: logical_and, np.logical_or: logical_or, np.logical_xor: logical_xor, np.logical_not: logical_not,
    np.bitwise_and: bitwise_and, np.bitwise_or: bitwise_or, np.bitwise_xor: bitwise_xor, np.invert: bitwise_not,
    np.left_shift: bitwise_left_shift, np.right_shift: bitwise_right_shift,
}  # fmt: skip


def _pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: float = 0, **rest: Any) -> Tensor:
    """NumPy pads from the first axis on, and has names of its own for where entries come from."""
    _plain("pad", **rest)
    pairs = np.broadcast_to(pad_width, (np.ndim(array), 2)).tolist()
    if mode == "constant":
        return pad(array, [n for pair in reversed(pairs) for n in pair], value=constant_values)
    while pairs and pairs[0] == [0, 0]:  # axes in front that stay as they are
        del pairs[0]
    return pad(array, [n for pair in reversed(pairs) for n in pair], {"edge": "replicate", "wrap": "circular"}.get(mode, mode))


ARRAY_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _reduction("sum", sum),
    np.mean: _reduction("mean", mean),
    np.prod: _reduction("prod", prod),
    np.max: _extremum("max", amax),
    np.amax: _extremum("amax", amax),
    np.min: _extremum("min", amin),
    np.amin: _extremum("amin", amin),
    np.argmax: _extremum("argmax", argmax),
    np.argmin: _extremum("argmin", argmin),
    np.var: _spread("var", var),
    np.std: _spread("std", std),
    **LINALG,
    np.dot: _dot,
    np.einsum: _einsum,
    np.inner: inner,
    np.kron: kron,
    np.outer: lambda a, b, out=None: outer(reshape(a, -1), reshape(b, -1)),
    np.tensordot: lambda a, b, axes=2: tensordot(a, b, axes if isinstance(axes, int) else _axes(axes)),
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.where: _where,
    np.clip: _clip,
    np.round: _round,
    np.around: _round,
    np.fix: trunc,
    np.isposinf: isposinf,
    np.isneginf: isneginf,
    np.sinc: sinc,
    np.nan_to_num: _nan_to_num,
    np.pad: _pad,
    np.reshape: _reshape,
    np.ravel: lambda a, order="C": _reshape(a, -1, order),
    np.transpose: _transpose,
    np.swapaxes: lambda a, axis1, axis2: transpose(a, axis1, axis2),
    np.moveaxis: moveaxis,
    np.flip: _flip,
    np.flipud: lambda m: flip(m, 0),
    np.fliplr: lambda m: flip(m, 1),
    np.roll: lambda a, shift, axis=None: roll(a, shift, axis),
    np.rot90: lambda m, k=1, axes=(0, 1): rot90(m, k, tuple(axes)),
    np.tile: _tile,
    np.repeat: lambda a, repeats, axis=None: repeat_interleave(a, repeats, axis),
    np.cumsum: _running("cumsum", cumsum),
    np.cumprod: _running("cumprod", cumprod),
    np.diag: lambda v, k=0: diag(v, k),
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal(a, offset, axis1, axis2),
    np.tril: lambda m, k=0: tril(m, k),
    np.triu: lambda m, k=0: triu(m, k),
    np.squeeze: _squeeze,
    np.expand_dims: _expand_dims,
    np.broadcast_to: lambda array, shape: expand(array, tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)),
    **ARRAYS,
}
