"""Changing a tensor in place: `x += y` and `x[i] = v`, inside a graph and outside of one."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import ops
from .errors import GraphError, ShapeError, explain
from .function import is_grad_enabled

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike

UNCHANGED = [0]  # the version of every tensor that was never changed and shares no memory: saves a list per step


def assign(x: Tensor, index: Any, value: TensorLike) -> None:
    """`x[index] = value`.

    Raises:
        GraphError: `x` is a leaf that requires a gradient, or a view that can't pass the change on.
    """

    def write() -> None:
        x._data[ops.raw_index(index)] = getattr(value, "_data", value)

    _change(x, "x[i] = v", value, write, lambda before: ops.set_index(before, index, value))


def arithmetic(x: Tensor, sign: str, other: TensorLike) -> Tensor:
    """`x += other` and its like; `sign` is the operator.

    Raises:
        GraphError: as for `assign`.
        ShapeError: the result has another shape than `x`.
    """
    ufunc, step = _ARITHMETIC[sign]
    operand: Any = getattr(other, "_data", other)
    if not _fits(np.shape(operand), x.shape):
        raise ShapeError(
            explain(f"x {sign} y: the result doesn't fit x", got={"x": x.shape, "y": np.shape(operand)}, need="a y that broadcasts to x")
        )

    def write() -> None:
        ufunc(x._data, operand, out=x._data, casting="same_kind")

    return _change(x, f"x {sign} y", other, write, lambda before: step(before, other))


_ARITHMETIC: dict[str, tuple[np.ufunc, Callable[[Any, Any], Tensor]]] = {
    "+=": (np.add, ops.add),
    "-=": (np.subtract, ops.sub),
    "*=": (np.multiply, ops.mul),
    "/=": (np.true_divide, ops.div),
}


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to the target without widening it."""
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(target), strict=False))


def _change(x: Tensor, what: str, other: Any, write: Callable[[], None], step: Callable[[Tensor], Tensor]) -> Tensor:
    """Change a tensor: in its memory where no gradient is asked for, else by a step of the graph.

    Inside the graph the values get new memory, so that what earlier steps saved stays right.
    """
    if is_grad_enabled() and (x.requires_grad or getattr(other, "requires_grad", False)):
        if x.grad_fn is None and x.requires_grad:
            raise GraphError(
                explain(
                    f"{what}: a leaf that requires a gradient can't be changed in place",
                    got={"shape": x.shape},
                    need="no_grad around the change, or a new tensor",
                    fix="with gl.no_grad(): ...",
                )
            )
        before = type(x).made(x._data, x.grad_fn)
        before.requires_grad, before._version = x.requires_grad, x.shared_version()
        after = step(before)
        if x.grad_fn is not None and x.grad_fn.view:
            after = _written_through(x, what, after)
        x._data, x.grad_fn, x.requires_grad, x._version = after._data, after.grad_fn, after.requires_grad, after._version
    elif x.grad_fn is not None:
        x._data = x._data.copy()  # what the graph saved stays as it was
        x._version = UNCHANGED
        write()
    else:
        write()
        x.bump()
    return x


def _written_through(x: Tensor, what: str, after: Tensor) -> Tensor:
    """The view `x` of a result, after what it looks at was given the new entries; `b[1] += v` comes here."""
    fn = x.grad_fn
    if not isinstance(fn, ops.Slice) or not fn.inputs:
        raise GraphError(
            explain(
                f"{what}: this tensor is a view, and the change would not reach what it looks at",
                got={"grad_fn": fn},
                need="a tensor of its own",
                fix="y = x.clone()",
            )
        )
    base: Any = fn.inputs[0]
    base[fn.params["index"]] = after
    return base[fn.params["index"]]
