"""Calls of the elementwise ops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .chooser import Call, Chooser, call
from .table import rows


def one(lo: float = -2.0, hi: float = 2.0, gap: float = 0.0) -> Callable[[Chooser], Call]:
    """One array with entries in a range."""
    return lambda c: call(c.floats(*c.shape(), lo=lo, hi=hi, gap=gap))


def two(lo: float = -2.0, hi: float = 2.0, gap: float = 0.0) -> Callable[[Chooser], Call]:
    """Two arrays that broadcast; those of the second stay away from 0."""

    def make(c: Chooser) -> Call:
        a, b = c.broadcast()
        return call(c.floats(*a, lo=lo, hi=hi), c.floats(*b, lo=lo, hi=hi, gap=gap))

    return make


def tied(c: Chooser) -> Call:
    """Two arrays of a few whole numbers: ties and zeros on both sides."""
    a, b = c.broadcast()
    return call(c.tied(*a), c.tied(*b))


def either(c: Chooser) -> Call:
    """One array and a number on either side."""
    x, number = c.floats(*c.shape(), lo=0.5), c.pick(2, -3, 0.5, 1.0)
    return call(x, number) if c.flag() else call(abs(number), x)


rows("neg sin cos tanh exp expm1 sigmoid sinh cosh atan asinh erf erfc square positive sinc exp2 rad2deg deg2rad", one())
rows("tan", one(-1.2, 1.2))
rows("abs sgn", one(gap=0.1))
rows("abs sign relu sgn", lambda c: call(c.tied(*c.shape())))
rows("log log2 log10 sqrt rsqrt lgamma digamma", one(0.3, 3.0))
rows("sqrt log log2 log10 log1p rsqrt reciprocal", lambda c: call(c.tied(*c.shape())))  # at 0 and below
rows("log1p", one(-0.8, 3.0))
rows("reciprocal", one(gap=0.4))
rows("asin acos atanh erfinv", one(-0.9, 0.9))
rows("acosh", one(1.1, 3.0))
rows("logit", lambda c: call(c.floats(*c.shape(), lo=0.1, hi=0.9), eps=c.pick(None, 0.2)))
rows("floor ceil trunc frac", one(-3.0, 3.0))
rows("round", lambda c: call(c.floats(*c.shape(), lo=-3, hi=3), decimals=c.pick(None, 1, -1)))
rows("floor ceil round trunc frac", lambda c: call(c.tied(*c.shape()) * 0.5))
rows("isnan isinf isfinite isposinf isneginf nan_to_num", lambda c: call(np.choose(c.ints(*c.shape()), [0.5, np.nan, np.inf, -np.inf])))
rows("signbit logical_not", lambda c: call(c.tied(*c.shape())))

rows("add sub mul maximum minimum fmax fmin hypot logaddexp logaddexp2", two())
rows("add sub", lambda c: call(*two()(c).args, alpha=c.pick(2.0, -1.0, 3.0)))
rows("add sub mul div", either)
rows("div true_divide remainder fmod floor_divide atan2 copysign", two(gap=0.4))
rows("div", lambda c: call(*two(gap=0.4)(c).args, rounding_mode=c.pick("floor", "trunc")))
rows("add mul sub maximum minimum fmax fmin lt le gt ge eq ne logical_and logical_or logical_xor", tied)
rows("lt le gt ge eq ne", two())
rows("heaviside", tied, ours=None)
rows("pow float_power", two(0.3, 2.0))
rows("pow", either)
rows("pow", lambda c: call(c.tied(*c.shape()), c.pick(0, 1, 2, 3, -1, 0.5, 2.5)))
rows("pow", lambda c: call(c.pick(2, 0.5, 1), c.tied(*c.shape())))
rows("xlogy", lambda c: call(*two(0.0, 3.0, gap=0.2)(c).args))
rows("remainder floor_divide", either)
rows("fmod", lambda c: call(c.floats(*c.shape()), c.pick(2, -3, 0.5)))


def clamped(c: Chooser) -> Call:
    """Limits that are numbers, or none on one side; no entry at a limit."""
    lo, hi = c.pick((-1.05, 1.05), (None, 0.55), (-0.45, None), (0.55, -0.55))
    return call(c.distinct(*c.shape()), min=lo, max=hi)


def clamped_by_tensors(c: Chooser) -> Call:
    """Limits that are tensors."""
    lo, hi = c.broadcast()
    x = np.broadcast_shapes(lo, hi)
    return call(c.distinct(*x), c.floats(*lo, hi=-0.5), c.floats(*hi, lo=0.5))


rows("clamp clip", clamped)
rows("clamp", clamped_by_tensors)
rows("clamp", lambda c: call(c.tied(*c.shape()), min=-1.0, max=1.0))
rows("clamp_min clamp_max", lambda c: call(c.tied(*c.shape()), c.pick(-1.0, 0.0, 0.5)))
rows("where", lambda c: (lambda m, a, b: call(c.bools(*m), c.floats(*a), c.floats(*b)))(*c.broadcast(3)))
rows("masked_fill", lambda c: call(c.floats(*(s := c.shape())), c.bools(*s), c.pick(0.0, -1.5, 2)))
rows("lerp", lambda c: (lambda a, b, w: call(c.floats(*a), c.floats(*b), c.floats(*w)))(*c.broadcast(3)))
rows("lerp", lambda c: call(*two()(c).args, c.pick(0.0, 0.25, 1.0)))
rows("addcmul", lambda c: (lambda x, a, b: call(c.floats(*x), c.floats(*a), c.floats(*b), value=c.pick(None, 2.0)))(*c.broadcast(3)))
rows(
    "addcdiv", lambda c: (lambda x, a, b: call(c.floats(*x), c.floats(*a), c.floats(*b, gap=0.5), value=c.pick(None, 2.0)))(*c.broadcast(3))
)

rows("softplus", lambda c: call(c.floats(*c.shape(), lo=-4, hi=4), beta=c.pick(None, 0.5, 2.0), threshold=c.pick(None, 3.0)))
rows("leaky_relu", lambda c: call(c.floats(*c.shape()), c.pick(0.01, 0.2, 0.0)))
rows("leaky_relu relu6 silu mish softsign tanhshrink logsigmoid hardtanh hardswish elu celu selu gelu", one(-5, 5, gap=0.1))
rows(
    "relu6 hardtanh hardswish elu celu selu leaky_relu hardshrink softshrink",
    lambda c: call(c.tied(*c.shape()) * c.pick(0.25, 1.0, 3.0)),
)
rows("elu celu", lambda c: call(c.floats(*c.shape()), c.pick(0.5, 2.0)))
rows("hardtanh", lambda c: call(c.floats(*c.shape()), -0.7, 1.3))
rows("hardshrink softshrink", lambda c: call(c.floats(*c.shape(), gap=0.02), c.pick(0.5, 0.01)))
rows("threshold", lambda c: call(c.floats(*c.shape()), 0.1, c.pick(-1.0, 3.0)))
rows("gelu", lambda c: call(c.floats(*c.shape(), lo=-4, hi=4), approximate="tanh"))
rows("prelu", lambda c: (lambda s, n: call(c.floats(*s, gap=0.05), c.floats(n)))(*(lambda s: (s, c.pick(1, s[1])))(c.shape(2, 4))))
rows("prelu", lambda c: call(c.floats(*c.shape(0, 1), gap=0.05), c.floats(1)))
rows("glu", lambda c: call(c.floats(*(s := (*c.shape(0, 2), c.pick(2, 4)))), dim=c.pick(-1, len(s) - 1)))

SIXTH = 1e-7  # PyTorch's 1/6 is a float32
rows("hardsigmoid", one(-5, 5, gap=0.1), slack=SIXTH)
rows("hardsigmoid", lambda c: call(c.tied(*c.shape()) * c.pick(0.25, 1.0, 3.0)), slack=SIXTH)

# -- second names, which PyTorch has too

rows("negative absolute arcsin arccos arctan arcsinh arctanh fix", one(-0.9, 0.9, gap=0.1))
rows("expit", one(), "sigmoid")
rows("arccosh", one(1.1, 3.0))
rows("multiply subtract greater greater_equal less less_equal not_equal", two())
rows("divide arctan2", two(gap=0.4))
rows("rrelu", lambda c: call(c.floats(*c.shape(), gap=0.05), training=False))


def whole_pair(lo: int = -5, hi: int = 6) -> Callable[[Chooser], Call]:
    """Two integer arrays that broadcast."""

    def make(c: Chooser) -> Call:
        a, b = c.broadcast()
        return call(c.ints(*a, lo=-5, hi=6), c.ints(*b, lo=lo, hi=hi))

    return make


rows("bitwise_and bitwise_or bitwise_xor", whole_pair())
rows("bitwise_and bitwise_or bitwise_xor", lambda c: (lambda a, b: call(c.bools(*a), c.bools(*b)))(*c.broadcast()))
rows("bitwise_left_shift bitwise_right_shift", whole_pair(0, 4))
rows("bitwise_not", lambda c: call(c.ints(*c.shape(), lo=-5, hi=6)))
rows("isclose", lambda c: (lambda a, b: call(c.tied(*a), c.tied(*b) * (1 + 1e-6), rtol=c.pick(1e-3, 1e-9)))(*c.broadcast()))
rows("allclose equal", lambda c: call(x := c.tied(*c.shape()), c.pick(x, x + 1.0)))
rows("clone", one())
rows(
    "cast to",
    lambda c: call(c.floats(*c.shape(), lo=-3, hi=3), c.pick("float32", "float64", "int64", "bool")),
    lambda torch, x, d: x.to(getattr(torch, d)),
)
