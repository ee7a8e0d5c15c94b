"""Hooks of a module: functions that see, and may replace, what goes into it and comes out, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from .._tensor import Tensor
from ..autograd.hook import Handle, Hooks
from ..backend import ARRAY_TYPES, Array, xp_of
from ..errors import GraphError, KeywordError, explain
from ..function import Function

_keys = count()
Grads = list[Any]  # one per tensor: an array, a Tensor in a pass that makes a graph, None where none came


class ModuleHooks:
    """The hooks of one module: before and after forward, and before and after its part of backward."""

    def __init__(self) -> None:
        self.before: Any = Hooks()  # each: number -> (hook, options)
        self.after: Any = Hooks()
        self.before_backward: Any = Hooks()
        self.backward: Any = Hooks()


def add(hooks: Any, hook: Callable[..., Any], prepend: bool, *options: bool) -> Handle:
    """Register a hook behind the others, or before them.

    Raises:
        KeywordError: it can't be called.
    """
    if not callable(hook):
        raise KeywordError(explain("hook: this can't be called", got={"hook": type(hook).__name__}, need="a function"))
    key, rest = next(_keys), dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[key] = (hook, *options)
    hooks.update(rest)
    return Handle(hooks, key)


class Hooked:
    """The part of a Module that takes hooks."""

    _hooks: ModuleHooks | None = None

    def _hooked(self) -> ModuleHooks:
        if self._hooks is None:
            object.__setattr__(self, "_hooks", ModuleHooks())
        return self.__dict__["_hooks"]

    def register_forward_pre_hook(self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False) -> Handle:
        """Have `hook(module, args)` called before each forward; what it returns, one value or a tuple, takes the place of `args`.

        Args:
            prepend: call it before those that are there.
            with_kwargs: call `hook(module, args, kwargs)`, which returns None or both.

        >>> from gradlab import nn
        >>> with nn.Identity().register_forward_pre_hook(lambda module, args: args[0] + 1) as handle:
        ...     pass
        """
        return add(self._hooked().before, hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> Handle:
        """Have `hook(module, args, output)` called after each forward; what it returns takes the place of the output.

        Args:
            prepend: call it before those that are there.
            with_kwargs: call `hook(module, args, kwargs, output)`.
            always_call: call it also when forward raised, with None as the output.

        >>> from gradlab import nn
        >>> layer = nn.Identity()
        >>> with layer.register_forward_hook(lambda module, args, output: output * 2):
        ...     layer(3)
        6
        """
        return add(self._hooked().after, hook, prepend, with_kwargs, always_call)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Have `hook(module, grad_input, grad_output)` called when the gradients of all inputs are there.

        Both are tuples with one gradient per positional argument and per output, None where there is none. What it returns, a
        tuple like `grad_input`, takes its place.
        """
        return add(self._hooked().backward, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Have `hook(module, grad_output)` called before backward goes through the module; what it returns takes its place."""
        return add(self._hooked().before_backward, hook, prepend)


def called(module: Any, hooks: ModuleHooks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`module.forward(*args, **kwargs)` with its hooks around."""
    for hook, with_kwargs in tuple(hooks.before.values()):
        answer = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if answer is not None and not with_kwargs:
            args = answer if isinstance(answer, tuple) else (answer,)
        elif answer is not None:
            if not (isinstance(answer, tuple) and len(answer) == 2):
                got = {"returned": type(answer).__name__}
                raise KeywordError(
                    explain("forward pre-hook: takes and gives both kinds of arguments", got=got, need="(args, kwargs), or None")
                )
            args, kwargs = answer
    back = _Back(module, hooks) if hooks.backward or hooks.before_backward else None
    if back is not None:
        args = back.entered(args)
    try:
        result = module.forward(*args, **kwargs)
    except BaseException:
        for hook, with_kwargs, always in tuple(hooks.after.values()):
            if always:
                _ = hook(module, args, kwargs, None) if with_kwargs else hook(module, args, None)
        raise
    for hook, with_kwargs, _ in tuple(hooks.after.values()):
        answer = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        result = result if answer is None else answer
    return result if back is None else back.left(result)


class _Back:
    """One call of a module whose way back is watched: a gate before it and a gate behind it."""

    def __init__(self, module: Any, hooks: ModuleHooks) -> None:
        self.module, self.hooks = module, hooks
        self.given: tuple[Any, ...] | None = None  # the gradients of the outputs, once they are there
        self.nothing: tuple[None, ...] | None = None  # no input requires a gradient: the hooks hear of the outputs' alone

    def entered(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        passed = _gated(args, self._out_of_it)
        self.nothing = (None,) * len(args) if passed is args else None
        return passed

    def left(self, result: Any) -> Any:
        if isinstance(result, (tuple, list)):
            passed = _gated(tuple(result), self._into_it)
            return list(passed) if isinstance(result, list) else type(result)(*passed) if hasattr(result, "_fields") else passed
        return _gated((result,), self._into_it)[0]

    def _into_it(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        for (hook,) in tuple(self.hooks.before_backward.values()):
            grads = _replaced(hook(self.module, grads), grads, "grad_output")
        self.given = grads
        if self.nothing is not None:
            for (hook,) in tuple(self.hooks.backward.values()):
                if hook(self.module, self.nothing, grads) is not None:
                    need = "None: no input of the module requires a gradient"
                    raise GraphError(explain("backward hook: there is nothing to replace", got={"returned": "a gradient"}, need=need))
        return grads

    def _out_of_it(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        given, self.given = self.given, None
        if given is None:
            return grads  # not by way of the outputs: what is differentiated twice leads back here by what the steps had read
        for (hook,) in tuple(self.hooks.backward.values()):
            grads = _replaced(hook(self.module, grads, given), grads, "grad_input")
        return grads


def _replaced(answer: Any, grads: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    if answer is None:
        return grads
    answer = tuple(answer) if isinstance(answer, (tuple, list)) else (answer,)
    if len(answer) != len(grads):
        got = {"returned": len(answer), what: len(grads)}
        raise KeywordError(explain(f"backward hook: as many gradients as {what} has", got=got, need=f"{len(grads)} in a tuple, or None"))
    return answer


def _gated(values: tuple[Any, ...], call: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> tuple[Any, ...]:
    """The values, such that `call` maps the gradients of the tensors among them, all at once; those themselves if none has one."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
    if not places:
        return values
    gate = _Gate(places, len(values), call)
    token = Join.apply(*[values[i] for i in places], gate=gate)
    if not token.requires_grad:  # under no_grad
        return values
    passed = list(values)
    for k, i in enumerate(places):
        passed[i] = Through.apply(values[i].detach(), token, gate=gate, place=k)
    return tuple(passed)


class _Gate:
    """What the steps of one gate share: the gradients that have come so far."""

    def __init__(self, places: Sequence[int], n: int, call: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> None:
        self.places, self.n, self.call = places, n, call
        self.grads: Grads = [None] * len(places)

    def opened(self) -> Grads:
        """What the hooks make of the gradients, after which the gate may be passed again."""
        came, self.grads = self.grads, [None] * len(self.places)
        arrays = all(g is None or g.__class__ in ARRAY_TYPES for g in came)
        shown: list[Any] = [None] * self.n
        for i, g in zip(self.places, came, strict=True):
            shown[i] = Tensor.made(g, None) if arrays and g is not None else g
        left = self.call(tuple(shown))
        return [getattr(left[i], "_data", left[i]) if arrays else left[i] for i in self.places]


class Join(Function):
    """y = 0, made of all tensors of a gate, so that its rule comes after those of all;  dx_i = what the hooks make of g_i."""

    latex = r"y = 0, \quad \bar x_i = h(\bar y_1, \dots, \bar y_n)_i"
    kind = "shape"
    reads = ()

    def forward(self, *arrays: Array, gate: _Gate) -> Array:
        return xp_of(arrays[0]).zeros((), dtype=arrays[0].dtype)

    def backward(self, g: Any) -> tuple[Any, ...]:
        return tuple(self.params["gate"].opened())


class Through(Function):
    """y = x; its gradient waits in the gate, and 0 tells `Join` that it is there."""

    latex = r"y = x"
    kind = "shape"
    reads = ()

    def forward(self, x: Array, token: Array, gate: _Gate, place: int) -> Array:
        return xp_of(x).array(x)

    def backward(self, g: Any) -> tuple[None, Any]:
        gate, place = self.params["gate"], self.params["place"]
        gate.grads[place] = g
        return None, xp_of(getattr(g, "_data", g)).zeros((), dtype=g.dtype)
