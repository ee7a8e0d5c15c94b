"""NumPy functions called with tensors: `np.sqrt(t)`, `array * t`, `p.data -= lr * p.grad`, `np.sum(t)`."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from . import inplace, ops
from .errors import DTypeError, explain
from .function import wants_gradient
from .surface import Surface

# What says something about a tensor without being a number made from it.
_GRADIENT_FREE = {
    np.shape, np.ndim, np.size, np.allclose, np.isclose, np.array_equal, np.array2string, np.array_repr, np.array_str, np.result_type,
    np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.shares_memory, np.may_share_memory,
}  # fmt: skip


def ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], out: tuple[Any, ...] | None, kwargs: dict[str, Any]) -> Any:
    """`array * tensor` is a step of the graph; with an `out` the array is written and nothing recorded.

    Raises:
        DTypeError: gradlab has no op for this ufunc.
        GraphError: `out` is a tensor that requires a gradient.
    """
    if out is not None:
        for x in out:
            if isinstance(x, Surface):
                inplace.refuse_in_graph(cast("Any", x), f"numpy.{ufunc.__name__}(..., out=x)")
        getattr(ufunc, method)(*_arrays(inputs), out=_arrays(out), **kwargs)
        for x in out:
            if isinstance(x, Surface):
                cast("Any", x).bump()
        return out[0] if len(out) == 1 else out
    if method != "__call__" or ufunc not in ops.UFUNCS or kwargs:
        known = ", ".join(sorted(u.__name__ for u in ops.UFUNCS))
        raise _unknown(f"numpy.{ufunc.__name__}", {"method": method, **kwargs}, f"one of {known}, or an array", fixed=method == "__call__")
    return ops.UFUNCS[ufunc](*inputs)


def kernel(name: str, inputs: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
    """What CuPy asks when it meets a tensor beside one of its arrays: the same answers as NumPy's ufuncs get.

    Raises:
        DTypeError: gradlab has no op for this kernel.
    """
    found = getattr(np, name.removeprefix("cupy_"), None)
    if not isinstance(found, np.ufunc):
        raise _unknown(f"cupy.{name.removeprefix('cupy_')}", {"argument": "a tensor"}, "a gradlab function, or an array", fixed=False)
    if out is None and len(inputs) > found.nin:
        inputs, out = inputs[: found.nin], inputs[found.nin]
    return ufunc(found, "__call__", inputs, None if out is None else (out,), kwargs)


def function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.sum(t)` is a step of the graph; a function without an op gets arrays, unless that would cut a graph.

    Raises:
        DTypeError: gradlab has no op for this function, and an argument requires a gradient.
    """
    op = ops.ARRAY_FUNCTIONS.get(function)
    if op is not None:
        return op(*args, **kwargs)
    if function not in _GRADIENT_FREE and wants_gradient((*args, *kwargs.values())):
        need = "a gradlab function, or tensors without history"
        raise _unknown(f"numpy.{function.__name__}", {"argument": "a tensor that requires a gradient"}, need, fixed=True)
    return function(*_arrays(args), **{name: _arrays(value) for name, value in kwargs.items()})


def _unknown(name: str, got: dict[str, Any], need: str, *, fixed: bool) -> DTypeError:
    fix = f"{name}(t.detach().numpy())" if fixed else ""
    return DTypeError(explain(f"{name}: gradlab can't differentiate this call", got=got, need=need, fix=fix))


def _arrays(value: Any) -> Any:
    """Nested arguments with arrays in the place of tensors."""
    if isinstance(value, (list, tuple)):
        arrays = [_arrays(v) for v in cast("list[Any]", value)]
        return tuple(arrays) if isinstance(value, tuple) else arrays
    return cast("Any", value)._data if isinstance(value, Surface) else value
