"""A step's rule on Tensors, so that the gradient it gives has a graph of its own.

What `forward` saved are arrays, without history. So a twin of the step runs `forward` again, on the Tensors that the step
read; then the same formula of `backward` gives Tensors that depend on them, and on the output of the step where the rule
saved that. A step that saved no values is not run again.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from .. import observe, ops
from ..backend import ARRAY_TYPES, align, asarray_like, unbroadcast, xp_of
from ..errors import GraphError, explain
from ..function import Constant, Function, made

if TYPE_CHECKING:
    from .._tensor import Tensor


on_tensors: ContextVar[bool] = ContextVar("on_tensors", default=False)  # whether a rule is running on Tensors here


def pull(fn: Function, g: Tensor) -> tuple[Tensor | None, ...]:
    """What `fn.pull` gives for arrays: one gradient per input, in its input's shape and dtype."""
    twin = object.__new__(type(fn))
    twin.inputs, twin.needs, twin.edges, twin.seq = fn.inputs, fn.needs, fn.edges, fn.seq
    twin.__dict__.update({name: value for name, value in vars(fn).items() if name not in ("hooks", "retained")})  # with what was drawn
    token = on_tensors.set(True)
    try:
        if runs_again(fn):
            with observe.paused():  # it was seen when it ran
                y: Any = twin.forward(*arguments(fn), **fn.params)
            _keep_output(twin, y, fn)
        result: Any = twin.backward(g)
    finally:
        on_tensors.reset(token)
    grads: tuple[Any, ...] = cast("Any", result) if isinstance(result, tuple) else (result,)
    return tuple([None if d is None or not need else fitted(d, t) for d, t, need in zip(grads, fn.inputs, fn.needs, strict=True)])


def _keep_output(twin: Function, y: Any, fn: Function) -> None:
    """Where the rule saved the output, it is that of the step itself: what comes back to it meets its hooks, and is kept if asked."""
    if getattr(y, "grad_fn", None) is None:
        return
    saved = [name for name, value in vars(twin).items() if value is y]
    if saved:
        output = made(y._data)
        output.grad_fn, output._requires_grad = fn, True
        twin.__dict__.update(dict.fromkeys(saved, output))


def runs_again(fn: Function) -> bool:
    """Whether what the rule reads depends on the inputs."""
    return bool(fn.reads) or any(map(_holds_values, vars(fn).values()))


def _holds_values(saved: Any) -> bool:
    """Whether floats are in it, and not shapes, places and truth values alone."""
    if isinstance(saved, (list, tuple)):
        return any(map(_holds_values, cast("list[Any]", saved)))
    return getattr(getattr(saved, "dtype", None), "kind", "") == "f"


def check(fn: Function) -> None:
    """Refuse to run a step again on what is no longer what it saw. Its rule on arrays may not mind, having kept what it needs.

    Raises:
        GraphError: an input was changed in place.
    """
    for i, (t, to) in enumerate(zip(fn.inputs, fn.edges, strict=True)):
        version, maker = t._version, t.grad_fn
        if (version is not None and version.changed > fn.seq) or (maker is not to if maker is not None else isinstance(to, Function)):
            raise GraphError(
                explain(
                    f"{type(fn).__name__}: input {i} was changed in place after it was used",
                    got={"shape": t.shape},
                    need="the values that forward saw: for a gradient with a graph it runs again",
                    fix="change a copy: y = x.clone()",
                )
            )


def arguments(fn: Function) -> list[Any]:
    """What `forward` gets: Tensors for what has a derivative, arrays of integers, and numbers."""
    arrays: list[Any] = [t._data for t in fn.inputs]
    aligned = align(arrays) if fn.aligns else arrays
    found: list[Any] = []
    for t, array in zip(fn.inputs, aligned, strict=True):
        if array.__class__ in ARRAY_TYPES and array.dtype.kind == "f" and not isinstance(t, Constant):
            found.append(t if t.dtype == array.dtype else ops.cast(t, array.dtype))
        else:
            found.append(array)
    return found


def fitted(d: Any, t: Any) -> Tensor:
    """The gradient as a Tensor in its input's shape and dtype."""
    if not hasattr(d, "grad_fn"):  # numbers, which depend on nothing
        d = made(xp_of(t._data).broadcast_to(asarray_like(d, t._data), t.shape))
    d = unbroadcast(d, t.shape)
    return d if d.dtype == t.dtype else d.astype(t.dtype)
