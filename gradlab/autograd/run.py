"""The backward pass: newest step first, gradients borrowed until they must be added."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from heapq import heappop, heappush, heappushpop
from sys import getrefcount
from typing import TYPE_CHECKING, Any, cast

from .. import observe, order
from ..backend import Array, as_array, keep_freed_memory, need_one_device, xp_of
from ..errors import GraphError, ShapeError, explain
from ..function import Function, asked, made
from . import anomaly, general, hook

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


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
    keep_freed_memory()
    roots = several(tensors)
    seeds = _seeds("backward", roots, grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    if len(roots) == 1 and not create_graph and inputs is None and not hook.living and not asked and anomaly.current() is None:
        observer = observe.current
        if observer is None:
            _run(roots[0], seeds[0], keep, None)
        elif (light := observe.light) is not None and light.began(roots[0]):
            try:
                _run(roots[0], seeds[0], keep, None)
            finally:
                light.ended()
        else:
            observe.watched(observer, "pass", roots[0], (keep, None), functools.partial(_run, roots[0], seeds[0], keep, observe.ops))
        return
    wanted = None if inputs is None else list(dict.fromkeys(_wanted("backward", inputs)))
    retaining = {t for t in wanted or () if t.retains_grad}  # the pass adds to these by itself
    grads = _watched(roots, seeds, keep, create_graph, wanted)
    for t, d in zip(wanted or (), grads, strict=True):
        if d is not None and t not in retaining:
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
    roots, wanted = several(outputs), _wanted("grad", inputs)
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


def several(tensors: Any) -> list[Any]:
    """One tensor, or a list or tuple of them, as a list."""
    return list(cast("Sequence[Any]", tensors)) if isinstance(tensors, (list, tuple)) else [tensors]


def _wanted(what: str, inputs: Any) -> list[Tensor]:
    wanted = several(inputs)
    for i, t in enumerate(wanted):
        if not getattr(t, "requires_grad", False):
            got = {"input": getattr(t, "shape", t)}
            raise GraphError(explain(f"{what}: input {i} requires no gradient", got=got, need="leaves and results that require one"))
    if not wanted:
        raise GraphError(explain(f"{what}: no inputs", got={"inputs": "none"}, need="at least one tensor"))
    return wanted


def _seeds(what: str, roots: list[Tensor], gradients: Any, graph: bool) -> list[Any]:
    given: list[Any] = [None] * len(roots) if gradients is None else several(gradients)
    if len(roots) == 1 and len(given) and given[0] is not None and not hasattr(given[0], "shape"):
        given = [gradients]  # for one root, a list of numbers is its gradient
    if len(given) != len(roots) or not roots:
        got = {"tensors": len(roots), "gradients": len(given)}
        raise GraphError(explain(f"{what}: one gradient per tensor, please", got=got, need="as many gradients as tensors, at least one"))
    return [_seed(what, root, g, graph) for root, g in zip(roots, given, strict=True)]


def _seed(what: str, root: Tensor, gradient: Any, graph: bool) -> Any:
    if not getattr(root, "requires_grad", False):
        raise GraphError(
            explain(
                f"{what}: nothing here requires a gradient",
                got={"root": getattr(root, "shape", root)},
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
    need_one_device(what, {"gradient": seed, "tensor": data})
    if graph:
        t = gradient if hasattr(gradient, "grad_fn") else made(seed)
        return t if t.dtype == data.dtype else t.astype(data.dtype)
    return seed.astype(data.dtype)  # a copy: the pass may hand it to a leaf


def _watched(roots: list[Tensor], seeds: list[Any], keep: bool, graph: bool, wanted: list[Tensor] | None) -> list[Any]:
    """The general pass, with the event that says so."""
    run = functools.partial(general.run, roots, seeds, keep=keep, graph=graph, wanted=wanted)
    observer, light = observe.current, observe.light
    if light is not None and wanted is None and len(roots) == 1 and light.began(roots[0]):
        try:
            return run()
        finally:
            light.ended()
    return run() if observer is None else observe.watched(observer, "pass", roots[0], (keep, wanted), run)


_NOTHING = (None,)


def _run(root: Tensor, seed: Array, retain_graph: bool, told: observe.Told | None) -> None:
    """The pass when nobody asks for more: what `general.run` does, written out, since the time of a small graph goes here.

    It knows only the steps that a gradient has come to. The youngest of them is next: whatever used its output is younger.
    """
    fn = root.grad_fn
    if fn is None:
        root.accumulate(seed, True)
        return
    latest_change = order.latest_change
    waiting: list[tuple[int, Function]] = []  # a heap, the youngest step first
    leaves: list[Tensor] = []
    pending: dict[Any, Array] = {fn: seed}  # what has come together so far, for steps and for leaves
    owned: set[Any] = set()  # whose pending gradient is an array of this pass alone, so += may write it
    take, get, own = pending.pop, pending.get, owned.add
    while True:
        if latest_change > fn.seq:
            general.check(general.reached([fn, *[other for _, other in waiting]]))
            latest_change = 0
        g = take(fn)
        grads: Any
        if told is not None and fn.edges is not None:  # pyright: ignore[reportUnnecessaryComparison] - `free` says so
            grads = fn.pull_watched(g, told)
            if fn.joins and fn.edges[0] in owned:
                fn.add_into(pending[fn.edges[0]], g)
                grads = _NOTHING
        elif fn.fits:
            grads = fn.backward(g)
            if grads.__class__ is not tuple:
                grads = (grads,)
        elif fn.edges is None:  # pyright: ignore[reportUnnecessaryComparison] - `free` says so
            fn.check()
            return
        elif fn.joins and fn.edges[0] in owned:
            fn.add_into(pending[fn.edges[0]], g)
            grads = _NOTHING
        else:
            grads = fn.pull_unwatched(g)
        fresh, i, following = fn.fresh, 0, None
        for to in fn.edges:
            if to is not None:
                d = grads[i]
                if d is not None:
                    sum_ = get(to)
                    if sum_ is None:
                        pending[to] = d
                        if fresh:
                            own(to)
                        if not isinstance(to, Function):
                            leaves.append(to)
                        elif following is None:
                            following = to
                        else:
                            heappush(waiting, (-to.seq, to))
                    elif to in owned:
                        sum_ += d
                    else:
                        pending[to] = general.sum_of(sum_, d)
                        own(to)
            i += 1  # noqa: SIM113 (a plain count is quicker in this hot loop)
        if not retain_graph:  # `fn.free()`
            fn.inputs = fn.edges = None  # type: ignore[assignment]
            fn.fits = False
            if getrefcount(fn) > ALONE:  # else it goes away right now, and its dictionary need not be made
                fn.__dict__.clear()
        if following is None:
            if not waiting:
                break
            fn = heappop(waiting)[1]
        else:
            fn = heappushpop(waiting, (-following.seq, following))[1] if waiting else following
    for leaf in leaves:  # last: an error on the way leaves every `.grad` as it was
        if leaf._requires_grad:  # it may have been frozen since
            leaf.accumulate(pending[leaf], leaf in owned)


def _references_to_a_local() -> int:
    node = object()
    return getrefcount(node)


ALONE = _references_to_a_local()  # when only the pass still has a step: 2, and 1 from Python 3.14 on
