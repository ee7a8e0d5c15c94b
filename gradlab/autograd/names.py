"""NumPy's names for formulas that run on Tensors: what `xp_of(tensor)` answers in a pass that makes a graph."""

# ruff: noqa: D102 - forward and backward are explained by the formula above them

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from .. import ops
from ..backend import Array, scatter_add, xp_of
from ..errors import DTypeError, explain
from ..function import Function, made, wants_gradient
from ..ops.place import raw_index

if TYPE_CHECKING:
    from .._tensor import Tensor

# Constant between their jumps, so that their derivative is 0: they answer with arrays.
STEPS = {"all", "any", "argmax", "argmin", "argsort", "ceil", "count_nonzero", "floor", "isfinite", "isinf", "isnan", "logical_and",
         "logical_not", "logical_or", "nonzero", "rint", "round", "sign", "signbit", "trunc"}  # fmt: skip
NEW = {"full", "full_like", "ones", "ones_like"}
BUFFERS = {"empty", "empty_like", "zeros", "zeros_like"}  # made to be written into


class Names:
    """The functions of one array library, each with an op in its place where it meets a Tensor.

    >>> import gradlab as gl, numpy as np
    >>> names_of(np).sum(gl.ones(2, 3), axis=0)
    tensor([2., 2., 2.], shape=(3,))
    """

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        plain, op = getattr(self._xp, name), OPS.get(name)
        if op is not None:
            found: Any = op if op is OPS["add"] else partial(_op, plain, op)
        elif isinstance(plain, ModuleType):
            raise _unknown(name)
        elif not callable(plain) or isinstance(plain, type):
            found = plain
        else:
            found = partial(_step if name in STEPS else _new if name in NEW else _buffer if name in BUFFERS else _without_op, plain)
        setattr(self, name, found)
        return found

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        """A Tensor in this dtype; what holds no floats stays an array."""
        if hasattr(x, "grad_fn"):
            return x if dtype is None or x.dtype == dtype else ops.cast(x, dtype)
        if isinstance(x, (list, tuple)) and wants_gradient(cast("Any", x)):
            return ops.stack([self.asarray(v, dtype) for v in cast("list[Any]", x)])
        return _tensor(self._xp.asarray(_raw(x), dtype=dtype))

    def array(self, x: Any, dtype: Any = None, copy: bool = True, order: str = "K") -> Any:
        """The same, in memory of its own; in which order changes no number."""
        y = self.asarray(x, dtype)
        return ops.clone(y) if y is x else y

    def ascontiguousarray(self, x: Any) -> Any:
        """How a Tensor lies in memory changes no number."""
        return self.asarray(x)

    @property
    def linalg(self) -> Any:
        """`xp.linalg`: those of its functions that rules use."""
        return _Linalg


class _Linalg:
    """The ops for `xp.linalg`, under its names."""

    cholesky = staticmethod(ops.cholesky)
    det = staticmethod(ops.det)
    eigh = staticmethod(ops.eigh)
    inv = staticmethod(ops.inverse)
    qr = staticmethod(ops.qr)
    slogdet = staticmethod(ops.slogdet)
    solve = staticmethod(ops.solve)
    svd = staticmethod(ops.linalg_svd)


@cache
def names_of(xp: Any) -> Names:
    """The names for Tensors whose arrays are served by `xp`."""
    return Names(xp)


class Same(Function):
    """y = x;  dx = g: a place of its own in the graph, where a pass can end."""

    kind = "shape"
    reads = ()

    def forward(self, x: Any) -> Any:
        return x

    def backward(self, g: Any) -> Any:
        return g


class ScatterAdd(Function):
    """y = zeros with v added at each place of index;  dv = g[index]."""

    kind = "shape"
    reads = ()

    def forward(self, v: Array, shape: tuple[int, ...], index: Any) -> Array:
        self.index = index
        y = xp_of(v).zeros(shape, dtype=v.dtype)
        scatter_add(y, index, v)
        return y

    def backward(self, g: Array) -> Array:
        return g[self.index]


class _Add:
    """`xp.add`, with the `at` that adds to a place each time it is named."""

    def __call__(self, a: Any, b: Any) -> Tensor:
        return ops.add(a, b)

    def at(self, out: Any, index: Any, values: Any) -> None:
        """out[index] += values, repeated places counted."""
        out += ScatterAdd.apply(values, shape=out.shape, index=raw_index(index))


def _pad(x: Any, widths: Sequence[tuple[int, int]], constant_values: float = 0.0) -> Tensor:
    return ops.pad(x, [n for pair in reversed(widths) for n in pair], value=constant_values)


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if hasattr(x, "shape") else xp_of(x).shape(x)


def _ndim(x: Any) -> int:
    return len(_shape(x))


OPS: dict[str, Callable[..., Any]] = {
    **{name: op for function, op in ops.ARRAY_FUNCTIONS.items() for name in [function.__name__] if name not in STEPS},
    **{name: op for function, op in ops.UFUNCS.items() for name in [function.__name__] if name not in STEPS},
    "abs": ops.abs,
    "add": _Add(),
    "atleast_1d": ops.atleast_1d,
    "atleast_2d": ops.atleast_2d,
    "ndim": _ndim,
    "pad": _pad,
    "shape": _shape,
}


def _raw(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        raw = [_raw(v) for v in cast("Sequence[Any]", x)]
        return tuple(raw) if isinstance(x, tuple) else raw
    return x._data if hasattr(x, "grad_fn") else x


def _tensor(array: Array) -> Any:
    return made(array) if array.dtype.kind == "f" else array


def _some(values: Any) -> bool:
    """Whether a Tensor is among them, at any depth of lists and tuples."""
    return any(map(_some, cast("list[Any]", values))) if isinstance(values, (list, tuple)) else hasattr(values, "grad_fn")


def _op(plain: Callable[..., Any], op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs) if _some(args) or _some((*kwargs.values(),)) else plain(*args, **kwargs)


def _step(plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return plain(*_raw(args), **kwargs)


def _new(plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return _tensor(plain(*_raw(args), **kwargs))


def _buffer(plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A result, so that a slice of it is one too, and knows where to write: `y[part] += x`."""
    y = _new(plain, *args, **kwargs)
    return ops.clone(y.requires_grad_()) if hasattr(y, "grad_fn") else y


def _without_op(plain: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if wants_gradient((*args, *kwargs.values())):
        raise _unknown(plain.__name__)
    return plain(*_raw(args), **{name: _raw(value) for name, value in kwargs.items()})


def _unknown(name: str) -> DTypeError:
    return DTypeError(explain(f"xp.{name}: there is no op for it", got={"argument": "a tensor"}, need="functions that have an op"))
