"""First values of parameters, written in place: each function fills the tensor it gets and returns it.

A unit that sums `fan_in` inputs of variance 1 has an output of variance fan_in * var(w). Xavier keeps that near 1 in both
directions, Kaiming also makes up for what the nonlinearity takes away (`gain`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .._tensor import Tensor
from ..backend import Array, Generator, xp_of
from ..backend import generator as drawn_by
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..ops.argument import need_number

Mode = Literal["fan_in", "fan_out"]
_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")
_GAINS = {**dict.fromkeys(_LINEAR, 1.0), "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers drawn uniformly from [a, b)."""
    need_number("uniform_", a=a, b=b)
    return _write(tensor, drawn_by(generator).random(dtype=_drawn_in(tensor), size=tensor.shape) * (b - a) + a)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers drawn from the normal distribution."""
    need_number("normal_", mean=mean, std=std)
    return _write(tensor, drawn_by(generator).standard_normal(dtype=_drawn_in(tensor), size=tensor.shape) * std + mean)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number.

    >>> constant_(Tensor([0.0, 0.0]), 0.5).tolist()
    [0.5, 0.5]
    """
    need_number("constant_", val=val)
    return _write(tensor, val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return _write(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return _write(tensor, 1)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in [-a, a) with a = gain sqrt(6 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward neural networks", eq. 16.
    """
    fan_in, fan_out = fans(tensor)
    bound = gain * math.sqrt(6 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with std = gain sqrt(2 / (fan_in + fan_out)).

    Source: Glorot and Bengio 2010, eq. 12.
    """
    fan_in, fan_out = fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2 / (fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Uniform in [-b, b) with b = gain sqrt(3 / fan); `a` is the negative slope of a leaky ReLU.

    Source: He et al. 2015, arXiv:1502.01852, eq. 10 and 14 (there as a normal distribution).
    """
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: Mode = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Normal with std = gain / sqrt(fan); `a` is the negative slope of a leaky ReLU.

    Source: He et al. 2015, arXiv:1502.01852, eq. 10 and 14.
    """
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers drawn from the part of the normal distribution between `a` and `b`; these are no multiples of `std`.

    What falls outside is drawn again; where most would, from a uniform distribution of which as much is kept as there should be.

    Raises:
        ArgumentError: nothing is between `a` and `b`, or `std` is not positive.
    """
    need_number("trunc_normal_", mean=mean, std=std, a=a, b=b)
    if not (a < b and std > 0):
        got = {"a": a, "b": b, "std": std}
        raise ArgumentError(explain("trunc_normal_: there is nothing to draw from", got=got, need="a < b and std > 0"))
    dtype, rng = _drawn_in(tensor), drawn_by(generator)
    within = 0.5 * (math.erf((b - mean) / std / math.sqrt(2)) - math.erf((a - mean) / std / math.sqrt(2)))
    peak = min(max(mean, a), b)  # where the density between a and b is highest
    values = np.empty(math.prod(tensor.shape), dtype=dtype)
    left = np.arange(values.size)
    while left.size:
        if within > 0.3:
            tried = rng.standard_normal(dtype=dtype, size=left.size) * std + mean
            kept = (tried >= a) & (tried <= b)
        else:
            tried = rng.random(dtype=dtype, size=left.size) * (b - a) + a
            height = ((peak - mean) ** 2 - (tried - mean) ** 2) / (2 * std * std)
            kept = rng.random(dtype=dtype, size=left.size) < np.exp(height)
        values[left[kept]] = tried[kept]
        left = left[~kept]
    return _write(tensor, np.clip(values, a, b).reshape(tensor.shape))


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with 1 on its diagonal and 0 elsewhere: a linear layer that passes on what it gets.

    Raises:
        ShapeError: it is no matrix.

    >>> eye_(Tensor([[5.0, 5.0], [5.0, 5.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    _need_ndim("eye_", tensor, (2,), "(row, column)")
    return _write(tensor, np.eye(tensor.shape[0], tensor.shape[1]))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution with kernels that pass on as many channels as they can, each group its own.

    Raises:
        ShapeError: it is no such weight, or its outputs don't make so many groups.

    >>> dirac_(Tensor([[[5.0, 5.0, 5.0]]])).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    _need_ndim("dirac_", tensor, (3, 4, 5), "(out, in / groups, *kernel)")
    outs, ins, *kernel = tensor.shape
    if groups < 1 or outs % groups:
        raise ShapeError(
            explain("dirac_: no such groups", got={"tensor": tensor.shape, "groups": groups}, need="out is a multiple of groups")
        )
    values, per = np.zeros(tensor.shape), outs // groups
    middle = tuple([k // 2 for k in kernel])
    for group in range(groups):
        for i in range(min(per, ins)):
            values[(group * per + i, i, *middle)] = 1
    return _write(tensor, values)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with rows, or columns where these are fewer, that stand at right angles to one another and have length `gain`.

    Of more than two axes all but the first are taken as one.

    Raises:
        ShapeError: fewer than two axes.

    Source: Saxe et al. 2013, arXiv:1312.6120, section 4; the signs as in Mezzadri 2006, arXiv:math-ph/0609050, so that every
    rotation is as likely.
    """
    need_number("orthogonal_", gain=gain)
    _need_ndim("orthogonal_", tensor, range(2, 65), "(row, column) or (out, in, *kernel)")
    if not math.prod(tensor.shape):
        return tensor
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    flat = drawn_by(generator).standard_normal(dtype=np.float64, size=(rows, columns))
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q *= np.where(np.diag(r) < 0, -1.0, 1.0)
    return _write(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with normal numbers, but in each column the part `sparsity` of the rows, drawn at random, with 0.

    Raises:
        ShapeError: it is no matrix.
        ArgumentError: `sparsity` is no part of 1.

    Source: Martens 2010, "Deep learning via Hessian-free optimization", section 5.
    """
    need_number("sparse_", sparsity=sparsity, std=std)
    _need_ndim("sparse_", tensor, (2,), "(row, column)")
    if not 0 <= sparsity <= 1:
        raise ArgumentError(explain("sparse_: sparsity is a part", got={"sparsity": sparsity}, need="0 <= sparsity <= 1"))
    rng, (rows, columns) = drawn_by(generator), tensor.shape
    values = rng.standard_normal(dtype=np.float64, size=(rows, columns)) * std
    zeros = math.ceil(sparsity * rows)
    order = np.argsort(rng.random(dtype=np.float64, size=(rows, columns)), axis=0)
    np.put_along_axis(values, order[:zeros], 0.0, axis=0)
    return _write(tensor, values)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much weights must grow to keep the variance through a nonlinearity.

    >>> round(calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity == "leaky_relu":
        need_number("calculate_gain", param=0.01 if param is None else param)
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ArgumentError(
            explain("calculate_gain: unknown nonlinearity", got={"nonlinearity": nonlinearity}, need=", ".join([*_GAINS, "leaky_relu"]))
        )
    return _GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and outputs a weight of shape (out, in, *kernel) joins.

    >>> fans(Tensor([[1.0, 2.0, 3.0]]))
    (3, 1)
    """
    shape = tensor.shape
    if len(shape) < 2:
        raise ShapeError(explain("init: fan in and fan out need a weight", got={"tensor": shape}, need="(out, in) or (out, in, *kernel)"))
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def _fan(tensor: Tensor, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentError(explain("init: unknown mode", got={"mode": mode}, need="fan_in or fan_out"))
    return max(1, fans(tensor)[mode == "fan_out"])


def _need_ndim(op: str, tensor: Tensor, ndims: Sequence[int], need: str) -> None:
    _ = _drawn_in(tensor)
    if tensor.ndim not in ndims:
        raise ShapeError(explain(f"{op}: this has another number of axes", got={"tensor": tensor.shape}, need=need))


def _drawn_in(tensor: Tensor) -> Any:
    if not isinstance(tensor, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KeywordError(explain("init: this is no tensor", got={"tensor": type(tensor).__name__}, need="a Parameter, or a tensor"))
    return np.float64 if tensor.dtype == np.float64 else np.float32  # the two dtypes NumPy's generators draw


def _write(tensor: Tensor, values: Array | float) -> Tensor:
    data = tensor._data
    data[...] = values if isinstance(values, (int, float)) else xp_of(data).asarray(values)
    tensor.bump()
    return tensor
