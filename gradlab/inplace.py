"""Changing a tensor in place: `x += y` and `x[i] = v`, inside a graph and outside of one."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import ops
from .backend import ARRAY_TYPES, need_one_device
from .errors import DTypeError, GraphError, ShapeError, explain
from .function import Function, asked, wants_gradient
from .grad_mode import is_grad_enabled, no_grad
from .ops.place import in_two_steps, misplaced, raw_index
from .views import View, again, family, laid_out_as, lineage, put, repeats

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike


def assign(x: Tensor, index: Any, value: TensorLike) -> None:
    """`x[index] = value`.

    Raises:
        GraphError: the change can't be differentiated, see `_change`.
        DTypeError: integers can't hold what requires a gradient; None and text are no numbers (NumPy would write NaN).
    """
    if value is None or isinstance(value, (str, bytes)):
        raise DTypeError(explain("x[i] = v: this is no number", got={"v": value}, need="a number, an array or a tensor"))
    if _is_entries_of(value, x, index):
        return  # `x[i] += v` ends here: the slice has written through already

    def write() -> None:
        place = raw_index(index)
        steps = in_two_steps(place, x.ndim)
        try:
            if steps is None:
                x._data[place] = getattr(value, "_data", value)
            else:
                x._data[steps[0]][steps[1]] = getattr(value, "_data", value)
        except IndexError as error:
            raise misplaced(x._data, raw_index(index), error) from None
        except (ValueError, TypeError) as error:
            _need_one_device(x, "x[i] = v", value, index)
            if isinstance(error, TypeError):
                raise
            raise _unwritten(x, "x[i] = v", value, error) from None

    _change(x, "x[i] = v", value, write, lambda before: ops.set_index(before, index, value))


def arithmetic(x: Tensor, sign: str, other: TensorLike) -> Tensor:
    """`x += other` and its like; `sign` is the operator.

    Raises:
        GraphError: the change can't be differentiated, see `_change`.
        ShapeError: the result has another shape than `x`.
        DTypeError: the result is no integer, but `x` holds integers.
    """
    ufunc, op = _ARITHMETIC[sign]
    operand: Any = getattr(other, "_data", other)
    if not _fits(np.shape(operand), x.shape):
        got = {"x": x.shape, "y": np.shape(operand)}
        raise ShapeError(explain(f"x {sign} y: the result doesn't fit x", got=got, need="a y that broadcasts to x"))

    def write() -> None:
        try:
            ufunc(x._data, operand, out=x._data, casting="same_kind")
        except TypeError:
            _need_one_device(x, f"x {sign} y", other)
            with no_grad():
                after = op(x, other)  # where it is the operands that are wrong, the op says it best
            if not _holds(x, after):
                raise _no_float(x, f"x {sign} y") from None
            x._data[...] = after._data
        except ValueError as error:
            raise _unwritten(x, f"x {sign} y", other, error) from None

    def step(before: Tensor) -> Tensor:
        after = op(before, other)
        return after if after.dtype == before.dtype else ops.cast(after, before.dtype)

    return _change(x, f"x {sign} y", other, write, step)


def become(x: Tensor, what: str, op: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """`x` becomes `op(x, *arguments)`: `x.clamp_(0, 1)`, `x **= 2` and their like; `what` is how it was written.

    Raises:
        GraphError: the change can't be differentiated, see `_change`.
        ShapeError: the result has another shape than `x`.
        DTypeError: the result is no integer, but `x` holds integers.
    """

    def step(before: Tensor) -> Tensor:
        after = op(before, *arguments)
        if after.shape != before.shape:
            got = {"x": before.shape, "result": after.shape}
            raise ShapeError(explain(f"{what}: the result doesn't fit x", got=got, need="arguments that broadcast to x"))
        if not _holds(before, after):
            raise _no_float(x, what)
        return after if after.dtype == before.dtype else ops.cast(after, before.dtype)

    def write() -> None:
        with no_grad():
            after = step(x)
        try:
            x._data[...] = after._data
        except ValueError as error:
            raise _unwritten(x, what, after, error) from None

    return _change(x, what, arguments, write, step)


def reshaped(x: Tensor, what: str, op: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """`x` becomes `op(x, *arguments)`, the same entries of the same memory in another shape; `what` is how it was written.

    Raises:
        GraphError: `x` is a leaf that requires a gradient, or a result that does: earlier steps hold it by its shape.
    """
    if x._requires_grad and (is_grad_enabled() or x.grad_fn is not None):
        why = "a leaf that requires a gradient" if x.grad_fn is None else "a result that earlier steps may have read"
        fix = "with gl.no_grad(): ..." if x.grad_fn is None else f"x = {what.replace('_()', '(...)')}"
        raise _refused(x, what, f"{why} can't change its shape in place", fix)
    with no_grad():
        after = op(x, *arguments)
    x._data = after._data
    x.bump()
    return x


def detach(x: Tensor) -> Tensor:
    """Make `x` a leaf that requires no gradient; what was made from it keeps its history.

    Raises:
        GraphError: `x` is a view: a change of what it looks at would give it a history again.
    """
    if lineage(x):
        raise _refused(x, "x.detach_()", "a view can't be detached in place", "x = x.detach()")
    if x.grad_fn is not None and x.grad_fn.retained:
        x.grad_fn.retained = [r for r in x.grad_fn.retained if r() is not x] or None
    x.grad_fn, x._requires_grad = None, False
    return x


def refuse_in_graph(x: Tensor, what: str) -> None:
    """Raise where a write into the memory of `x` would change what backward needs or reports."""
    if is_grad_enabled() and x._requires_grad:
        raise _refused(x, what, "a tensor that requires a gradient can't be written to", "with gl.no_grad(): ...")


_ARITHMETIC: dict[str, tuple[np.ufunc, Callable[[Any, Any], Tensor]]] = {
    "+=": (np.add, ops.add),
    "-=": (np.subtract, ops.sub),
    "*=": (np.multiply, ops.mul),
    "/=": (np.true_divide, ops.div),
}


def _change(x: Tensor, what: str, other: Any, write: Callable[[], None], step: Callable[[Tensor], Tensor]) -> Tensor:
    """Change a tensor: in its memory where no gradient is asked for, else by a step of the graph.

    A write into memory is counted, so that a backward which needs the former values raises. A step of the graph gives
    `x` new memory, so that what earlier steps saved stays right; its views, and what it is a view of, are made anew from
    there. Other tensors that look at the old memory would miss the change, so that this is refused.
    """
    if not (is_grad_enabled() and (x._requires_grad or wants_gradient(other))):
        write()
        x.bump()
        return x
    if x._data.dtype.kind != "f":
        raise _no_float(x, what)
    looked_at: list[Any] = [fn.inputs[0] for fn in lineage(x)]
    for t in (x, *looked_at):
        if t._requires_grad and t.grad_fn is None:
            raise _refused(t, what, "a leaf that requires a gradient can't be changed in place", "with gl.no_grad(): ...")
    if any(repeats(t) for t in (x, *looked_at)):
        raise _read_only(x, what)
    others = x.sharers()
    views = family(x, others)
    if views is None:
        raise _refused(x, what, "another tensor (a view, or detach()) looks at these values and would miss the change", "y = x.clone()")
    if others:
        _change_family(views, step)
    else:
        _rebind(x, step)
    return x


def _change_family(views: list[View], step: Callable[[Tensor], Tensor]) -> None:
    """Let the first of these tensors become what a step makes of it, and all of them look at the memory of the result."""
    x = views[0].tensor
    before = {id(view.tensor): _alias(view.tensor) for view in views}
    first = cast("Tensor", views[0].steps[0].inputs[0] if views[0].steps else before[id(x)])
    result = step(before[id(x)])
    if result._version is not None:  # the step gave the memory back as it was
        result = result.clone()
    changed = laid_out_as(put(views[0], result), first)
    version = changed._versions()
    for view in views:
        version.add(view.tensor)
    after: list[Tensor] = []
    found = {id(first._data): changed}
    views.sort(key=lambda view: len(view.steps))
    for view in views:
        after.append(again(view, found))
        found[id(view.tensor._data)] = after[-1]
    if any(y._version is not version for y in after):
        raise _refused(x, "x is a view", "a view of these values would be none of the result", "y = x.clone()")
    for view, y in zip(views, after, strict=True):
        _become(view.tensor, y, before[id(view.tensor)], changed.grad_fn)


def _alias(x: Tensor) -> Tensor:
    """`x` as it is now, for the graph to keep."""
    before = type(x).made(x._data, x.grad_fn)
    before._requires_grad, before._version = x._requires_grad, x._version
    return before


def _rebind(x: Tensor, step: Callable[[Tensor], Tensor]) -> None:
    """Make `x` the result of a step on what it was."""
    before = _alias(x)
    after = step(before)
    _become(x, after, before, after.grad_fn)
    if x._version is not None and not any(t is x for t in x._version.living()):
        x._version.add(x)  # the step gave the memory back as it was


def _become(x: Tensor, after: Tensor, before: Tensor, change: Function | None) -> None:
    """Make `x` what `after` is; `before` takes its place in the steps that led to the change."""
    if change is not None:
        _replace(change, x, before)
    if after.grad_fn is not None and before.grad_fn is not None and before.grad_fn.retained:
        kept = [r for r in before.grad_fn.retained if r() is x]
        before.grad_fn.retained = [r for r in before.grad_fn.retained if r() is not x] or None
        if kept:
            after.grad_fn.retained = kept
            asked.add(after.grad_fn)
    x._data, x.grad_fn, x._requires_grad, x._version = after._data, after.grad_fn, after._requires_grad, after._version


def _replace(fn: Function, x: Tensor, before: Tensor) -> None:
    """Let the steps between `before` and `fn` read `before` in the place of `x`, which would else hold itself (a cycle)."""
    oldest = 0 if before.grad_fn is None else before.grad_fn.seq
    reached, seen = [fn], {fn}
    for node in reached:  # grows while it is walked
        if any(t is x for t in node.inputs):
            node.inputs = tuple([before if t is x else t for t in node.inputs])
        for parent in node.edges:
            if isinstance(parent, Function) and parent.seq > oldest and parent.inputs and parent not in seen:
                seen.add(parent)
                reached.append(parent)


def _is_entries_of(value: Any, x: Tensor, index: Any) -> bool:
    """Whether `value` is a slice that looks at the very entries `x[index]`."""
    fn = getattr(value, "grad_fn", None)
    return (
        isinstance(fn, ops.Slice)
        and bool(fn.inputs)
        and fn.inputs[0]._data is x._data
        and any(t is value for t in x.sharers())
        and repr(fn.params["index"]) == repr(raw_index(index))
    )


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to the target without widening it."""
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(target), strict=False))


_LEVEL = {"b": 0, "u": 1, "i": 1, "f": 2}


def _holds(x: Tensor, result: Tensor) -> bool:
    """Whether `x` can hold such numbers: they go into their own kind and those above; an integer too large wraps."""
    return _LEVEL[result.dtype.kind] <= _LEVEL[x.dtype.kind]


def _refused(x: Tensor, what: str, why: str, fix: str) -> GraphError:
    got = {"shape": x.shape} if x.grad_fn is None else {"shape": x.shape, "grad_fn": x.grad_fn}
    return GraphError(explain(f"{what}: {why}", got=got, need="no_grad around the change, or a tensor of its own", fix=fix))


def _need_one_device(x: Tensor, what: str, value: Any, index: Any = None) -> None:
    """Say so where the operands of a failed change live in different places."""
    named: dict[str, Any] = {"x": x._data, "v": getattr(value, "_data", value)}
    for part in cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,)):
        array = getattr(part, "_data", part)
        if array.__class__ in ARRAY_TYPES:
            named["i"] = array
    need_one_device(what, named)


def _no_float(x: Tensor, what: str) -> DTypeError:
    return DTypeError(explain(f"{what}: integers can't hold the result", got={"x": x.dtype}, need="a floating x", fix="x = x.float()"))


def _read_only(x: Tensor, what: str) -> GraphError:
    return GraphError(
        explain(f"{what}: the memory of x is read-only", got={"shape": x.shape}, need="a tensor of its own", fix="x = x.clone()")
    )


def _unwritten(x: Tensor, what: str, value: Any, error: ValueError) -> ShapeError | GraphError:
    if "read-only" in str(error):
        return _read_only(x, what)
    return ShapeError(
        explain(f"{what}: the value doesn't fit", got={"x": x.shape, "v": np.shape(value)}, need="a v that broadcasts to the entries")
    )
