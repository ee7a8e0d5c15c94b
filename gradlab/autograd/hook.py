"""Hooks: functions that see a gradient on its way, and may replace it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from ..errors import DTypeError, GraphError, explain

if TYPE_CHECKING:
    from .._tensor import Tensor

_keys = count()


class Hooks(dict[int, Callable[..., Any]]):
    """The hooks of one result or leaf, in the order in which they were registered."""


# Those that are not empty. A pass looks here once: as long as there are none, its steps are not asked for theirs.
living: weakref.WeakValueDictionary[int, Hooks] = weakref.WeakValueDictionary()


class Handle:
    """Takes a hook away again: by `remove()`, or at the end of a `with` block.

    >>> import gradlab as gl
    >>> x = gl.tensor(1.0, requires_grad=True)
    >>> with x.register_hook(print):
    ...     (x * 3.0).backward()
    tensor(3., shape=())
    """

    def __init__(self, hooks: Hooks, key: int) -> None:
        self._hooks = weakref.ref(hooks)  # a handle keeps no graph alive
        self._key = key

    def remove(self) -> None:
        """Call the hook no more; a second time changes nothing."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self._key, None)
            if not hooks:
                living.pop(id(hooks), None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(tensor: Tensor, hook: Callable[[Tensor], Any]) -> Handle:
    """Have `hook(gradient)` called when the gradient of a leaf or result is complete; a tensor it returns takes its place.

    Raises:
        GraphError: the tensor requires no gradient.
    """
    if not tensor.requires_grad:
        raise GraphError(
            explain("register_hook: this tensor requires no gradient", got={"shape": tensor.shape}, need="a tensor that requires one")
        )
    owner: Any = tensor if tensor.grad_fn is None else tensor.grad_fn
    if getattr(owner, "hooks", None) is None:
        owner.hooks = Hooks()
    return _add(owner.hooks, hook)


def register_after(leaf: Tensor, hook: Callable[[Tensor], Any]) -> Handle:
    """Have `hook(leaf)` called when a pass has added its gradient to `leaf.grad`.

    Raises:
        GraphError: the tensor is no leaf that requires a gradient.
    """
    if not leaf.requires_grad or leaf.grad_fn is not None:
        raise GraphError(
            explain(
                "register_post_accumulate_grad_hook: only leaves accumulate",
                got={"shape": leaf.shape, "grad_fn": leaf.grad_fn},
                need="a leaf that requires a gradient",
                fix="" if leaf.grad_fn is None else "y.register_hook(hook)",
            )
        )
    if getattr(leaf, "after", None) is None:
        leaf.after = Hooks()
    return _add(leaf.after, hook)


def _add(hooks: Hooks, hook: Callable[..., Any]) -> Handle:
    if not callable(hook):
        raise DTypeError(explain("hook: this can't be called", got={"type": type(hook).__name__}, need="a function of a tensor"))
    key = next(_keys)
    hooks[key] = hook
    living[id(hooks)] = hooks
    return Handle(hooks, key)
