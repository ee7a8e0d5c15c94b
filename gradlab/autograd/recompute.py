"""Checkpoints: what a function computes on the way is not kept, but computed again in backward.

Source: T. Chen, B. Xu, C. Zhang, C. Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016, arXiv:1604.06174, section 4.
"""

# pyright: reportPrivateUsage=false
# ruff: noqa: D102 - forward and backward are explained by the formula above them

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import observe, ops
from ..backend import Array, get_rng_state, set_rng_state
from ..function import Function, made
from ..grad_mode import enable_grad, is_grad_enabled
from ..order import sequence
from . import general, replay
from .run import several

if TYPE_CHECKING:
    from .._tensor import Tensor


class Checkpoint(Function):
    """y = f(x), where f runs again in backward;  dx: what f gives then."""

    kind = "shape"
    reads = ()  # `replay.check` looks for changes

    def forward(self, *arrays: Array, again: Callable[[], Tensor], y: list[Array]) -> Array:
        self.again = again
        return y.pop()  # the node keeps no output

    def backward(self, g: Any) -> tuple[Any, ...]:
        replay.check(self)
        with enable_grad(), observe.paused():
            y = self.again()
        graph = hasattr(g, "grad_fn")
        tensors: list[Any] = [t for t, need in zip(self.inputs, self.needs, strict=True) if need]
        found = iter(general.run([y], [g], keep=graph, graph=graph, wanted=tensors, local=True))
        return tuple([next(found) if need else None for need in self.needs])


def checkpoint(
    function: Callable[..., Any], *args: Any, preserve_rng_state: bool = True, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Compute `function(*args, **kwargs)` without keeping what its backward needs: it runs again then, and memory is saved for time.

    The gradient reaches the arguments and every other tensor that `function` uses, such as the parameters of a module.

    Args:
        function: gives a Tensor, or a tuple or list of them. It should do the same both times.
        preserve_rng_state: draw the same random numbers the second time, for instance in dropout.
        use_reentrant: PyTorch's; there is one way here, which does what False means there.

    >>> import gradlab as gl
    >>> x = gl.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: (x * x).exp().sum(), x).backward()
    >>> x.grad.data.round(2)
    array([  5.44, 218.39], dtype=float32)
    """
    if not is_grad_enabled():
        return function(*args, **kwargs)
    state = get_rng_state() if preserve_rng_state else None
    args = tuple([_alias(x) for x in args])
    start = next(sequence)
    outputs = function(*args, **kwargs)
    ys = several(outputs)
    places = [i for i, y in enumerate(ys) if getattr(y, "grad_fn", None) is not None and y.grad_fn.seq > start]
    if not places:
        return outputs
    inputs = _read([ys[i].grad_fn for i in places], start)

    def again() -> Tensor:
        before = get_rng_state()
        if state is not None:
            set_rng_state(state)
        try:
            outputs = function(*args, **kwargs)
        finally:
            set_rng_state(before)
        ys = several(outputs)
        return _packed([ys[i] for i in places])

    with enable_grad():
        packed = Checkpoint.apply(*inputs, again=again, y=[_packed([made(ys[i]._data) for i in places])._data])
        for i, y in zip(places, _unpacked(packed, [ys[i] for i in places]), strict=True):
            ys[i] = y
    return tuple(ys) if isinstance(outputs, tuple) else ys if isinstance(outputs, list) else ys[0]


def _alias(x: Any) -> Any:
    """A result as it is now: what is done to `x` later changes the second run no more than the first."""
    if getattr(x, "grad_fn", None) is None:
        return x
    alias = made(x._data)
    alias.grad_fn, alias._requires_grad = x.grad_fn, True
    alias._version = x._versions()
    return alias


def _read(makers: list[Function], start: int) -> list[Tensor]:
    """The tensors with a gradient that steps younger than `start` have read from outside: leaves, and results older than that."""
    steps, seen, read = list(dict.fromkeys(makers)), set(makers), dict[Any, Any]()
    for fn in steps:  # grows while it is walked
        for t, to in zip(fn.inputs, fn.edges, strict=True):
            if isinstance(to, Function) and to.seq > start:
                if to not in seen:
                    seen.add(to)
                    steps.append(to)
            elif to is not None:
                read[to] = t
    return list(read.values())


def _packed(ys: list[Tensor]) -> Tensor:
    """Several outputs as one."""
    return ys[0] if len(ys) == 1 else ops.cat([ops.reshape(y, -1) for y in ys])


def _unpacked(packed: Tensor, like: list[Tensor]) -> list[Tensor]:
    if len(like) == 1:
        return [packed]
    parts = ops.split(packed, [y.numel() for y in like])
    return [ops.cast(ops.reshape(part, y.shape), y.dtype) for part, y in zip(parts, like, strict=True)]
