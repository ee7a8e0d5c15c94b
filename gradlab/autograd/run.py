"""The backward pass: newest step first, gradients borrowed until they must be added."""

from __future__ import annotations

import functools
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .. import observe
from ..backend import Array, as_array, xp_of
from ..errors import GraphError, ShapeError, explain
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

_age = attrgetter("seq")


def backward(root: Tensor, gradient: TensorLike | None = None, retain_graph: bool = False) -> None:
    """Add d(root)/d(leaf) to `.grad` of every leaf below.

    Args:
        gradient: what to start from, in the shape of `root`; a scalar root starts from 1.
        retain_graph: keep what the steps saved, so that a second backward can run.

    Raises:
        GraphError: no graph, a freed or changed graph, or a root with several entries and no `gradient`.
        ShapeError: `gradient` has another shape than `root`.
    """
    if not root.requires_grad:
        raise GraphError(
            explain(
                "backward: nothing here requires a gradient",
                got={"root": root.shape},
                need="a tensor made, outside no_grad, from one with requires_grad=True",
            )
        )
    seed = _seed(root, gradient)
    observer = observe.current
    if observer is None:
        _run(root, seed, retain_graph)
    else:
        observe.watched(observer, "pass", root, (retain_graph,), functools.partial(_run, root, seed, retain_graph))


def _seed(root: Tensor, gradient: TensorLike | None) -> Array:
    data = root.data
    if gradient is None:
        if data.size != 1:
            raise GraphError(
                explain(
                    "backward: a gradient needs a scalar to start from",
                    got={"root": root.shape},
                    need="one entry, or a gradient of the root's shape",
                    fix="y.sum().backward()",
                )
            )
        return xp_of(data).ones_like(data)
    seed: Array = as_array(getattr(gradient, "_data", gradient))
    if seed.shape != data.shape:
        raise ShapeError(
            explain(
                "backward: the gradient has another shape than the tensor",
                got={"gradient": seed.shape, "tensor": data.shape},
                need="the same shape",
            )
        )
    return seed.astype(data.dtype)  # a copy: the pass may hand it to a leaf


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
