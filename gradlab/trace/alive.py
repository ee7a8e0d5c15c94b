"""Which tensors of a step are still there: held by the user's variables, or by a graph that hangs on them."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..function import Constant, Function
from .tape import Tape

_MOST = 50_000  # tensors looked at


def find(tape: Tape, ref: int, objects: Iterable[Any]) -> Any:
    """The tensor of op `ref`, or of leaf -1 - ref; None where nobody holds it any more.

    Args:
        objects: where to begin: the user's variables. Lists, tuples and dicts among them are looked into.
    """
    refs = tape.refs
    stack = [t for thing in objects for t in _tensors(thing)]
    seen: set[int] = set()
    while stack and len(seen) < _MOST:
        t = stack.pop()
        if id(t) in seen:
            continue
        seen.add(id(t))
        fn: Function | None = t.grad_fn
        if refs.get(-t._serial if fn is None else fn.seq) == ref and (fn is not None or t._serial):
            return t
        if fn is not None and fn.inputs is not None and fn.seq in refs:
            stack.extend(x for x in fn.inputs if x.__class__ is not Constant)
    return None


def _tensors(thing: Any) -> Iterable[Any]:
    if _is_tensor(thing):
        return (thing,)
    if type(thing) is dict:
        return filter(_is_tensor, list(thing.values())[:_MOST])
    return filter(_is_tensor, list(thing)[:_MOST]) if type(thing) in (list, tuple, set) else ()


def _is_tensor(thing: Any) -> bool:
    return hasattr(type(thing), "grad_fn") and hasattr(type(thing), "_data")
