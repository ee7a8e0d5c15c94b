"""Why is this graph alive: which of the user's objects keep graphs of finished steps in memory, and how large those are."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CellType, CodeType, FrameType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, NamedTuple

from .._tensor import Tensor
from ..backend import is_array
from ..function import Function

_OBJECTS_MOST = 300_000  # looked at below one variable
_OBJECTS_ALL = 600_000  # and below all of them
_LINES_MOST = 20
_PLAIN = (str, bytes, int, float, complex, bool, type(None), range, type, BuiltinFunctionType, CodeType)


class Keeper(NamedTuple):
    """One variable that keeps graphs alive.

    Attributes:
        name: the variable, and the way from it where it is not the variable itself that holds the tensors: `model.history`.
        kind: what holds them: "list", "dict", "attribute", "closure", "tensor", ...
        graphs: how many results, with the graph behind each.
        ops: how many ops those graphs have together.
        size_bytes: the arrays that they keep, each counted once.
        remedy: what to do where it is a leak; empty where one result is kept, as it is between two steps.
    """

    name: str
    kind: str
    graphs: int
    ops: int
    size_bytes: int
    remedy: str


class Alive(NamedTuple):
    """All keepers, the largest first, and how many results with a graph no variable leads to."""

    keepers: list[Keeper]
    unnamed: int
    unnamed_by: str


def alive(variables: Mapping[str, Any], modules: Iterable[ModuleType] = (), ops_a_step: int = 0) -> Alive:
    """Look through variables, and through the variables of modules, for results that still have their graph.

    Args:
        variables: the user's, by name.
        modules: of the user's, so that a global of an imported file is found.
        ops_a_step: how many ops a step has; a graph of more than two steps is one that grows.

    >>> import gradlab as gl
    >>> w = gl.ones(2, requires_grad=True)
    >>> losses = [(w * 2.0).sum() for _ in range(3)]
    >>> [(k.name, k.kind, k.graphs, k.ops) for k in alive({"losses": losses}).keepers]
    [('losses', 'list', 3, 6)]
    """
    gc.collect()
    named = [(name, value) for name, value in variables.items()]
    named += [(f"{m.__name__}.{name}", value) for m in modules for name, value in vars(m).items() if not name.startswith("__")]
    # A namespace is never walked through: its variables are looked at one by one.
    walls = {
        id(variables),
        *(id(vars(m)) for m in modules),
        *(id(vars(m)) for m in list(sys.modules.values()) if isinstance(m, ModuleType)),
    }
    reached: dict[int, Any] = {}
    keepers: list[Keeper] = []
    left = _OBJECTS_ALL
    for name, value in named:
        found, seen = _below(value, walls, min(left, _OBJECTS_MOST))
        left -= len(seen)
        if not found:  # nobody needs to look there again: many variables lead to the same large object
            walls |= seen
        reached.update({id(t): t for t, _, _ in found})
        groups: dict[tuple[str, str], list[Any]] = {}
        for t, way, kind in found:
            groups.setdefault((name + way, kind), []).append(t)
        keepers += [_keeper(label, kind, tensors, ops_a_step) for (label, kind), tensors in groups.items()]
    keepers.sort(key=lambda k: -k.size_bytes)
    rest, by = _unnamed(reached)
    return Alive(keepers[:_LINES_MOST], rest, by)


def _below(start: Any, walls: set[int], most: int) -> tuple[list[tuple[Any, str, str]], set[int]]:
    """Every result with a graph that an object leads to: the tensor, the way to it, and what holds it; and what was looked at."""
    found: list[tuple[Any, str, str]] = []
    seen: set[int] = set()
    stack: list[tuple[Any, str, str]] = [(start, "", "tensor")]
    while stack and len(seen) < most:
        thing, way, kind = stack.pop()
        if id(thing) in seen or id(thing) in walls or isinstance(thing, (*_PLAIN, ModuleType)) or is_array(thing):
            continue
        seen.add(id(thing))
        if isinstance(thing, Tensor):
            if thing.grad_fn is not None:
                found.append((thing, way, kind))
            continue
        stack.extend(_parts(thing, way, kind))
    return found, seen


def _parts(thing: Any, way: str, kind: str) -> Iterator[tuple[Any, str, str]]:
    """What an object holds. Elements of one container share its way: a list of losses is one keeper."""
    inner = type(thing).__name__
    if isinstance(thing, dict):
        for key, value in list(thing.items()):
            yield value, way, inner
            yield key, way, inner
    elif isinstance(thing, FunctionType):
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            yield cell, f"{way}(): {name}", "closure"
        yield thing.__defaults__, f"{way}(): a default", "default"
        yield thing.__kwdefaults__, f"{way}(): a default", "default"
        yield vars(thing), way, "attribute"
    elif isinstance(thing, CellType):
        try:
            yield thing.cell_contents, way, kind
        except ValueError:
            return
    elif isinstance(thing, MethodType):
        yield thing.__self__, way, "attribute"
    elif isinstance(thing, GeneratorType):
        frame = thing.gi_frame
        for name, value in () if frame is None else frame.f_locals.items():
            yield value, f"{way}: {name}", "generator"
    elif isinstance(thing, FrameType):
        return
    else:
        names = getattr(thing, "__dict__", None)
        if isinstance(names, dict) and not isinstance(thing, type):
            for name, value in list(names.items()):
                yield value, f"{way}.{name}", "attribute"
        for part in gc.get_referents(thing):
            if part is not names:
                yield part, way, inner if not isinstance(names, dict) else kind


def _keeper(name: str, kind: str, tensors: list[Any], ops_a_step: int) -> Keeper:
    functions, size = _measured(tensors)
    many = len(tensors) > 1
    remedy = ""
    variable = name.rpartition(".")[2]
    if name == "Out":
        remedy = "IPython keeps what a cell shows. End the line with `;`, or run `%reset out`"
    elif many and kind == "list":
        remedy = "append `loss.item()`, or `loss.detach()` for a tensor"
    elif many:
        remedy = "store `.item()`, or `.detach()` for a tensor"
    elif ops_a_step and functions > 2 * ops_a_step:
        remedy = f"its graph grows from step to step: `{variable} = {variable}.detach()` between steps, or add `loss.item()`"
    return Keeper(name, kind, len(tensors), functions, size, remedy)


def _measured(tensors: list[Any]) -> tuple[int, int]:
    """How many ops are behind these results, and the bytes of the arrays that they keep; shared ones count once."""
    arrays: dict[int, int] = {}
    functions: set[int] = set()
    stack: list[Any] = list(tensors)
    while stack:
        t = stack.pop()
        _count(getattr(t, "_data", None), arrays)
        fn = getattr(t, "grad_fn", None)
        if fn is None or id(fn) in functions:
            continue
        functions.add(id(fn))
        for value in vars(fn).values():
            for part in value if isinstance(value, (tuple, list)) else (value,):
                _count(part, arrays)
        stack.extend(x for x in fn.inputs or () if isinstance(x, Tensor) and (x.grad_fn is not None))
    return len(functions), sum(arrays.values())


def _count(array: Any, arrays: dict[int, int]) -> None:
    if is_array(array):
        base: Any = getattr(array, "base", None)
        owner: Any = base if is_array(base) else array
        arrays[id(owner)] = int(owner.nbytes)


def _unnamed(reached: Mapping[int, Any]) -> tuple[int, str]:
    """How many results nobody named leads to, and the type of what refers to most of them."""
    inner: set[int] = set()
    tensors: list[Any] = []
    for thing in gc.get_objects():
        if isinstance(thing, Function):
            inner.update(id(x) for x in thing.inputs or ())
        elif isinstance(thing, Tensor) and thing.grad_fn is not None:
            tensors.append(thing)
    rest = [t for t in tensors if id(t) not in reached and id(t) not in inner]
    if not rest:
        return 0, ""
    ours = {id(tensors), id(rest)}
    kinds: dict[str, int] = {}
    for holder in gc.get_referrers(*rest):
        if id(holder) not in ours and not isinstance(holder, FrameType) and holder is not sys._getframe():
            kinds[type(holder).__name__] = kinds.get(type(holder).__name__, 0) + 1
    return len(rest), max(kinds, key=lambda kind: kinds[kind]) if kinds else ""
