"""What recurrent layers share: which shapes belong together, and rows for the products. Not an op."""

from __future__ import annotations

from math import prod
from typing import Any

from ..backend import Array, as_array, xp_of
from ..errors import ShapeError, explain
from .dtype import need_floats, need_one_dtype, wide

NAMES = ("w_ih", "w_hh", "b_ih", "b_hh")


def need_fit(op: str, gates: int, axes: int, x: Array, states: dict[str, Array], *weights: Any) -> None:
    """Refuse what is no recurrent layer; a bias may be a plain number.

    Raises:
        ShapeError: shapes that don't belong together.
        DTypeError: not floats, or of several kinds.
    """
    need_floats(op, x)
    named = {**states, **{name: w for name, w in zip(NAMES, weights, strict=False) if hasattr(w, "shape")}}
    for name, array in named.items():
        if array.dtype is not x.dtype:
            need_floats(op, array)
            need_one_dtype(op, **{name: array, "input": x})
    h = next(iter(states.values()))
    n = h.shape[-1] if h.ndim else 0
    fits = {"w_ih": (gates * n, x.shape[-1] if x.ndim else 0), "w_hh": (gates * n, n), "b_ih": (gates * n,), "b_hh": (gates * n,)}
    if x.ndim != axes or any(array.shape != fits.get(name, (*x.shape[-2:-1], n)) for name, array in named.items()):
        rows = "hidden" if gates == 1 else f"{gates} hidden"
        front = "time, batch" if axes == 3 else "batch"
        need = f"input: ({front}, feature), states: (batch, hidden), w_ih: ({rows}, feature), w_hh: ({rows}, hidden), biases: ({rows})"
        raise ShapeError(
            explain(f"{op}: the shapes don't go together", got={"input": x.shape, **{k: a.shape for k, a in named.items()}}, need=need)
        )


def rows(x: Array) -> Array:
    """(time, batch, n) as (time batch, n)."""
    return x.reshape((prod(x.shape[:-1]), x.shape[-1]))


def inputs(*given: Any, biases: tuple[Any, Any]) -> list[Any]:
    """What an op reads: arrays of lists, and both biases or none; a missing one beside another is 0."""
    some = biases if biases != (None, None) else ()
    return [x if hasattr(x, "grad_fn") else as_array(x) for x in given] + [
        b if hasattr(b, "grad_fn") else 0.0 if b is None else as_array(b) for b in some
    ]


def added(b_ih: Any, b_hh: Any) -> Any:
    """Both biases as one; either may be the number 0."""
    return sum([wide(b) for b in (b_ih, b_hh) if hasattr(b, "shape")])


def sums(dz: Array, needs: tuple[bool, ...]) -> tuple[Array | None, ...]:
    """The gradients of the biases, each an array of its own."""
    xp = xp_of(dz)
    return tuple([xp.ones(dz.shape[0], dtype=dz.dtype) @ dz if need else None for need in needs])
