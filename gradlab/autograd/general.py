"""The backward pass that is asked for more than sums in leaves: hooks, chosen inputs, a graph of the gradients, an observer.

`gradlab.autograd.run` keeps the short loop for everything else; the two add up in the same order and give the same numbers.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from threading import RLock
from time import perf_counter_ns as clock
from typing import TYPE_CHECKING, Any

from .. import observe, order
from ..backend import ARRAY_TYPES, as_array, xp_of
from ..errors import DTypeError, GradlabError, GraphError, ShapeError, explain
from ..function import Function, made
from ..grad_mode import enable_grad, no_grad
from . import anomaly, hook, replay
from .names import Same

if TYPE_CHECKING:
    from .._tensor import Tensor

Grad = Any  # an array, or in a pass that makes a graph a Tensor
Key = Any  # where gradients are added up: a step (the gradient of its output), or a leaf
_age = attrgetter("seq")
adding = RLock()  # held while `.grad` is added to: two threads may bring their parts at the same time


def run(
    roots: Sequence[Tensor],
    seeds: Sequence[Grad],
    *,
    keep: bool,
    graph: bool,
    wanted: Sequence[Tensor] | None = None,
    local: bool = False,
) -> list[Grad]:
    """Send gradients from the roots down: into `.grad` of the leaves, or to those `wanted` alone, whose gradients are returned.

    Args:
        seeds: the gradients of the roots; Tensors where a graph is made.
        keep: keep what the steps saved.
        graph: compute with Tensors, so that the gradients have a graph of their own.
        wanted: leaves and results; nothing else gets a gradient, and steps that lead to none of them do not run.
        local: the pass ends at those wanted, as if they were independent: their hooks wait for the pass around this one.

    Returns:
        one gradient per wanted tensor, an array or Tensor of its own; None where no root depends on it.
    """
    with enable_grad() if graph else no_grad():
        return _Pass(graph, wanted, local).run(roots, seeds, keep)


def accumulate(tensor: Tensor, d: Grad, source: Function | None, fresh: bool) -> None:
    """Add `d` into `.grad` of a tensor that was asked for or of a result that retains it, with the event that says so."""
    told = observe.ops
    if told is not None:
        told.accumulate(tensor, getattr(d, "_data", d), source)
    add(tensor, d, fresh)


def add(tensor: Tensor, d: Grad, fresh: bool) -> None:
    """Add `d` into `.grad`."""
    if hasattr(d, "grad_fn"):
        with adding:
            before = tensor.grad
            tensor.grad = d.clone() if before is None else before + d
    else:
        tensor.accumulate(d, fresh)


def key_of(t: Tensor) -> Key:
    """Where the gradient of `t` is added up."""
    return t if t.grad_fn is None else t.grad_fn


class _Pass:
    def __init__(self, graph: bool, wanted: Sequence[Tensor] | None, local: bool = False) -> None:
        self.graph, self.wanted, self.local = graph, wanted, local
        self.keys: set[Key] = set() if wanted is None else {key_of(t) for t in wanted}
        self.open: set[Key] | None = None  # where gradients go, if not everywhere
        self.anomaly = anomaly.current()
        self.pending: dict[Key, Grad] = {}
        self.owned: set[Key] = set()  # whose pending gradient is an array that this pass alone holds, so += may write it
        self.found: dict[Key, Grad] = {}
        self.at: tuple[Function, Grad, int] | None = None  # the step that runs, the gradient that came to it, and since when

    def run(self, roots: Sequence[Tensor], seeds: Sequence[Grad], keep: bool) -> list[Grad]:
        makers = [root.grad_fn for root in roots if root.grad_fn is not None]
        steps = reached(makers, self.keys if self.local else ())
        if self.wanted is not None:
            steps = self._leading(steps)
            self.open = {*steps, *self.keys}
        check(steps)
        uses = self._uses(steps)
        for root, seed in zip(roots, seeds, strict=True):
            self._send(key_of(root), seed, False)
        while steps:
            fn = steps.pop()
            awaited = [leaf for leaf in self._leaves(fn) if leaf in uses] if uses else ()
            g = self.pending.pop(fn, None)
            self.at = None
            if g is not None:
                self.at = fn, g, clock()
                self._step(fn, g)
            if not keep:
                fn.free()
                if self.anomaly is not None:
                    self.anomaly.forget(fn)
            for leaf in awaited:
                uses[leaf] -= 1
                if not uses[leaf]:
                    self._arrive(leaf)
        self.at = None
        for key in list(self.pending):  # leaves, and wanted results below which nothing is wanted
            self._arrive(key)
        return [self._own(key_of(t)) for t in self.wanted or ()]

    def _step(self, fn: Function, g: Grad) -> None:
        """Take the gradient of a result through hooks, and from the result to what it was made from."""
        g = self._seen(fn, g)
        if fn in self.keys:
            self.found[fn] = g
        check((fn,))  # a hook may have changed what the rule reads
        try:
            grads = self._pull(fn, g)
        except Exception as error:
            anomaly.note(fn, error)
            raise
        if self.anomaly is not None:
            self.anomaly.check(fn, g, grads)
        for to, d in zip(fn.edges, grads, strict=True):
            if to is None or d is None:
                continue
            if isinstance(to, Function) or self.wanted is not None or to.requires_grad:  # it may have been frozen since
                if fn.joins and to in self.owned:  # as the short loop does: even the sign of a 0 is the same
                    fn.add_into(self.pending[to], g)
                else:
                    self._send(to, d, fn.fresh)

    def _pull(self, fn: Function, g: Grad) -> tuple[Grad | None, ...]:
        if not self.graph:
            return fn.pull(g)
        told, began = observe.ops, clock()
        try:
            grads = _pulled_on_tensors(fn, g)
        except BaseException as error:
            if told is not None:
                told.failed(fn, g._data, error, began)
            raise
        if told is not None:
            told.backward(fn, g._data, tuple([getattr(d, "_data", None) for d in grads]), began)
        return grads

    def _send(self, key: Key, d: Grad, fresh: bool) -> None:
        """Add `d` to what has come together for a step or leaf."""
        pending = self.pending
        if self.open is not None and key not in self.open:
            return
        if key not in pending:
            pending[key] = d
            if fresh and d.__class__ in ARRAY_TYPES:
                self.owned.add(key)
        elif key in self.owned:
            pending[key] += d
        else:
            pending[key] = sum_of(pending[key], d)
            if d.__class__ in ARRAY_TYPES:
                self.owned.add(key)

    def _arrive(self, key: Key) -> None:
        """The gradient of a leaf, or of a wanted result below which nothing is wanted, is complete."""
        d = self.pending.pop(key, None)
        if d is None:
            return
        d = self._seen(key, d)
        if key in self.keys:
            self.found[key] = d
        elif self.wanted is None:
            add(key, d, key in self.owned)
            try:
                arrived(key)
            except BaseException as error:
                self._hook_failed(error)
                raise

    def _seen(self, key: Key, g: Grad) -> Grad:
        """The gradient after the hooks of its result or leaf; what a result retains is what they leave."""
        if self.local and key in self.keys:
            return g
        hooks: dict[int, Callable[..., Any]] = getattr(key, "hooks", None) or {}
        for call in tuple(hooks.values()):
            try:
                answer = call(g if self.graph else _shown(g))
                self.owned.discard(key)  # the hook may keep what it saw
                if answer is not None:
                    g = self._answered(answer, g)
            except BaseException as error:
                self._hook_failed(error)
                raise
        for reference in getattr(key, "retained", None) or ():
            tensor = reference()
            if tensor is not None:
                accumulate(tensor, g, key, False)
        return g

    def _hook_failed(self, error: BaseException) -> None:
        """Tell that the gradient went no further: by a hook of this step's result, or of a leaf of which this step was the last reader."""
        told = observe.ops
        if told is not None and self.at is not None:
            fn, g, began = self.at
            told.failed(fn, getattr(g, "_data", g), error, began)

    def _answered(self, answer: Any, g: Grad) -> Grad:
        if not hasattr(answer, "shape"):
            raise DTypeError(
                explain("hook: what it returned is no gradient", got={"type": type(answer).__name__}, need="a tensor, or None")
            )
        array = as_array(getattr(answer, "_data", answer))
        if array.shape != g.shape:
            got = {"returned": array.shape, "gradient": g.shape}
            raise ShapeError(explain("hook: the gradient it returned has another shape", got=got, need="the gradient's shape, or None"))
        if self.graph:
            answer = answer if hasattr(answer, "grad_fn") else made(array)
            return answer if answer.dtype == g.dtype else answer.astype(g.dtype)
        return array.astype(g.dtype, copy=False)

    def _own(self, key: Key) -> Grad:
        """The gradient that was found, in memory of its own."""
        d = self.found.get(key)
        if d is None or self.graph or key in self.owned:
            self.owned.discard(key)  # asked for twice, it is copied the second time
            return d
        return xp_of(d).array(d, copy=True, order="C")

    def _leading(self, steps: list[Function]) -> list[Function]:
        """The steps through which a gradient gets to something wanted."""
        leading: set[Function] = set()
        for fn in steps:
            if any(to is not None and (to in leading or to in self.keys) for to in fn.edges):
                leading.add(fn)
        return [fn for fn in steps if fn in leading]

    def _uses(self, steps: Iterable[Function]) -> dict[Tensor, int]:
        """How many steps read each leaf whose gradient is awaited as a whole: it is wanted, or has hooks."""
        uses: dict[Tensor, int] = {}
        if self.wanted is not None or hook.living:
            for fn in steps:
                for t in self._leaves(fn):
                    if t in self.keys or getattr(t, "hooks", None) or getattr(t, "after", None):
                        uses[t] = uses.get(t, 0) + 1
        return uses

    def _leaves(self, fn: Function) -> Iterator[Any]:
        return (to for to in fn.edges if to is not None and not isinstance(to, Function))


def _pulled_on_tensors(fn: Function, g: Tensor) -> tuple[Tensor | None, ...]:
    """The rule on Tensors; where it writes in place or counts on strides, the gradient of the formula beside it."""
    if replay.runs_again(fn):
        replay.check(fn)
    try:
        if not fn.by_reference:
            return replay.pull(fn, g)
    except _NOT_ON_TENSORS as error:
        if not hasattr(fn, "reference"):
            raise _no_second_derivative(fn, error) from error
    replay.check(fn)
    try:
        with enable_grad(), observe.paused():
            inputs = [Same.apply(x) if hasattr(x, "grad_fn") else x for x in replay.arguments(fn)]
            y: Tensor = getattr(fn, "reference")(*inputs, **fn.params)  # noqa: B009 - only some have one
        asked = [i for i, need in enumerate(fn.needs) if need]
        found = run([y], [g], keep=True, graph=True, wanted=[inputs[i] for i in asked], local=True)
    except _NOT_ON_TENSORS as error:
        raise _no_second_derivative(fn, error) from error
    grads: list[Tensor | None] = [None] * len(fn.inputs)
    for i, d in zip(asked, found, strict=True):
        grads[i] = replay.fitted(0.0 if d is None else d, fn.inputs[i])
    return tuple(grads)


_NOT_ON_TENSORS = (GradlabError, TypeError, ValueError, AttributeError, IndexError, NotImplementedError)


def _no_second_derivative(fn: Function, error: Exception) -> GraphError:
    return GraphError(
        explain(
            f"{type(fn).__name__}: its gradient can't be differentiated again",
            got={"inputs": [t.shape for t in fn.inputs], "because": str(error).partition("\n")[0]},
            need="a rule of operators and functions that have an op, or such a formula beside it (`reference`)",
        )
    )


def reached(roots: Iterable[Function], beyond: Iterable[Key] = ()) -> list[Function]:
    """Every step below the roots, by age, so no recursion: from the end, each comes after all steps that used its output.

    What is `beyond` is left out, and what only that leads to.
    """
    steps = list(dict.fromkeys(roots))
    seen: set[Key] = {*steps, *beyond}
    for fn in steps:  # grows while it is walked
        if fn.edges is None:  # pyright: ignore[reportUnnecessaryComparison] - `free` says so
            fn.check()
        for to in fn.edges:
            if to is not None and to not in seen:
                seen.add(to)
                if isinstance(to, Function):
                    steps.append(to)
    steps.sort(key=_age)
    return steps


def check(steps: Sequence[Function]) -> None:
    """Refuse, before the first gradient moves, what was changed in place since; `steps` come by age."""
    if steps and order.latest_change > steps[0].seq:
        for fn in steps:
            try:
                fn.check()
            except GraphError as error:
                anomaly.note(fn, error)
                raise


def sum_of(a: Grad, b: Grad) -> Grad:
    """a + b; of two 0-d arrays an array too, where NumPy makes a number."""
    return a + b if a.ndim or hasattr(a, "grad_fn") else xp_of(a).asarray(a + b)


def arrived(leaf: Tensor) -> None:
    """Call the hooks that wait until `.grad` of a leaf is complete."""
    hooks: dict[int, Callable[..., Any]] = getattr(leaf, "after", None) or {}
    for call in tuple(hooks.values()):
        call(leaf)


def _shown(g: Grad) -> Tensor:
    """A gradient for a hook to read: others hold the same array, so it can't be written to."""
    view = g[...] if g.__class__ in ARRAY_TYPES else as_array(g)
    if hasattr(view, "setflags"):
        view.setflags(write=False)
    return made(view)
