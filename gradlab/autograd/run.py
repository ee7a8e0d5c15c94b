"""The backward pass: newest step first, gradients borrowed until they must be added."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from .. import observe
from ..backend import Array, as_array, xp_of
from ..errors import GraphError, ShapeError, explain
from ..function import Function, made
from . import general, hook

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

_age = attrgetter("seq")


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: TensorLike | Sequence[TensorLike | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add d(tensors)/d(leaf) to `.grad` of every leaf below.

    Args:
        tensors: one root or several, whose gradients add up.
        grad_tensors: what to start from, in the shape of each root; a scalar root starts from 1.
        retain_graph: keep what the steps saved, so that a second backward can run; by default only with `create_graph`.
        create_graph: let `.grad` have a graph of its own, so that it can be differentiated again. The leaf then holds a graph that
            holds the leaf: set `.grad` to None when done with it, or use `grad`.
        inputs: add to `.grad` of these leaves and results alone.

    Raises:
        GraphError: no graph, a freed or changed graph, or a root with several entries and no gradient to start from.
        ShapeError: a gradient has another shape than its root.
    """
    roots = _several(tensors)
    seeds = _seeds("backward", roots, grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    if len(roots) == 1 and not create_graph and inputs is None and observe.current is None and not hook.living:
        _run(roots[0], seeds[0], keep)
        return
    wanted = None if inputs is None else _wanted("backward", inputs)
    grads = _watched(roots, seeds, keep, create_graph, wanted)
    for t, d in zip(wanted or (), grads, strict=True):
        if d is not None:
            general.accumulate(t, d, None, True)
            general.arrived(t)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Compute d(outputs)/d(input) for each input, a leaf or a result; no `.grad` is touched.

    Args:
        grad_outputs: what to start from, in the shape of each output; a scalar output starts from 1.
        retain_graph: keep what the steps saved, so that a second pass can run; by default only with `create_graph`.
        create_graph: let the gradients have a graph of their own, so that they can be differentiated again.
        allow_unused: give None for an input on which no output depends, instead of an error.
        materialize_grads: give zeros for it.

    Raises:
        GraphError: no graph, a freed or changed graph, or an unused input.
        ShapeError: a gradient has another shape than its output.

    >>> import gradlab as gl
    >>> x = gl.tensor(2.0, requires_grad=True)
    >>> (slope,) = grad(x**4, x, create_graph=True)
    >>> grad(slope, x)
    (tensor(48., shape=()),)
    """
    roots, wanted = _several(outputs), _wanted("grad", inputs)
    seeds = _seeds("grad", roots, grad_outputs, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    grads = _watched(roots, seeds, keep, create_graph, wanted)
    answer: list[Any] = []
    for i, (t, d) in enumerate(zip(wanted, grads, strict=True)):
        if d is None and materialize_grads:
            d = xp_of(t._data).zeros_like(t._data)
        elif d is None and not allow_unused:
            raise GraphError(
                explain(
                    f"grad: input {i} was not used to make the outputs",
                    got={"input": t.shape, "outputs": [y.shape for y in roots]},
                    need="an input that the outputs depend on",
                    fix="allow_unused=True, which gives None, or materialize_grads=True, which gives zeros",
                )
            )
        answer.append(made(d) if d is not None and not hasattr(d, "grad_fn") else d)
    return tuple(answer)


def _several(tensors: Any) -> list[Any]:
    return list(cast("Sequence[Any]", tensors)) if isinstance(tensors, (list, tuple)) else [tensors]


def _wanted(what: str, inputs: Any) -> list[Tensor]:
    wanted = _several(inputs)
    for i, t in enumerate(wanted):
        if not getattr(t, "requires_grad", False):
            got = {"input": getattr(t, "shape", t)}
            raise GraphError(explain(f"{what}: input {i} requires no gradient", got=got, need="leaves and results that require one"))
    if not wanted:
        raise GraphError(explain(f"{what}: no inputs", got={"inputs": "none"}, need="at least one tensor"))
    return wanted


def _seeds(what: str, roots: list[Tensor], gradients: Any, graph: bool) -> list[Any]:
    given: list[Any] = [None] * len(roots) if gradients is None else _several(gradients)
    if len(roots) == 1 and len(given) and not hasattr(given[0], "shape"):
        given = [gradients]  # for one root, a list of numbers is its gradient
    if len(given) != len(roots) or not roots:
        got = {"tensors": len(roots), "gradients": len(given)}
        raise GraphError(explain(f"{what}: one gradient per tensor, please", got=got, need="as many gradients as tensors, at least one"))
    return [_seed(what, root, g, graph) for root, g in zip(roots, given, strict=True)]


def _seed(what: str, root: Tensor, gradient: Any, graph: bool) -> Any:
    if not root.requires_grad:
        raise GraphError(
            explain(
                f"{what}: nothing here requires a gradient",
                got={"root": root.shape},
                need="a tensor made, outside no_grad, from one with requires_grad=True",
            )
        )
    data = root._data
    if gradient is None:
        if data.size != 1:
            fix = "y.sum().backward()" if what == "backward" else "grad(y.sum(), ...)"
            need = "one entry, or a gradient of the root's shape"
            raise GraphError(explain(f"{what}: a gradient needs a scalar to start from", got={"root": root.shape}, need=need, fix=fix))
        seed: Array = xp_of(data).ones_like(data)
        return made(seed) if graph else seed
    seed = as_array(getattr(gradient, "_data", gradient))
    if seed.shape != data.shape:
        got = {"gradient": seed.shape, "tensor": data.shape}
        raise ShapeError(explain(f"{what}: the gradient has another shape than the tensor", got=got, need="the same shape"))
    if graph:
        t = gradient if hasattr(gradient, "grad_fn") else made(seed)
        return t if t.dtype == data.dtype else t.astype(data.dtype)
    return seed.astype(data.dtype)  # a copy: the pass may hand it to a leaf


def _watched(roots: list[Tensor], seeds: list[Any], keep: bool, graph: bool, wanted: list[Tensor] | None) -> list[Any]:
    """The general pass, with the event that says so."""
    run = functools.partial(general.run, roots, seeds, keep=keep, graph=graph, wanted=wanted)
    observer = observe.current
    return run() if observer is None else observe.watched(observer, "pass", roots[0], (keep,), run)


def _run(root: Tensor, seed: Array, retain_graph: bool) -> None:
    maker = root.grad_fn
    if maker is None:
        _accumulate(root, seed, None, False)
        return
    watched = observe.current is not None
    pending: dict[Function, Array] = {maker: seed}
    owned: set[Function] = set()  # whose pending gradient is an array this pass made, so += may write it
    steps = _oldest_first(maker)
    while steps:
        fn = steps.pop()
        g = pending.pop(fn, None)
        if g is not None:  # a rule may return None for a path that carries nothing
            if fn.retained is not None:
                _retain(fn, g)
            parents, needs = fn.parents, fn.needs
            for i, d in enumerate(fn.pull(g) if watched else fn.pull_unwatched(g)):
                if d is not None and needs[i]:
                    parent = parents[i]
                    if parent is None:
                        leaf: Any = fn.inputs[i]
                        if leaf.grad_fn is None:
                            _accumulate(leaf, d, fn, fn.fresh)
                    elif parent not in pending:
                        pending[parent] = d
                    elif parent in owned:
                        pending[parent] += d
                    else:
                        pending[parent] = pending[parent] + d
                        owned.add(parent)
        if not retain_graph:
            fn.free()


def _accumulate(leaf: Tensor, d: Array, source: Function | None, fresh: bool) -> None:
    observer = observe.current
    if observer is None:
        leaf.accumulate(d, fresh)
    else:
        observe.watched(observer, "accumulate", leaf, (d, source), functools.partial(leaf.accumulate, d, fresh))


def _retain(fn: Function, g: Array) -> None:
    for reference in fn.retained or ():
        tensor = reference()
        if tensor is not None:
            _accumulate(tensor, g, fn, False)


def _oldest_first(root: Function) -> list[Function]:
    """Every step a gradient visits, by age, so no recursion: from the end, each comes after all steps that used its output.

    All steps are checked before the first gradient moves: an error leaves every `.grad` as it was.
    """
    reached, seen = [root], {root}
    for fn in reached:  # grows while it is walked
        fn.check()
        for parent in fn.parents:
            if parent is not None and parent not in seen:
                seen.add(parent)
                reached.append(parent)
    reached.sort(key=_age)
    return reached
